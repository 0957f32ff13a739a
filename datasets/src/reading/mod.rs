//! Reads an answer out of a free reply: the extraction policy.
//!
//! Versioned as a whole ([`VERSION`]), pure, and the only place that parses replies. Closed reasoning blocks are
//! cut out, and a block that is open at the end means no answer. The last explicit statement wins; a bare label
//! counts only where nothing else can be meant. Never a guess, never a default: what cannot be read is
//! [`Said::Nothing`] with its reason. Every pass is linear in the reply.

mod anchors;
mod apartment;
mod boxed;
mod bracketed;
mod dress;
mod folded;
mod fuzz;
mod lexicon;
mod marks;
mod named;
mod option_text;
mod ordinal;
mod reasoning_blocks;
mod reverse;
mod route;
mod sequence;
mod statement;
mod vehicle_class;
mod whole;
mod words;
mod yes_no;

use models::Finish;
pub mod ordering;
pub mod signal_steps;

use serde::{Deserialize, Serialize};

pub use boxed::contents as boxed_contents;
pub use folded::fold;
pub use fuzz::read_any;
pub use reasoning_blocks::opens_in_reasoning;
pub use sequence::JOINT as SEQUENCE_JOINT;

use crate::verdict::{NoAnswer, Said};
use lexicon::Lexicon;
use marks::{Marks, View};

/// Raised by any change that can make a reply read differently; logged with every result.
pub const VERSION: u32 = 1;

/// Candidates kept of one reply; of more, the last ones.
const CANDIDATES_KEPT: usize = 64;

/// How a question's replies are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reading {
    /// Option letters or words by the general policy: the last explicit statement, else the whole reply.
    Statement,
    /// Yes / No: the first such word of a direct reply, the last one of a reasoned reply.
    YesNo,
    /// The last `[[label]]`, else the last `Answer: label`.
    Bracketed,
    /// Apartments 1 to 4: the first digit of a direct reply, the last `Apartment n` of a reasoned one.
    Apartment,
    /// Vehicle classes A and B, with the English article told apart.
    VehicleClass,
    /// Pictures 1 to n: digits, ordinals, letters as synonyms.
    Ordinal,
    /// The last `Best Route: X` or `Route X`.
    Route,
    /// A preference order: `M > {X,Y,Z}, {N}`. Read to a text; the grader parses it.
    Ordering,
    /// Parts in an order, each once; the labels are the orders.
    Sequence,
}

/// What to read a reply for.
#[derive(Clone, Copy, Debug)]
pub struct How<'a> {
    /// The rule.
    pub reading: Reading,
    /// The labels that can be given.
    pub labels: &'a [String],
    /// What each label stands for; may be empty.
    pub options: &'a [String],
    /// Whether the reply was asked to reason first.
    pub reasoned: bool,
}

/// A stretch of a reply, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Span {
    /// First byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

/// A place that gives an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Candidate {
    /// The label; `None` where several are named at once (`A or B`), which is no answer.
    pub label: Option<u16>,
    /// First byte in the reply.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
    /// What makes it one.
    pub kind: Kind,
}

/// What makes a place a candidate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// `The answer is B`, `I choose B`, `Best Route: B`.
    Statement,
    /// `\boxed{B}`.
    Boxed,
    /// `[[B]]`.
    Bracketed,
    /// `B is the correct answer`.
    Reverse,
    /// The whole reply.
    Whole,
    /// The label with which the reply begins: `B. acid rain`.
    Leading,
    /// A last line that is a label and nothing else, or `hence B.` at the end.
    Trailing,
    /// The text of an option, or a label that is a word, in a sentence.
    OptionText,
    /// A named thing: `Apartment 2`, `Class A`, `Route B`, `the second picture`.
    Named,
    /// A bare word or digit where the task's rule takes it.
    Word,
}

/// What was found in a reply.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Found {
    /// What it comes to.
    pub said: Said,
    /// Every place that was considered on the level that decided, in order; the last 64 of them.
    pub candidates: Vec<Candidate>,
    /// Candidates beyond those kept.
    pub candidates_dropped: u32,
    /// Whether candidates differ.
    pub conflict: bool,
    /// From the first byte of the first reasoning block to the last byte of the last.
    pub reasoning: Option<Span>,
    /// The text that would close the reasoning block which is open at the end.
    pub open_block: Option<String>,
}

