//! Runs that are checked: a whole one, and such as were touched.

use datasets::{Said, Verdict};

use super::*;
use crate::report::made_up::{item, run, turn};

fn level(check: Check) -> Level {
    check.level
}

#[test]
fn an_item_that_costs_other_than_its_replies_is_seen() {
    let mut whole = item(0, "a", &[], "direct", Verdict::Right);
    whole.turns.push(turn(0, Said::Choice(0)));
    let mut touched = whole.clone();
    touched.usage.output_tokens = 5;
    assert_eq!(level(sums(&run(&["lights"], vec![whole]))), Level::Ok);
    assert_eq!(level(sums(&run(&["lights"], vec![touched]))), Level::Fail);
}

#[test]
fn an_item_that_is_there_twice_or_was_not_planned_is_seen() {
    let one = |id| item(0, id, &[], "direct", Verdict::Right);
    let twice = presence(&run(&["lights"], vec![one("a"), one("a")]));
    assert!(twice.level == Level::Fail && twice.finding.contains("there twice"), "{twice:?}");
    let foreign = presence(&run(&["lights"], vec![one("no-such-item")]));
    assert!(foreign.level == Level::Fail && foreign.finding.contains("not planned"), "{foreign:?}");
}

#[test]
fn a_template_that_is_not_its_hash_is_seen() {
    let mut run = run(&["lights"], Vec::new());
    run.header.models[0].template = "{{ x }}".to_owned();
    run.header.models[0].template_sha256 = hex(&Sha256::digest(b"{{ x }}"));
    assert_eq!(level(templates(&run)), Level::Ok);
    run.header.models[0].template.push(' ');
    assert_eq!(level(templates(&run)), Level::Fail);
}

#[test]
fn a_model_that_is_gone_is_told_and_no_failure() {
    let gone = crate::entry::ModelRecord {
        name: "m".to_owned(),
        path: "/no/such/file.gguf".to_owned(),
        sha256: "ab".to_owned(),
        ..Default::default()
    };
    assert_eq!(level(model(&gone)), Level::Skip);
}
