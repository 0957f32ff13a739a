#![allow(irrefutable_let_patterns, reason = "holds whether or not other parts and golds exist")]

use std::collections::{BTreeMap, BTreeSet};

use sha2::{Digest, Sha256};

use super::*;
use crate::{Heard, Outcome, Part, Said, Step, Verdict};

fn params(text: &str) -> Params {
    Params(text.parse().unwrap())
}

fn passes(item: &Item) -> &Passes {
    let Script::Passes(passes) = &item.script else { panic!("passes") };
    passes
}

/// What stands behind a name in a card's text: `Descriptor`.
fn field<'a>(text: &'a str, name: &str) -> &'a str {
    let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "));
    line.unwrap_or_else(|| panic!("{name} in {text}"))
}

const COLD: [&str; 5] = ["glaciers", "Norway", "mountain climbing", "treads", "Heavily"];

fn is_cold(text: &str) -> bool {
    COLD.iter().any(|word| field(text, "Descriptor").contains(word))
}

fn chi_square(counts: impl IntoIterator<Item = usize>) -> f64 {
    let counts: Vec<f64> = counts.into_iter().map(|n| n as f64).collect();
    let expected = counts.iter().sum::<f64>() / counts.len() as f64;
    counts.iter().map(|n| (n - expected) * (n - expected) / expected).sum()
}

/// Plays an item with a player who turns the vehicle's text (without feedback) into a class, and hears the truth.
fn play(item: &Item, mut answer: impl FnMut(&str) -> u16, mut told: impl FnMut(&str, u16)) -> Outcome {
    let mut episode = item.open();
    let mut step = episode.next(None);
    loop {
        match step {
            Step::Done(outcome) => return outcome,
            Step::Ask(question) => {
                let [Part::Text(stem)] = &question.stem[..] else { panic!("one text") };
                let text = &stem[stem.find("The vehicle").unwrap()..];
                let choice = answer(text);
                let said = Said::Choice(choice);
                let verdict = crate::grade::grade(&question.gold, &said);
                let Gold::Label(gold) = question.gold else { panic!("label") };
                told(text, gold);
                let asked = format!("{stem}{}", question.ask.direct);
                let reply = question.labels[usize::from(choice)].clone();
                step = episode.next(Some(&Heard { said: Some(said), verdict, asked, reply }));
            }
        }
    }
}

fn score(outcome: &Outcome, name: &str) -> f64 {
    outcome.scores.iter().find(|(key, _)| key == name).map(|&(_, value)| value).unwrap()
}

#[test]
fn documented_parameters_are_the_defaults() {
    assert_eq!(params(VEHICLES.params).read::<VehiclesParams>().unwrap(), VehiclesParams::default());
    for (text, key) in [
        ("lists = 0", "lists"),
        ("passes = 0", "passes"),
        ("vehicles = 9", "vehicles"),
        ("vehicles = 12", "vehicles"),
        ("vehicles = 4", "exceptions"),
        ("exceptions = 3", "exceptions"),
        ("irrelevant = 4", "irrelevant"),
        ("colour = 1", "colour"),
    ] {
        let error = (VEHICLES.items)(&params(text), 1).unwrap_err().to_string();
        assert!(error.contains(key), "{text}: {error}");
    }
}

#[test]
fn prompt_is_the_one_printed_in_the_paper() {
    let items = (VEHICLES.items)(&params("lists = 1"), 1).unwrap();
    let question = items[0].first_question();
    let [Part::Text(stem)] = &question.stem[..] else { panic!("one text") };
    let printed = format!(
        "The vehicle description is as follows: License plate: {} Descriptor: {} Transmission: {} Seat Cover: {} \
         Doors: {} Is this vehicle more likely to be a Class A or Class B vehicle? Only answer with ‘A’ or ‘B’.",
        field(stem, "License plate"),
        field(stem, "Descriptor"),
        field(stem, "Transmission"),
        field(stem, "Seat Cover"),
        field(stem, "Doors")
    );
    assert_eq!(format!("{stem}{}", question.ask.direct).replace('\n', " "), printed);
    assert_eq!(
        question.ask.reason[0].text,
        "\nLet’s think step by step and answer with either ‘A’ or ‘B’. If you are unsure, feel free to guess and \
         explain your reasoning"
    );
}

