//! Replies that nobody wrote to be read: garbage, echoes, and texts made to be slow.

use std::time::{Duration, Instant};

use models::Finish;

use super::fuzz::READINGS;
use super::{Found, How, Reading, read, read_any, statement};
use crate::Stream;
use crate::verdict::Said;

fn labels(reading: Reading) -> Vec<String> {
    let labels: &[&str] = match reading {
        Reading::Statement => &["A", "B", "C", "D", "E", "F", "G", "H", "I", "J"],
        Reading::YesNo => &["Yes", "No"],
        Reading::Bracketed => &["left", "right"],
        Reading::Apartment => &["1", "2", "3", "4"],
        Reading::VehicleClass => &["A", "B"],
        Reading::Ordinal => &["1", "2", "3", "4", "5"],
        Reading::Route => &["A", "B", "C", "D"],
        Reading::Sequence => &["on, off, dim", "dim, on, off", "off, dim, on"],
        Reading::Ordering => &[],
    };
    labels.iter().map(|&label| label.to_owned()).collect()
}

/// Places lie in the reply, on the borders of characters, and a choice is one of the labels.
fn sound(found: &Found, reply: &str, labels: usize) {
    for candidate in &found.candidates {
        let (start, end) = (candidate.start as usize, candidate.end as usize);
        assert!(start <= end && reply.get(start..end).is_some(), "{candidate:?} in {reply:?}");
        assert!(candidate.label.is_none_or(|label| usize::from(label) < labels));
    }
    if let Said::Choice(choice) = found.said {
        assert!(usize::from(choice) < labels);
        assert!(
            found.candidates.iter().any(|candidate| candidate.label == Some(choice))
                || found.candidates_dropped > 0
        );
    }
}

fn ten_thousand(reading: Reading, mut reply: impl FnMut(&mut Stream) -> String) -> usize {
    let mut stream = Stream::new(1, &["garbage"]);
    let labels = labels(reading);
    let options = vec!["acid".to_owned(); labels.len()];
    let mut read_as_something = 0;
    for _ in 0..10_000 {
        let bits = stream.bits();
        let how = How {
            reading,
            labels: &labels,
            options: if bits & 1 == 0 { &[] } else { &options },
            reasoned: bits & 2 != 0,
        };
        let finish = if bits & 4 == 0 { Finish::Stop } else { Finish::Length };
        let reply = reply(&mut stream);
        let found = read(&how, &reply, finish, bits & 24 == 24);
        sound(&found, &reply, labels.len());
        read_as_something += usize::from(matches!(found.said, Said::Choice(_)));
    }
    read_as_something
}

#[test]
fn random_bytes_never_panic() {
    for reading in READINGS {
        ten_thousand(reading, |stream| {
            let bytes: Vec<u8> = (0..stream.below(60)).map(|_| stream.below(256) as u8).collect();
            String::from_utf8_lossy(&bytes).into_owned()
        });
    }
    let mut stream = Stream::new(2, &["garbage"]);
    for _ in 0..10_000 {
        let bytes: Vec<u8> = (0..stream.below(80)).map(|_| stream.below(256) as u8).collect();
        read_any(&bytes);
    }
    read_any(&[]);
}

/// Pieces that the rules look for, in random order: the most tangled replies there are.
const PIECES: &[&str] = &[
    "Answer",
    "answer is",
    ":",
    "A",
    "B",
    "(C)",
    "**",
    "[[",
    "]]",
    "left",
    "right",
    "\\boxed{",
    "}",
    "{",
    "or",
    "and",
    "is",
    "not",
    "yes",
    "no",
    "1",
    "2",
    "-3",
    "4.5",
    "Apartment",
    "Class",
    "Best Route",
    "Route",
    "second",
    "picture",
    "\n",
    "\n\n",
    "?",
    ".",
    "<think>",
    "</think>",
    "<|channel|>analysis<|message|>",
    "\u{7B54}\u{6848}",
    "\u{662F}",
    "\u{FF22}",
    "e\u{301}",
    "\u{1F171}",
    "\u{200B}",
    "I choose",
    "if",
    "option",
    "$",
    "\\text{",
    "'",
    "\u{2019}",
    "\u{130}",
    "\u{DF}",
    "\u{FB03}",
    "acid",
    "all the same person",
    "/",
];

