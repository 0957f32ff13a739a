//! The whole program with the default model.

use std::time::{Duration, Instant};

use datasets::Stream;

use super::*;
use crate::kill::{VICTIMS, Victim, run_and_strike};
use crate::support::{Bench, assert_same, complaint, run, told};

const NAME: &str = "smollm2-135m-instruct-q4_1";

const KILLED: &str = "limit = 33\ninterfaces = [\"direct\", \"free-cot\"]\n[engine]\ngroup-items = 11\n[[model]]\npath = \"smollm2-135m-instruct-q4_1\"\n\
                      [[task]]\nname = \"logic\"\n[asking]\nmax-tokens = 12\n";

#[test]
fn killed_and_resumed_runs_of_the_model_are_bit_identical() {
    model();
    let bench = Bench::new(KILLED);
    let started = Instant::now();
    assert_eq!(bench.run("reference", &["--quiet"]).status.code(), Some(0));
    let whole = started.elapsed();
    let reference = bench.log("reference");
    let mut stream = Stream::new(3, &["kill", "real"]);
    for (round, victim) in VICTIMS.into_iter().enumerate() {
        // A machine that has become faster since the reference may be done before the strike: strike a fresh run earlier.
        let struck = (0..6).find_map(|attempt| {
            let out = format!("run{round}-{attempt}");
            let delay = whole.mul_f64((0.2 + 0.5 * stream.unit()) / f64::from(1 << attempt));
            let ended_well = run_and_strike(&bench, &out, delay, victim);
            let hit = match victim {
                Victim::Worker => !bench.log(&out).deaths.is_empty(),
                Victim::Supervisor | Victim::Both => !ended_well,
            };
            hit.then_some(out)
        });
        let out = struck.expect("some strike hits a run");
        let output = bench.run(&out, &["--quiet"]);
        assert_eq!(output.status.code(), Some(0), "{victim:?}: {output:?}");
        assert_same(&bench.log(&out), &reference);
    }
    assert!(whole > Duration::from_millis(100));
}

#[test]
fn a_damaged_model_gets_one_line_and_leaves_nothing() {
    let bytes = std::fs::read(model()).expect("the model");
    let bench = Bench::new("limit = 2\n[[task]]\nname = \"logic\"\n");
    let half = bench.path("half.gguf");
    std::fs::write(&half, &bytes[..bytes.len() / 2]).expect("half a model");
    for output in [
        run(&["models", "inspect", &half]),
        run(&["plan", &bench.config, "--model", &half]),
        bench.run("run", &["--model", &half]),
    ] {
        assert_eq!(output.status.code(), Some(3), "{output:?}");
        let line = complaint(&output);
        assert!(line.contains("half.gguf") && line.contains("missing"), "{line}");
    }
    assert!(!std::path::Path::new(&bench.path("run")).exists());
    // A model without a chat template: the key is renamed, so that all else stays as it is.
    let key = b"tokenizer.chat_template";
    let place =
        bytes.windows(key.len()).position(|window| window == key).expect("the default model has a template");
    let mut bare = bytes;
    bare[place..place + key.len()].copy_from_slice(b"tokenizer.chat_templatX");
    let path = bench.path("bare.gguf");
    std::fs::write(&path, &bare).expect("a model without a template");
    let output = bench.run("run", &["--model", &path]);
    assert_eq!(output.status.code(), Some(3), "{output:?}");
    let line = complaint(&output);
    assert!(line.contains("template") && line.contains("raw"), "{line}");
    assert!(!std::path::Path::new(&bench.path("run")).exists());
    // And raw prompts on request.
    std::fs::write(
        &bench.config,
        format!("limit = 2\ninterfaces = [\"direct\"]\n[[model]]\npath = \"{path}\"\ntemplate = \"raw\"\n[[task]]\nname = \"logic\"\n"),
    )
    .expect("a configuration");
    assert_eq!(bench.run("run", &["--quiet"]).status.code(), Some(0));
}

#[test]
fn inspect_and_plan_tell_of_the_default_model() {
    model();
    let (code, out, errors) = told(&run(&["models", "inspect", model().to_str().expect("UTF-8"), "--json"]));
    assert_eq!(code, Some(0), "{errors}");
    let json: serde_json::Value = serde_json::from_str(&out).expect("JSON");
    assert_eq!(json["architecture"], "llama");
    assert_eq!(json["sha256"][0], "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53");
    let bench = Bench::new("limit = 11\ninterfaces = [\"direct\"]\n[[task]]\nname = \"grammar\"\n");
    let (code, out, errors) = told(&run(&["plan", &bench.config, "--model", NAME, "--json"]));
    assert_eq!(code, Some(0), "{errors}");
    let plan: serde_json::Value = serde_json::from_str(&out).expect("JSON");
    assert!(plan["models"][0]["rows"][0]["longest_prompt_tokens"].as_u64() > Some(60), "{plan}");
}

#[test]
fn parts_of_a_run_have_the_scores_of_the_whole_bit_for_bit() {
    model();
    crate::shards::parts_make_the_run(
        &Bench::new(
            "limit = 24\ninterfaces = [\"direct\", \"cot-prefix\"]\n[engine]\ngroup-items = 6\nparity = 2\n[[model]]\n\
             path = \"smollm2-135m-instruct-q4_1\"\n[[task]]\nname = \"logic\"\n",
        ),
        3,
    );
}
