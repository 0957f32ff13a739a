//! `merge`, `verify` and `export` as an interface.

use crate::support::{Bench, assert_same, complaint, run, told};

const ONE: &str = r#"
interfaces = ["direct", "free-cot"]
limit = 20

[[model]]
path = "fake:say=Answer: Yes"
name = "m"

[[task]]
name = "logic"

[[task]]
name = "lights"
"#;

#[test]
fn stat_06_the_same_run_on_two_machines_merges_into_one() {
    let bench = Bench::new(ONE);
    assert!(bench.run("a", &[]).status.success() && bench.run("b", &[]).status.success());
    let (code, out, errors) =
        told(&run(&["merge", &bench.path("a"), &bench.path("b"), "-o", &bench.path("both")]));
    assert_eq!(code, Some(0), "{errors}");
    assert!(out.contains("; 0 missing"), "{out}");
    assert_same(&bench.log("both"), &bench.log("a"));
    assert!(bench.log("both").complete.is_some());
    let (code, out, _) = told(&run(&["verify", &bench.path("both")]));
    assert_eq!(code, Some(0), "{out}");
    let again = run(&["merge", &bench.path("a"), "-o", &bench.path("both")]);
    assert_eq!(again.status.code(), Some(5));
    assert!(complaint(&again).contains("holds a run already"));
}

#[test]
fn a_whole_run_verifies_and_a_damaged_one_does_not() {
    let bench = Bench::new(ONE);
    assert!(bench.run("a", &[]).status.success());
    let (code, out, _) = told(&run(&["verify", &bench.path("a"), "--models"]));
    assert_eq!(code, Some(0), "{out}");
    for line in [
        "ok       frames: ",
        "ok       grades: 80 answers read again, as recorded",
        "ok       presence: 80 entries",
    ] {
        assert!(out.contains(line), "{line} in {out}");
    }
    let log = bench.dir.path().join("a").join("log");
    let mut bytes = std::fs::read(&log).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 0x55;
    std::fs::write(&log, bytes).unwrap();
    let (code, out, _) = told(&run(&["verify", &bench.path("a")]));
    assert_eq!(code, Some(6), "{out}");
    assert!(out.contains("FAILED   frames: "), "{out}");
}

#[test]
fn items_are_exported_line_by_line_with_everything_that_was_said() {
    let bench = Bench::new(ONE);
    assert!(bench.run("a", &[]).status.success());
    let (code, out, _) = told(&run(&["export", &bench.path("a"), "--format", "jsonl"]));
    assert_eq!(code, Some(0));
    let items: Vec<serde_json::Value> = out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(items.len(), 80);
    let free = items.iter().find(|item| item["interface"] == "free-cot" && item["task"] == "logic").unwrap();
    assert_eq!(free["turns"][0]["replies"][0]["text"], "Answer: Yes");
    assert_eq!((&free["turns"][0]["answer"], &free["model"]), (&"Yes".into(), &"m".into()));
    let direct = items.iter().find(|item| item["interface"] == "direct").unwrap();
    assert!(direct["turns"][0]["replies"][0]["labels"][0]["logprob"].is_f64(), "{direct}");
    let csv = told(&run(&["export", &bench.path("a"), "--format", "csv"])).1;
    assert_eq!(csv, told(&run(&["report", &bench.path("a"), "--csv", "-"])).1);
}

#[test]
fn the_layout_of_lm_evaluation_harness_has_results_and_samples() {
    let bench = Bench::new(ONE);
    assert!(bench.run("a", &[]).status.success());
    let refused = run(&["export", &bench.path("a"), "--format", "lm-eval"]);
    assert!(complaint(&refused).contains("name a folder with -o"));
    let (code, out, errors) =
        told(&run(&["export", &bench.path("a"), "--format", "lm-eval", "-o", &bench.path("out")]));
    assert_eq!(code, Some(0), "{errors}");
    let files: Vec<&str> = out.lines().collect();
    assert_eq!(files.len(), 5, "four samples and the results: {out}");
    let results: serde_json::Value = serde_json::from_slice(&std::fs::read(files[4]).unwrap()).unwrap();
    let direct = &results["results"]["logic-direct"];
    assert!(direct["acc,none"].is_f64() && direct["acc_stderr,none"].is_f64(), "{direct}");
    let samples = std::fs::read_to_string(files[0]).unwrap();
    assert_eq!(samples.lines().count(), 20);
    let first: serde_json::Value = serde_json::from_str(samples.lines().next().unwrap()).unwrap();
    let mean: f64 = samples
        .lines()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap()["acc"].as_f64().unwrap())
        .sum::<f64>()
        / 20.0;
    assert!((direct["acc,none"].as_f64().unwrap() - mean).abs() < 1e-12);
    assert_eq!(first["filtered_resps"].as_array().unwrap().len(), 2);
    assert!(first["arguments"]["gen_args_1"]["arg_0"].as_str().unwrap().contains("[user]"), "{first}");
}

#[test]
fn a_page_is_written_and_excludes_other_views() {
    let bench = Bench::new(ONE);
    assert!(bench.run("a", &[]).status.success());
    let (code, _, errors) = told(&run(&["report", &bench.path("a"), "--html", &bench.path("x.html")]));
    assert_eq!(code, Some(0), "{errors}");
    let page = std::fs::read_to_string(bench.path("x.html")).unwrap();
    assert!(page.starts_with("<!DOCTYPE html>") && page.contains("[user]"), "prompts are made anew");
    let refused = run(&["report", &bench.path("a"), "--html", "-", "--papers"]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(complaint(&refused).contains("the page has every view"));
}

#[test]
fn what_is_handed_on_of_a_run_that_is_not_whole_says_so() {
    let bench = Bench::new(ONE);
    assert!(bench.run("a", &[]).status.success());
    let (dir, joined) = (bench.path("a"), bench.path("joined"));
    let commands: [&[&str]; 5] = [
        &["export", &dir, "--format", "csv"],
        &["export", &dir, "--format", "jsonl"],
        &["report", &dir, "--csv", "-"],
        &["regrade", &dir],
        &["merge", &dir, "-o", &joined],
    ];
    for command in commands {
        let (code, _, errors) = told(&run(command));
        assert_eq!((code, errors.as_str()), (Some(0), ""), "{command:?}");
    }
    // One flipped byte of an entry: its group is not complete any more.
    let log = bench.dir.path().join("a/log");
    let mut bytes = std::fs::read(&log).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 0x55;
    std::fs::write(&log, bytes).unwrap();
    std::fs::remove_dir_all(&joined).unwrap();
    let planned = bench.log("a").header.groups;
    let there = bench.log("a").groups.len();
    assert!(there < planned as usize, "{there} of {planned}");
    for command in commands {
        let (_, _, errors) = told(&run(command));
        let state = format!("{dir}: {there} of {planned} groups are in the log; 1 damaged stretch");
        assert!(errors.lines().any(|line| line.starts_with(&state)), "{command:?}: {errors}");
    }
}