#[test]
fn tangled_pieces_never_panic() {
    for reading in READINGS {
        ten_thousand(reading, |stream| {
            let space = if stream.coin() { " " } else { "" };
            let pieces: Vec<&str> = (0..stream.below(14)).map(|_| *stream.pick(PIECES)).collect();
            pieces.join(space)
        });
    }
}

#[test]
fn words_without_an_answer_are_not_read_as_one() {
    let words = [
        "the", "vehicle", "lever", "because", "Gas", "expands", "heat", "moves", "Every", "people", "swaps",
        "with", "Bob", "Dana", "Carl", "water", "glass", "of", "when", "Energy", "flows", "toward", "cold",
        "places", "a", "string", "rule", "letters",
    ];
    for reading in READINGS.into_iter().filter(|reading| *reading != Reading::Ordering) {
        let read = ten_thousand(reading, |stream| {
            let words: Vec<&str> = (0..3 + stream.below(20)).map(|_| *stream.pick(&words)).collect();
            words.join(" ") + "."
        });
        assert_eq!(read, 0, "{reading:?}");
    }
}

#[test]
fn an_echoed_instruction_is_not_an_answer() {
    for (reading, prompt) in [
        (Reading::Statement, "What is heat?\nAnswer with A, B, C or D."),
        (
            Reading::YesNo,
            "Can both be true? Please ONLY answer with \u{201C}Yes\u{201D} or \u{201C}No\u{201D}.",
        ),
        (
            Reading::VehicleClass,
            "Is this vehicle more likely to be a Class A or Class B vehicle? Only answer with \u{2018}A\u{2019} or \u{2018}B\u{2019}.",
        ),
        (
            Reading::VehicleClass,
            "Let\u{2019}s think step by step and answer with either \u{2018}A\u{2019} or \u{2018}B\u{2019}.",
        ),
    ] {
        let labels = labels(reading);
        for reasoned in [false, true] {
            let found =
                read(&How { reading, labels: &labels, options: &[], reasoned }, prompt, Finish::Stop, false);
            assert!(matches!(found.said, Said::Nothing(_)), "{prompt:?} {reasoned}: {found:?}");
        }
    }
}

#[test]
fn time_is_linear_in_a_hostile_reply() {
    let patterns = [
        "answer ",
        "answer: ",
        "answer: A or B, ",
        "\\boxed{",
        "\\boxed{A}",
        "[[",
        "[[left",
        "<think>",
        "</think>",
        "<think></think>",
        "A\n",
        "A. ",
        "yes or ",
        "no ",
        "1 ",
        "Apartment ",
        "picture 1 or ",
        "\u{7B54}\u{6848}",
        "a\u{301}\u{301}",
        " ",
        "\n",
        "(",
        "I choose ",
        "all ",
        "hence ",
        "A, B, ",
        "<|channel|>analysis",
        "is correct ",
        "' ",
        "\u{FDFA}",
    ];
    for pattern in patterns {
        let reply = pattern.repeat(120_000 / pattern.len());
        // Between them these use every search of the other rules.
        for reading in [Reading::Statement, Reading::Apartment, Reading::Ordinal] {
            let labels = labels(reading);
            let how = How { reading, labels: &labels, options: &[], reasoned: true };
            let start = Instant::now();
            let found = read(&how, &reply, Finish::Stop, false);
            sound(&found, &reply, labels.len());
            // Linear passes take some 100 ms where they are slowest.
            assert!(
                start.elapsed() < Duration::from_secs(3),
                "{pattern:?} {reading:?}: {:?}",
                start.elapsed()
            );
        }
    }
}

#[test]
fn a_reply_of_a_megabyte_is_read_and_its_candidates_are_bounded() {
    let labels = labels(Reading::Statement);
    let how = How { reading: Reading::Statement, labels: &labels, options: &[], reasoned: true };
    let reply = "Answer: A. ".repeat(95_000) + &statement(Reading::Statement, &labels, 3);
    let found = read(&how, &reply, Finish::Stop, false);
    assert_eq!((found.said, found.conflict), (Said::Choice(3), true));
    assert_eq!((found.candidates.len(), found.candidates_dropped), (64, 95_001 - 64));
}
