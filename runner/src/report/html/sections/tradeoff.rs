//! What accuracy costs in time, memory and energy, and which models nothing beats.

use std::collections::BTreeSet;

use super::Material;
use crate::report::cost_views::significant;
use crate::report::grid::percent;
use crate::report::html::markup::{Markup, all, element, paragraph, table};
use crate::report::html::plot::{Axis, Join, Plot, Point, Series, figure, legend};
use crate::report::{Cell, Cost, memory};
use crate::telemetry::source::Domain;

/// A model through an interface, over its tasks.
#[derive(Default)]
struct Place {
    model: String,
    interface: String,
    accuracy: f64,
    seconds_per_item: Option<f64>,
    file_mb: Option<f64>,
    peak_mb: Option<f64>,
    joules_per_item: Option<f64>,
}

/// What is paid for accuracy.
struct Price {
    /// What stands under a plot.
    name: &'static str,
    /// What stands above a column.
    heading: &'static str,
    of: fn(&Place) -> Option<f64>,
}

const PRICES: [Price; 4] = [
    Price { name: "seconds per item", heading: "s per item", of: |place| place.seconds_per_item },
    Price { name: "model file, MB", heading: "file, MB", of: |place| place.file_mb },
    Price {
        name: "measured peak memory, MB",
        heading: "measured peak memory, MB",
        of: |place| place.peak_mb,
    },
    Price { name: "joules per item", heading: "J per item", of: |place| place.joules_per_item },
];

pub(super) fn render(material: &Material<'_>) -> Option<Markup> {
    let places = places(material);
    // What no model was measured in has neither plot nor column.
    let prices: Vec<&Price> =
        PRICES.iter().filter(|price| places.iter().any(|place| (price.of)(place).is_some())).collect();
    let mut plots = Vec::new();
    for interface in material.interfaces() {
        let own: Vec<&Place> = places.iter().filter(|place| place.interface == interface).collect();
        plots.extend(prices.iter().filter_map(|price| plot(material, &own, interface, price)));
    }
    // No price is known: nothing to weigh.
    if plots.is_empty() {
        return None;
    }
    let (headings, rows) = weighed(&places, &prices);
    let mut words = "Accuracy is the mean over tasks. The thin steps are the Pareto front: no other model of the run is both \
                     cheaper and more accurate through that interface. Differences within the intervals above decide nothing."
        .to_owned();
    if places.iter().any(|place| place.peak_mb.is_some()) {
        words.push_str(
            " Measured peak memory is the most that the model's worker had resident at one time over the whole run, mapped \
             weights included, so it is the same through every interface.",
        );
    }
    Some(all([
        paragraph(&words),
        legend(material.models()),
        element("div", &[("class", "plots")], plots.iter().map(figure)),
        table("Accuracy and its price", &headings, 2, &rows),
    ]))
}

/// The values of the plots, and who is on which front.
fn weighed(places: &[Place], prices: &[&Price]) -> (Vec<&'static str>, Vec<Vec<String>>) {
    let mut headings = vec!["model", "interface", "mean accuracy"];
    headings.extend(prices.iter().flat_map(|price| [price.heading, "on the front"]));
    let fronts = |place: &Place, price: &Price| {
        let rivals = places.iter().filter(|other| other.interface == place.interface);
        match (price.of)(place) {
            None => "-",
            Some(_) if beaten(place, rivals, price.of) => "no",
            Some(_) => "yes",
        }
    };
    let row = |place: &Place| {
        let mut row = vec![place.model.clone(), place.interface.clone(), percent(Some(place.accuracy))];
        row.extend(prices.iter().flat_map(|price| {
            let value = (price.of)(place).map_or("-".to_owned(), significant);
            [value, fronts(place, price).to_owned()]
        }));
        row
    };
    (headings, places.iter().map(row).collect())
}

fn places(material: &Material<'_>) -> Vec<Place> {
    let mut places = Vec::new();
    let costs = &material.costs;
    let memory = memory(material.run);
    for model in &material.run.header.models {
        let peak = memory.iter().find(|own| own.model == model.name).and_then(|own| own.peak_bytes);
        for interface in material.interfaces() {
            let own: Vec<&Cell> = material
                .cells
                .iter()
                .filter(|cell| cell.model == model.name && cell.interface == interface && cell.n > 0)
                .collect();
            let accuracies: Vec<f64> = own.iter().filter_map(|cell| cell.accuracy).collect();
            if accuracies.is_empty() {
                continue;
            }
            let (seconds, items) =
                own.iter().fold((0.0, 0), |sum, cell| (sum.0 + cell.engine_s, sum.1 + cell.n));
            places.push(Place {
                model: model.name.clone(),
                interface: interface.to_owned(),
                accuracy: accuracies.iter().sum::<f64>() / accuracies.len() as f64,
                seconds_per_item: (seconds > 0.0).then(|| seconds / items as f64),
                file_mb: (model.file_bytes > 0).then(|| model.file_bytes as f64 / 1e6),
                peak_mb: peak.map(|bytes| bytes as f64 / 1e6),
                joules_per_item: joules_per_item(&own, costs),
            });
        }
    }
    places
}

