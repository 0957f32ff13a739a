//! Tests of Lights against the paper, arithmetic, and a reader of its prompts.

use super::*;
use crate::item::Gold;
use crate::tasks::tracking::reader::{balance, check, flat, forms, hash, params};

const PRINTED: &str = include_str!("printed.txt");

fn made(text: &str, seed: u64) -> Vec<Item> {
    items(&params(text), seed).unwrap()
}

/// The instance printed in appendix A.3: 3, 5, 5, 1; room C.
fn printed_instance() -> [String; 2] {
    let mut now = Rooms::dark();
    let presses = [Press(3), Press(5), Press(5), Press(1)];
    presses.iter().for_each(|press| now.apply(press));
    assert_eq!(STATUS[usize::from(now.status(2))], "off");
    let query = Query { text: Rooms::asked(2), gold: now.status(2), initial: 1 };
    let updates: Vec<String> = presses.iter().map(Press::to_string).collect();
    forms(&layout().ready().question(&Rooms::dark().state(), &updates, &query))
}

#[test]
fn the_prompts_are_the_printed_one_with_and_without_reasoning_and_its_answer_is_right() {
    let [direct, reasoning] = printed_instance();
    assert_eq!(flat(&reasoning), flat(PRINTED));
    let printed = flat(PRINTED);
    let (head, tail) = printed.split_once("Reasoning: ").unwrap();
    let bare = format!("{head}Answer: [[off]]{}", tail.split_once("Answer: [[off]]").unwrap().1);
    assert_eq!(flat(&direct), bare.strip_suffix(" Reasoning:").unwrap());
}

#[test]
fn each_switch_does_what_the_table_says() {
    // Rooms A, B, C after each switch, from all dark and from all lit, read off appendix A.3.
    let table = [
        (1, [true, false, false], [true, false, true]),
        (2, [false, true, false], [true, true, false]),
        (3, [false, false, true], [false, true, true]),
        (4, [true, true, true], [true, true, true]),
        (5, [false, false, false], [false, false, false]),
    ];
    for (switch, from_dark, from_lit) in table {
        for (start, end) in [([false; 3], from_dark), ([true; 3], from_lit)] {
            let mut rooms = Rooms(start);
            rooms.apply(&Press(switch));
            assert_eq!(rooms, Rooms(end), "switch {switch}");
        }
    }
}

#[test]
fn the_initial_state_answers_half_and_half_a_fifth_to_the_power_of_the_depth() {
    // Four of the five switches set a room, two on and two off: untouched with 5^-d, else either way.
    let items = made("episodes = 4000\ndepths = [0, 1, 2, 3, 6]", 3);
    let answers = (STATELESS.answers)(&items);
    for depth in [0, 1, 2, 3, 6] {
        let of_depth = items.iter().zip(&answers).filter(|(item, _)| item.tags["depth"] == depth.to_string());
        let right =
            of_depth.filter(|(item, answer)| item.first_question().gold == Gold::Label(answer.unwrap()));
        let (share, expected) = (right.count() as f64 / 4000.0, 0.5 + 0.5 * 0.2f64.powi(depth));
        assert!((share - expected).abs() < 0.032, "depth {depth}: {share}, four standard errors are 0.032");
    }
}

#[test]
fn lights_start_at_random_or_dark_with_the_same_presses() {
    let random = made("episodes = 400\ndepths = [0, 3]", 6);
    let dark = made("episodes = 400\ndepths = [0, 3]\ninitial = \"off\"", 6);
    let golds =
        |items: &[Item]| items.iter().filter(|item| item.id.ends_with("d00")).map(|i| check(i).now).collect();
    let (random_golds, dark_golds): (Vec<String>, Vec<String>) = (golds(&random), golds(&dark));
    assert!(dark_golds.iter().all(|gold| gold == "off"));
    let on = random_golds.iter().filter(|gold| *gold == "on").count();
    assert!((160..240).contains(&on), "{on} of 400, four standard errors are 40");
    let presses = |item: &Item| -> Vec<String> {
        let [direct, _] = forms(item.first_question());
        direct.lines().filter(|line| line.starts_with("The switch")).map(str::to_owned).collect()
    };
    assert!(random.iter().zip(&dark).all(|(one, other)| presses(one) == presses(other)));
}

#[test]
fn what_the_prompt_says_leads_to_the_gold_over_ten_thousand_seeds() {
    let mut golds = [Vec::new(), Vec::new()];
    for seed in 0..10_000 {
        for (item, golds) in made("episodes = 1\ndepths = [1, 4]", seed).iter().zip(&mut golds) {
            golds.push(check(item).now);
        }
    }
    for (depth, golds) in [1, 4].iter().zip(&golds) {
        let chi_square = balance(&format!("lights, depth {depth}"), STATUS, golds.iter().map(String::as_str));
        assert!(chi_square < 15.1, "p = 0.0001 at 15.1");
    }
}

#[test]
fn items_do_not_depend_on_how_many_are_made() {
    let all = made("", 4);
    let few = made("episodes = 7\ndepths = [3, 10]", 4);
    assert_eq!(few.len(), 14);
    assert!(few.iter().all(|item| all.contains(item)));
}

#[test]
fn the_default_items_are_the_same_for_ever() {
    let items = made("", 1);
    items.iter().for_each(|item| drop(check(item)));
    assert_eq!(items.len(), 550);
    assert_eq!(hash(&items), "cfee20d720af7456a2d4d3a9518136a53df6da7d3eb601b91c042901dd5289bc");
}

#[test]
fn the_documented_parameters_are_the_defaults_and_bad_ones_are_named() {
    let documented: LightsParams = params(LIGHTS.params).read().unwrap();
    assert_eq!(documented, LightsParams::default());
    for (text, key) in [("episodes = 0", "episodes"), ("depths = []", "depths"), ("initial = \"on\"", "on")] {
        let message = items(&params(text), 1).unwrap_err().to_string();
        assert!(message.contains(key), "{message}");
    }
}
