//! The decoding laboratory: accuracy and first slot by ending, where the probability goes, orders of the options, whole texts,
//! and what writing costs.

use super::Material;
use crate::report::decoding::{ConditionRow, Decoding, ends, fold, has_decoding, signed, spread};
use crate::report::grid::{number, percent};
use crate::report::html::markup::{Markup, all, details, element, paragraph, table};
use crate::report::html::plot::{Axis, Join, Plot, Point, Series, figure, legend};

pub(super) fn render(material: &Material<'_>) -> Option<Markup> {
    let decoding = crate::report::decoding::decoding(material.run, &material.cells);
    if !has_decoding(&decoding) {
        return None;
    }
    let mut plots = Vec::new();
    for task in &material.run.header.tasks {
        let own: Vec<&ConditionRow> =
            decoding.conditions.iter().filter(|row| row.task == task.name).collect();
        plots.push(bars(material, &task.name, &own, "accuracy", |row| row.accuracy, Ends::Shown));
        plots.push(bars(
            material,
            &task.name,
            &own,
            "share that says the first place",
            |row| row.first_slot,
            Ends::None,
        ));
        plots.push(bars(
            material,
            &task.name,
            &own,
            "MA, probability of the labels",
            |row| row.label_mass,
            Ends::None,
        ));
        plots.push(bars(
            material,
            &task.name,
            &own,
            "MR, probability of a continuation",
            |row| row.continuation_mass,
            Ends::None,
        ));
        plots.push(by_place(material, &task.name, &decoding));
    }
    let notes = decoding.notes.iter().map(|note| paragraph(note));
    Some(all([
        paragraph(
            "A condition is an interface with what was varied about it: the ending of the prompt, the labels, the place of the \
             ending, the cap of the reply. All conditions of a task ask the same items.",
        ),
        all(notes),
        legend(material.models()),
        element("div", &[("class", "plots")], plots.into_iter().flatten().map(|plot| figure(&plot))),
        tables(&decoding),
    ]))
}

/// Whether a plot shows intervals.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Ends {
    Shown,
    None,
}

