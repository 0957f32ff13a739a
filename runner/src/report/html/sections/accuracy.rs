//! Accuracy of every model through every interface, task by task.

use super::Material;
use crate::report::grid::percent;
use crate::report::html::markup::{Markup, all, element, table};
use crate::report::html::plot::{Axis, Join, Plot, Point, Series, figure, legend};

pub(super) fn render(material: &Material<'_>) -> Option<Markup> {
    let interfaces: Vec<String> = material.interfaces().into_iter().map(str::to_owned).collect();
    let models = material.models().count();
    let plots: Vec<Markup> = material
        .run
        .header
        .tasks
        .iter()
        .filter_map(|task| plot(material, &task.name, &interfaces, models))
        .map(|plot| figure(&plot))
        .collect();
    if plots.is_empty() {
        return None;
    }
    Some(all([legend(material.models()), element("div", &[("class", "plots")], plots), baselines(material)]))
}

fn plot(material: &Material<'_>, task: &str, interfaces: &[String], models: usize) -> Option<Plot> {
    let own = || material.cells.iter().filter(|cell| cell.task == task);
    let mut series: Vec<Series> = material
        .models()
        .enumerate()
        .map(|(style, model)| {
            let points = own().filter(|cell| cell.model == model).filter_map(|cell| {
                let place = interfaces.iter().position(|name| *name == cell.interface)?;
                // Side by side, so that intervals do not hide each other.
                let aside = (style as f64 - (models as f64 - 1.0) / 2.0) * (0.6 / models as f64).min(0.15);
                Some(Point { x: place as f64 + aside, y: cell.accuracy?, ends: cell.low.zip(cell.high) })
            });
            Series { style: Some(style), points: points.collect(), join: Join::Nothing, marked: true }
        })
        .collect();
    if series.iter().all(|series| series.points.is_empty()) {
        return None;
    }
    let chance = own().find_map(|cell| cell.chance);
    if let Some(chance) = chance {
        let ends = [Point::at(-0.5, chance), Point::at(interfaces.len() as f64 - 0.5, chance)];
        series.push(Series { style: None, points: ends.to_vec(), join: Join::Line, marked: false });
    }
    let chance = if chance.is_some() { "; the thin line is chance" } else { "" };
    Some(Plot {
        title: format!("{task}: accuracy with 95 % interval{chance}"),
        x: Axis::Names(interfaces.to_vec()),
        y: Axis::shares("accuracy"),
        series,
    })
}

fn baselines(material: &Material<'_>) -> Markup {
    let rows: Vec<Vec<String>> = material
        .controls
        .overall()
        .iter()
        .map(|control| {
            let (task, name, summary) = (&control.task, &control.baseline, &control.summary);
            vec![
                task.clone(),
                name.clone(),
                summary.clone(),
                control.n.to_string(),
                percent(control.accuracy),
            ]
        })
        .collect();
    if rows.is_empty() {
        return Markup::default();
    }
    table(
        "Controls without a model on the same items",
        &["task", "control", "what it does", "n", "accuracy"],
        3,
        &rows,
    )
}
