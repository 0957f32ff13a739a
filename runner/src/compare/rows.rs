//! One candidate against the reference on one task through one interface.

use std::collections::BTreeSet;

use serde::Serialize;

use super::Options;
use super::divergences::{Labels, labels};
use super::energy::{EnergyRatio, ratio};
use super::estimate::{Mean, estimate};
use super::pairs::{Value, families, pairs};
use super::rounds::{RoundRatios, rounds};
use super::side::{Place, Side};
use crate::statistics::{McNemar, SignFlip, detectable, mcnemar, median, sign_flip};

/// The comparison of one task and interface.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Row {
    /// The candidate.
    pub candidate: String,
    /// Name of the task.
    pub task: String,
    /// Name of the interface.
    pub interface: String,
    /// Items that count on both sides.
    pub pairs: u64,
    /// Families that they come from.
    pub families: u64,
    /// Items in the log of the candidate alone.
    pub missing_in_reference: u64,
    /// Items in the log of the reference alone.
    pub missing_in_candidate: u64,
    /// Items that one side skipped or lost.
    pub not_counted: u64,
    /// Whether the reference's accuracy cannot be told from guessing: then there is nothing that a candidate could lose.
    pub reference_guesses: bool,
    /// Right on both sides.
    pub both_right: u64,
    /// Right on the reference's side alone.
    pub only_reference: u64,
    /// Right on the candidate's side alone.
    pub only_candidate: u64,
    /// Right on neither side.
    pub both_wrong: u64,
    /// Accuracy of the reference over the pairs; partly right answers count in part.
    pub accuracy_reference: Option<f64>,
    /// The same of the candidate.
    pub accuracy_candidate: Option<f64>,
    /// Candidate minus reference.
    pub difference: Mean,
    /// McNemar's exact test, items taken as independent; `None` without pairs.
    pub mcnemar: Option<McNemar>,
    /// The same test with families as witnesses: what verdicts use.
    pub by_family: Option<SignFlip>,
    /// Its two-sided p-value, adjusted for all rows (Holm); `None` where the row tests nothing of its own.
    pub holm: Option<f64>,
    /// The task before it that asks the same prompts through this interface: then it has no part in what holds over tasks.
    pub repeats: Option<String>,
    /// The smallest difference that so many pairs show with probability 0.8; `None` when they show none.
    pub detectable: Option<f64>,
    /// What the sides make of the labels.
    pub labels: Labels,
    /// Time of the candidate's engine over that of the reference's, on the pairs.
    pub time_ratio: Option<f64>,
    /// Energy of the candidate over that of the reference.
    pub energy: EnergyRatio,
    /// Median time per item of the reference, in milliseconds.
    pub median_ms_reference: Option<f64>,
    /// The same of the candidate.
    pub median_ms_candidate: Option<f64>,
    /// Time and energy round by round, where both sides are of one run.
    pub rounds: RoundRatios,
    /// Engine time of the pairs on both sides, in microseconds.
    #[serde(skip)]
    pub(super) engine_us: (u64, u64),
}

/// Compares everything that two sides have in common.
pub(super) fn rows(reference: &Side, candidate: &Side, options: &Options) -> Vec<Row> {
    let row = |(place, _): &(Place, _)| row(reference, candidate, place, options);
    let mut rows: Vec<Row> = reference.places.iter().filter_map(row).collect();
    let prompts: Vec<BTreeSet<[u8; 8]>> = rows.iter().map(|row| prompts(reference, row)).collect();
    for at in 0..rows.len() {
        // Of two tasks of which one asks all that the other asks, the larger counts, and the first of two alike.
        let has_all = |&other: &usize| {
            other != at
                && rows[other].interface == rows[at].interface
                && prompts[at].is_subset(&prompts[other])
                && (prompts[other].len(), at) > (prompts[at].len(), other)
        };
        let other = (0..rows.len()).filter(|_| !prompts[at].is_empty()).find(has_all);
        rows[at].repeats = other.map(|other| rows[other].task.clone());
    }
    rows
}