/// A figure by condition, model beside model.
fn bars(
    material: &Material<'_>,
    task: &str,
    rows: &[&ConditionRow],
    what: &str,
    value: fn(&ConditionRow) -> Option<f64>,
    intervals: Ends,
) -> Option<Plot> {
    let mut names: Vec<String> = Vec::new();
    for row in rows.iter().filter(|row| value(row).is_some()) {
        if !names.contains(&row.condition) {
            names.push(row.condition.clone());
        }
    }
    if names.len() < 2 {
        return None;
    }
    let series = material.models().enumerate().map(|(style, model)| {
        let points = rows.iter().filter(|row| row.model == model).filter_map(|row| {
            let x = names.iter().position(|name| *name == row.condition)? as f64;
            let ends = if intervals == Ends::Shown { row.low.zip(row.high) } else { None };
            Some(Point { x, y: value(row)?, ends })
        });
        Series { style: Some(style), points: points.collect(), join: Join::Nothing, marked: true }
    });
    Some(Plot {
        title: format!("{task}: {what}, by condition"),
        series: series.collect(),
        x: Axis::Names(names),
        y: Axis::shares(what),
    })
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

fn tables(decoding: &Decoding) -> Markup {
    let names = |model: &String, task: &String, condition: &String| {
        vec![model.clone(), task.clone(), condition.clone()]
    };
    let headed = |more: &[&'static str]| -> Vec<&'static str> {
        ["model", "task", "condition"].iter().chain(more).copied().collect()
    };
    let mut parts = Vec::new();
    let shifts: Vec<Vec<String>> = decoding
        .shifts
        .iter()
        .map(|row| {
            let mut cells = names(&row.model, &row.task, &row.condition);
            cells.push(row.n.to_string());
            cells.extend(fold(&row.label_mass));
            cells.extend(fold(&row.continuation_mass));
            cells.push(signed(row.gold_rank, 1.0));
            cells.push(signed(row.accuracy, 100.0));
            cells.push(ends(row.accuracy_low, row.accuracy_high, 100.0));
            cells
        })
        .collect();
    let orders: Vec<Vec<String>> = decoding
        .orders
        .iter()
        .map(|row| {
            let mut cells = names(&row.model, &row.task, &row.condition);
            cells.extend([
                row.seeds.to_string(),
                row.items.to_string(),
                spread(&row.accuracy),
                spread(&row.first_slot),
            ]);
            cells.extend([row.chance, row.all_right, row.same_content].map(percent));
            cells
        })
        .collect();
    let texts: Vec<Vec<String>> = decoding
        .texts
        .iter()
        .map(|row| {
            let mut cells = names(&row.model, &row.task, &row.condition);
            cells.push(row.n.to_string());
            cells.extend([row.sum, row.per_token, row.per_byte, row.unconditional, row.unequal].map(percent));
            cells
        })
        .collect();
    let written: Vec<Vec<String>> = decoding
        .written
        .iter()
        .map(|row| {
            let mut cells = names(&row.model, &row.task, &row.condition);
            cells.extend([row.n.to_string(), percent(row.accuracy), signed(row.gain, 100.0)]);
            cells.extend([ends(row.gain_low, row.gain_high, 100.0), signed(row.gain_over_chain, 100.0)]);
            cells.extend([row.evaluated_per_item, row.written_per_item, row.joules_per_item].map(number));
            cells
        })
        .collect();
    let options: Vec<Vec<String>> = decoding
        .options
        .iter()
        .map(|row| {
            let mut cells = names(&row.model, &row.task, &row.condition);
            cells.extend([row.options.to_string(), row.n.to_string(), percent(row.accuracy)]);
            cells.extend([percent(Some(row.chance)), percent(row.first_slot)]);
            cells
        })
        .collect();
    let conditions: Vec<Vec<String>> = decoding
        .conditions
        .iter()
        .map(|row| {
            let mut cells = names(&row.model, &row.task, &row.condition);
            cells.extend([
                row.n.to_string(),
                percent(row.accuracy),
                percent(row.chance),
                percent(row.first_slot),
            ]);
            cells.extend(
                [row.label_mass, row.continuation_mass, row.gold_rank, row.margin, row.entropy].map(number),
            );
            cells
        })
        .collect();
    let lists: [(&str, Vec<&str>, &Vec<Vec<String>>); 5] = [
        (
            "Against the direct condition, on the same items: ratios of mean mass, differences of rank and accuracy",
            headed(&[
                "n",
                "MA",
                "95 % interval",
                "MR",
                "95 % interval",
                "gold rank",
                "accuracy",
                "95 % interval",
            ]),
            &shifts,
        ),
        (
            "Over the orders of the options: mean and sample deviation over seeds",
            headed(&["orders", "items", "accuracy", "first slot", "chance", "right in all", "same content"]),
            &orders,
        ),
        (
            "Whole texts of the options, accuracy by every way to judge them",
            headed(&["n", "sum", "per token", "per byte", "unconditional", "unequal tokens"]),
            &texts,
        ),
        (
            "What writing costs and gains",
            headed(&[
                "n",
                "accuracy",
                "over direct",
                "95 % interval",
                "over free-cot",
                "evaluated/item",
                "written/item",
                "J/item",
            ]),
            &written,
        ),
        ("By number of options", headed(&["options", "n", "accuracy", "chance", "first slot"]), &options),
    ];
    for (caption, headings, rows) in &lists {
        if !rows.is_empty() {
            parts.push(table(caption, headings, 3, rows));
        }
    }
    let headings =
        headed(&["n", "accuracy", "chance", "first slot", "MA", "MR", "gold rank", "margin", "entropy"]);
    let values = table("Means of every condition", &headings, 3, &conditions);
    parts.push(details("The values of these plots", [values]));
    all(parts)
}
