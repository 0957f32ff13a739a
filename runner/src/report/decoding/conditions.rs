//! One row per condition: how often it is right, how often it says the first place, and what its next token looks like.

use datasets::{Asks, Condition};
use serde::Serialize;

use super::mean;
use super::readout::Readout;
use crate::entry::ItemRecord;
use crate::report::cells::{Place, Witnesses};
use crate::report::clusters::clusters;

/// A model on a task under a condition.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ConditionRow {
    /// Name of the model.
    pub model: String,
    /// Name of the task.
    pub task: String,
    /// Name of the condition.
    pub condition: String,
    /// The ending, where one was swept.
    pub ending: Option<String>,
    /// What the ending asks for.
    pub asks: Option<Asks>,
    /// How explicitly it asks for a rationale.
    pub strength: Option<u8>,
    /// Answers that count; unanswered ones do.
    pub n: u64,
    /// Share of right ones.
    pub accuracy: Option<f64>,
    /// 95 % interval: Wilson's, on as many answers as the families are worth.
    pub low: Option<f64>,
    /// Its upper end.
    pub high: Option<f64>,
    /// Mean of one by the number of options, over exactly these answers.
    pub chance: Option<f64>,
    /// Share that says the first place; answers that say none are in the denominator.
    pub first_slot: Option<f64>,
    /// Share whose right label stands first.
    pub first_is_right: Option<f64>,
    /// Share without an answer.
    pub unanswered: Option<f64>,
    /// Mean MA.
    pub label_mass: Option<f64>,
    /// Mean MR.
    pub continuation_mass: Option<f64>,
    /// Mean probability of the labels with and without a space.
    pub variant_mass: Option<f64>,
    /// Mean rank of the right label.
    pub gold_rank: Option<f64>,
    /// Mean probability of the right label.
    pub gold_probability: Option<f64>,
    /// Mean lead of the best label.
    pub margin: Option<f64>,
    /// Mean entropy.
    pub entropy: Option<f64>,
}

pub(super) fn rows(places: &[(&Place<'_>, Vec<Readout<'_>>)]) -> Vec<ConditionRow> {
    places.iter().map(|(place, readouts)| row(place, readouts)).collect()
}

fn row(place: &Place<'_>, readouts: &[Readout<'_>]) -> ConditionRow {
    let share =
        |is: &dyn Fn(&Readout<'_>) -> bool| mean(readouts.iter().map(|it| f64::from(u8::from(is(it)))));
    let of = |value: &dyn Fn(&Readout<'_>) -> Option<f64>| mean(readouts.iter().filter_map(value));
    let accuracy = of(&|it| Some(it.worth));
    let (low, high) = interval(readouts).unzip();
    let ending = Condition::named(&place.interface).and_then(|condition| condition.ending);
    ConditionRow {
        model: place.model.clone(),
        task: place.task.clone(),
        condition: place.interface.clone(),
        ending: ending.map(|ending| ending.name.clone()),
        asks: ending.map(|ending| ending.asks),
        strength: ending.map(|ending| ending.strength),
        n: readouts.len() as u64,
        accuracy,
        low,
        high,
        chance: of(&|it| Some(1.0 / it.options() as f64)),
        first_slot: share(&|it| it.is_first()),
        first_is_right: share(&|it| it.gold == 0),
        unanswered: share(&|it| it.said.is_none()),
        label_mass: of(&|it| it.label_mass),
        continuation_mass: of(&|it| it.continuation_mass),
        variant_mass: of(&|it| it.variant_mass),
        gold_rank: of(&|it| it.gold_rank.map(f64::from)),
        gold_probability: of(&|it| it.gold_probability),
        margin: of(&|it| it.margin),
        entropy: of(&|it| it.entropy),
    }
}

/// The interval of the accuracy. Items of one family, and forms of one item, are not independent: they count as fewer.
pub(super) fn interval(readouts: &[Readout<'_>]) -> Option<(f64, f64)> {
    let items: Vec<&ItemRecord> = readouts.iter().map(|it| it.item).collect();
    let worths = clusters(&items).into_iter().zip(readouts.iter().map(|it| it.worth));
    let witnesses = Witnesses::of(worths);
    witnesses.low.zip(witnesses.high)
}
