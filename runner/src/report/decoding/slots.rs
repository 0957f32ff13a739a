//! By place of the label: how often it is said, and what happens to the right label when it stands there.

use serde::Serialize;

use super::mean;
use super::readout::Readout;
use crate::report::cells::Place;

/// A place under a condition.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SlotRow {
    /// Name of the model.
    pub model: String,
    /// Name of the task.
    pub task: String,
    /// Name of the condition.
    pub condition: String,
    /// The place, from 1.
    pub slot: usize,
    /// Answers to questions that have the place.
    pub n: u64,
    /// Share of them that says it.
    pub said: Option<f64>,
    /// Those whose right label stands there.
    pub right_here: u64,
    /// Accuracy among these.
    pub accuracy: Option<f64>,
    /// Mean probability of the right label among these, over the full vocabulary.
    pub gold_probability: Option<f64>,
    /// The same among the valid labels alone.
    pub gold_share: Option<f64>,
}

pub(super) fn rows(places: &[(&Place<'_>, Vec<Readout<'_>>)]) -> Vec<SlotRow> {
    let mut rows = Vec::new();
    for (place, readouts) in places {
        let slots = readouts.iter().map(Readout::options).max().unwrap_or(0);
        for slot in 0..slots {
            let have: Vec<&Readout<'_>> = readouts.iter().filter(|it| it.options() > slot).collect();
            let here: Vec<&&Readout<'_>> = have.iter().filter(|it| it.gold == slot).collect();
            let said = have.iter().map(|it| f64::from(u8::from(it.said == Some(slot))));
            rows.push(SlotRow {
                model: place.model.clone(),
                task: place.task.clone(),
                condition: place.interface.clone(),
                slot: slot + 1,
                n: have.len() as u64,
                said: mean(said),
                right_here: here.len() as u64,
                accuracy: mean(here.iter().map(|it| it.worth)),
                gold_probability: mean(here.iter().filter_map(|it| it.gold_probability)),
                gold_share: mean(here.iter().filter_map(|it| it.gold_share)),
            });
        }
    }
    rows
}
