//! Where the probability goes from the direct condition to another: fold changes of label mass and continuation mass, on the
//! same items, with intervals.

use std::collections::BTreeMap;

use datasets::Stream;
use serde::Serialize;

use super::REFERENCE;
use super::readout::Readout;
use crate::compare::estimate;
use crate::report::cells::Place;
use crate::statistics::{Ratio, ratio};

/// A condition beside the direct one.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ShiftRow {
    /// Name of the model.
    pub model: String,
    /// Name of the task.
    pub task: String,
    /// Name of the condition.
    pub condition: String,
    /// Items that both conditions scored.
    pub n: u64,
    /// Mean MA of the condition over that of the direct one.
    pub label_mass: Ratio,
    /// The same of MR.
    pub continuation_mass: Ratio,
    /// By how much the mean rank of the right label is larger, with a 95 % interval.
    pub gold_rank: Option<f64>,
    /// Lower end.
    pub gold_rank_low: Option<f64>,
    /// Upper end.
    pub gold_rank_high: Option<f64>,
    /// By how much accuracy is larger, with a 95 % interval.
    pub accuracy: Option<f64>,
    /// Lower end.
    pub accuracy_low: Option<f64>,
    /// Upper end.
    pub accuracy_high: Option<f64>,
}

type Pair<'a> = (&'a Readout<'a>, &'a Readout<'a>);

pub(super) fn rows(places: &[(&Place<'_>, Vec<Readout<'_>>)], seed: u64) -> Vec<ShiftRow> {
    let mut rows = Vec::new();
    for (place, readouts) in places.iter().filter(|(place, _)| place.interface != REFERENCE) {
        let is_reference = |other: &&(&Place<'_>, Vec<Readout<'_>>)| {
            (&other.0.model, &other.0.task, other.0.interface.as_str())
                == (&place.model, &place.task, REFERENCE)
        };
        let Some((_, direct)) = places.iter().find(is_reference) else { continue };
        let direct: BTreeMap<&str, &Readout<'_>> =
            direct.iter().map(|readout| (readout.item.item.as_str(), readout)).collect();
        let pairs: Vec<Pair<'_>> = readouts
            .iter()
            .filter(|readout| readout.label_mass.is_some())
            .filter_map(|readout| Some((*direct.get(readout.item.item.as_str())?, readout)))
            .collect();
        if !pairs.is_empty() {
            rows.push(row(place, &pairs, seed));
        }
    }
    rows
}

fn row(place: &Place<'_>, pairs: &[Pair<'_>], seed: u64) -> ShiftRow {
    let purpose = |what: &'static str| [what, place.task.as_str(), place.interface.as_str()];
    let fold = |what: &'static str, value: fn(&Readout<'_>) -> Option<f64>| {
        let mut families: BTreeMap<&str, (f64, f64)> = BTreeMap::new();
        for (direct, other) in pairs {
            let Some((first, second)) = value(direct).zip(value(other)) else { continue };
            let family = families.entry(&direct.item.family).or_default();
            family.0 += first;
            family.1 += second;
        }
        let families: Vec<(f64, f64)> = families.into_values().collect();
        ratio(&families, &mut Stream::new(seed, &purpose(what)))
    };
    let difference = |what: &'static str, value: fn(&Readout<'_>) -> Option<f64>| {
        let values: Vec<(&str, f64)> = pairs
            .iter()
            .filter_map(|(direct, other)| Some((direct.item.family.as_str(), value(other)? - value(direct)?)))
            .collect();
        estimate(&values, seed, &purpose(what))
    };
    let rank = difference("rank", |it| it.gold_rank.map(f64::from));
    let accuracy = difference("accuracy", |it| Some(it.worth)).within(1.0);
    ShiftRow {
        model: place.model.clone(),
        task: place.task.clone(),
        condition: place.interface.clone(),
        n: pairs.len() as u64,
        label_mass: fold("label-mass", |it| it.label_mass),
        continuation_mass: fold("continuation-mass", |it| it.continuation_mass),
        gold_rank: rank.value,
        gold_rank_low: rank.bootstrap.map(|ends| ends.0),
        gold_rank_high: rank.bootstrap.map(|ends| ends.1),
        accuracy: accuracy.value,
        accuracy_low: accuracy.low,
        accuracy_high: accuracy.high,
    }
}
