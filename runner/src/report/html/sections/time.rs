//! What items took of the engine's time: distributions, not means alone. Packed items share their time, so none of it is a
//! latency: that comes from items asked alone, and stands beside energy.

use std::collections::BTreeMap;

use super::Material;
use crate::report::grid::number;
use crate::report::html::markup::{Markup, all, element, paragraph};
use crate::report::html::plot::{Axis, Join, Plot, Point, Series, figure, legend};
use crate::report::places;
use crate::statistics::quantile;

/// Points of a curve; enough for the eye, however many items there are.
const POINTS: usize = 60;
/// Quantiles of the table.
const QUANTILES: [f64; 5] = [0.05, 0.5, 0.9, 0.95, 0.99];

/// A quantile where there are as many values as it takes for one to lie beyond: the 99 % quantile of ten is their longest.
fn told(sorted: &[f64], at: f64) -> Option<f64> {
    let beyond = at.min(1.0 - at) * sorted.len() as f64;
    // The median is the middle of whatever there is.
    (at == 0.5 || beyond > 1.0 - 1e-9).then(|| quantile(sorted, at)).flatten()
}

pub(super) fn render(material: &Material<'_>) -> Option<Markup> {
    let mut rows = Vec::new();
    // By interface and model, over all tasks.
    let mut times: BTreeMap<(String, String), Vec<f64>> = BTreeMap::new();
    for place in places(material.run) {
        let mut own: Vec<f64> = place
            .items
            .iter()
            .map(|item| (item.usage.prefill_us + item.usage.decode_us) as f64 / 1e3)
            .filter(|ms| *ms > 0.0)
            .collect();
        if own.is_empty() {
            continue;
        }
        own.sort_by(f64::total_cmp);
        let mut row =
            vec![place.model.clone(), place.task.clone(), place.interface.clone(), own.len().to_string()];
        row.extend(QUANTILES.iter().map(|&at| milliseconds(told(&own, at))));
        row.push(milliseconds(own.last().copied()));
        rows.push(row);
        times.entry((place.interface, place.model)).or_default().extend(own);
    }
    if rows.is_empty() {
        return None;
    }
    times.values_mut().for_each(|times| times.sort_by(f64::total_cmp));
    let plots = material.interfaces().into_iter().filter_map(|interface| plot(material, interface, &times));
    let headings =
        ["model", "task", "interface", "items", "5 %", "median", "90 %", "95 %", "99 %", "longest"];
    Some(all([
        paragraph(
            "Time that the engine spent on an item, in milliseconds. Where prompts were packed together this is the item's share of \
             the work by tokens, and no latency: what a shared prefix cost counts for the item that needed it first. Latency is \
             that of items asked alone (`--latency N`); it stands below, with energy.",
        ),
        legend(material.models()),
        element("div", &[("class", "plots")], plots.map(|plot| figure(&plot)).collect::<Vec<_>>()),
        material.by_condition("Quantiles of the engine time per item, ms", &headings, 3, &rows, [1, 2]),
    ]))
}

fn milliseconds(value: Option<f64>) -> String {
    number(value.map(|ms| if ms < 100.0 { (ms * 10.0).round() / 10.0 } else { ms.round() }))
}

fn plot(
    material: &Material<'_>,
    interface: &str,
    times: &BTreeMap<(String, String), Vec<f64>>,
) -> Option<Plot> {
    let mut series = Vec::new();
    for (style, model) in material.models().enumerate() {
        let Some(own) = times.get(&(interface.to_owned(), model)) else { continue };
        let point = |at: usize| {
            let share = at as f64 / POINTS as f64;
            Some(Point::at(quantile(own, share)?, share))
        };
        let points = (0..=POINTS).filter_map(point).collect();
        series.push(Series { style: Some(style), points, join: Join::Line, marked: false });
    }
    let all = series.iter().flat_map(|series| series.points.iter().map(|point| point.x));
    let x = Axis::ratios("ms per item", all);
    (!series.is_empty()).then(|| Plot {
        title: format!("{interface}: share of items that take no longer"),
        x,
        y: Axis::shares("share"),
        series,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_of_too_few_values_do_not_exist() {
        let values: Vec<f64> = (1..=100).map(f64::from).collect();
        let told = |count: usize| QUANTILES.map(|at| told(&values[..count], at).is_some());
        assert_eq!(told(100), [true; 5]);
        assert_eq!(told(99), [true, true, true, true, false]);
        assert_eq!(told(19), [false, true, true, false, false]);
        assert_eq!(told(9), [false, true, false, false, false]);
        assert_eq!(told(1), [false, true, false, false, false]);
    }
}
