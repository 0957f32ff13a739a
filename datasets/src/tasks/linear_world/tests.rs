//! Tests of LinearWorld against the paper, arithmetic, and a reader of its prompts.

use std::collections::BTreeSet;

use super::*;
use crate::item::Gold;
use crate::tasks::tracking::reader::{balance, check, flat, forms, hash, params};
use crate::tasks::tracking::{Query, World};
use line::Movement;

const PRINTED: &str = include_str!("printed.txt");

fn made(text: &str, seed: u64) -> Vec<Item> {
    items(&params(text), seed).unwrap()
}

fn start(persons: usize) -> Line {
    Line { positions: (0..persons as i64).collect(), updates: Updates::Swap, asking: Asking::Random }
}

/// The instance printed in appendix A.1: B and C, then C and A; B with respect to A.
fn printed_instance() -> [String; 2] {
    let (begin, mut now) = (start(3), start(3));
    let movements = [Movement::Swap(1, 2), Movement::Swap(2, 0)];
    movements.iter().for_each(|movement| now.apply(movement));
    assert_eq!(["left", "right"][usize::from(now.side(1, 0))], "right");
    let query = Query { text: Line::asked(1, 0), gold: now.side(1, 0), initial: begin.side(1, 0) };
    let updates: Vec<String> = movements.iter().map(Movement::to_string).collect();
    forms(&wording::layout(3, Updates::Swap).ready().question(&begin.state(), &updates, &query))
}

#[test]
fn the_reasoning_prompt_is_the_printed_one_and_its_answer_is_right() {
    assert_eq!(flat(&printed_instance()[1]), flat(PRINTED));
}

#[test]
fn the_direct_prompt_is_the_printed_one_without_reasoning() {
    let printed = flat(PRINTED);
    let cut = |text: &str, from: &str, to: &str| {
        let (head, tail) = text.split_once(from).unwrap();
        format!("{head}{}", tail.split_once(to).map_or(String::new(), |(_, tail)| format!("{to}{tail}")))
    };
    let printed = cut(&printed, "Reasoning: ", "Answer: [[right]] Now");
    let printed = printed.strip_suffix(" Reasoning:").unwrap();
    let printed = printed.replace(
        "calculate and report the final position of each person after the specified sequence of movements and \
         respond to a given query about their respective positions.",
        "respond to a given query about their respective positions after the specified sequence of movements.",
    );
    assert_eq!(flat(&printed_instance()[0]), printed);
}

#[test]
fn statements_have_lines_of_their_own_and_depth_0_has_no_updates() {
    let items = made("depths = [0]\nepisodes = 1", 1);
    let [direct, reasoning] = forms(items[0].first_question());
    let expected = "Here is an example:\n\nPerson A starts at position 0\nPerson B starts at position 1\n\
         Person C starts at position 2\n\nPerson C swaps position with Person A.\n\
         Person A swaps position with Person B.\n\nQuery: Where does Person B stand with respect to Person C now?\n\
         Options: left, right\nReasoning: Considering all the previous movements, Person B is at position 2. Person C \
         is at position 0. Since 2 is greater than 0, Person B is to the right of Person C.\nAnswer: [[right]]\n\n\
         Now your turn:\nPerson A starts at position 0\nPerson B starts at position 1\nPerson C starts at position \
         2\n\nQuery: Where does Person ";
    assert!(reasoning.contains(expected), "{reasoning}");
    assert!(direct.ends_with(" now?\nOptions: left, right") && !direct.contains("Reasoning"));
    assert!(made("persons = 5", 1).iter().all(|item| {
        let [direct, _] = forms(item.first_question());
        direct.starts_with("Consider a 2D world with five individuals, ")
            && direct.contains("E starts at position 4")
    }));
}

/// Share of sequences of swaps and of queries for which the initial state answers rightly, as (right, all).
fn stateless_share(persons: usize, depth: u32) -> (u64, u64) {
    let pairs: Vec<(usize, usize)> =
        (0..persons).flat_map(|a| (0..persons).filter(move |&b| a != b).map(move |b| (a, b))).collect();
    let mut states = vec![start(persons)];
    for _ in 0..depth {
        let after = |line: &Line, &(a, b): &(usize, usize)| {
            let mut line = line.clone();
            line.apply(&Movement::Swap(a, b));
            line
        };
        states = states.iter().flat_map(|line| pairs.iter().map(move |pair| after(line, pair))).collect();
    }
    let begin = start(persons);
    let right =
        |line: &Line| pairs.iter().filter(|&&(a, b)| line.side(a, b) == begin.side(a, b)).count() as u64;
    (states.iter().map(right).sum(), (states.len() * pairs.len()) as u64)
}

