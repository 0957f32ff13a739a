//! Memory of the real engine: what is predicted comes, and a budget is kept.

use super::*;
use crate::support::{Bench, assert_same, run, told};

const GRAMMAR: &str = "limit = 4\ninterfaces = [\"direct\"]\n[[model]]\npath = \"smollm2-135m-instruct-q4_1\"\n[[task]]\nname = \"grammar\"\n\
    [log]\nsync = \"never\"\n";

#[test]
fn a_prediction_is_within_five_per_cent_of_the_peak_and_hardly_ever_under_it() {
    let model = model().display().to_string();
    let arguments = ["memory", &model, "--context", "512", "--sequences", "16", "--weights", "both"];
    let (code, out, errors) = told(&run(&[&arguments[..], &["--measure", "--json"]].concat()));
    assert_eq!(code, Some(0), "{errors}");
    let trials: serde_json::Value = serde_json::from_str(&out).expect("JSON");
    let trials = trials["trials"].as_array().expect("trials");
    assert_eq!(trials.len(), 2);
    for trial in trials {
        let error = trial["error"].as_f64().expect("measured");
        assert!((-0.03..0.05).contains(&error), "{error}: {trial}");
        // The kernel's peak is that of the weights and more, mapped or not.
        assert!(trial["trial"]["measured"]["high_water_bytes"].as_u64().expect("bytes") > 98_362_432);
    }
}

#[test]
fn a_budget_lowers_what_is_wanted_and_is_kept() {
    model();
    let bench = Bench::new(GRAMMAR);
    // 8192 cells alone take 180 MiB; the weights 94.
    let output = bench.run("run", &["--memory-budget", "230MiB"]);
    let (code, _, errors) = told(&output);
    assert_eq!(code, Some(0), "{errors}");
    assert!(errors.contains("to fit the memory budget, "), "{errors}");
    let log = bench.log("run");
    let plan = &log.memory_plans[0];
    assert!(!plan.steps.is_empty() && plan.prediction.sized, "{plan:?}");
    assert!(plan.steps.iter().all(|step| step.effect != runner::memory::Effect::Changes), "{plan:?}");
    let used = log.memory_uses.last().expect("it was watched");
    assert!(used.peaks.high_water_bytes < 230 << 20, "{used:?}");
    assert!(used.peaks.high_water_bytes <= plan.prediction.resident_bytes() * 103 / 100, "{used:?}");
    let refused = bench.run("refused", &["--memory-budget", "100MiB"]);
    let (code, _, errors) = told(&refused);
    assert_eq!(code, Some(8), "{errors}");
    for line in ["weights Q4_1", "KV cache", "computing", "logits", "smallest budget that would do"] {
        assert!(errors.contains(line), "{line}:\n{errors}");
    }
}

#[test]
fn a_resumed_run_loads_the_model_as_before_whatever_the_budget_is_now() {
    model();
    let bench = Bench::new(&format!("{GRAMMAR}[engine]\ngroup-items = 2\n"));
    assert_eq!(bench.run("run", &["--memory-budget", "230MiB"]).status.code(), Some(0));
    let whole = bench.log("run");
    // The log as a power failure leaves it: its end is missing, with the second group.
    let path = std::path::Path::new(&bench.path("run")).join("log");
    let mut bytes = std::fs::read(&path).expect("the log");
    while bench.log("run").items.len() == whole.items.len() {
        bytes.truncate(bytes.len() - 100);
        std::fs::write(&path, &bytes).expect("written");
    }
    assert_eq!((bench.log("run").items.len(), bench.log("run").loaded.len()), (2, 1));
    assert_eq!(bench.run("run", &["--memory-budget", "2GiB"]).status.code(), Some(0));
    let log = bench.log("run");
    assert_eq!(log.loaded.len(), 2);
    assert_eq!(log.loaded[0].spec, log.loaded[1].spec);
    assert!(log.loaded[1].spec.cells < 8192, "what nothing is lowered for: {:?}", log.loaded[1].spec);
    assert_same(&log, &whole);
}

#[test]
fn a_batch_smaller_than_the_number_of_sequences_aborts_nothing() {
    let mut engine = models::llama::Llama::open(&LoadSpec { sequences: 128, batch_tokens: 32, ..spec() })
        .expect("the model loads");
    let reply = answer(&mut engine, &score("The capital of France is", &[" Paris", " Rome"]));
    assert!(matches!(reply, Reply::Scored(_)), "{reply:?}");
}