#[test]
fn full_size_is_240_lists_of_10_vehicles_and_15_passes_without_duplicates() {
    let items = (VEHICLES.items)(&Params::default(), 1).unwrap();
    assert_eq!(items.len(), 240);
    let lists: BTreeSet<Vec<&str>> =
        items.iter().map(|item| passes(item).cards.iter().map(|card| card.text.as_str()).collect()).collect();
    let ids: BTreeSet<&str> = items.iter().map(|item| item.id.as_str()).collect();
    assert_eq!((lists.len(), ids.len()), (240, 240));
    for item in &items {
        assert_eq!((passes(item).cards.len(), passes(item).orders.len()), (10, 15));
        assert!(
            matches!(&passes(item).first.stem[..], [Part::Text(text)] if passes(item).cards.iter().any(|card| &card.text == text))
        );
    }
}

#[test]
fn a_list_does_not_depend_on_how_many_there_are() {
    let few = (VEHICLES.items)(&params("lists = 3"), 5).unwrap();
    let many = (VEHICLES.items)(&params("lists = 9"), 5).unwrap();
    assert_eq!(few, many[..3]);
}

#[test]
fn lists_keep_the_rules_over_10_000_seeds() {
    let mut exceptions: BTreeMap<(String, String), usize> = BTreeMap::new();
    let mut first_gold = [0usize; 2];
    let mut values: BTreeMap<(&str, u16, String), usize> = BTreeMap::new();
    let plate = regex::Regex::new("^[A-Z][0-9]{2}[A-Z]{3}$").unwrap();
    for seed in 0..10_000 {
        let items = (VEHICLES.items)(&params("lists = 1\npasses = 3"), seed).unwrap();
        let cards = &passes(&items[0]).cards;
        let descriptors: BTreeSet<&str> = cards.iter().map(|card| field(&card.text, "Descriptor")).collect();
        let plates: BTreeSet<&str> = cards.iter().map(|card| field(&card.text, "License plate")).collect();
        assert_eq!((descriptors.len(), plates.len()), (10, 10));
        assert!(plates.iter().all(|text| plate.is_match(text)));
        assert_eq!(cards.iter().filter(|card| card.gold == 0).count(), 5);
        // One cold vehicle in B, one warm vehicle in A, and they are the ones marked.
        let odd = |cold: bool| -> Vec<&Card> {
            let breaks = |card: &&Card| is_cold(&card.text) == cold && (card.gold == 0) != cold;
            cards.iter().filter(breaks).collect()
        };
        let ([warm_in_a], [cold_in_b]) = (&odd(false)[..], &odd(true)[..]) else { panic!("{cards:?}") };
        assert!(warm_in_a.exception && cold_in_b.exception);
        assert_eq!(cards.iter().filter(|card| card.exception).count(), 2);
        let pair = [warm_in_a, cold_in_b].map(|card| field(&card.text, "Descriptor").to_owned());
        *exceptions.entry(pair.into()).or_default() += 1;
        for name in ["Transmission", "Seat Cover", "Doors"] {
            let of = |gold| -> BTreeSet<&str> {
                cards.iter().filter(|card| card.gold == gold).map(|card| field(&card.text, name)).collect()
            };
            assert!(!of(0).is_disjoint(&of(1)), "{name} gives the class away: {cards:?}");
            for card in cards {
                *values.entry((name, card.gold, field(&card.text, name).to_owned())).or_default() += 1;
            }
        }
        for order in &passes(&items[0]).orders {
            assert_eq!(order.iter().collect::<BTreeSet<_>>().len(), 10);
        }
        let Gold::Label(gold) = items[0].first_question().gold else { panic!("label") };
        first_gold[usize::from(gold)] += 1;
    }
    assert_eq!((exceptions.len(), values.len()), (25, 12));
    // Critical values at p = 0.0001: 58.6 for 24 degrees of freedom, 15.1 for 1.
    let (odd, first) = (chi_square(exceptions.into_values()), chi_square(first_gold));
    println!("exceptions: chi-square {odd:.1} (24 df); class asked first: chi-square {first:.2} (1 df)");
    assert!(odd < 58.6 && first < 15.1);
    for ((name, class, value), n) in values {
        // 25,000 expected; standard deviation 112.
        assert!((24_500..25_500).contains(&n), "{name} {class} {value}: {n}");
    }
}