/// Reads a reply.
///
/// `opens_in_reasoning`: the prompt already opened a reasoning block ([`opens_in_reasoning`]).
///
/// A reply that was cut off (at the cap, the end of the context, by the loop guard) is answered by an explicit
/// statement that it made and that ends before the cut; nothing weaker counts in it.
pub fn read(how: &How<'_>, reply: &str, finish: Finish, opens_in_reasoning: bool) -> Found {
    let blocks = reasoning_blocks::find(reply, opens_in_reasoning);
    let folded = folded::Folded::new(reply, &blocks.visible);
    let cut = matches!(finish, Finish::Length | Finish::ContextFull | Finish::Loop);
    let mut marks = Marks::default();
    if blocks.open.is_none() {
        let lexicon = Lexicon::new(how);
        let view = View { text: &folded.text, cut, reasoned: how.reasoned, lexicon: &lexicon };
        marks = match how.reading {
            Reading::Statement => statement::read(&view),
            Reading::YesNo => yes_no::read(&view),
            Reading::Bracketed => bracketed::read(&view),
            Reading::Apartment => apartment::read(&view),
            Reading::VehicleClass => vehicle_class::read(&view),
            Reading::Ordinal => ordinal::read(&view),
            Reading::Route => route::read(&view),
            Reading::Sequence => sequence::read(&view, how.labels),
            Reading::Ordering => whole::text(&view, reply, &blocks.visible),
        };
    }
    let said = marks.said().unwrap_or_else(|| {
        Said::Nothing(match finish {
            Finish::Length | Finish::ContextFull => NoAnswer::Truncated,
            Finish::Loop => NoAnswer::Loop,
            Finish::Stop | Finish::StopText if blocks.open.is_some() => NoAnswer::OpenReasoning,
            Finish::Stop | Finish::StopText if folded.text.trim().is_empty() => NoAnswer::Empty,
            Finish::Stop | Finish::StopText => NoAnswer::Unparsed,
        })
    });
    let dropped = marks.all.len().saturating_sub(CANDIDATES_KEPT);
    let candidates = marks.all[dropped..].iter().map(|mark| {
        let span = folded.span(mark.at.clone());
        Candidate { label: mark.label, start: span.start, end: span.end, kind: mark.kind }
    });
    Found {
        said,
        candidates: candidates.collect(),
        candidates_dropped: u32::try_from(dropped).unwrap_or(u32::MAX),
        conflict: marks.all.iter().any(|mark| mark.label != marks.all[0].label),
        reasoning: blocks.reasoning.map(|range| Span {
            start: u32::try_from(range.start).unwrap_or(u32::MAX),
            end: u32::try_from(range.end).unwrap_or(u32::MAX),
        }),
        open_block: blocks.open,
    }
}

/// The reply as far as the first of the stop texts; an engine stops on whole tokens, and a stop text can arrive
/// in the middle of one.
pub fn until_stop<'a>(reply: &'a str, stops: &[String]) -> &'a str {
    let first =
        stops.iter().filter(|stop| !stop.is_empty()).filter_map(|stop| reply.find(stop.as_str())).min();
    &reply[..first.unwrap_or(reply.len())]
}

/// The perfect reply: what a model that knows the answer and the format would write.
pub fn statement(reading: Reading, labels: &[String], gold: u16) -> String {
    let label = labels.get(usize::from(gold)).map_or("", String::as_str);
    match reading {
        Reading::Statement | Reading::Sequence => format!("Answer: {label}"),
        Reading::YesNo | Reading::Ordering => label.to_owned(),
        Reading::Bracketed => format!("Answer: [[{label}]]"),
        Reading::Apartment => format!("Apartment {label}"),
        Reading::VehicleClass => format!("Class {label}"),
        Reading::Ordinal => format!("Picture {label}"),
        Reading::Route => format!("Best Route: {label}"),
    }
}

#[cfg(test)]
mod ext_tests;
#[cfg(test)]
mod hostile_tests;
#[cfg(test)]
mod task_tests;
