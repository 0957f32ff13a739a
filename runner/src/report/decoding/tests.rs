//! Figures of answers that are made up, against what arithmetic says of them.

use datasets::{Said, Verdict};
use models::{LabelScore, Reply, Scored, Usage};

use super::*;
use crate::entry::ItemRecord;
use crate::report::made_up::{item, run, turn};
use crate::report::{RunLog, cells};

/// An answer whose labels A and B have these probabilities.
fn asked(
    id: &str,
    tags: &[(&str, &str)],
    condition: &str,
    gold: u16,
    p: [f64; 2],
    continuation: f64,
) -> ItemRecord {
    let said = u16::from(p[1] > p[0]);
    let mut turn = turn(gold, Said::Choice(said));
    let label =
        |p: &f64| LabelScore { tokens: vec![1], logprobs: vec![p.ln() as f32], rank: (1.0 / p) as u32 };
    turn.replies = vec![Reply::Scored(Scored {
        labels: p.iter().map(label).collect(),
        mass: Some(p[0] + p[1]),
        watched: vec![continuation, p[0] + p[1]],
        entropy: Some(1.0),
        ..Scored::default()
    })];
    let mut record = item(0, id, tags, condition, turn.verdict);
    record.family = datasets::forms::base(id).to_owned();
    record.turns = vec![turn];
    record
}

fn made(conditions: &[&str], items: Vec<ItemRecord>) -> RunLog {
    let mut log = run(&["t"], items);
    log.header.tasks[0].interfaces = conditions.iter().map(|name| (*name).to_owned()).collect();
    log
}

fn of(log: &RunLog) -> Decoding {
    decoding(log, &cells(log))
}

fn near(value: Option<f64>, expected: f64) {
    assert!(value.is_some_and(|value| (value - expected).abs() < 1e-6), "{value:?} and not {expected}");
}

#[test]
fn masses_ranks_and_slots_are_means_over_the_answers() {
    let log = made(
        &["direct", "cot-prefix"],
        vec![
            asked("a", &[], "direct", 0, [0.5, 0.25], 0.01),
            asked("b", &[], "direct", 1, [0.2, 0.5], 0.03),
            asked("a", &[], "cot-prefix", 0, [0.05, 0.02], 0.4),
            asked("b", &[], "cot-prefix", 1, [0.04, 0.01], 0.2),
        ],
    );
    let found = of(&log);
    let [direct, prefix] = &found.conditions[..] else { panic!("two conditions") };
    near(direct.accuracy, 1.0);
    near(prefix.accuracy, 0.5);
    near(direct.first_slot, 0.5);
    near(prefix.first_slot, 1.0);
    near(direct.label_mass, (0.75 + 0.7) / 2.0);
    near(prefix.continuation_mass, 0.3);
    near(prefix.gold_rank, (20.0 + 100.0) / 2.0);
    near(direct.gold_probability, 0.5);
    near(direct.chance, 0.5);
    near(direct.margin, (2f64.ln() + 2.5f64.ln()) / 2.0);
    let [shift] = &found.shifts[..] else { panic!("one shift") };
    near(shift.label_mass.value, (0.07 + 0.05) / (0.75 + 0.7));
    near(shift.continuation_mass.value, 0.6 / 0.04);
    near(shift.gold_rank, (20.0 + 100.0) / 2.0 - 2.0);
    near(shift.accuracy, -0.5);
    let slot = |condition: &str, slot: usize| {
        found
            .slots
            .iter()
            .find(|row| row.condition == condition && row.slot == slot)
            .expect("the row")
            .clone()
    };
    near(slot("cot-prefix", 1).said, 1.0);
    near(slot("cot-prefix", 2).said, 0.0);
    near(slot("cot-prefix", 2).accuracy, 0.0);
    near(slot("cot-prefix", 2).gold_probability, 0.01);
    near(slot("cot-prefix", 2).gold_share, 0.2);
    assert_eq!((slot("direct", 1).right_here, slot("direct", 1).n), (1, 2));
}

#[test]
fn opt_02_an_answer_that_is_always_the_first_place_is_right_as_often_as_the_gold_is_there() {
    // Four items in four orders each, the gold once in every place of two: half of the orders have it first.
    let mut items = Vec::new();
    for id in ["a", "b", "c", "d"] {
        for (seed, gold) in [("1", 0), ("2", 1), ("3", 0), ("4", 1)] {
            let order = if gold == 0 { "1-2" } else { "2-1" };
            let tags = [("permutation", seed), ("permuted", order)];
            items.push(asked(&format!("{id}@p{seed}"), &tags, "direct", gold, [0.6, 0.1], 0.0));
        }
    }
    let found = of(&made(&["direct"], items));
    let [row] = &found.orders[..] else { panic!("one row") };
    assert_eq!((row.seeds, row.items), (4, 4));
    near(row.accuracy.mean, 0.5);
    // 1, 0, 1, 0: squares 4 x 0.25 over 3.
    near(row.accuracy.deviation, (1.0f64 / 3.0).sqrt());
    near(row.first_slot.mean, 1.0);
    near(row.first_slot.deviation, 0.0);
    near(row.all_right, 0.0);
    near(row.same_content, 0.0);
    near(row.chance, 0.5);
    assert_eq!(found.slots[0].said, Some(1.0), "the histogram is all first place");
    // Sixteen answers of four items are worth no more than the items are.
    let condition = &found.conditions[0];
    assert!(condition.high.unwrap() - condition.low.unwrap() > 0.3, "{condition:?}");
}

