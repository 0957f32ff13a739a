//! Over the orders of the options: the mean of every figure over the fixed seeds, and how far it moves from seed to seed.

use std::collections::BTreeMap;

use datasets::forms::base;
use serde::Serialize;

use super::mean;
use super::readout::Readout;
use crate::report::cells::Place;
use crate::statistics::{Spread, spread};

/// A condition over all orders.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct OrdersRow {
    /// Name of the model.
    pub model: String,
    /// Name of the task.
    pub task: String,
    /// Name of the condition.
    pub condition: String,
    /// Orders, one per seed.
    pub seeds: u64,
    /// Items that were asked in every order.
    pub items: u64,
    /// Accuracy: mean over the seeds, sample deviation.
    pub accuracy: Spread,
    /// Share that says the first place, likewise.
    pub first_slot: Spread,
    /// Mean of one by the number of options, over exactly these answers.
    pub chance: Option<f64>,
    /// Share of items that are right in every order.
    pub all_right: Option<f64>,
    /// Share of items whose answer is the same content in every order.
    pub same_content: Option<f64>,
}

/// A condition on the questions of one number of options.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct OptionsRow {
    /// Name of the model.
    pub model: String,
    /// Name of the task.
    pub task: String,
    /// Name of the condition.
    pub condition: String,
    /// Options.
    pub options: usize,
    /// Answers.
    pub n: u64,
    /// Share of right ones.
    pub accuracy: Option<f64>,
    /// 95 % interval.
    pub low: Option<f64>,
    /// Its upper end.
    pub high: Option<f64>,
    /// Share that says the first place.
    pub first_slot: Option<f64>,
    /// One by the number of options.
    pub chance: f64,
}

pub(super) fn rows(places: &[(&Place<'_>, Vec<Readout<'_>>)]) -> Vec<OrdersRow> {
    places.iter().filter_map(|(place, readouts)| row(place, readouts)).collect()
}

fn row(place: &Place<'_>, readouts: &[Readout<'_>]) -> Option<OrdersRow> {
    let mut seeds: BTreeMap<u64, Vec<&Readout<'_>>> = BTreeMap::new();
    let mut items: BTreeMap<&str, Vec<&Readout<'_>>> = BTreeMap::new();
    for it in readouts {
        let Some(seed) = it.tag("permutation").and_then(|seed| seed.parse().ok()) else { continue };
        seeds.entry(seed).or_default().push(it);
        items.entry(base(&it.item.item)).or_default().push(it);
    }
    // A mean over seeds compares only what every seed has: an item that one order lost would move one of the means.
    items.retain(|_, forms| forms.len() == seeds.len());
    seeds.values_mut().for_each(|own| own.retain(|it| items.contains_key(base(&it.item.item))));
    if items.is_empty() {
        return None;
    }
    let of = |value: fn(&Readout<'_>) -> f64| -> Vec<f64> {
        seeds.values().filter_map(|own| mean(own.iter().map(|it| value(it)))).collect()
    };
    let share =
        |is: fn(&[&Readout<'_>]) -> bool| mean(items.values().map(|forms| f64::from(u8::from(is(forms)))));
    Some(OrdersRow {
        model: place.model.clone(),
        task: place.task.clone(),
        condition: place.interface.clone(),
        seeds: seeds.len() as u64,
        items: items.len() as u64,
        accuracy: spread(&of(|it| it.worth)),
        first_slot: spread(&of(|it| f64::from(u8::from(it.is_first())))),
        chance: mean(items.values().flatten().map(|it| 1.0 / it.options() as f64)),
        all_right: share(|forms| forms.iter().all(|it| it.worth == 1.0)),
        same_content: share(|forms| {
            let content = |it: &Readout<'_>| shown(it).get(it.said?).copied();
            let first = forms.first().and_then(|it| content(it));
            first.is_some() && forms.iter().all(|it| content(it) == first)
        }),
    })
}

/// Which of the item's own options stands at each place.
fn shown(it: &Readout<'_>) -> Vec<usize> {
    let order = it.tag("permuted").unwrap_or_default();
    order.split('-').filter_map(|from| from.parse().ok()).collect()
}

pub(super) fn by_options(places: &[(&Place<'_>, Vec<Readout<'_>>)]) -> Vec<OptionsRow> {
    let mut rows = Vec::new();
    for (place, readouts) in places {
        let mut sizes: BTreeMap<usize, Vec<Readout<'_>>> = BTreeMap::new();
        for it in readouts {
            sizes.entry(it.options()).or_default().push(it.clone());
        }
        if sizes.len() < 2 {
            continue;
        }
        rows.extend(sizes.into_iter().map(|(options, own)| {
            let ends = super::conditions::interval(&own);
            OptionsRow {
                model: place.model.clone(),
                task: place.task.clone(),
                condition: place.interface.clone(),
                options,
                n: own.len() as u64,
                accuracy: mean(own.iter().map(|it| it.worth)),
                low: ends.map(|ends| ends.0),
                high: ends.map(|ends| ends.1),
                first_slot: mean(own.iter().map(|it| f64::from(u8::from(it.is_first())))),
                chance: 1.0 / options as f64,
            }
        }));
    }
    rows
}
