//! Items broken down by what they are tagged with.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

use datasets::{Item, Said, Script};
use serde::Serialize;

use super::cells::{Cell, Place, places};
use super::load::RunLog;
use crate::entry::ItemRecord;

/// The tag under which items have the label that is right: accuracy by the gold's place tells a liking for one label
/// from knowledge. An item's own tag of this name comes first.
pub const GOLD: &str = "gold";
/// The tag under which items have what was said: how often each label is given, and how often it is then right.
pub const SAID: &str = "said";

/// Value of items that lack a tag which others of their task have.
const ABSENT: &str = "-";

/// Values of tags, in the order of the tags.
pub type Values = Vec<(String, String)>;

/// Figures of the items of one stratum.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Stratum {
    /// The tags' values.
    #[serde(serialize_with = "as_map")]
    pub by: Values,
    /// The figures.
    #[serde(flatten)]
    pub cell: Cell,
}

/// The figures of a run, broken down by tags that are crossed with each other. Tasks whose items lack one of the tags
/// altogether are left out. `Err` is one line: a tag that no task has.
pub fn strata(run: &RunLog, tags: &[String]) -> Result<Vec<Stratum>, String> {
    let known: BTreeSet<&str> =
        run.items.iter().flat_map(|item| item.tags.iter().map(|(tag, _)| tag.as_str())).collect();
    if let Some(unknown) =
        tags.iter().find(|tag| ![GOLD, SAID].contains(&tag.as_str()) && !known.contains(tag.as_str()))
    {
        let known: Vec<&str> =
            known.into_iter().chain([GOLD, SAID]).collect::<BTreeSet<_>>().into_iter().collect();
        return Err(format!("no item has the tag `{unknown}`; the tags of this run: {}", known.join(", ")));
    }
    Ok(places(run)
        .iter()
        .flat_map(|place| {
            broken_down(place, tags).into_iter().map(|(by, items)| Stratum { by, cell: place.cell(&items) })
        })
        .collect())
}

/// The items of a place by the values of tags; none when no item has one of the tags.
pub(super) fn broken_down<'a>(
    place: &Place<'a>,
    tags: &[impl AsRef<str>],
) -> Vec<(Values, Vec<&'a ItemRecord>)> {
    split(&place.items, tags, value)
}

/// Splits anything by the values of tags, values in their natural order; nothing when a tag has no value anywhere.
pub(super) fn split<'a, T>(
    all: &[&'a T],
    tags: &[impl AsRef<str>],
    value: impl Fn(&T, &str) -> Option<String>,
) -> Vec<(Values, Vec<&'a T>)> {
    let mut strata: BTreeMap<Vec<Level>, Vec<&'a T>> = BTreeMap::new();
    let mut seen = vec![false; tags.len()];
    for one in all {
        let mut key = Vec::new();
        for (tag, seen) in tags.iter().zip(&mut seen) {
            let value = value(one, tag.as_ref());
            *seen |= value.is_some();
            key.push(Level(value.unwrap_or_else(|| ABSENT.to_owned())));
        }
        strata.entry(key).or_default().push(one);
    }
    if seen.contains(&false) {
        return Vec::new();
    }
    let named = |key: Vec<Level>| {
        tags.iter().map(|tag| tag.as_ref().to_owned()).zip(key.into_iter().map(|level| level.0))
    };
    strata.into_iter().map(|(key, items)| (named(key).collect(), items)).collect()
}

/// The value of a tag of a logged item.
fn value(item: &ItemRecord, tag: &str) -> Option<String> {
    if let Some((_, value)) = item.tags.iter().find(|(own, _)| own == tag) {
        return Some(value.clone());
    }
    // Several questions have several golds.
    let [turn] = &item.turns[..] else { return None };
    let label = |index: u16| turn.labels.get(usize::from(index)).cloned();
    match tag {
        GOLD => turn.gold.label().and_then(label),
        SAID => match turn.said.as_ref()? {
            Said::Choice(index) => label(*index),
            Said::Text(_) => Some("(text)".to_owned()),
            Said::Nothing(_) => Some("(no answer)".to_owned()),
        },
        _ => None,
    }
}

/// The value of a tag of an item that nobody was asked; it has no [`SAID`].
pub(super) fn value_of_item(item: &Item, tag: &str) -> Option<String> {
    if let Some(value) = item.tags.get(tag) {
        return Some(value.clone());
    }
    let Script::One(question) = &item.script else { return None };
    let gold = question.gold.label().filter(|_| tag == GOLD)?;
    question.labels.get(usize::from(gold)).cloned()
}

/// A value of a tag: numbers by size, then words by the alphabet.
#[derive(PartialEq, Eq)]
struct Level(String);

impl Ord for Level {
    fn cmp(&self, other: &Self) -> Ordering {
        let number = |text: &str| text.parse::<f64>().ok().filter(|number| number.is_finite());
        match (number(&self.0), number(&other.0)) {
            (Some(one), Some(two)) => one.total_cmp(&two).then_with(|| self.0.cmp(&other.0)),
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (None, None) => self.0.cmp(&other.0),
        }
    }
}

impl PartialOrd for Level {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// `depth 3, dependent true`.
pub(super) fn in_words(by: &Values) -> String {
    by.iter().map(|(tag, value)| format!("{tag} {value}")).collect::<Vec<_>>().join(", ")
}

/// Writes tags with their values as an object.
pub(super) fn as_map<S: serde::Serializer>(by: &Values, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map(by.iter().map(|(tag, value)| (tag, value)))
}

#[cfg(test)]
mod tests;
