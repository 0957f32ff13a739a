//! `edge-eval bench`, and runs that leave the number of replies side by side to a probe.

use runner::entry::{DeathCause, TunedStep};

use crate::support::{Bench, complaint, run, told};

/// The fields of `llama-bench -o json` that a row has under the same name.
const SHARED: [&str; 21] = [
    "cpu_info",
    "backends",
    "model_filename",
    "model_type",
    "model_size",
    "model_n_params",
    "n_batch",
    "n_ubatch",
    "n_threads",
    "type_k",
    "type_v",
    "n_prompt",
    "n_gen",
    "n_depth",
    "test_time",
    "avg_ns",
    "stddev_ns",
    "avg_ts",
    "stddev_ts",
    "samples_ns",
    "samples_ts",
];

fn rows(arguments: &[&str]) -> Vec<serde_json::Value> {
    let (code, out, errors) = told(&run(arguments));
    assert_eq!(code, Some(0), "{errors}");
    serde_json::from_str::<Vec<serde_json::Value>>(&out).expect("a JSON array")
}

#[test]
fn bench_rows_have_the_field_names_of_the_reference_tool() {
    let rows = rows(&["bench", "fake", "-p", "64,128", "-n", "8", "-r", "3", "-t", "2", "-o", "json", "-q"]);
    for row in &rows {
        assert!(SHARED.iter().all(|field| row.get(field).is_some()), "{row}");
        assert_eq!(row.get("error"), None);
    }
    let tests: Vec<&str> = rows.iter().map(|row| row["test"].as_str().expect("a name")).collect();
    let expected = ["pp64", "pp128", "tg8", "ttft", "tg32 x1", "tg32 x2", "tg32 x4", "tg32 x8", "tg32 x16"];
    assert_eq!(tests, [&expected[..], &["score exact", "score packed"]].concat());
    // The fake engine says: 400 us a token on one thread, 1, 11 and 21 us more in turn.
    assert_eq!(rows[1]["samples_ns"], serde_json::json!([25_601_000, 25_611_000, 25_621_000]));
    assert_eq!((rows[1]["n_prompt"].as_u64(), rows[1]["n_gen"].as_u64()), (Some(128), Some(0)));
    assert_eq!(rows[1]["avg_ns"], 25_611_000);
    let rate = rows[1]["avg_ts"].as_f64().expect("a rate");
    assert!((rate - 128.0 / 0.025_611).abs() < 0.01, "{rate}");
    // 22 items of two tasks through two interfaces, and no engine evaluates more than it is given.
    for row in &rows[9..] {
        assert_eq!(row["scoring"]["answers"], 88);
        assert!(row["scoring"]["evaluated_tokens"].as_u64() <= row["scoring"]["prompt_tokens"].as_u64());
    }
}

#[test]
fn tests_of_no_token_are_left_out_and_depths_are_named() {
    let arguments =
        ["bench", "fake", "--kind", "speed", "-p", "0", "-n", "4", "-d", "0,32", "-o", "json", "-q"];
    let rows = rows(&arguments);
    let tests: Vec<&str> = rows.iter().map(|row| row["test"].as_str().expect("a name")).collect();
    assert_eq!(tests, ["tg4", "tg4 @ d32"]);
    assert_eq!(rows[0]["samples_ns"].as_array().map(Vec::len), Some(5), "five repetitions are usual");
}

#[test]
fn a_model_that_fails_is_a_row_and_the_others_are_measured() {
    let broken = "fake:die-on=Decode";
    let output = run(&[
        "bench",
        "nowhere.gguf",
        broken,
        "fake",
        "--kind",
        "speed",
        "-p",
        "16",
        "-n",
        "4",
        "-o",
        "csv",
    ]);
    assert_eq!(output.status.code(), Some(3));
    assert!(complaint(&output).contains("2 of 5 measurements failed"));
    let (_, out, _) = told(&output);
    let lines: Vec<&str> = out.lines().collect();
    assert_eq!(lines.len(), 6, "{out}");
    assert!(lines[1].contains("nowhere.gguf is neither a file nor a known model"), "{out}");
    assert!(lines[2].starts_with("speed,pp16,,"), "what was measured before the failure stays: {out}");
    assert!(lines[3].contains("the worker aborted") && lines[3].contains(broken), "{out}");
    assert!(lines[4].starts_with("speed,pp16,,") && lines[5].starts_with("speed,tg4,,"), "{out}");
}

#[test]
fn bench_arguments_that_mean_nothing_are_usage_errors() {
    for arguments in [&["bench"][..], &["bench", "fake", "-r", "0"], &["bench", "fake", "-t", "0"]] {
        assert_eq!(run(arguments).status.code(), Some(2), "{arguments:?}");
    }
}

#[test]
fn the_best_threads_come_as_lines_of_a_configuration() {
    let (code, out, errors) = told(&run(&["bench", "threads", "fake"]));
    assert_eq!(code, Some(0), "{errors}");
    let lines: Vec<&str> = out.lines().collect();
    let from = lines.iter().position(|line| *line == "[engine]").expect("a table");
    // The fake engine is faster with every thread up to four, and slower with more.
    let best = runner::threads::here().logical.min(4);
    assert_eq!(lines[from + 1..], [format!("threads = {best}"), format!("threads-batch = {best}")]);
    let text = format!("{}\n[[task]]\nname = \"logic\"\n", lines[from..].join("\n"));
    assert!(runner::config::Config::parse(&text, "x.toml").is_ok());
}

