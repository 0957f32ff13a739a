//! Pairs of statements of which the first entails the second.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::task::TaskError;

/// Most words, split at white space with punctuation attached, that a side of a pair may have.
pub const MAX_WORDS: usize = 7;

const OWN: &str = include_str!("../../../data/logic-pairs.csv");

/// Two statements: A entails B.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pair {
    /// Where it comes from.
    pub source: Source,
    /// Names it within its source: the `pairID` of SNLI and MNLI.
    pub id: String,
    /// The entailing statement.
    pub a: String,
    /// The entailed statement.
    pub b: String,
    /// Part of the source: `dev`, `test`, `matched`, `mismatched`; empty where there are none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub set: String,
    /// Genre, where the source has genres.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub genre: String,
}

/// Where pairs come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Source {
    /// Our own list.
    Own,
    /// Stanford Natural Language Inference.
    Snli,
    /// Multi-Genre Natural Language Inference.
    Mnli,
}

impl Source {
    /// The name in ids and tags.
    pub fn name(self) -> &'static str {
        match self {
            Source::Own => "own",
            Source::Snli => "snli",
            Source::Mnli => "mnli",
        }
    }
}

impl Pair {
    /// Names the pair among all sources. MNLI numbers each of its files by itself, so the set is part of it.
    pub fn family(&self) -> String {
        match self.source {
            Source::Mnli if !self.set.is_empty() => format!("mnli-{}-{}", self.set, self.id),
            source => format!("{}-{}", source.name(), self.id),
        }
    }
}

/// Our own 100 pairs.
pub fn own() -> Vec<Pair> {
    let mut rows = csv::Reader::from_reader(OWN.as_bytes());
    let row = |row: csv::Result<(u16, String, String)>| {
        let (index, a, b) = row.expect("the built-in list is well formed: a test reads it");
        let (set, genre) = (String::new(), String::new());
        Pair { source: Source::Own, id: format!("{index:03}"), a, b, set, genre }
    };
    rows.deserialize().map(row).collect()
}

/// Our own pairs and given ones together, none twice, all usable.
pub(super) fn checked(own: Vec<Pair>, given: Vec<Pair>) -> Result<Vec<Pair>, TaskError> {
    let mut seen = BTreeSet::new();
    for pair in own.iter().chain(&given) {
        let family = pair.family();
        let fault = if !is_short(&pair.a) || !is_short(&pair.b) {
            format!("each side needs 1 to {MAX_WORDS} words")
        } else if pair.a.trim() == pair.b.trim() {
            "both sides are the same".to_owned()
        } else if !seen.insert(family.clone()) {
            "the id is used twice".to_owned()
        } else {
            continue;
        };
        return Err(TaskError::Params(format!("pairs: {family}: {fault}")));
    }
    if seen.is_empty() {
        return Err(TaskError::Params("own: no pairs; set own = true or name SNLI or MNLI files".to_owned()));
    }
    Ok(own.into_iter().chain(given).collect())
}

/// Whether a statement is short enough for the templates.
pub(super) fn is_short(statement: &str) -> bool {
    (1..=MAX_WORDS).contains(&statement.split_whitespace().count())
}
