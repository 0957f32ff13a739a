//! The machine over the time of the run: power, temperatures, clocks, memory, load. Gaps are gaps.

mod curves;
mod stretches;

use super::Material;
use crate::report::html::markup::{Markup, all, element, paragraph, table};
use crate::report::html::plot::{Axis, Join, Plot, Series, figure, legend};
use crate::report::load::Measured;
use crate::telemetry::record::Row;
use curves::Curve;

/// Curves of one plot; there are no more colours.
const CURVES: usize = 8;

/// What one plot shows.
struct Kind {
    title: &'static str,
    unit: &'static str,
    /// Whether the axis begins at zero.
    from_zero: bool,
    /// Why it is empty, where it is.
    absent: String,
    curves: Vec<Curve>,
}

pub(super) fn render(material: &Material<'_>) -> Option<Markup> {
    let measured = &material.run.measured;
    if measured.began.is_empty() {
        return Some(paragraph(
            "Nothing was measured beside durations: measuring was switched off, or this log comes from a program without it.",
        ));
    }
    let kinds = kinds(measured);
    let mut parts = vec![paragraph(
        "Time of measuring, in minutes; sessions stand one after the other. A line is broken where no sample was taken or \
         the sensor gave no value. `report --timeline` writes all samples.",
    )];
    let plots: Vec<Markup> = kinds.iter().filter_map(drawn).collect();
    if !plots.is_empty() {
        parts.push(element("div", &[("class", "plots")], plots));
    }
    for kind in kinds.iter().filter(|kind| kind.curves.is_empty()) {
        parts.push(paragraph(&format!("{}: {}.", kind.title, kind.absent)));
    }
    let rows: Vec<Vec<String>> =
        kinds.iter().flat_map(|kind| kind.curves.iter().map(|curve| curve.row(kind.unit))).collect();
    if !rows.is_empty() {
        parts.push(table("What the curves show", &curves::HEADINGS, 2, &rows));
    }
    parts.extend(stretches::table(material.run));
    Some(all(parts))
}

fn drawn(kind: &Kind) -> Option<Markup> {
    if kind.curves.is_empty() {
        return None;
    }
    let shown = &kind.curves[..kind.curves.len().min(CURVES)];
    let values = || shown.iter().flat_map(|curve| curve.segments.iter().flatten());
    let (low, high) = values()
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), point| (low.min(point.y), high.max(point.y)));
    let end = values().map(|point| point.x).fold(0.0, f64::max);
    let room = (0.05 * (high - low)).max(0.02 * high.abs()).max(f64::MIN_POSITIVE);
    let low = if kind.from_zero { 0.0 } else { (low - room).max(0.0) };
    let series = shown.iter().enumerate().flat_map(|(style, curve)| {
        // One sample between two gaps is a point.
        curve.segments.iter().map(move |points| Series {
            style: Some(style),
            points: points.clone(),
            join: Join::Line,
            marked: points.len() == 1,
        })
    });
    let mut title = format!("{}, {}, over minutes", kind.title, kind.unit);
    if kind.curves.len() > CURVES {
        title.push_str(&format!("; {} more are in the table", kind.curves.len() - CURVES));
    }
    let plot = Plot {
        title,
        x: Axis::Numbers { name: "minutes".to_owned(), low: 0.0, high: end.max(1e-3) },
        y: Axis::Numbers { name: kind.unit.to_owned(), low, high: high + room },
        series: series.collect(),
    };
    let names = legend(shown.iter().map(|curve| curve.name.clone()));
    Some(element("div", &[], [figure(&plot), names]))
}

