//! What answers cost in energy, and what of it prompts and replies took; or why nobody knows.

use std::collections::BTreeSet;

use super::Material;
use crate::report::html::markup::{Markup, all, element, paragraph, table};
use crate::report::html::plot::{Axis, Join, Plot, Point, Series, figure, legend};
use crate::report::{Cost, PhaseCost, cost_views, phase_views, phases};

pub(super) fn render(material: &Material<'_>) -> Option<Markup> {
    let costs = &material.costs;
    if costs.is_empty() {
        return None;
    }
    let phases = phases(material.run);
    let mut parts = vec![paragraph(&introduction(costs))];
    let plots: Vec<Plot> =
        material.interfaces().into_iter().filter_map(|interface| plot(material, interface, costs)).collect();
    if !plots.is_empty() {
        parts.push(legend(material.models()));
        parts.push(element("div", &[("class", "plots")], plots.iter().map(figure)));
    }
    let rows: Vec<Vec<String>> = costs.iter().map(cost_views::row).collect();
    let count = rows.len();
    let open: Vec<Vec<String>> = rows.into_iter().filter(|row| material.is_plain(&row[1], &row[2])).collect();
    let left_out = count - open.len();
    parts.push(table(
        "Latency of items asked alone, energy of groups; what is absent says why",
        &cost_views::HEADINGS,
        3,
        &open,
    ));
    if left_out > 0 {
        parts.push(paragraph(&format!(
            "Left out: {left_out} rows of conditions that vary something. `edge-eval report DIR --costs` shows them; --csv FILE \
             and --json have them."
        )));
    }
    if !phases.is_empty() {
        parts.push(paragraph(&of_phases(&phases)));
        let rows: Vec<Vec<String>> = phases.iter().map(phase_views::row).collect();
        parts.push(table("Prompts and replies", &phase_views::HEADINGS, 4, &rows));
    }
    Some(all(parts))
}

fn introduction(costs: &[Cost]) -> String {
    let sensors: BTreeSet<String> = costs
        .iter()
        .filter(|cost| cost.energy.gross_j.is_some())
        .filter_map(|cost| cost.energy.sensor.as_ref())
        .map(|sensor| {
            format!("{} {} ({}, {})", sensor.source, sensor.channel, sensor.domain.word(), sensor.kind)
        })
        .collect();
    if !sensors.is_empty() {
        let sensors = sensors.into_iter().collect::<Vec<_>>().join("; ");
        return format!(
            "Gross energy as measured with {sensors}. The intervals are what sampling leaves open; no sensor was compared \
             with an instrument. Groups share their time, so that their energy is divided by engine time."
        );
    }
    let reasons: BTreeSet<String> =
        costs.iter().filter_map(|cost| cost.energy.missing).map(|missing| missing.to_string()).collect();
    let reasons = reasons.into_iter().collect::<Vec<_>>().join("; ");
    format!(
        "No energy was measured: {reasons}. `edge-eval doctor power` tells what this machine can measure."
    )
}

fn of_phases(phases: &[PhaseCost]) -> String {
    let reasons: BTreeSet<String> =
        phases.iter().filter_map(|phase| phase.missing).map(|missing| missing.to_string()).collect();
    let mut words =
        "Prefill is the evaluation of prompts, decode the writing of replies, mixed both in the same calls. \
                     A phase has an energy only where its spans are long enough for the sensor."
            .to_owned();
    if !reasons.is_empty() {
        words.push_str(&format!(
            " Where it has none: {}.",
            reasons.into_iter().collect::<Vec<_>>().join("; ")
        ));
    }
    words
}

/// Joules per item over the tasks, a series for each model.
fn plot(material: &Material<'_>, interface: &str, costs: &[Cost]) -> Option<Plot> {
    let tasks: Vec<String> = material.run.header.tasks.iter().map(|task| task.name.clone()).collect();
    let mut series = Vec::new();
    let mut highest = 0.0_f64;
    for (style, model) in material.models().enumerate() {
        let point = |cost: &Cost| {
            let x = tasks.iter().position(|task| *task == cost.task)? as f64;
            let y = cost.energy.per_item_j?;
            let doubt = cost.energy.doubt_j? / cost.energy.items as f64;
            // Models stand side by side, not on each other.
            let aside = 0.12 * (style as f64 - (material.run.header.models.len() as f64 - 1.0) / 2.0);
            Some(Point { x: x + aside.clamp(-0.4, 0.4), y, ends: Some(((y - doubt).max(0.0), y + doubt)) })
        };
        let own = costs.iter().filter(|cost| cost.model == model && cost.interface == interface);
        let points: Vec<Point> = own.filter_map(point).collect();
        highest =
            points.iter().filter_map(|point| point.ends).fold(highest, |most, (_, high)| most.max(high));
        if !points.is_empty() {
            series.push(Series { style: Some(style), points, join: Join::Nothing, marked: true });
        }
    }
    (!series.is_empty()).then(|| Plot {
        title: format!("{interface}: joules per item"),
        x: Axis::Names(tasks),
        y: Axis::Numbers { name: "J per item".to_owned(), low: 0.0, high: 1.05 * highest },
        series,
    })
}
