//! Counts by hand, intervals by Wilson's formula worked out apart.

use datasets::{NoAnswer, Said, Verdict};

use super::*;
use crate::report::made_up::{item, run, turn};

fn by(run: &RunLog, tags: &[&str]) -> Vec<Stratum> {
    strata(run, &tags.iter().map(|tag| (*tag).to_owned()).collect::<Vec<_>>()).unwrap()
}

fn summary(strata: &[Stratum]) -> Vec<(String, u64, f64)> {
    strata.iter().map(|stratum| (in_words(&stratum.by), stratum.cell.n, stratum.cell.right)).collect()
}

#[test]
fn numbers_are_ordered_by_size_and_each_stratum_has_its_own_interval() {
    let at = |id, depth, verdict| item(0, id, &[("depth", depth)], "direct", verdict);
    let run = run(
        &["lights"],
        vec![
            at("a", "10", Verdict::Wrong),
            at("b", "2", Verdict::Right),
            at("c", "2", Verdict::Right),
            at("d", "2", Verdict::Right),
            at("e", "2", Verdict::Unanswered(NoAnswer::Empty)),
            at("f", "2", Verdict::Lost(datasets::Loss::Deadline)),
        ],
    );
    let strata = by(&run, &["depth"]);
    assert_eq!(summary(&strata), [("depth 2".to_owned(), 4, 3.0), ("depth 10".to_owned(), 1, 0.0)]);
    let cell = &strata[0].cell;
    assert_eq!((cell.accuracy, cell.unanswered_total(), cell.lost), (Some(0.75), 1, 1));
    // p = 3/4, n = 4, z = 1.959964: centre 0.627477, half width 0.326883.
    assert!(
        (cell.low.unwrap() - 0.300642).abs() < 5e-4 && (cell.high.unwrap() - 0.954414).abs() < 5e-4,
        "{cell:?}"
    );
}

#[test]
fn forms_of_one_item_are_no_items_of_their_own() {
    let mut items = Vec::new();
    for at in 0..10 {
        for form in 0..5 {
            let verdict = if at < 6 { Verdict::Right } else { Verdict::Wrong };
            let mut item = item(0, &format!("q{at}@p{form}"), &[], "direct", verdict);
            item.family = format!("q{at}");
            items.push(item);
        }
    }
    let cell = &crate::report::cells(&run(&["lights"], items))[0];
    assert_eq!((cell.n, cell.accuracy), (50, Some(0.6)));
    // Fifty answers are worth 450/49 by their design effect, and 0.789156 times that with nine degrees of freedom (t quantiles
    // 2.009575 of 49 and 2.262157 of 9): p = 0.6, n = 7.2474, z = 1.959964: centre 0.565357, half width 0.290418.
    let (low, high) = (cell.low.unwrap(), cell.high.unwrap());
    assert!((low - 0.274940).abs() < 5e-5 && (high - 0.855775).abs() < 5e-5, "{low} {high}");
}

#[test]
fn several_tags_are_crossed() {
    let at = |id, source, conflict, verdict| {
        item(0, id, &[("conflict", conflict), ("source", source)], "free-cot", verdict)
    };
    let run = run(
        &["logic"],
        vec![
            at("a", "own", "yes", Verdict::Right),
            at("b", "own", "no", Verdict::Wrong),
            at("c", "snli", "no", Verdict::Right),
            at("d", "own", "no", Verdict::Right),
        ],
    );
    let expected = [
        ("source own, conflict no", 2, 1.0),
        ("source own, conflict yes", 1, 1.0),
        ("source snli, conflict no", 1, 1.0),
    ];
    let found = summary(&by(&run, &["source", "conflict"]));
    assert_eq!(found, expected.map(|(name, n, right)| (name.to_owned(), n, right)));
}

#[test]
fn tasks_without_the_tag_are_left_out_and_items_without_it_stand_apart() {
    let run = run(
        &["lights", "logic"],
        vec![
            item(0, "a", &[("depth", "1")], "direct", Verdict::Right),
            item(0, "b", &[], "direct", Verdict::Right),
            item(1, "c", &[("source", "own")], "direct", Verdict::Right),
        ],
    );
    assert_eq!(
        summary(&by(&run, &["depth"])),
        [("depth 1".to_owned(), 1, 1.0), ("depth -".to_owned(), 1, 1.0)]
    );
    let unknown = strata(&run, &["dept".to_owned()]).unwrap_err();
    assert!(unknown.contains("`dept`") && unknown.ends_with("depth, gold, said, source"), "{unknown}");
}

#[test]
fn opt_02_a_liking_for_one_label_shows_by_gold_and_by_what_was_said() {
    let answered = |id, gold, said: Said| {
        let turn = turn(gold, said);
        let mut item = item(0, id, &[], "direct", turn.verdict);
        item.turns.push(turn);
        item
    };
    // A model that always says A: right where A is right, and nowhere else.
    let run = run(
        &["logic"],
        vec![
            answered("a", 0, Said::Choice(0)),
            answered("b", 1, Said::Choice(0)),
            answered("c", 1, Said::Choice(0)),
            answered("d", 1, Said::Nothing(NoAnswer::Tie)),
        ],
    );
    assert_eq!(summary(&by(&run, &["gold"])), [("gold A".to_owned(), 1, 1.0), ("gold B".to_owned(), 3, 0.0)]);
    let said = summary(&by(&run, &["said"]));
    assert_eq!(said, [("said (no answer)".to_owned(), 1, 0.0), ("said A".to_owned(), 3, 1.0)]);
}

#[test]
fn an_items_own_tag_comes_before_a_built_in_one() {
    let mut own = item(0, "a", &[("gold", "mine")], "direct", Verdict::Right);
    own.turns.push(turn(0, Said::Choice(0)));
    assert_eq!(summary(&by(&run(&["file"], vec![own]), &["gold"])), [("gold mine".to_owned(), 1, 1.0)]);
}

#[test]
fn a_conversation_of_several_questions_has_no_gold_of_its_own() {
    let mut item = item(0, "a", &[], "direct", Verdict::Wrong);
    item.turns = vec![turn(0, Said::Choice(0)), turn(1, Said::Choice(0))];
    assert!(by(&run(&["vehicles"], vec![item]), &["gold"]).is_empty());
}
