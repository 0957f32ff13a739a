//! One entry for fuzzers and for tests with garbage: any bytes are a reply to some question.

use models::Finish;

use super::{Found, How, Reading, read};

/// Every reading rule.
pub(super) const READINGS: [Reading; 9] = [
    Reading::Statement,
    Reading::YesNo,
    Reading::Bracketed,
    Reading::Apartment,
    Reading::VehicleClass,
    Reading::Ordinal,
    Reading::Route,
    Reading::Ordering,
    Reading::Sequence,
];

/// Reads any bytes: the first two choose the rule, the labels and the circumstances, the rest is the reply.
pub fn read_any(bytes: &[u8]) -> Found {
    let (choice, reply) = bytes.split_at(bytes.len().min(2));
    let first = choice.first().copied().unwrap_or(0);
    let second = choice.get(1).copied().unwrap_or(0);
    // The last rule came later: inputs that were found before keep theirs, but for the highest few.
    let last = READINGS.len() - 1;
    let reading = READINGS[if first >= 0xf8 { last } else { usize::from(first) % last }];
    let sets: [&[&str]; 7] = [
        &["A", "B", "C", "D"],
        &["Yes", "No"],
        &["1", "2", "3", "4"],
        &["left", "right", "on"],
        &["A", "B", "C", "D", "E", "F", "G", "H", "I", "J"],
        &["\u{662F}", "\u{130}", ""],
        &["on, off, a", "a, off, on", "off, on, a"],
    ];
    let labels: Vec<String> = sets[if first >= 0xf8 { 6 } else { usize::from(first >> 4) % 6 }]
        .iter()
        .map(|&label| label.to_owned())
        .collect();
    let options: Vec<String> = match second & 1 {
        0 => Vec::new(),
        _ => labels
            .iter()
            .enumerate()
            .map(|(index, _)| ["acid", "acid rain", "a", "B"][index % 4].to_owned())
            .collect(),
    };
    let finishes = [Finish::Stop, Finish::StopText, Finish::Length, Finish::ContextFull, Finish::Loop];
    let how = How { reading, labels: &labels, options: &options, reasoned: second & 2 != 0 };
    let finish = finishes[usize::from(second >> 3) % finishes.len()];
    read(&how, &String::from_utf8_lossy(reply), finish, second & 4 != 0)
}
