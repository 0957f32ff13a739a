//! How often each place among the labels is chosen, beside how often it is right.

use std::collections::BTreeMap;

use datasets::Said;

use super::Material;
use crate::report::extent::is_varied;
use crate::report::grid::percent;
use crate::report::html::markup::{Markup, all, details, element, paragraph, table};
use crate::report::html::plot::{Axis, Join, Plot, Point, Series, figure, legend};
use crate::report::places;

/// Places that a plot has room for.
const MOST_PLACES: usize = 12;

/// Counts by place.
#[derive(Default)]
struct Slots {
    right: Vec<u64>,
    /// By model.
    said: BTreeMap<String, Vec<u64>>,
}

pub(super) fn render(material: &Material<'_>) -> Option<Markup> {
    let mut order: Vec<(String, String)> = Vec::new();
    let mut all_slots: BTreeMap<(String, String), Slots> = BTreeMap::new();
    for place in places(material.run).into_iter().filter(|place| !is_varied(&place.interface)) {
        let key = (place.task.clone(), place.interface.clone());
        if !all_slots.contains_key(&key) {
            order.push(key.clone());
        }
        let slots = all_slots.entry(key).or_default();
        for turn in place.items.iter().flat_map(|item| &item.turns) {
            let count = turn.labels.len();
            let said = slots.said.entry(place.model.clone()).or_default();
            for counts in [&mut *said, &mut slots.right] {
                counts.resize(counts.len().max(count), 0);
            }
            if let Some(right) = turn.gold.label().and_then(|label| slots.right.get_mut(usize::from(label))) {
                *right += 1;
            }
            if let Some(Said::Choice(label)) = turn.said
                && let Some(chosen) = said.get_mut(usize::from(label))
            {
                *chosen += 1;
            }
        }
    }
    let mut plots = Vec::new();
    let mut rows = Vec::new();
    for key in &order {
        let slots = &all_slots[key];
        if !(2..=MOST_PLACES).contains(&slots.right.len()) || slots.right.iter().sum::<u64>() == 0 {
            continue;
        }
        plots.push(figure(&plot(material, key, slots)));
        let sides = slots.said.iter().map(|(model, counts)| (model.as_str(), counts));
        for (side, counts) in std::iter::once(("(right)", &slots.right)).chain(sides) {
            let shares: Vec<String> = shares(counts).map(|share| percent(Some(share))).collect();
            rows.push(vec![
                key.0.clone(),
                key.1.clone(),
                side.to_owned(),
                shares.join("  "),
                total(counts).to_string(),
            ]);
        }
    }
    if plots.is_empty() {
        return None;
    }
    let values = table(
        "Shares of places, first to last",
        &["task", "interface", "who", "shares", "choices"],
        3,
        &rows,
    );
    Some(all([
        paragraph(
            "Share of choices by the place of the label in display order. The thin line is how often a place is right: \
             a model that knows nothing and likes a place stands above it there.",
        ),
        legend(material.models()),
        element("div", &[("class", "plots")], plots),
        details("The values of these plots", [values]),
    ]))
}

fn total(counts: &[u64]) -> u64 {
    counts.iter().sum()
}

fn shares(counts: &[u64]) -> impl Iterator<Item = f64> + '_ {
    let all = total(counts).max(1) as f64;
    counts.iter().map(move |&count| count as f64 / all)
}

fn plot(material: &Material<'_>, (task, interface): &(String, String), slots: &Slots) -> Plot {
    let points =
        |counts: &[u64]| shares(counts).enumerate().map(|(at, share)| Point::at(at as f64, share)).collect();
    let mut series =
        vec![Series { style: None, points: points(&slots.right), join: Join::Line, marked: false }];
    series.extend(slots.said.iter().filter(|(_, counts)| total(counts) > 0).map(|(model, counts)| Series {
        style: Some(material.style(model)),
        points: points(counts),
        join: Join::Line,
        marked: true,
    }));
    Plot {
        title: format!("{task}, {interface}: share of choices by place of the label"),
        x: Axis::Names((1..=slots.right.len()).map(|place| place.to_string()).collect()),
        y: Axis::shares("share"),
        series,
    }
}