#[test]
fn the_initial_state_answers_4_of_9_at_odd_and_5_of_9_at_even_depths_for_3_persons() {
    for depth in 1..=5 {
        let (right, all) = stateless_share(3, depth);
        let ninths = if depth % 2 == 1 { 4 } else { 5 };
        assert_eq!(right * 9, all * ninths, "depth {depth}");
    }
    // Five persons: a swap over a distance g turns 2 g - 1 of the 10 pairs, 3 on average.
    let share = |depth| {
        let (right, all) = stateless_share(5, depth);
        right as f64 / all as f64
    };
    assert!((share(1) - 0.7).abs() < 1e-12);
    assert!((share(2) - 0.60).abs() < 0.005 && (share(3) - 0.55).abs() < 0.005);
}

#[test]
fn the_generator_meets_the_expectation_of_the_initial_state() {
    let items = made("episodes = 4000\ndepths = [0, 1, 2, 3, 8]", 3);
    let answers = (STATELESS.answers)(&items);
    for (depth, expected) in
        [("0", 1.0), ("1", 4.0 / 9.0), ("2", 5.0 / 9.0), ("3", 4.0 / 9.0), ("8", 5.0 / 9.0)]
    {
        let of_depth = items.iter().zip(&answers).filter(|(item, _)| item.tags["depth"] == depth);
        let right = of_depth.filter(|(item, answer)| {
            let question = item.first_question();
            answer.map(|label| question.labels[usize::from(label)].as_str())
                == Some(crate::tasks::tracking::reader::gold(question))
        });
        let share = right.count() as f64 / 4000.0;
        assert!((share - expected).abs() < 0.032, "depth {depth}: {share}, four standard errors are 0.032");
    }
}

#[test]
fn a_state_dependent_query_has_another_answer_than_the_start_wherever_there_is_one() {
    // Back at the start after an even number of swaps: one time in 3 for 3 persons, one in 10 for 5 at depth 2.
    for (persons, depth, fallbacks) in [(3, 0, 1.0), (3, 1, 0.0), (3, 2, 1.0 / 3.0), (3, 7, 0.0), (5, 2, 0.1)]
    {
        let text =
            format!("persons = {persons}\nepisodes = 5000\ndepths = [{depth}]\nquery = \"state-dependent\"");
        let items = made(&text, 5);
        let share = items.iter().filter(|item| item.tags["dependent"] == "false").count() as f64 / 5000.0;
        assert!((share - fallbacks).abs() < 0.03, "{persons} persons, depth {depth}: {share}");
        for item in &items {
            let found = check(item);
            let home = found.positions.first() == found.positions.last();
            assert_eq!(item.tags["dependent"] == "false", home, "{}", item.id);
        }
    }
}

#[test]
fn an_integer_move_takes_an_inner_person_beyond_the_outermost() {
    for (updates, low, high) in [("integer", 1, 5), ("large-integer", 100, 999)] {
        for persons in [3, 5] {
            let text = format!("persons = {persons}\nupdates = \"{updates}\"\nepisodes = 300\ndepths = [10]");
            let mut overshoots = BTreeSet::new();
            for item in made(&text, 2) {
                let positions = check(&item).positions;
                let first: Vec<i64> = positions[0].values().copied().collect();
                if updates == "integer" {
                    assert_eq!(first, (1..=persons).collect::<Vec<i64>>());
                } else {
                    assert!(first.iter().all(|place| (1000..=9999).contains(place)), "{first:?}");
                }
                let mut last_mover = None;
                for pair in positions.windows(2) {
                    let moved: Vec<&String> =
                        pair[0].keys().filter(|who| pair[0][*who] != pair[1][*who]).collect();
                    let [mover] = moved[..] else { panic!("one person moves: {moved:?}") };
                    let (min, max) = (pair[0].values().min().unwrap(), pair[0].values().max().unwrap());
                    let (from, to) = (pair[0][mover], pair[1][mover]);
                    assert!(*min < from && from < *max, "an inner person moves");
                    let overshoot = if to > from { to - max } else { min - to };
                    assert!((low..=high).contains(&overshoot), "{overshoot}");
                    overshoots.insert(overshoot);
                    assert_ne!(last_mover, Some(mover.clone()), "nobody moves twice in a row");
                    last_mover = Some(mover.clone());
                    assert_eq!(
                        pair[1].values().collect::<BTreeSet<_>>().len(),
                        pair[1].len(),
                        "places stay distinct"
                    );
                }
            }
            assert!(overshoots.contains(&low) && (low != 1 || overshoots.len() == 5));
        }
    }
}