fn kinds(measured: &Measured) -> Vec<Kind> {
    let power = |place: usize| move |row: &Row| row.power_uw.get(place).copied().flatten();
    let missing = measured.began.iter().find_map(|began| began.missing);
    let no_power = missing.map_or("no sample has a value".to_owned(), |missing| missing.to_string());
    let mut channels = curves::Named::default();
    let mut temperatures = curves::Named::default();
    let mut clocks = curves::Named::default();
    for (session, began) in (1..).zip(&measured.began) {
        let names = began.sources.iter().flat_map(|source| {
            source.channels.iter().map(|channel| format!("{} {}", source.id, channel.name))
        });
        // What is quoted comes first.
        let mut places: Vec<(usize, String)> = names.enumerate().collect();
        places.sort_by_key(|(place, _)| Some(*place) != began.headline.map(usize::from));
        places.into_iter().for_each(|(place, name)| channels.add(session, name, place));
        began
            .temperatures
            .iter()
            .enumerate()
            .for_each(|(at, name)| temperatures.add(session, name.clone(), at));
        began.clocks.iter().enumerate().for_each(|(at, name)| clocks.add(session, name.clone(), at));
    }
    let times = curves::Times::of(&measured.timeline);
    let fixed = |name: &str, unit: f64, value: fn(&Row) -> Option<i64>| {
        curves::curve(&measured.timeline, &times, name, unit, |_, row| value(row))
    };
    let some = |curves: Vec<Option<Curve>>| curves.into_iter().flatten().collect::<Vec<Curve>>();
    let mib = f64::from(1 << 20);
    vec![
        Kind {
            title: "Power",
            unit: "W",
            from_zero: true,
            absent: no_power,
            curves: channels.curves(&measured.timeline, &times, 1e6, |place, row| power(place)(row)),
        },
        Kind {
            title: "Temperature",
            unit: "degrees Celsius",
            from_zero: false,
            absent: "the machine has no thermometer that can be read".to_owned(),
            curves: temperatures.curves(&measured.timeline, &times, 1e3, |place, row| {
                row.temperature_mc.get(place).copied().flatten()
            }),
        },
        Kind {
            title: "Clock",
            unit: "MHz",
            from_zero: true,
            absent: "the system tells no clock".to_owned(),
            curves: clocks.curves(&measured.timeline, &times, 1e3, |place, row| {
                row.clock_khz.get(place).copied().flatten()
            }),
        },
        Kind {
            title: "Memory of the worker",
            unit: "MiB",
            from_zero: true,
            absent: "not in the log".to_owned(),
            curves: some(vec![
                fixed("worker, private", mib, |row| row.worker_private_bytes),
                fixed("worker, mapped files", mib, |row| row.worker_file_bytes),
            ]),
        },
        Kind {
            title: "Memory that the system can still give",
            unit: "MiB",
            from_zero: false,
            absent: "not in the log".to_owned(),
            curves: some(vec![fixed("available", mib, |row| row.available_bytes)]),
        },
        Kind {
            title: "Load",
            unit: "% of all processors",
            from_zero: true,
            absent: "not in the log".to_owned(),
            curves: some(vec![
                fixed("this program", 10.0, |row| row.own_permille),
                fixed("others", 10.0, |row| row.others_permille),
            ]),
        },
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plot_breaks_its_line_at_a_gap_and_a_lone_sample_is_a_mark() {
        let curve = Curve {
            name: "cpu".into(),
            segments: vec![
                vec![
                    crate::report::html::plot::Point::at(0.0, 40.0),
                    crate::report::html::plot::Point::at(1.0, 50.0),
                ],
                vec![crate::report::html::plot::Point::at(3.0, 60.0)],
            ],
            samples: 3,
            least: 40.0,
            mean: 50.0,
            most: 60.0,
            gaps: 1,
        };
        let kind = Kind {
            title: "Temperature",
            unit: "degrees Celsius",
            from_zero: false,
            absent: String::new(),
            curves: vec![curve],
        };
        let page = drawn(&kind).unwrap().to_string();
        // Two polylines would be one line over the gap.
        let lines = page.matches("<polyline").filter(|_| true).count();
        let coloured = page.matches("var(--s0)").count();
        assert!(lines >= 1 && coloured >= 2, "{page}");
        assert!(page.contains("Temperature, degrees Celsius, over minutes"));
        assert!(drawn(&Kind { curves: Vec::new(), ..kind }).is_none());
    }
}