#[test]
fn lists_without_exceptions_and_features_are_reachable() {
    let easy = params("lists = 50\nvehicles = 4\nexceptions = 0\nirrelevant = 1");
    for item in &(VEHICLES.items)(&easy, 1).unwrap() {
        let cards = &passes(item).cards;
        assert_eq!(cards.len(), 4);
        for card in cards {
            assert_eq!(card.gold == 0, is_cold(&card.text));
            assert!(card.text.contains("Transmission") && !card.text.contains("Doors") && !card.exception);
        }
    }
    let hard = params("lists = 50\nexceptions = 2");
    for item in &(VEHICLES.items)(&hard, 1).unwrap() {
        let wrong =
            |gold| passes(item).cards.iter().filter(|card| card.exception && card.gold == gold).count();
        assert_eq!((wrong(0), wrong(1)), (2, 2));
    }
}

#[test]
fn who_remembers_plates_is_done_in_the_second_pass() {
    for item in &(VEHICLES.items)(&params("lists = 20"), 1).unwrap() {
        let known = std::cell::RefCell::new(BTreeMap::new());
        let outcome = play(
            item,
            |text| known.borrow().get(field(text, "License plate")).copied().unwrap_or(0),
            |text, gold| {
                known.borrow_mut().insert(field(text, "License plate").to_owned(), gold);
            },
        );
        assert_eq!(outcome.verdict, Verdict::Right);
        assert_eq!((score(&outcome, "rounds"), score(&outcome, "questions")), (2.0, 20.0));
        // A constant guess is right on one class.
        assert_eq!((score(&outcome, "correct_pass_01"), score(&outcome, "correct_pass_15")), (5.0, 10.0));
    }
}

#[test]
fn who_follows_the_rule_stays_at_eight_of_ten_for_15_passes() {
    for item in &(VEHICLES.items)(&params("lists = 20"), 1).unwrap() {
        let outcome = play(item, |text| u16::from(!is_cold(text)), |_, _| {});
        assert_eq!(outcome.verdict, Verdict::Wrong);
        assert_eq!((score(&outcome, "rounds"), score(&outcome, "questions")), (15.0, 150.0));
        for pass in 1..=15 {
            assert_eq!(score(&outcome, &format!("correct_pass_{pass:02}")), 8.0);
        }
        assert_eq!((score(&outcome, "wrong_exception"), score(&outcome, "wrong_regular")), (30.0, 0.0));
    }
}

#[test]
fn items_at_seed_1_never_change() {
    let items = (VEHICLES.items)(&Params::default(), 1).unwrap();
    let hash: String = Sha256::digest(serde_json::to_vec(&items).unwrap())
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    assert_eq!(hash, "3bbebbf2fc438699c921b8b71f4931c8efaf5562f5bf3f763ca71c81fde0b90c");
    let again: Vec<Item> = serde_json::from_str(&serde_json::to_string(&items).unwrap()).unwrap();
    assert_eq!(again, items);
    assert_ne!((VEHICLES.items)(&Params::default(), 2).unwrap(), items);
}

#[test]
fn published_changes_are_differences_of_published_figures() {
    #[derive(Deserialize)]
    struct Published {
        row: Vec<Row>,
    }
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    #[allow(dead_code, reason = "their presence is what is checked")]
    struct Row {
        table: String,
        task: String,
        model: String,
        condition: String,
        metric: String,
        value: f64,
        n: Option<u32>,
        #[serde(default)]
        human: bool,
    }
    let text = include_str!("../../../data/papers/mind-your-step.toml");
    let rows = toml::from_str::<Published>(text).unwrap().row;
    let value = |of: &Row, conditions: &[&str], metric: &str| {
        let found = rows.iter().find(|row| {
            row.table == of.table
                && row.model == of.model
                && row.metric == metric
                && conditions.contains(&row.condition.as_str())
        });
        found.unwrap_or_else(|| panic!("{} {} {metric}", of.table, of.model)).value
    };
    let mut checked = 0;
    for row in &rows {
        let Some((base, change)) = row.metric.split_once(' ') else { continue };
        let sign = match change {
            "decrease" => -1.0,
            "increase" | "change" => 1.0,
            _ => continue,
        };
        let before = value(row, &["zero-shot", "direct"], base);
        assert!((sign * row.value - (value(row, &["CoT"], base) - before)).abs() < 1e-9, "{}", row.model);
        checked += 1;
    }
    // Six models in Table 2, three in Table 3, five in Table 5.
    assert_eq!(checked, 14);
    // Table 3 and the text of section 4.3: GPT-4o needs 331 % more rounds.
    let of = rows.iter().find(|row| row.metric == "relative rounds increase").unwrap();
    assert_eq!((of.model.as_str(), of.value, of.n, of.human), ("GPT-4o", 3.31, Some(240), false));
}
