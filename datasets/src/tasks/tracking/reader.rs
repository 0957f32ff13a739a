//! A reader of prompts for tests: carries out what the text says, sharing no code with the worlds that wrote it.

use std::collections::BTreeMap;

use crate::Item;
use crate::item::{Gold, Part, Question};

/// What a reader of an instance finds.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::tasks) struct Found {
    /// The answer after all updates.
    pub(in crate::tasks) now: String,
    /// The answer before them.
    pub(in crate::tasks) initial: String,
    /// The number of updates.
    pub(in crate::tasks) updates: usize,
    /// The order of the persons after each state, the initial one first (positions only).
    pub(in crate::tasks) positions: Vec<BTreeMap<String, i64>>,
}

type Words = BTreeMap<String, String>;

/// Reads one instance: state, updates, query.
pub(in crate::tasks) fn read(instance: &str) -> Found {
    let (mut places, mut start) = (BTreeMap::<String, i64>::new(), None);
    let (mut things, mut first_things) = (Words::new(), Words::new());
    let mut effects: Vec<(String, Vec<String>, String)> = Vec::new();
    let (mut updates, mut positions) = (0, Vec::new());
    let mut found = None;
    for line in instance.lines().filter(|line| !line.is_empty()) {
        let plain = line.trim_end_matches(['.', '?']);
        let words: Vec<&str> = plain.split_whitespace().collect();
        let update = match words[..] {
            ["Person", who, "starts", "at", "position", place] => {
                places.insert(who.to_owned(), place.parse().unwrap());
                false
            }
            ["Person", who, "is", "initially", "holding", thing] => {
                things.insert(who.to_owned(), thing.to_owned());
                false
            }
            ["The", "light", "in", "room", room, "is", "initially", status] => {
                things.insert(room.to_owned(), status.to_owned());
                false
            }
            [
                "When",
                "switch",
                switch,
                "is",
                "pressed,",
                "it",
                "turns",
                "the",
                "lights",
                "of",
                ..,
                status,
            ] => {
                let rooms = words.windows(2).filter(|pair| pair[0] == "room");
                let rooms = rooms.map(|pair| pair[1].trim_end_matches(',').to_owned()).collect();
                effects.push((switch.to_owned(), rooms, status.to_owned()));
                false
            }
            _ => !(line.starts_with("Query:") || line.starts_with("Options:")),
        };
        if update {
            if updates == 0 {
                start = Some(places.clone());
                first_things = things.clone();
                positions.push(places.clone());
            }
            updates += 1;
            match words[..] {
                ["Person", one, "swaps", "position", "with", "Person", other] => {
                    let (a, b) = (places[one], places[other]);
                    places.insert(one.to_owned(), b);
                    places.insert(other.to_owned(), a);
                }
                ["Person", who, "moves", units, "units", "to", side] => {
                    let units: i64 = units.parse().unwrap();
                    let sign = if side == "left" { -1 } else { 1 };
                    *places.get_mut(who).unwrap() += sign * units;
                }
                ["Person", one, "swaps", "hands", "with", "Person", other] => {
                    let (a, b) = (things[one].clone(), things[other].clone());
                    things.insert(one.to_owned(), b);
                    things.insert(other.to_owned(), a);
                }
                ["The", "switch", switch, "is", "pressed"] => {
                    for (_, rooms, status) in effects.iter().filter(|effect| effect.0 == switch) {
                        for room in rooms {
                            things.insert(room.clone(), status.clone());
                        }
                    }
                }
                _ => panic!("no such update: {line}"),
            }
            positions.push(places.clone());
        }
        if line.starts_with("Query:") {
            let start = start.clone().unwrap_or_else(|| places.clone());
            let first = if updates == 0 { things.clone() } else { first_things.clone() };
            found = Some(match words[..] {
                [
                    "Query:",
                    "Where",
                    "does",
                    "Person",
                    one,
                    "stand",
                    "with",
                    "respect",
                    "to",
                    "Person",
                    other,
                    "now",
                ] => {
                    let side = |at: &BTreeMap<String, i64>| {
                        let word = if at[one] > at[other] { "right" } else { "left" };
                        assert_ne!(at[one], at[other]);
                        word.to_owned()
                    };
                    (side(&places), side(&start))
                }
                ["Query:", "What", "is", "in", "the", "hands", "of", "Person", who, "now"] => {
                    (things[who].clone(), first[who].clone())
                }
                ["Query:", "What", "is", "the", "final", "light", "status", "in", "room", room] => {
                    (things[room].clone(), first[room].clone())
                }
                _ => panic!("no such query: {line}"),
            });
        }
    }
    if updates == 0 {
        positions.push(places);
    }
    let (now, initial) = found.expect("an instance has a query");
    Found { now, initial, updates, positions }
}