const TUNED: &str = "limit = 4\n[[task]]\nname = \"lights\"\n[[task]]\nname = \"logic\"\n[[model]]\npath = \"fake\"\n\
                     [engine]\nparallel = 0\n";

#[test]
fn a_probe_chooses_the_replies_side_by_side_and_the_log_keeps_its_table() {
    let bench = Bench::new(TUNED);
    let (code, _, errors) = told(&bench.run("run", &[]));
    assert_eq!(code, Some(0), "{errors}");
    assert!(errors.contains("replies side by side: 8 "), "{errors}");
    let log = bench.log("run");
    let [tuned] = &log.tuned[..] else { panic!("{:?}", log.tuned) };
    // Eight sequences cost the fake engine what one costs, sixteen twice as much. 8192 cells hold 16 replies of 512.
    assert_eq!(tuned.parallel, 8);
    assert_eq!(tuned.steps.iter().map(|step| step.sequences).collect::<Vec<_>>(), [1, 2, 4, 8, 16]);
    // 16 steps of 4 ms over the threads that help; the second repetition takes 10 us more.
    let speed = match runner::threads::here().fastest {
        threads @ 0..=4 => u64::from(threads),
        _ => 2,
    };
    let step = |sequences: u32, us: u64| TunedStep {
        sequences,
        tokens: 16 * u64::from(sequences),
        samples_us: vec![us / speed + 1, us / speed + 11],
    };
    assert_eq!(tuned.steps[3..], [step(8, 64_000), step(16, 128_000)]);
    assert!(log.loaded.iter().all(|loaded| loaded.spec.parallel == 8));
}

#[test]
fn a_resumed_run_and_a_replaced_worker_take_the_number_from_the_log() {
    let bench = Bench::new(TUNED);
    assert_eq!(bench.run("run", &["--quiet"]).status.code(), Some(0));
    let whole = bench.log("run");
    let path = bench.dir.path().join("run/log");
    let bytes = std::fs::read(&path).expect("the log");
    // Its end is lost: the last group and the mark that all is done.
    std::fs::write(&path, &bytes[..bytes.len() * 3 / 4]).expect("a shorter log");
    assert_eq!(bench.run("run", &["--quiet"]).status.code(), Some(0));
    let log = bench.log("run");
    assert_eq!((log.sessions.len(), log.tuned.clone()), (2, whole.tuned.clone()));
    let (_, dump, _) = told(&run(&["log", "dump", &bench.path("run")]));
    assert_eq!(dump.lines().filter(|line| line.contains("\"Tuned\"")).count(), 1, "measured once");
    crate::support::assert_same(&log, &whole);

    // Workers die again and again, and each new one is loaded with the same number.
    let bench = Bench::new(&TUNED.replace("path = \"fake\"", "path = \"fake:die-after=9\""));
    assert_eq!(bench.run("hurt", &["--quiet"]).status.code(), Some(7));
    let hurt = bench.log("hurt");
    assert!(hurt.loaded.len() > 2 && !hurt.deaths.is_empty());
    assert!(hurt.loaded.iter().all(|loaded| loaded.spec.parallel == 8), "{:?}", hurt.loaded);
}

#[test]
fn a_number_of_sequences_that_kills_the_worker_ends_the_search_and_not_the_run() {
    let bench = Bench::new(&TUNED.replace("path = \"fake\"", "path = \"fake:die-on=sequences: 16\""));
    assert_eq!(bench.run("run", &["--quiet"]).status.code(), Some(0));
    let log = bench.log("run");
    assert_eq!(log.tuned[0].steps.iter().map(|step| step.sequences).collect::<Vec<_>>(), [1, 2, 4, 8]);
}

#[test]
fn a_worker_that_is_killed_during_the_probe_is_replaced() {
    let mark = tempfile::tempdir().expect("a folder");
    let struck = format!("path = \"fake:strike=kill,once={}\"", mark.path().join("struck").display());
    let bench = Bench::new(&TUNED.replace("path = \"fake\"", &struck));
    let (code, _, errors) = told(&bench.run("run", &[]));
    assert_eq!(code, Some(0), "{errors}");
    assert!(errors.contains("while it was tuned; starting another"), "{errors}");
    let log = bench.log("run");
    let [death] = &log.deaths[..] else { panic!("{:?}", log.deaths) };
    assert_eq!((death.cause, &death.culprit), (DeathCause::KilledFromOutside, &None));
    assert!(log.complete.is_some() && log.tuned.len() == 1 && log.tuned[0].parallel == 8);
}

#[test]
fn nothing_is_probed_where_nothing_is_written_or_the_number_is_given() {
    let bench = Bench::new(TUNED);
    assert_eq!(bench.run("scores", &["--quiet", "--interface", "direct"]).status.code(), Some(0));
    assert!(bench.log("scores").tuned.is_empty());
    let bench = Bench::new(&TUNED.replace("parallel = 0", "parallel = 4"));
    assert_eq!(bench.run("fixed", &["--quiet"]).status.code(), Some(0));
    let log = bench.log("fixed");
    assert!(log.tuned.is_empty() && log.loaded.iter().all(|loaded| loaded.spec.parallel == 4));
}
