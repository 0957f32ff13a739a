//! Rounds of made-up runs, with figures by hand.

use super::cells::cells;
use super::cost_views::write_costs_csv;
use super::costs::{Cost, costs};
use super::load::RunLog;
use super::made_up::turns;
use super::round_views::{round_rows, rounds_table};
use super::rounds::{Round, rounds};
use crate::plan::Shard;
use crate::statistics::Ranged;
use crate::telemetry::missing::Missing;

fn told(run: &RunLog) -> Vec<Cost> {
    costs(run, &cells(run))
}

fn over(n: u64, median: f64, low: f64, high: f64) -> Ranged {
    Ranged { n, median: Some(median), low: Some(low), high: Some(high) }
}

#[test]
fn a_turn_of_two_rounds_is_told_apart_as_the_plan_dealt_it() {
    let round = |number| Round { source: 0, of: 2, number };
    let dealt: Vec<(u32, Round)> = rounds(&turns()).into_iter().collect();
    assert_eq!(dealt, [(0, round(1)), (1, round(2)), (2, round(1)), (3, round(2))]);
    // A part has groups 1, 3, 5 and 7 of eight: 5 and 7 are the other model's first and second.
    let mut part = turns();
    part.header.groups = 8;
    part.header.shard = Some(Shard { index: 2, of: 2 });
    part.turns = [(1, 0), (3, 2), (5, 1), (7, 1)].into();
    let dealt: Vec<u32> = rounds(&part).into_values().map(|round| round.number).collect();
    assert_eq!(dealt, [1, 2, 1, 2]);
}

#[test]
fn costs_have_their_median_and_range_over_rounds() {
    let told = told(&turns());
    let (a, b) = (&told[0].rounds, &told[1].rounds);
    assert_eq!((a.seconds_per_item, b.seconds_per_item), (over(2, 3.5, 2.0, 5.0), over(2, 3.25, 1.5, 5.0)));
    // 200 tokens in 4 s and in 10 s.
    assert_eq!(a.tokens_per_s, over(2, 35.0, 20.0, 50.0));
    assert_eq!(
        (a.joules_per_item, b.joules_per_item),
        (over(2, 45.0, 40.0, 50.0), over(2, 30.0, 20.0, 40.0))
    );
    assert_eq!(
        a.each.iter().map(|round| (round.round.number, round.items)).collect::<Vec<_>>(),
        [(1, 2), (2, 2)]
    );
    assert_eq!(told[0].energy.per_item_j, Some(45.0), "the pooled figure stays");
    assert_eq!(
        round_rows(&told)[0],
        ["a", "lights", "direct", "2", "3.50 (2.00 to 5.00)", "35.0 (20.0 to 50.0)", "45.0 (40.0 to 50.0)"]
    );
}

#[test]
fn a_round_without_energy_is_left_out_of_its_range_and_counted() {
    let mut run = turns();
    run.measured.windows.retain(|(_, window)| window.group.is_none_or(|at| at.group != 1));
    let told = told(&run);
    let rounds = &told[0].rounds;
    assert_eq!(rounds.joules_per_item, over(1, 40.0, 40.0, 40.0));
    assert_eq!(rounds.each[1].energy.missing, Some(Missing::NotLogged));
    assert_eq!(round_rows(&told)[0][6], "40.0 (40.0 to 40.0; 1 of 2)");
    // Without any, a word says why.
    run.measured.windows.clear();
    assert_eq!(round_rows(&self::told(&run))[0][6], "not-logged");
    let mut csv = Vec::new();
    write_costs_csv(&self::told(&run), &mut csv).unwrap();
    let mut reader = csv::Reader::from_reader(&csv[..]);
    let names = reader.headers().unwrap().clone();
    let row = reader.records().next().unwrap().unwrap();
    let field = |name: &str| row.get(names.iter().position(|own| own == name).unwrap()).unwrap().to_owned();
    assert_eq!(
        (field("rounds"), field("s_per_item_high"), field("j_per_item_rounds")),
        ("2".into(), "5".into(), "0".into())
    );
    assert_eq!(field("j_per_item_median"), "");
}

#[test]
fn one_round_tells_nothing_beside_the_pooled_figure() {
    let mut run = turns();
    run.visits.clear();
    run.turns.clear();
    let told = told(&run);
    assert_eq!(told[0].rounds.each.len(), 1);
    assert_eq!(rounds_table(&told, None), None);
    // One model has all its rounds in one turn.
    let mut alone = turns();
    alone.header.models.truncate(1);
    assert!(rounds(&alone).is_empty());
}

#[test]
fn a_merged_log_keeps_rounds_of_different_logs_apart() {
    let mut run = turns();
    let source = |run_id: &str, groups: &[u32]| crate::entry::Source {
        run_id: run_id.to_owned(),
        device: Default::default(),
        groups: groups.to_vec(),
    };
    run.sources = vec![source("x", &[0, 2]), source("y", &[1, 3])];
    let dealt: Vec<(u32, Round)> = rounds(&run).into_iter().collect();
    // Groups 2 and 3 are of a turn with two rounds: which of them is not known any more.
    assert_eq!(
        dealt,
        [(0, Round { source: 1, of: 2, number: 1 }), (1, Round { source: 2, of: 2, number: 2 })]
    );
}

#[test]
fn repetitions_add_their_rounds() {
    let mut rounds = told(&turns())[0].rounds.clone();
    let mut slower = turns();
    slower.items.iter_mut().for_each(|item| item.usage.prefill_us *= 2);
    rounds.join(&told(&slower)[0].rounds);
    // 2, 5, 4 and 10 s.
    assert_eq!(rounds.seconds_per_item, over(4, 4.5, 2.0, 10.0));
}
