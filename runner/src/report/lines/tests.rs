//! What people see of figures.

use super::*;
use crate::report::Values;

fn figure(by: &[(&str, &str)], name: &str, value: f64, n: u64) -> FigureRow {
    let by: Values = by.iter().map(|(tag, value)| ((*tag).to_owned(), (*value).to_owned())).collect();
    FigureRow {
        model: "m".to_owned(),
        task: "t".to_owned(),
        interface: "i".to_owned(),
        by,
        figure: name.to_owned(),
        value: Some(value),
        n,
    }
}

fn lines(figures: &[FigureRow]) -> Vec<String> {
    let words = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
    figures_table(figures, None).lines().skip(1).map(words).collect()
}

#[test]
fn strata_and_passes_stand_in_one_line() {
    let found = lines(&[
        figure(&[], "accuracy", 0.5, 4),
        figure(&[], "correct_pass_01", 4.0, 2),
        figure(&[], "correct_pass_02", 9.0, 1),
        figure(&[("depth", "0")], "accuracy", 1.0, 2),
        figure(&[("depth", "1")], "accuracy", 0.0, 2),
    ]);
    let expected =
        ["m t i accuracy 0.5 4", "m t i correct_pass 01: 4 02: 9 2 1", "m t i accuracy by depth 0: 1 1: 0 2"];
    assert_eq!(found, expected);
}

#[test]
fn missing_answers_are_shown_where_some_are_missing() {
    assert!(lines(&[figure(&[], "no answer", 0.0, 4)]).is_empty());
    let found =
        lines(&[figure(&[("d", "0")], "no answer", 0.0, 4), figure(&[("d", "1")], "no answer", 0.5, 4)]);
    assert_eq!(found, ["m t i no answer by d 0: 0 1: 0.5 4"]);
}
