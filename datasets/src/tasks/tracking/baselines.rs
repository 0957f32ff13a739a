//! Controls that track no state.

use std::collections::BTreeMap;

use crate::item::{Gold, Item};
use crate::task::Baseline;

/// Answers from the initial state.
pub(in crate::tasks) const STATELESS: Baseline = Baseline {
    name: "stateless",
    summary: "answers from the initial state, as if there were no updates",
    answers: stateless,
};

/// Answers with the most frequent gold label of the depth.
pub(in crate::tasks) const MOST_FREQUENT: Baseline = Baseline {
    name: "most-frequent",
    summary: "answers every item of a depth with the most frequent right answer of that depth",
    answers: most_frequent,
};

fn stateless(items: &[Item]) -> Vec<Option<u16>> {
    let answer = |item: &Item| {
        let initial = item.tags.get("initial")?;
        let index = item.first_question().labels.iter().position(|label| label == initial)?;
        u16::try_from(index).ok()
    };
    items.iter().map(answer).collect()
}

fn most_frequent(items: &[Item]) -> Vec<Option<u16>> {
    let mut counts: BTreeMap<Option<&String>, BTreeMap<u16, usize>> = BTreeMap::new();
    for item in items {
        if let Some(label) = gold_label(item) {
            *counts.entry(item.tags.get("depth")).or_default().entry(label).or_default() += 1;
        }
    }
    let answer = |item: &Item| {
        let counts = counts.get(&item.tags.get("depth"))?;
        // Ties go to the label shown first: `max_by_key` keeps the last of equals, so it sees them backwards.
        counts.iter().rev().max_by_key(|(_, count)| **count).map(|(&label, _)| label)
    };
    items.iter().map(answer).collect()
}

#[allow(irrefutable_let_patterns)] // kinds of gold are an open list
fn gold_label(item: &Item) -> Option<u16> {
    if let Gold::Label(label) = item.first_question().gold { Some(label) } else { None }
}
