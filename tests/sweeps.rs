//! Several models in one run: their order, their estimates, and rungs that fail.

use serde_json::Value;

use crate::support::{Bench, answers, run, told};

/// Three models that answer alike.
const LADDER: &str = "interfaces = [\"direct\"]\nlimit = 12\n[engine]\ngroup-items = 4\nparity = 0\n\
    [[model]]\npath = \"fake\"\nname = \"a\"\n[[model]]\npath = \"fake\"\nname = \"b\"\n[[model]]\npath = \"fake\"\nname = \"c\"\n\
    [[task]]\nname = \"logic\"\n[[task]]\nname = \"lights\"\n[telemetry]\npower = \"off\"\n";

fn report(bench: &Bench, out: &str) -> Value {
    let (code, text, errors) = told(&run(&["report", &bench.path(out), "--json"]));
    assert_eq!(code, Some(0), "{errors}");
    serde_json::from_str(&text).expect("JSON")
}

fn groups(bench: &Bench, out: &str, model: u16) -> usize {
    bench.log(out).groups.values().filter(|end| end.at.model == model).count()
}

fn turns(bench: &Bench, out: &str) -> Vec<(u16, Vec<u32>)> {
    bench.log(out).visits.iter().map(|visit| (visit.model, visit.rounds.clone())).collect()
}

#[test]
fn models_take_turns_there_and_back_and_the_answers_are_those_of_one_round() {
    let bench = Bench::new(LADDER);
    assert_eq!(bench.run("once", &[]).status.code(), Some(0));
    let (code, _, errors) = told(&bench.run("turns", &["--rounds", "2"]));
    assert_eq!(code, Some(0), "{errors}");
    assert!(errors.contains("order (2 rounds, there and back): a, b, c, b, a"), "{errors}");
    assert!(errors.contains("c: rounds 1 and 2 of 2"), "{errors}");
    assert_eq!(
        turns(&bench, "turns"),
        [(0, vec![0]), (1, vec![0]), (2, vec![0, 1]), (1, vec![1]), (0, vec![1])]
    );
    assert!(turns(&bench, "once").is_empty());
    assert_eq!(answers(&bench.log("turns")), answers(&bench.log("once")), "the order changes no answer");
    assert_eq!(report(&bench, "turns")["visits"].as_array().map(Vec::len), Some(5));
    // Each model has as many groups as the others.
    let per_model = |model: u16| groups(&bench, "turns", model);
    assert!(per_model(0) > 2, "enough to deal");
    assert_eq!([0, 1, 2].map(per_model), [per_model(0); 3]);
}

#[test]
fn every_round_has_the_same_items_of_each_model_and_its_own_costs() {
    let bench = Bench::new(LADDER);
    assert_eq!(bench.run("turns", &["--rounds", "2"]).status.code(), Some(0));
    let report = report(&bench, "turns");
    let rounds_of = |model: &str, task: &str| -> Vec<(u64, u64)> {
        let costs = report["costs"].as_array().expect("costs");
        let own = costs.iter().find(|cost| cost["model"] == model && cost["task"] == task).expect("a cost");
        let each = own["rounds"]["each"].as_array().expect("rounds");
        each.iter().map(|one| (one["number"].as_u64().unwrap(), one["items"].as_u64().unwrap())).collect()
    };
    // Twelve items in groups of about four, whole families each: the first and the third group of the first task, then the second.
    let logic = rounds_of("a", "logic");
    assert_eq!(logic.iter().map(|round| round.0).collect::<Vec<_>>(), [1, 2]);
    assert!(logic[0].1 > logic[1].1 && logic[0].1 + logic[1].1 == 12, "{logic:?}");
    assert_eq!(rounds_of("a", "lights").iter().map(|round| round.1).sum::<u64>(), 12);
    for model in ["b", "c"] {
        assert_eq!(rounds_of(model, "logic"), rounds_of("a", "logic"), "{model}");
        assert_eq!(rounds_of(model, "lights"), rounds_of("a", "lights"), "{model}");
    }
    let comparison = told(&run(&["compare", &bench.path("turns"), "--json"])).1;
    let comparison: Value = serde_json::from_str(&comparison).expect("JSON");
    for row in comparison["rows"].as_array().expect("rows") {
        let pairs: Vec<u64> = row["rounds"]["each"]
            .as_array()
            .unwrap()
            .iter()
            .map(|one| one["pairs"].as_u64().unwrap())
            .collect();
        assert_eq!((pairs.len(), pairs.iter().sum::<u64>()), (2, 12), "{row}");
    }
}

#[test]
fn repetitions_of_a_sweep_add_rounds_and_another_run_is_refused() {
    let bench = Bench::new(LADDER);
    for out in ["one", "two"] {
        assert_eq!(bench.run(out, &["--rounds", "2"]).status.code(), Some(0));
    }
    assert_eq!(bench.run("other", &["--rounds", "2", "--limit", "8"]).status.code(), Some(0));
    let [one, two, other] = ["one", "two", "other"].map(|out| bench.path(out));
    for command in ["report", "compare"] {
        let (code, text, errors) = told(&run(&[command, &one, "--again", &two, "--json"]));
        assert_eq!(code, Some(0), "{errors}");
        let value: Value = serde_json::from_str(&text).expect("JSON");
        let rows = if command == "report" { &value["costs"] } else { &value["rows"] };
        assert_eq!(rows[0]["rounds"]["each"].as_array().map(Vec::len), Some(4), "{command}");
        let (code, _, errors) = told(&run(&[command, &one, "--again", &one]));
        assert_eq!(code, Some(2), "{command}: {errors}");
        let (code, _, errors) = told(&run(&[command, &one, "--again", &other]));
        assert_eq!(code, Some(5), "{command}: {errors}");
        assert!(errors.contains("limit"), "{command}: {errors}");
    }
}

