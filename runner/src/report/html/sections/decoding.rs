//! The decoding laboratory: accuracy and first slot by ending, where the probability goes, orders of the options, whole texts,
//! and what writing costs.

mod tables;

use super::Material;
use crate::report::decoding::{ConditionRow, Decoding, has_decoding};
use crate::report::grid::{interval, number, percent};
use crate::report::html::markup::{Markup, all, details, element, paragraph, text};
use crate::report::html::plot::{Axis, Join, Plot, Point, Series, figure, legend};
use crate::report::note::gathered;

pub(super) fn render(material: &Material<'_>) -> Option<Markup> {
    let decoding = crate::report::decoding::decoding(material.run, &material.cells);
    if !has_decoding(&decoding) {
        return None;
    }
    let tasks = &material.run.header.tasks;
    let bars: Vec<Markup> =
        tasks.iter().filter_map(|task| of_task(material, &decoding, &task.name)).collect();
    let plots: Vec<Markup> = tasks
        .iter()
        .filter_map(|task| by_place(material, &task.name, &decoding))
        .map(|plot| figure(&plot))
        .collect();
    let notes = gathered(&decoding.notes).into_iter().map(|note| paragraph(&note));
    Some(all([
        paragraph(
            "A condition is an interface with what was varied about it: the ending of the prompt, the labels, the place of the \
             ending, the cap of the reply. All conditions of a task ask the same items.",
        ),
        all(notes),
        all(bars),
        legend(material.models()),
        element("div", &[("class", "plots")], plots),
        tables::tables(material, &decoding),
    ]))
}

/// The conditions of a task: all where they are few, else the plain ones of all models open and all of each model behind a line.
fn of_task(material: &Material<'_>, decoding: &Decoding, task: &str) -> Option<Markup> {
    let own: Vec<&ConditionRow> = decoding.conditions.iter().filter(|row| row.task == task).collect();
    if own.len() < 2 {
        return None;
    }
    let plain: Vec<&ConditionRow> =
        own.iter().copied().filter(|row| material.is_plain(task, &row.condition)).collect();
    if plain.len() == own.len() {
        return Some(bars(task, &own));
    }
    let mut parts = vec![bars(task, &plain)];
    for model in material.models() {
        let of_model: Vec<&ConditionRow> = own.iter().copied().filter(|row| row.model == model).collect();
        let summary = format!("{task}, {model}: all {} conditions", of_model.len());
        parts.push(details(&summary, [bars(task, &of_model)]));
    }
    Some(all(parts))
}

/// Accuracy, first slot and masses of conditions as bars: any number of them stays readable.
fn bars(task: &str, own: &[&ConditionRow]) -> Markup {
    let row = |row: &&ConditionRow| {
        let named = |name: &str| element("td", &[], [text(name)]);
        let cells = [
            named(&row.model),
            named(&row.condition),
            bar(row.accuracy, 2, &percent(row.accuracy)),
            element("td", &[("class", "n")], [text(&interval(row.low, row.high))]),
            bar(row.first_slot, 1, &percent(row.first_slot)),
            bar(row.label_mass, 0, &number(row.label_mass)),
            bar(row.continuation_mass, 3, &number(row.continuation_mass)),
        ];
        element("tr", &[], cells)
    };
    let headings =
        ["model", "condition", "accuracy", "95 % interval", "first slot", "MA: labels", "MR: continuation"];
    let head = headings.iter().map(|heading| element("th", &[("scope", "col")], [text(heading)]));
    let chance = own.iter().find_map(|row| row.chance);
    let first = own.iter().find_map(|row| row.first_is_right);
    let caption = format!(
        "{task}: conditions; chance {}, the first place is right in {}",
        percent(chance),
        percent(first)
    );
    let content = [
        element("caption", &[], [text(&caption)]),
        element("thead", &[], [element("tr", &[], head)]),
        element("tbody", &[], own.iter().map(row)),
    ];
    element("div", &[("class", "scroll"), ("tabindex", "0")], [element("table", &[], content)])
}

/// A share as a bar with its number.
fn bar(value: Option<f64>, colour: usize, words: &str) -> Markup {
    let Some(value) = value.filter(|value| value.is_finite()) else {
        return element("td", &[("class", "n")], [text("-")]);
    };
    let style = format!("--w:{:.0}%;--c:var(--s{colour})", 100.0 * value.clamp(0.0, 1.0));
    element("td", &[("class", "share"), ("style", &style)], [text(words)])
}

/// What the right label gets where it stands, under the direct condition and under the one that moves most.
fn by_place(material: &Material<'_>, task: &str, decoding: &Decoding) -> Option<Plot> {
    let own: Vec<_> =
        decoding.slots.iter().filter(|row| row.task == task && row.gold_probability.is_some()).collect();
    let places = own.iter().map(|row| row.slot).max().filter(|places| (2..=12).contains(places))?;
    let of = |condition: &str, model: &str| -> Vec<Point> {
        own.iter()
            .filter(|row| row.condition == condition && row.model == model)
            .filter_map(|row| Some(Point::at(row.slot as f64 - 1.0, row.gold_probability?)))
            .collect()
    };
    let mut series = Vec::new();
    for (style, model) in material.models().enumerate() {
        series.push(Series {
            style: Some(style),
            points: of("direct", &model),
            join: Join::Line,
            marked: true,
        });
        series.push(Series {
            style: Some(style),
            points: of("cot-prefix", &model),
            join: Join::Steps,
            marked: false,
        });
    }
    if series.iter().all(|series| series.points.is_empty()) {
        return None;
    }
    Some(Plot {
        title: format!("{task}: probability of the right label by its place; lines direct, steps cot-prefix"),
        x: Axis::Names((1..=places).map(|place| place.to_string()).collect()),
        y: Axis::shares("probability"),
        series,
    })
}