#[test]
fn a_content_that_is_always_said_is_the_same_content_in_every_order() {
    let of_seed = |seed: &'static str, gold: u16| {
        let order = if gold == 0 { "1-2" } else { "2-1" };
        let p = if gold == 0 { [0.6, 0.1] } else { [0.1, 0.6] };
        asked(&format!("a@p{seed}"), &[("permutation", seed), ("permuted", order)], "direct", gold, p, 0.0)
    };
    // Item b lost one of its orders: it is left out of means over seeds.
    let mut lost = asked("b@p1", &[("permutation", "1"), ("permuted", "1-2")], "direct", 0, [0.1, 0.6], 0.0);
    lost.family = "b".into();
    let found = of(&made(&["direct"], vec![of_seed("1", 0), of_seed("2", 1), lost]));
    let [row] = &found.orders[..] else { panic!("one row") };
    assert_eq!((row.items, row.seeds), (1, 2));
    near(row.same_content, 1.0);
    near(row.all_right, 1.0);
    near(row.accuracy.deviation, 0.0);
}

#[test]
fn unanswered_items_stay_in_every_denominator_and_lost_ones_do_not() {
    let mut silent = asked("b", &[], "direct", 0, [0.6, 0.1], 0.0);
    silent.turns[0].said = Some(Said::Nothing(datasets::NoAnswer::Tie));
    silent.verdict = Verdict::Unanswered(datasets::NoAnswer::Tie);
    let mut gone = asked("c", &[], "direct", 0, [0.6, 0.1], 0.0);
    gone.verdict = Verdict::Lost(datasets::Loss::WorkerDied);
    let items = vec![asked("a", &[], "direct", 0, [0.6, 0.1], 0.0), silent, gone];
    let found = of(&made(&["direct"], items));
    let row = &found.conditions[0];
    assert_eq!(row.n, 2);
    near(row.first_slot, 0.5);
    near(row.unanswered, 0.5);
    near(row.accuracy, 0.5);
}

/// Texts of 4 and 10 bytes, one and two tokens, after the question and without it.
fn texts(id: &str, gold: u16) -> ItemRecord {
    let score = |logprobs: &[f32]| LabelScore {
        tokens: vec![1; logprobs.len()],
        logprobs: logprobs.to_vec(),
        rank: 1,
    };
    let scored = |labels: [&[f32]; 2]| {
        Reply::Scored(Scored { labels: labels.map(score).to_vec(), mass: Some(0.1), ..Scored::default() })
    };
    let mut turn = turn(gold, Said::Choice(0));
    turn.texts = ["rain", "heavy snow"].map(str::to_owned).to_vec();
    turn.replies = vec![scored([&[-3.0], &[-2.0, -2.5]]), scored([&[-4.0], &[-2.5, -4.0]])];
    let mut record = item(0, id, &[], "full-string", turn.verdict);
    record.turns = vec![turn];
    record
}

#[test]
fn tok_08_texts_are_judged_in_every_way_and_unequal_lengths_are_told() {
    // By the sum the first wins, else the second: two of three items have the second as gold.
    let items = vec![texts("a", 0), texts("b", 1), texts("c", 1)];
    let log = made(&["full-string"], items);
    let found = of(&log);
    let [row] = &found.texts[..] else { panic!("one row") };
    near(row.sum, 1.0 / 3.0);
    for accuracy in [row.per_token, row.per_byte, row.unconditional] {
        near(accuracy, 2.0 / 3.0);
    }
    near(row.unequal, 1.0);
    assert!(
        found.notes.len() == 1 && found.notes[0].to_string().contains("unequal lengths in 100 %"),
        "{:?}",
        found.notes
    );
    assert_eq!(found.conditions[0].label_mass, None, "texts are no labels");
    assert!(has_decoding(&found));
}

#[test]
fn what_writing_gains_is_paired_with_the_direct_condition_and_its_price_stands_beside() {
    let mut items = Vec::new();
    for (id, direct_right, chain_right) in
        [("a", true, true), ("b", false, true), ("c", false, true), ("d", true, false)]
    {
        let p = |right: bool| if right { [0.6, 0.1] } else { [0.1, 0.6] };
        let mut direct = asked(id, &[], "direct", 0, p(direct_right), 0.0);
        direct.usage = Usage { evaluated_tokens: 10, ..Usage::default() };
        let mut chain = asked(id, &[], "self-consistency", 0, p(chain_right), 0.0);
        chain.usage = Usage { evaluated_tokens: 30, output_tokens: 70, ..Usage::default() };
        items.extend([direct, chain]);
    }
    let found = of(&made(&["direct", "self-consistency"], items));
    let [direct, chain] = &found.written[..] else { panic!("two rows") };
    assert_eq!((direct.gain, direct.times_direct), (None, Some(1.0)));
    near(chain.gain, 0.25);
    near(chain.written_per_item, 70.0);
    near(chain.times_direct, 10.0);
    assert_eq!(chain.joules_per_item, None);
}

