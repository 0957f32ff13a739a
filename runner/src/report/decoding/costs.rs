//! What writing costs and gains: every condition that writes, beside the direct one, in tokens and in joules.

use std::collections::BTreeMap;

use datasets::Condition;
use serde::Serialize;

use super::REFERENCE;
use super::readout::Readout;
use crate::compare::estimate;
use crate::report::cells::{Cell, Place};
use crate::report::costs::costs;
use crate::report::load::RunLog;

/// A condition with its price.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct WrittenRow {
    /// Name of the model.
    pub model: String,
    /// Name of the task.
    pub task: String,
    /// Name of the condition.
    pub condition: String,
    /// Answers.
    pub n: u64,
    /// Share of right ones.
    pub accuracy: Option<f64>,
    /// By how much that is more than the direct condition has, on items that both have.
    pub gain: Option<f64>,
    /// 95 % interval of the gain.
    pub gain_low: Option<f64>,
    /// Its upper end.
    pub gain_high: Option<f64>,
    /// The same over free-cot: what more than one chain is worth.
    pub gain_over_chain: Option<f64>,
    /// Prompt tokens that were evaluated, per item.
    pub evaluated_per_item: Option<f64>,
    /// Tokens written, per item.
    pub written_per_item: Option<f64>,
    /// Tokens of both kinds for each of the direct condition.
    pub times_direct: Option<f64>,
    /// Joules per item, where they were measured.
    pub joules_per_item: Option<f64>,
}

/// The one chain that several are held against.
const CHAIN: &str = "free-cot";

pub(super) fn rows(
    run: &RunLog,
    cells: &[Cell],
    places: &[(&Place<'_>, Vec<Readout<'_>>)],
    seed: u64,
) -> Vec<WrittenRow> {
    let writes = |name: &str| Condition::named(name).is_some_and(|condition| condition.interface.generates);
    if !places.iter().any(|(place, _)| writes(&place.interface)) {
        return Vec::new();
    }
    let costs = costs(run, cells);
    let at = |place: &Place<'_>, name: &str| {
        let is = |(other, _): &&(&Place<'_>, Vec<Readout<'_>>)| {
            (&other.model, &other.task, other.interface.as_str()) == (&place.model, &place.task, name)
        };
        places.iter().find(is)
    };
    let shown = places.iter().filter(|(place, _)| place.interface == REFERENCE || writes(&place.interface));
    let row = |(place, readouts): &(&Place<'_>, Vec<Readout<'_>>)| {
        let over = |name: &str| {
            let (_, reference) = at(place, name).filter(|_| place.interface != name)?;
            let reference: BTreeMap<&str, f64> =
                reference.iter().map(|it| (it.item.item.as_str(), it.worth)).collect();
            let values: Vec<(&str, f64)> = readouts
                .iter()
                .filter_map(|it| {
                    let before = reference.get(it.item.item.as_str())?;
                    Some((it.item.family.as_str(), it.worth - before))
                })
                .collect();
            Some(estimate(&values, seed, &["gain", name, &place.task, &place.interface]).within(1.0))
        };
        let tokens = |readouts: &[Readout<'_>]| {
            let n = readouts.len().max(1) as f64;
            let sum =
                |of: fn(&Readout<'_>) -> u32| readouts.iter().map(|it| f64::from(of(it))).sum::<f64>() / n;
            (sum(|it| it.item.usage.evaluated_tokens), sum(|it| it.item.usage.output_tokens))
        };
        let (evaluated, written) = tokens(readouts);
        let direct = at(place, REFERENCE).map(|(_, readouts)| tokens(readouts)).map(|(a, b)| a + b);
        let (gain, chain) = (over(REFERENCE), over(CHAIN));
        let cost = costs.iter().find(|cost| {
            (&cost.model, &cost.task, &cost.interface) == (&place.model, &place.task, &place.interface)
        });
        WrittenRow {
            model: place.model.clone(),
            task: place.task.clone(),
            condition: place.interface.clone(),
            n: readouts.len() as u64,
            accuracy: super::mean(readouts.iter().map(|it| it.worth)),
            gain: gain.as_ref().and_then(|gain| gain.value),
            gain_low: gain.as_ref().and_then(|gain| gain.low),
            gain_high: gain.as_ref().and_then(|gain| gain.high),
            gain_over_chain: chain.and_then(|gain| gain.value),
            evaluated_per_item: Some(evaluated),
            written_per_item: Some(written),
            times_direct: direct.filter(|direct| *direct > 0.0).map(|direct| (evaluated + written) / direct),
            joules_per_item: cost.and_then(|cost| cost.energy.per_item_j),
        }
    };
    shown.map(row).collect()
}
