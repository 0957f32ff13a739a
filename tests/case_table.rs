//! Holds the table of cases in `tests/README.md` true: every test that it names exists.

use std::collections::BTreeSet;

use crate::support::root;

/// Cases of the catalogue.
const CASES: usize = 157;

#[test]
fn every_case_has_a_test_that_exists_or_a_reason() {
    let text = std::fs::read_to_string(root().join("tests/README.md")).expect("the table");
    let rows: Vec<Vec<&str>> = text
        .lines()
        .filter(|line| line.starts_with("| ") && line.matches('|').count() == 4 && line.contains('-'))
        .map(|line| line.trim_matches('|').split('|').map(str::trim).collect())
        .filter(|cells: &Vec<&str>| is_case(cells[0]))
        .collect();
    let cases: BTreeSet<&str> = rows.iter().map(|cells| cells[0]).collect();
    assert_eq!((rows.len(), cases.len()), (CASES, CASES));
    let mut tests = 0;
    for cells in rows {
        let named: Vec<(&str, &str)> =
            cells[2].split('`').filter_map(|piece| piece.split_once("::")).collect();
        let has_reason = ["Not yet: ", "Does not apply"].iter().any(|word| cells[2].starts_with(word));
        assert_eq!(has_reason, named.is_empty(), "{cells:?}");
        for (file, name) in named {
            let source = std::fs::read_to_string(root().join(file)).unwrap_or_default();
            assert!(source.contains(&format!("fn {name}(")), "{}: {file} has no test {name}", cells[0]);
            tests += 1;
        }
    }
    assert!(tests > CASES, "{tests}");
}

/// `TOK-01`.
fn is_case(cell: &str) -> bool {
    cell.split_once('-').is_some_and(|(kind, number)| {
        kind.chars().all(|c| c.is_ascii_uppercase()) && number.len() == 2 && number.parse::<u8>().is_ok()
    })
}