#[test]
fn tables_and_csv_hold_every_row() {
    let log = made(
        &["direct", "cot-prefix"],
        vec![
            asked("a", &[], "direct", 0, [0.5, 0.25], 0.01),
            asked("a", &[], "cot-prefix", 0, [0.05, 0.02], 0.4),
        ],
    );
    let found = of(&log);
    let text = decoding_tables(&found, None, Extent::Brief);
    assert!(text.contains("x 0.093") && text.contains("x 40.000"), "{text}");
    let mut csv = Vec::new();
    write_decoding_csv(&found, &mut csv).unwrap();
    let csv = String::from_utf8(csv).unwrap();
    assert!(
        csv.lines().any(|line| line.starts_with("shifts,m,t,cot-prefix,,continuation-mass-ratio,40")),
        "{csv}"
    );
    assert!(csv.lines().all(|line| line.split(',').count() == 10));
}

/// Three items of two places under `direct` and endings of it; each item's label mass is the same.
fn swept(conditions: usize, mass: impl Fn(usize) -> f64) -> RunLog {
    let names: Vec<String> = (0..conditions)
        .map(|at| if at == 0 { "direct".to_owned() } else { format!("direct+ending-{at}") })
        .collect();
    let mut items = Vec::new();
    for (at, name) in names.iter().enumerate() {
        for id in ["a", "b", "c"] {
            items.push(asked(id, &[], name, 0, [0.75 * mass(at), 0.25 * mass(at)], 0.0));
        }
    }
    made(&names.iter().map(String::as_str).collect::<Vec<_>>(), items)
}

#[test]
fn of_many_conditions_those_that_vary_nothing_have_their_places_shown_and_csv_has_all() {
    for (conditions, shown) in [(4, 8), (5, 2), (15, 2)] {
        let found = of(&swept(conditions, |_| 0.5));
        assert_eq!(found.slots.len(), 2 * conditions);
        let brief = rows::slots(&found, Extent::Brief);
        assert_eq!((brief.rows.len(), brief.left_out), (shown, 2 * conditions - shown), "{conditions}");
        let whole = rows::slots(&found, Extent::Whole);
        assert_eq!((whole.rows.len(), whole.left_out), (2 * conditions, 0));
        let text = decoding_tables(&found, None, Extent::Brief);
        assert_eq!(text.contains("Left out: "), conditions > 4);
        // A row per condition in the first two tables, but for the one that the others are held against.
        let of_table = |title: &str| {
            let rest = text.split_once(title).unwrap().1;
            rest.lines().skip(2).take_while(|line| !line.is_empty()).count()
        };
        assert_eq!(of_table("Conditions ("), conditions);
        assert_eq!(of_table("Against the direct"), conditions - 1);
        let mut csv = Vec::new();
        write_decoding_csv(&found, &mut csv).unwrap();
        let csv = String::from_utf8(csv).unwrap();
        // `said`, and three figures of the right label there.
        let places = csv.lines().filter(|line| line.starts_with("slots,")).count();
        assert_eq!(places, 4 * 2 * conditions);
    }
}

#[test]
fn low_label_mass_under_many_conditions_is_one_line_for_people_and_all_of_them_in_json() {
    // Conditions 3 to 8 of fifteen are low, 8 lowest.
    let low = |at: usize| if (3..=8).contains(&at) { 0.05 - 0.004 * at as f64 } else { 0.9 };
    let log = swept(15, low);
    let cells = cells(&log);
    let notes = crate::report::notes(&log, &cells, &[], 0.05);
    let lines: Vec<String> =
        crate::report::gathered(&notes).into_iter().filter(|line| line.contains("mass")).collect();
    assert_eq!(
        lines,
        [
            "m: median label mass is below 0.05 in 6 of 15 rows (lowest 0.018: t / direct+ending-8): the model hardly means to \
             answer with a label there"
        ]
    );
    let json = crate::report::to_json(&log, &cells, &notes, crate::report::Views::default());
    let all = json["notes"].as_array().unwrap();
    let own = |note: &&serde_json::Value| note.as_str().unwrap().contains("median label mass");
    assert_eq!(all.iter().filter(own).count(), 6);
    assert!(
        all.iter().any(|note| note
            .as_str()
            .unwrap()
            .contains("m / t / direct+ending-8: median label mass 0.018 is"))
    );
    // One alone is named as ever.
    let log = swept(15, |at| if at == 3 { 0.038 } else { 0.9 });
    let cells = crate::report::cells(&log);
    let lines = crate::report::gathered(&crate::report::notes(&log, &cells, &[], 0.05));
    assert!(
        lines
            .iter()
            .any(|line| line.contains("m / t / direct+ending-3: median label mass 0.038 is below 0.05"))
    );
}
