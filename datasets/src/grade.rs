//! Compares what was said with what is right. The only place that does.

use crate::item::Gold;
use crate::verdict::{Said, Verdict};

/// What an answer is worth.
pub fn grade(gold: &Gold, said: &Said) -> Verdict {
    match (gold, said) {
        (_, Said::Nothing(reason)) => Verdict::Unanswered(*reason),
        (Gold::Label(right), Said::Choice(choice)) if right == choice => Verdict::Right,
        (Gold::Label(_), Said::Choice(_) | Said::Text(_)) => Verdict::Wrong,
    }
}

/// Named figures of an answer beside the verdict; empty for plain labels.
pub fn scores(gold: &Gold, _said: &Said) -> Vec<(String, f64)> {
    match gold {
        Gold::Label(_) => Vec::new(),
    }
}