/// The first prompts of a row's items on the reference's side; none where some are not known.
fn prompts(reference: &Side, row: &Row) -> BTreeSet<[u8; 8]> {
    let answers = reference.answers(&(row.task.clone(), row.interface.clone()));
    let asked = answers.into_iter().flat_map(|answers| answers.values()).filter(|answer| answer.counted);
    let known = asked.map(|answer| answer.prompt.filter(|hash| *hash != [0; 8]));
    known.collect::<Option<_>>().unwrap_or_default()
}

fn row(reference: &Side, candidate: &Side, place: &Place, options: &Options) -> Option<Row> {
    let pairs = pairs(reference, candidate, place)?;
    let both = &pairs.both;
    let count =
        |one: bool, two: bool| both.iter().filter(|(a, b)| (a.right, b.right) == (one, two)).count() as u64;
    let (only_reference, only_candidate) = (count(true, false), count(false, true));
    let differences: Vec<Value<'_>> =
        both.iter().map(|(a, b)| (a.family.as_str(), b.worth - a.worth)).collect();
    let flips: Vec<Value<'_>> = both
        .iter()
        .map(|(a, b)| (a.family.as_str(), f64::from(u8::from(b.right)) - f64::from(u8::from(a.right))))
        .collect();
    let by_family: Vec<i64> = families(&flips).iter().map(|family| family.sum as i64).collect();
    let difference = estimate(&differences, options.seed, &["difference", &place.0, &place.1]).within(1.0);
    let n = both.len() as u64;
    let by_family = (n > 0).then(|| sign_flip(&by_family));
    let same_template = reference.model.template_sha256 == candidate.model.template_sha256;
    let total =
        |side: fn(&(&super::side::Answer, &super::side::Answer)) -> u64| both.iter().map(side).sum::<u64>();
    let engine_us = (total(|(a, _)| a.engine_us), total(|(_, b)| b.engine_us));
    let mean = |sum: f64| (n > 0).then(|| sum / n as f64);
    Some(Row {
        candidate: candidate.name.clone(),
        task: place.0.clone(),
        interface: place.1.clone(),
        pairs: n,
        families: difference.families,
        missing_in_reference: pairs.missing_in_reference,
        missing_in_candidate: pairs.missing_in_candidate,
        not_counted: pairs.not_counted,
        reference_guesses: reference.guesses.contains(place),
        both_right: count(true, true),
        only_reference,
        only_candidate,
        both_wrong: count(false, false),
        accuracy_reference: mean(both.iter().map(|(a, _)| a.worth).sum()),
        accuracy_candidate: mean(both.iter().map(|(_, b)| b.worth).sum()),
        detectable: detectable(
            n as f64 / difference.design_effect,
            discordance(n, only_reference + only_candidate),
        ),
        difference,
        mcnemar: (n > 0).then(|| mcnemar(only_reference, only_candidate)),
        holm: None,
        repeats: None,
        by_family,
        labels: labels(both, same_template, options.seed, &[&place.0, &place.1]),
        time_ratio: (engine_us.0 > 0 && engine_us.1 > 0).then(|| engine_us.1 as f64 / engine_us.0 as f64),
        energy: ratio(&reference.energies, &candidate.energies, std::iter::once((place, n))),
        rounds: rounds(reference, candidate, std::slice::from_ref(place)),
        median_ms_reference: median(both.iter().map(|(a, _)| a.engine_us as f64 / 1e3)),
        median_ms_candidate: median(both.iter().map(|(_, b)| b.engine_us as f64 / 1e3)),
        engine_us,
    })
}

/// Share of pairs that differ; where none does, as if one did.
pub(super) fn discordance(pairs: u64, differing: u64) -> f64 {
    if pairs == 0 { 0.0 } else { differing.max(1) as f64 / pairs as f64 }
}

impl Row {
    /// Share of pairs that differ.
    pub(super) fn discordance(&self) -> f64 {
        discordance(self.pairs, self.only_reference + self.only_candidate)
    }

    /// Whether it has pairs, and is not another row once more.
    pub(super) fn tests(&self) -> bool {
        self.pairs > 0 && self.repeats.is_none()
    }
}
