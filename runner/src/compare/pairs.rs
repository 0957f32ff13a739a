//! Items that both sides answered, and those that only one did.

use std::collections::BTreeMap;

use super::side::{Answer, Place, Side};
use crate::statistics::Family;

/// The items of a task and interface on two sides.
#[derive(Default)]
pub(super) struct Pairs<'a> {
    /// Answers that count on both sides.
    pub(super) both: Vec<(&'a Answer, &'a Answer)>,
    /// Items that are in the log of the candidate alone.
    pub(super) missing_in_reference: u64,
    /// Items that are in the log of the reference alone.
    pub(super) missing_in_candidate: u64,
    /// Items that one of the sides skipped or lost.
    pub(super) not_counted: u64,
}

/// Pairs the items by their ids; `None` where there is nothing to pair.
pub(super) fn pairs<'a>(reference: &'a Side, candidate: &'a Side, place: &Place) -> Option<Pairs<'a>> {
    let (ours, theirs) = (reference.answers(place)?, candidate.answers(place)?);
    if ours.is_empty() && theirs.is_empty() {
        return None;
    }
    let mut pairs = Pairs::default();
    for (item, answer) in ours {
        match theirs.get(item) {
            None => pairs.missing_in_candidate += 1,
            Some(other) if answer.counted && other.counted => pairs.both.push((answer, other)),
            Some(_) => pairs.not_counted += 1,
        }
    }
    pairs.missing_in_reference = theirs.keys().filter(|item| !ours.contains_key(*item)).count() as u64;
    Some(pairs)
}

/// A value of an item, with the item's family.
pub(crate) type Value<'a> = (&'a str, f64);

/// Sums values up by family.
pub(super) fn families(values: &[Value<'_>]) -> Vec<Family> {
    let mut families: BTreeMap<&str, Family> = BTreeMap::new();
    for (family, value) in values {
        let own = families.entry(family).or_default();
        own.sum += value;
        own.items += 1;
    }
    families.into_values().collect()
}