#[test]
fn a_sweep_that_was_stopped_goes_on_in_any_order() {
    let bench = Bench::new(LADDER);
    assert_eq!(bench.run("whole", &["--rounds", "2"]).status.code(), Some(0));
    // The rounds are no part of what a run is.
    let (code, _, errors) = told(&bench.run("whole", &["--rounds", "4"]));
    assert_eq!(code, Some(0), "{errors}");
    assert_eq!(turns(&bench, "whole").len(), 5, "nothing was left to do");
}

#[test]
fn a_rung_that_fails_is_given_up_once_and_ends_nothing() {
    let bench = Bench::new(&LADDER.replacen(
        "path = \"fake\"\nname = \"b\"",
        "path = \"fake:explode\"\nname = \"b\"",
        1,
    ));
    let output = bench.run("run", &["--rounds", "2"]);
    assert_eq!(output.status.code(), Some(3), "{output:?}");
    let log = bench.log("run");
    assert_eq!(log.failed.len(), 1, "in its first turn alone");
    let whole = groups(&bench, "run", 0);
    assert!(whole > 0);
    assert_eq!([1, 2].map(|model| groups(&bench, "run", model)), [0, whole]);
}

#[test]
fn rounds_that_make_no_sense_are_refused() {
    let bench = Bench::new(LADDER);
    for rounds in ["0", "101"] {
        let (code, _, errors) = told(&bench.run("out", &["--rounds", rounds]));
        assert_eq!(code, Some(2), "{errors}");
        assert!(errors.contains("rounds is"), "{errors}");
    }
}

#[test]
fn a_plan_tells_order_time_energy_and_the_items_that_a_difference_takes() {
    let slow =
        LADDER.replace("path = \"fake\"", "path = \"fake:delay-us=2000\"").replace("\"off\"", "\"auto\"");
    let bench = Bench::new(&slow);
    let empty = bench.path("empty");
    std::fs::create_dir(&empty).unwrap();
    let arguments =
        ["plan", &bench.config, "--rounds", "2", "--probe", "9", "--difference", "5", "--root", &empty];
    let (code, text, errors) = told(&run(&[&arguments[..], &["--json"]].concat()));
    assert_eq!(code, Some(0), "{errors}");
    let plan: Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(plan["order"], serde_json::json!(["a", "b", "c", "b", "a"]));
    let forecasts = plan["forecasts"].as_array().expect("forecasts");
    assert_eq!(forecasts.len(), 3);
    for forecast in forecasts {
        assert_eq!(forecast["failure"], Value::Null, "{forecast}");
        assert_eq!((&forecast["energy_j"], &forecast["missing"]), (&Value::Null, &"no-sensor".into()));
        let rows = forecast["rows"].as_array().unwrap();
        assert_eq!(rows.len(), 2);
        for row in rows {
            // Two milliseconds a job and 12 items: at least 24 ms, and no minute.
            let seconds = row["seconds"].as_f64().expect("a time");
            assert!((0.024..60.0).contains(&seconds), "{row}");
            assert_eq!(row["items"], 12);
        }
        let parts: f64 = rows.iter().map(|row| row["seconds"].as_f64().unwrap()).sum();
        assert!(forecast["total_s"].as_f64().unwrap() >= parts);
    }
    // Connor's formula at 5 points and 20 % of answers that differ: (1.95996 sqrt(0.2) + 0.84162 sqrt(0.2 - 0.0025))^2 / 0.0025.
    let needs = plan["design"]["needs"].as_array().unwrap();
    let at_20 = needs.iter().find(|need| need["differing"] == 0.2).unwrap();
    assert_eq!(at_20["to_see"].as_f64(), Some(626.0));
    let (code, text, errors) = told(&run(&arguments));
    assert_eq!(code, Some(0), "{errors}");
    for words in
        ["order (2 rounds", "from a trial", "energy: unknown: no sensor", "all models: ", "to see it"]
    {
        assert!(text.contains(words), "{words}: {text}");
    }
}

#[test]
fn a_trial_that_cannot_answer_in_its_time_says_so() {
    let bench = Bench::new(&LADDER.replace("path = \"fake\"", "path = \"fake:delay-us=3000000\""));
    let arguments = ["plan", &bench.config, "--probe", "1", "--json", "--model", "fake:delay-us=3000000"];
    let (code, text, errors) = told(&run(&arguments));
    assert_eq!(code, Some(0), "{errors}");
    let plan: Value = serde_json::from_str(&text).expect("JSON");
    let forecast = &plan["forecasts"][0];
    assert_eq!(forecast["total_s"], Value::Null);
    assert!(forecast["failure"].as_str().unwrap().contains("give a longer --probe"), "{forecast}");
}