/// The texts of both forms of a question.
pub(in crate::tasks) fn forms(question: &Question) -> [String; 2] {
    let text = |parts: &[Part]| -> String { parts.iter().map(part_text).collect() };
    let cue = &question.ask.reason[0];
    [
        text(&question.stem) + &question.ask.direct,
        text(cue.stem.as_ref().expect("the reasoning form has its own example")) + &cue.text,
    ]
}

#[allow(irrefutable_let_patterns)]
fn part_text(part: &Part) -> &str {
    if let Part::Text(text) = part { text } else { "" }
}

#[allow(irrefutable_let_patterns)]
pub(in crate::tasks) fn gold(question: &Question) -> &str {
    let Gold::Label(label) = question.gold.clone() else { panic!("a label is right") };
    &question.labels[usize::from(label)]
}

/// The instance and the solved example in a prompt.
pub(in crate::tasks) fn instance(prompt: &str) -> &str {
    let instance = prompt.split_once("Now your turn:\n").expect("the prompt has an instance").1;
    instance.trim_end_matches("\nReasoning:")
}

/// Checks an item against what its prompts say, and returns what was read.
pub(in crate::tasks) fn check(item: &Item) -> Found {
    let question = item.first_question();
    let [direct, reasoning] = forms(question);
    assert_eq!(instance(&direct), instance(&reasoning), "{}", item.id);
    assert!(reasoning.ends_with("\nReasoning:"));
    let options = direct.lines().last().unwrap().strip_prefix("Options: ").unwrap();
    assert_eq!(options, question.labels.join(", "), "{}: every label is offered, in order", item.id);
    let found = read(instance(&direct));
    assert_eq!(gold(question), found.now, "{}\n{direct}", item.id);
    assert_eq!(item.tags["initial"], found.initial, "{}", item.id);
    assert_eq!(item.tags["dependent"], (found.now != found.initial).to_string(), "{}", item.id);
    assert_eq!(item.tags["depth"], found.updates.to_string(), "{}", item.id);
    assert_eq!(item.id, format!("{}-d{:02}", item.family, found.updates));
    // The solved example is right in both forms.
    let head = direct.split_once("Here is an example:\n\n").unwrap().1;
    let (example, rest) = head.split_once("\nAnswer: [[").unwrap();
    assert_eq!(read(example).now, rest.split_once("]]").unwrap().0);
    let head = reasoning.split_once("Here is an example:\n\n").unwrap().1;
    let (with_reasoning, _) = head.split_once("\nAnswer: [[").unwrap();
    assert_eq!(with_reasoning.split_once("\nReasoning: ").unwrap().0, example);
    found
}

/// Text with every run of white space made one space: for comparison with texts printed without line breaks.
pub(in crate::tasks) fn flat(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The chi-square of right answers against equal shares of all labels; printed for the record.
pub(in crate::tasks) fn balance<'a>(
    name: &str,
    labels: &[&str],
    golds: impl Iterator<Item = &'a str>,
) -> f64 {
    let mut counts: BTreeMap<&str, f64> = labels.iter().map(|&label| (label, 0.0)).collect();
    for gold in golds {
        *counts.get_mut(gold).expect("the gold is a label") += 1.0;
    }
    let mean = counts.values().sum::<f64>() / counts.len() as f64;
    let chi_square = counts.values().map(|count| (count - mean).powi(2) / mean).sum();
    println!("{name}: {counts:?}, chi-square {chi_square:.2} with {} degrees of freedom", counts.len() - 1);
    chi_square
}

/// SHA-256 of the items as JSON, in hexadecimal.
pub(in crate::tasks) fn hash(items: &[Item]) -> String {
    use sha2::{Digest, Sha256};
    let json = serde_json::to_vec(items).unwrap();
    Sha256::digest(&json).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Parameters from TOML text.
pub(in crate::tasks) fn params(text: &str) -> crate::Params {
    crate::Params(text.parse().unwrap())
}
