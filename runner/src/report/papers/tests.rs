//! Published figures come out as they went in, and measured ones stand behind them.

use datasets::Verdict;

use super::*;
use crate::report::made_up::{item, run};

fn row(condition: &str, value: f64) -> Published {
    Published {
        paper: "p".to_owned(),
        table: "Table 1".to_owned(),
        task: "lights".to_owned(),
        model: "M".to_owned(),
        condition: condition.to_owned(),
        metric: "accuracy".to_owned(),
        value,
        n: None,
        human: false,
    }
}

#[test]
fn rows_that_differ_in_a_last_number_alone_are_one_line() {
    let rows = [
        row("CoT, depth 0", 1.0),
        row("CoT, depth 1", 0.5),
        row("direct, depth 0", 0.25),
        row("CoT", 0.75),
        row("CoT", 0.8),
    ];
    let lines: Vec<(String, Vec<f64>)> = series(&rows)
        .into_iter()
        .map(|line| (line.condition.clone(), line.points.iter().map(|(_, row)| row.value).collect()))
        .collect();
    let expected = [
        ("CoT, depth", vec![1.0, 0.5]),
        ("direct, depth", vec![0.25]),
        ("CoT", vec![0.75]),
        ("CoT", vec![0.8]),
    ];
    assert_eq!(lines, expected.map(|(condition, values)| (condition.to_owned(), values)));
}

#[test]
fn measured_rows_stand_behind_the_papers_with_their_sizes() {
    let at = |id, depth, verdict| item(0, id, &[("depth", depth)], "direct", verdict);
    let run = run(
        &["lights"],
        vec![at("a", "0", Verdict::Right), at("b", "0", Verdict::Wrong), at("c", "3", Verdict::Right)],
    );
    let rows = published(&run, &Controls::default()).unwrap();
    // Table 1 of the paper, Lights, GPT 3.5, depth 0: as printed.
    assert!(rows.iter().any(|row| row.paper == "state-tracking"
        && row.table == "Table 1"
        && row.condition == "direct, depth 0"));
    let own: Vec<(&str, f64, Option<u64>)> = rows
        .iter()
        .skip_while(|row| row.paper != THIS_RUN)
        .map(|row| (row.condition.as_str(), row.value, row.n))
        .collect();
    let expected = [
        ("direct", 2.0 / 3.0, Some(3)),
        ("direct, depth 0", 0.5, Some(2)),
        ("direct, depth 3", 1.0, Some(1)),
    ];
    assert_eq!(own, expected);
}

#[test]
fn a_score_stands_beside_the_share_that_the_paper_gives() {
    let mut chose = item(0, "a", &[("type", "I")], "direct", Verdict::Right);
    chose.scores = crate::report::made_up::scores(&[("hybrid", 1.0), ("shortest", 0.0)]);
    let rows = published(&run(&["iip"], vec![chose]), &Controls::default()).unwrap();
    let of =
        |paper: &str| rows.iter().filter(|row| row.paper == paper && row.metric == "share of hybrid").count();
    // Overall and for the one type.
    assert_eq!(of(THIS_RUN), 2);
    assert!(of("social-intelligence") > 0);
}

#[test]
fn a_task_that_no_paper_reports_has_no_rows() {
    let run = run(&["file"], vec![item(0, "a", &[], "direct", Verdict::Right)]);
    assert!(published(&run, &Controls::default()).unwrap().is_empty());
}