/// Joules per item over tasks, each weighed with its items; `None` where a task has no figure, and where sensors of the run
/// cover different hardware: such figures are never compared.
fn joules_per_item(cells: &[&Cell], costs: &[Cost]) -> Option<f64> {
    let measured = costs.iter().filter(|cost| cost.energy.gross_j.is_some());
    let domains: BTreeSet<Domain> =
        measured.filter_map(|cost| Some(cost.energy.sensor.as_ref()?.domain)).collect();
    if domains.len() != 1 {
        return None;
    }
    let spent = |cell: &&Cell| {
        let here = |cost: &&Cost| {
            (&cost.model, &cost.task, &cost.interface) == (&cell.model, &cell.task, &cell.interface)
        };
        Some(cell.n as f64 * costs.iter().find(here)?.energy.per_item_j?)
    };
    let items: u64 = cells.iter().map(|cell| cell.n).sum();
    let joules: f64 = cells.iter().map(spent).sum::<Option<f64>>()?;
    (items > 0).then(|| joules / items as f64)
}

/// Whether another place is at least as good in both and better in one.
fn beaten<'a>(
    place: &Place,
    rivals: impl Iterator<Item = &'a Place>,
    price: fn(&Place) -> Option<f64>,
) -> bool {
    let Some(own) = price(place) else { return true };
    rivals.filter_map(|rival| Some((price(rival)?, rival.accuracy))).any(|(other, accuracy)| {
        other <= own && accuracy >= place.accuracy && (other < own || accuracy > place.accuracy)
    })
}

fn plot(
    material: &Material<'_>,
    places: &[&Place],
    interface: &str,
    Price { name, of: price, .. }: &Price,
) -> Option<Plot> {
    let point = |place: &Place| Some(Point::at(price(place)?, place.accuracy));
    let mut series: Vec<Series> = places
        .iter()
        .filter_map(|place| {
            let style = Some(material.style(&place.model));
            Some(Series { style, points: vec![point(place)?], join: Join::Nothing, marked: true })
        })
        .collect();
    if series.is_empty() {
        return None;
    }
    let unbeaten = places.iter().filter(|place| !beaten(place, places.iter().copied(), *price));
    let mut front: Vec<Point> = unbeaten.filter_map(|place| point(place)).collect();
    front.sort_by(|a, b| a.x.total_cmp(&b.x));
    let x = Axis::ratios(name, places.iter().filter_map(|place| price(place)));
    series.insert(0, Series { style: None, points: front, join: Join::Steps, marked: false });
    Some(Plot {
        title: format!("{interface}: mean accuracy against {name}"),
        x,
        y: Axis::shares("accuracy"),
        series,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(accuracy: f64, seconds: Option<f64>) -> Place {
        Place { accuracy, seconds_per_item: seconds, ..Place::default() }
    }

    #[test]
    fn the_front_has_what_nothing_beats_in_both() {
        let all = [
            place(0.5, Some(1.0)),
            place(0.6, Some(2.0)),
            place(0.55, Some(3.0)),
            place(0.6, Some(2.0)),
            place(0.9, None),
        ];
        let beaten: Vec<bool> =
            all.iter().map(|own| beaten(own, all.iter(), |place| place.seconds_per_item)).collect();
        // Equal ones do not beat each other; what has no price is on no front.
        assert_eq!(beaten, [false, false, true, false, true]);
    }

    #[test]
    fn a_price_that_some_lack_is_a_dash_and_on_no_front() {
        let of = |accuracy, joules| Place { accuracy, joules_per_item: joules, ..Place::default() };
        let places = [of(0.5, Some(2.0)), of(0.6, Some(3.0)), of(0.4, Some(2.5)), of(0.9, None)];
        let (headings, rows) = weighed(&places, &[&PRICES[3]]);
        assert_eq!(headings, ["model", "interface", "mean accuracy", "J per item", "on the front"]);
        let told: Vec<&[String]> = rows.iter().map(|row| &row[3..]).collect();
        assert_eq!(told, [["2.00", "yes"], ["3.00", "yes"], ["2.50", "no"], ["-", "-"]]);
    }

    #[test]
    fn joules_are_weighed_by_items_and_of_one_domain_alone() {
        use crate::report::{Sensor, Spent};
        let cell = |task: &str, n| Cell { task: task.into(), n, ..Cell::default() };
        let cost = |task: &str, joules: Option<f64>, domain| {
            let sensor = Sensor {
                source: "meter".into(),
                channel: "total".into(),
                domain,
                kind: "measured",
                rate_mhz: 1000,
                calibrated: false,
            };
            let energy =
                Spent { sensor: Some(sensor), gross_j: joules, per_item_j: joules, ..Spent::default() };
            Cost { task: task.into(), energy, ..Cost::default() }
        };
        let (a, b) = (cell("a", 30), cell("b", 10));
        let told = |costs: &[Cost]| joules_per_item(&[&a, &b], costs);
        // 30 items of 2 J and 10 of 6 J: 120 J over 40 items.
        let both = [cost("a", Some(2.0), Domain::Wall), cost("b", Some(6.0), Domain::Wall)];
        assert_eq!(told(&both), Some(3.0));
        assert_eq!(told(&both[..1]), None, "a task without a figure is no task of no energy");
        assert_eq!(told(&[both[0].clone(), cost("b", None, Domain::Wall)]), None);
        assert_eq!(told(&[both[0].clone(), cost("b", Some(6.0), Domain::CpuPackage)]), None);
        assert_eq!(told(&[]), None);
    }
}
