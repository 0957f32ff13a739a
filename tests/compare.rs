//! `edge-eval compare` as an interface.

use crate::support::{Bench, complaint, run, told};

const TWO: &str = r#"
interfaces = ["direct", "free-cot"]
limit = 20

[[model]]
path = "fake"
name = "Q8_0"

[[model]]
path = "fake:say=Yes"
name = "Q4_K_M"

[[task]]
name = "logic"

[[task]]
name = "lights"
"#;

#[test]
fn models_of_one_run_are_compared_and_the_verdicts_stand_last() {
    let bench = Bench::new(TWO);
    assert!(bench.run("r", &[]).status.success());
    let (code, out, errors) = told(&run(&["compare", &bench.path("r")]));
    assert_eq!(code, Some(0), "{errors}");
    assert!(out.contains("reference: Q8_0"), "{out}");
    let last: Vec<&str> = out.trim_end().lines().rev().take(2).collect();
    assert!(last[1].starts_with("Q4_K_M, direct: ") && last[0].starts_with("Q4_K_M, free-cot: "), "{out}");
    // The same engine scores the labels of both.
    let json = told(&run(&["compare", &bench.path("r"), "--json"])).1;
    let value: serde_json::Value = serde_json::from_str(&json).unwrap();
    let direct = value["rows"].as_array().unwrap().iter().find(|row| row["interface"] == "direct").unwrap();
    assert_eq!((&direct["mcnemar"]["two_sided"], &direct["labels"]["kl"]), (&1.0.into(), &0.0.into()));
    assert_eq!(value["rows"].as_array().unwrap().len(), 4);
    assert_eq!(value["effects"].as_array().unwrap().len(), 4, "two tasks, two models");
}

#[test]
fn one_of_the_models_can_be_named_and_csv_goes_to_standard_output() {
    let bench = Bench::new(TWO);
    assert!(bench.run("r", &[]).status.success());
    let dir = bench.path("r");
    let (code, out, _) =
        told(&run(&["compare", &format!("{dir}:Q4_K_M"), &format!("{dir}:Q8_0"), "--csv", "-"]));
    assert_eq!(code, Some(0));
    assert!(out.lines().count() == 5 && out.contains("\nQ4_K_M,Q8_0,logic,direct,20,"), "{out}");
    let failed = run(&["compare", &format!("{dir}:Q2_K"), &dir]);
    assert_eq!(failed.status.code(), Some(2));
    assert!(complaint(&failed).contains("no model `Q2_K`; it has: Q8_0, Q4_K_M"));
    let failed = run(&["compare", &format!("{dir}:Q8_0")]);
    assert!(complaint(&failed).contains("nothing to compare with Q8_0"), "{failed:?}");
}

#[test]
fn stat_03_runs_that_were_asked_otherwise_are_refused_by_field() {
    let one = Bench::new(TWO);
    assert!(one.run("a", &["--model", "fake"]).status.success());
    assert!(one.run("b", &["--model", "fake", "--seed", "2"]).status.success());
    let failed = run(&["compare", &one.path("a"), &one.path("b")]);
    assert_eq!(failed.status.code(), Some(5));
    assert!(complaint(&failed).contains("seed is 1 and 2: run both alike"), "{failed:?}");
    let failed = run(&["compare", &one.path("a"), &one.path("b"), "--allow", "weather"]);
    assert!(complaint(&failed).contains("--allow weather: known: seed"), "{failed:?}");
}