#[test]
fn what_the_prompt_says_leads_to_the_gold_over_ten_thousand_seeds() {
    let kinds = [
        "",
        "persons = 5",
        "query = \"state-dependent\"",
        "updates = \"integer\"",
        "updates = \"large-integer\"",
        "persons = 4\nupdates = \"integer\"\nquery = \"state-dependent\"",
        "persons = 5\nupdates = \"large-integer\"\nquery = \"state-dependent\"",
    ];
    let mut golds = Vec::new();
    for seed in 0..10_000 {
        let kind = kinds[seed as usize % kinds.len()];
        let items = made(&format!("{kind}\nepisodes = 1\ndepths = [1, 4]"), seed);
        golds.extend(items.iter().map(|item| check(item).now));
    }
    let chi_square = balance("linear-world", &["left", "right"], golds.iter().map(String::as_str));
    assert!(chi_square < 15.1, "p = 0.0001 at 15.1");
}

#[test]
fn items_do_not_depend_on_how_many_are_made() {
    let all = made("", 4);
    let few = made("episodes = 7\ndepths = [3, 10]", 4);
    assert_eq!(few.len(), 14);
    assert!(few.iter().all(|item| all.contains(item)));
    let ids: BTreeSet<&String> = all.iter().map(|item| &item.id).collect();
    assert_eq!(ids.len(), 550);
    let questions: BTreeSet<(&String, String)> =
        all.iter().map(|item| (&item.family, forms(item.first_question())[0].clone())).collect();
    assert_eq!(questions.len(), 550, "an episode asks nothing twice");
}

#[test]
fn the_default_items_are_the_same_for_ever() {
    let started = std::time::Instant::now();
    let items = made("", 1);
    println!("550 items in {:?}", started.elapsed());
    items.iter().for_each(|item| drop(check(item)));
    assert_eq!(items.len(), 550);
    assert_eq!(hash(&items), "30b7cbe884c807a5b87187c83cc3b80d1d9cc9bd8c3f358054ca1ff4e50e5108");
}

#[test]
fn the_most_frequent_answer_of_a_depth_is_right_at_least_half_the_time() {
    let items = made("", 1);
    let answers = (MOST_FREQUENT.answers)(&items);
    for depth in 0..=10 {
        let of_depth: Vec<_> =
            items.iter().zip(&answers).filter(|(item, _)| item.tags["depth"] == depth.to_string()).collect();
        let right = of_depth
            .iter()
            .filter(|(item, answer)| item.first_question().gold == Gold::Label(answer.unwrap()));
        assert!(right.count() >= 25, "of 50");
        assert!(of_depth.iter().all(|(_, answer)| *answer == of_depth[0].1), "one answer per depth");
    }
}

#[test]
fn the_documented_parameters_are_the_defaults_and_bad_ones_are_named() {
    let documented: LinearWorldParams = params(LINEAR_WORLD.params).read().unwrap();
    assert_eq!(documented, LinearWorldParams::default());
    let refused = |text: &str| items(&params(text), 1).unwrap_err().to_string();
    for (text, key) in [
        ("persons = 2", "persons"),
        ("persons = 6", "persons"),
        ("episodes = 0", "episodes"),
        ("depths = []", "depths"),
        ("depths = [3, 1]", "depths"),
        ("depths = [1, 1]", "depths"),
        ("depths = [1001]", "depths"),
        ("updates = \"jump\"", "jump"),
        ("query = \"all\"", "all"),
        ("person = 3", "person"),
    ] {
        assert!(refused(text).contains(key), "{text}: {}", refused(text));
    }
}

#[test]
fn the_published_tables_are_whole() {
    let text = include_str!("../../../data/papers/state-tracking.toml");
    let rows: toml::Table = text.parse().unwrap();
    let rows = rows["row"].as_array().unwrap();
    // Table 1: 3 tasks, 12 rows, 11 depths; Table 2: 5 systems, 2 ways; Table 3: 4 systems; Table 4: 6, 7 variants each.
    assert_eq!(rows.len(), 3 * 12 * 11 + 5 * 2 + 4 * 7 * 11 + 6 * 7 * 11);
    let word = |row: &toml::Value, key: &str| row[key].as_str().unwrap().to_owned();
    let key = |row: &toml::Value| ["table", "task", "model", "condition", "metric"].map(|key| word(row, key));
    assert_eq!(rows.iter().map(key).collect::<BTreeSet<_>>().len(), rows.len());
    assert!(rows.iter().all(|row| (0.0..=1.0).contains(&row["value"].as_float().unwrap())));
    assert!(rows.iter().all(|row| Task::named(&word(row, "task")).is_some()));
}
