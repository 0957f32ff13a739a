//! Figures over what items are graded by: depth and other numbers, and the passes of a conversation.

use std::collections::BTreeMap;

use super::Material;
use crate::report::grid::number;
use crate::report::html::markup::{Markup, all, element, table};
use crate::report::html::plot::{Axis, Join, Plot, Point, Series, figure, legend};
use crate::report::{FigureRow, Stratum, strata};

/// A model's points: number, value with its interval, size.
type Curve = Vec<(f64, f64, Ends, u64)>;

/// An interval, where there is one.
type Ends = Option<(f64, f64)>;

/// Accuracy by tags that are numbers.
pub(super) fn by_stratum(material: &Material<'_>) -> Option<Markup> {
    let rows = material.figures.iter().filter(|row| row.figure == "accuracy" && row.by.len() == 1);
    let mut curves: Curves<'_> = Curves::default();
    let mut known: BTreeMap<&str, Vec<Stratum>> = BTreeMap::new();
    for row in rows {
        let (tag, level) = &row.by[0];
        if let (Ok(level), Some(value)) = (level.parse::<f64>(), row.value) {
            let strata = known
                .entry(tag)
                .or_insert_with(|| strata(material.run, std::slice::from_ref(tag)).unwrap_or_default());
            curves.add(row, tag, level, (value, ends(strata, row)));
        }
    }
    curves.render(material, "accuracy", true)
}

/// Figures whose names count: right answers by pass.
pub(super) fn learning(material: &Material<'_>) -> Option<Markup> {
    let mut curves: Curves<'_> = Curves::default();
    for row in material.figures.iter().filter(|row| row.by.is_empty()) {
        let Some((name, count)) = row.figure.rsplit_once('_') else { continue };
        if let (Ok(count), Some(value)) = (count.parse::<f64>(), row.value) {
            curves.add(row, name, count, (value, None));
        }
    }
    curves.render(material, "mean", false)
}

/// The interval of a row's accuracy.
fn ends(strata: &[Stratum], row: &FigureRow) -> Ends {
    let is_same = |own: &&Stratum| {
        (&own.by, &own.cell.model, &own.cell.task, &own.cell.interface)
            == (&row.by, &row.model, &row.task, &row.interface)
    };
    strata.iter().find(is_same).and_then(|own| own.cell.low.zip(own.cell.high))
}

/// Curves by task, interface and what is along the bottom; models within.
#[derive(Default)]
struct Curves<'a> {
    order: Vec<(&'a str, &'a str, &'a str)>,
    curves: BTreeMap<(&'a str, &'a str, &'a str), BTreeMap<&'a str, Curve>>,
}

impl<'a> Curves<'a> {
    fn add(&mut self, row: &'a FigureRow, along: &'a str, at: f64, (value, ends): (f64, Ends)) {
        let place = (row.task.as_str(), row.interface.as_str(), along);
        if !self.curves.contains_key(&place) {
            self.order.push(place);
        }
        let models = self.curves.entry(place).or_default();
        models.entry(row.model.as_str()).or_default().push((at, value, ends, row.n));
    }

    fn render(mut self, material: &Material<'_>, figure_name: &str, shares: bool) -> Option<Markup> {
        // One level is no curve.
        self.order.retain(|place| self.curves[place].values().any(|curve| curve.len() > 1));
        if self.order.is_empty() {
            return None;
        }
        let mut rows = Vec::new();
        let mut plots = Vec::new();
        for place in &self.order {
            let (task, interface, along) = *place;
            let models = &self.curves[place];
            if material.is_plain(task, interface) {
                plots.push(figure(&plot(material, place, models, shares)));
            }
            for (model, curve) in models {
                rows.extend(curve.iter().map(|&(at, value, _, n)| {
                    let words = [model, task, interface, along].map(str::to_owned).to_vec();
                    [words, vec![number(Some(at)), number(Some(value)), n.to_string()]].concat()
                }));
            }
        }
        let headings = ["model", "task", "interface", "along", "at", figure_name, "n"];
        let values = table("The values of these curves", &headings, 4, &rows);
        Some(all([
            legend(material.models()),
            element("div", &[("class", "plots")], plots),
            crate::report::html::markup::details("The values of these curves", [values]),
        ]))
    }
}

fn plot(
    material: &Material<'_>,
    (task, interface, along): &(&str, &str, &str),
    models: &BTreeMap<&str, Curve>,
    shares: bool,
) -> Plot {
    let mut series: Vec<Series> = Vec::new();
    let (mut low, mut high, mut top) = (f64::INFINITY, f64::NEG_INFINITY, 0.0_f64);
    for (model, curve) in models {
        let mut curve = curve.clone();
        curve.sort_by(|a, b| a.0.total_cmp(&b.0));
        for (at, value, _, _) in &curve {
            (low, high, top) = (low.min(*at), high.max(*at), top.max(*value));
        }
        let point = |&(x, y, ends, _): &(f64, f64, Ends, u64)| Point { x, y, ends };
        series.push(Series {
            style: Some(material.style(model)),
            points: curve.iter().map(point).collect(),
            join: Join::Line,
            marked: true,
        });
    }
    let (y, words) = match shares {
        true => (Axis::shares("accuracy"), "accuracy with 95 % interval by"),
        false => (Axis::Numbers { name: String::new(), low: 0.0, high: top.max(1e-9) * 1.05 }, "mean of"),
    };
    let name = if shares { (*along).to_owned() } else { "pass".to_owned() };
    Plot {
        title: format!("{task}, {interface}: {words} {along}"),
        x: Axis::Numbers { name, low, high },
        y,
        series,
    }
}
