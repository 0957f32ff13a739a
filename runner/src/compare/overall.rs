//! A candidate over all tasks, interface by interface: what a sentence can be made of.

use serde::Serialize;

use super::energy::{EnergyRatio, ratio};
use super::rounds::{RoundRatios, rounds};
use super::rows::Row;
use super::side::{Place, Side};
use crate::statistics::{Estimate, combined, items_to_exclude};

/// A candidate against the reference through one interface, every task with the same weight.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Overall {
    /// The candidate.
    pub candidate: String,
    /// Name of the interface.
    pub interface: String,
    /// Tasks with pairs; those that only ask the prompts of another do not count.
    pub tasks: u64,
    /// Those of them where the reference's accuracy cannot be told from guessing.
    pub guessed_tasks: u64,
    /// Pairs of all of them.
    pub pairs: u64,
    /// Mean over the tasks of candidate minus reference.
    pub difference: Option<f64>,
    /// Lower end of its 95 % interval.
    pub low: Option<f64>,
    /// Upper end.
    pub high: Option<f64>,
    /// With a probability of 95 % no loss is larger.
    pub most_loss: Option<f64>,
    /// Pairs that it takes to exclude a loss of the margin, tasks in the same proportions.
    pub items_to_exclude: Option<f64>,
    /// Time of the candidate's engine over that of the reference's.
    pub time_ratio: Option<f64>,
    /// Energy of the candidate over that of the reference.
    pub energy: EnergyRatio,
    /// Time and energy round by round, where both sides are of one run.
    pub rounds: RoundRatios,
}

/// Averages rows of the same candidate and interface, in the order of their first appearance.
pub(super) fn overall(rows: &[Row], margin: f64, reference: &Side, candidates: &[Side]) -> Vec<Overall> {
    let mut places: Vec<(&str, &str)> = Vec::new();
    for row in rows {
        let place = (row.candidate.as_str(), row.interface.as_str());
        if !places.contains(&place) {
            places.push(place);
        }
    }
    places
        .into_iter()
        .map(|(candidate, interface)| {
            let own: Vec<&Row> = rows
                .iter()
                .filter(|row| row.candidate == candidate && row.interface == interface && row.tests())
                .collect();
            let mut overall = average(candidate, interface, &own, margin);
            if let Some(side) = candidates.iter().find(|side| side.name == candidate) {
                let places: Vec<(Place, u64)> =
                    own.iter().map(|row| ((row.task.clone(), row.interface.clone()), row.pairs)).collect();
                let weighed = places.iter().map(|(place, pairs)| (place, *pairs));
                overall.energy = ratio(&reference.energies, &side.energies, weighed);
                let places: Vec<Place> = places.into_iter().map(|(place, _)| place).collect();
                overall.rounds = rounds(reference, side, &places);
            }
            overall
        })
        .collect()
}

fn average(candidate: &str, interface: &str, rows: &[&Row], margin: f64) -> Overall {
    let mean = |ends: fn(&Row) -> Option<(f64, f64)>| {
        let all: Option<Vec<Estimate>> = rows
            .iter()
            .map(|row| {
                let (low, high) = ends(row)?;
                Some(Estimate { value: row.difference.value?, low, high })
            })
            .collect();
        combined(&all?)
    };
    let wide = mean(|row| row.difference.low.zip(row.difference.high));
    let narrow = mean(|row| row.difference.least.zip(row.difference.most));
    let pairs: u64 = rows.iter().map(|row| row.pairs).sum();
    let tasks = rows.len() as f64;
    // The variance that so many pairs have over that which the margin allows is how many times as many are needed.
    let share = |row: &&Row| {
        items_to_exclude(margin, row.discordance())
            .map(|needed| needed * row.difference.design_effect / row.pairs as f64)
    };
    let times: Option<f64> = rows.iter().map(share).sum::<Option<f64>>().map(|sum| sum / (tasks * tasks));
    let engine_us = rows.iter().fold((0, 0), |sum, row| (sum.0 + row.engine_us.0, sum.1 + row.engine_us.1));
    let value = rows.iter().map(|row| row.difference.value).sum::<Option<f64>>();
    Overall {
        candidate: candidate.to_owned(),
        interface: interface.to_owned(),
        tasks: rows.len() as u64,
        guessed_tasks: rows.iter().filter(|row| row.reference_guesses).count() as u64,
        pairs,
        difference: value.filter(|_| !rows.is_empty()).map(|sum| sum / tasks),
        low: wide.map(|mean| mean.low),
        high: wide.map(|mean| mean.high),
        most_loss: narrow.map(|mean| (-mean.low).max(0.0)),
        items_to_exclude: times.filter(|_| !rows.is_empty()).map(|times| (times * pairs as f64).ceil()),
        time_ratio: (engine_us.0 > 0 && engine_us.1 > 0).then(|| engine_us.1 as f64 / engine_us.0 as f64),
        energy: EnergyRatio::default(),
        rounds: RoundRatios::default(),
    }
}
