//! Tests of HandSwap against the paper, arithmetic, and a reader of its prompts.

use super::*;
use crate::item::Gold;
use crate::tasks::tracking::reader::{balance, check, flat, forms, hash, params};

const PRINTED: &str = include_str!("printed.txt");

fn made(text: &str, seed: u64) -> Vec<Item> {
    items(&params(text), seed).unwrap()
}

/// The instance printed in appendix A.2: C and B, A and C, C and A; what C holds.
fn printed_instance() -> [String; 2] {
    let mut now = Hands::full();
    let swaps = [Swap(2, 1), Swap(0, 2), Swap(2, 0)];
    swaps.iter().for_each(|swap| now.apply(swap));
    assert_eq!(OBJECTS[usize::from(now.0[2])], "banana");
    let query = Query { text: Hands::asked(2), gold: now.0[2], initial: 2 };
    let updates: Vec<String> = swaps.iter().map(Swap::to_string).collect();
    forms(&layout().ready().question(&Hands::full().state(), &updates, &query))
}

#[test]
fn the_prompts_are_the_printed_one_with_and_without_reasoning_and_its_answer_is_right() {
    let [direct, reasoning] = printed_instance();
    assert_eq!(flat(&reasoning), flat(PRINTED));
    let bare = flat(PRINTED).replace(
        "Reasoning: Considering all the previous swaps, Person B is now holding banana. Answer: [[banana]]",
        "Answer: [[banana]]",
    );
    assert_eq!(flat(&direct), bare.strip_suffix(" Reasoning:").unwrap());
}

#[test]
fn the_initial_state_answers_one_of_three_after_any_swap() {
    // A swap leaves a person alone one time in three and gives him either neighbour's object one time in three.
    let items = made("episodes = 4000\ndepths = [0, 1, 2, 5]", 3);
    let answers = (STATELESS.answers)(&items);
    for (depth, expected) in [("0", 1.0), ("1", 1.0 / 3.0), ("2", 1.0 / 3.0), ("5", 1.0 / 3.0)] {
        let of_depth = items.iter().zip(&answers).filter(|(item, _)| item.tags["depth"] == depth);
        let right =
            of_depth.filter(|(item, answer)| item.first_question().gold == Gold::Label(answer.unwrap()));
        let share = right.count() as f64 / 4000.0;
        assert!((share - expected).abs() < 0.03, "depth {depth}: {share}, four standard errors are 0.03");
    }
}

#[test]
fn what_the_prompt_says_leads_to_the_gold_over_ten_thousand_seeds() {
    let mut golds = Vec::new();
    for seed in 0..10_000 {
        let items = made("episodes = 1\ndepths = [0, 1, 4]", seed);
        golds.extend(items.iter().map(|item| check(item).now));
    }
    let chi_square = balance("hand-swap", OBJECTS, golds.iter().map(String::as_str));
    assert!(chi_square < 18.4, "p = 0.0001 at 18.4");
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
    assert_eq!(hash(&items), "0a806fe4e33df81cc4fe4dd915339988124b64ca8f7bda302cc631b48089b820");
}

#[test]
fn the_documented_parameters_are_the_defaults_and_bad_ones_are_named() {
    let documented: HandSwapParams = params(HAND_SWAP.params).read().unwrap();
    assert_eq!(documented, HandSwapParams::default());
    for (text, key) in [("episodes = 0", "episodes"), ("depths = []", "depths"), ("persons = 3", "persons")] {
        let message = items(&params(text), 1).unwrap_err().to_string();
        assert!(message.contains(key), "{message}");
    }
}
