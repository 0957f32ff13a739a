//! What accuracy costs in time and memory, and which models nothing beats.

use super::Material;
use crate::report::Cell;
use crate::report::grid::{number, percent};
use crate::report::html::markup::{Markup, all, element, paragraph, table};
use crate::report::html::plot::{Axis, Join, Plot, Point, Series, figure, legend};

/// A model through an interface, over its tasks.
struct Place {
    model: String,
    interface: String,
    accuracy: f64,
    seconds_per_item: Option<f64>,
    megabytes: Option<f64>,
}

pub(super) fn render(material: &Material<'_>) -> Option<Markup> {
    let places = places(material);
    if places.is_empty() {
        return None;
    }
    let mut plots = Vec::new();
    for interface in material.interfaces() {
        let own: Vec<&Place> = places.iter().filter(|place| place.interface == interface).collect();
        plots.extend(plot(material, &own, interface, "seconds per item", |place| place.seconds_per_item));
        plots.extend(plot(material, &own, interface, "model file, MB", |place| place.megabytes));
    }
    // Neither time nor size is known: nothing to weigh.
    if plots.is_empty() {
        return None;
    }
    let fronts = |place: &Place, price: fn(&Place) -> Option<f64>| {
        let rivals = places.iter().filter(|other| other.interface == place.interface);
        if price(place).is_none() {
            "-"
        } else if beaten(place, rivals, price) {
            "no"
        } else {
            "yes"
        }
    };
    let row = |place: &Place| {
        vec![
            place.model.clone(),
            place.interface.clone(),
            percent(Some(place.accuracy)),
            number(place.seconds_per_item),
            fronts(place, |place| place.seconds_per_item).to_owned(),
            number(place.megabytes.map(f64::round)),
            fronts(place, |place| place.megabytes).to_owned(),
        ]
    };
    let rows: Vec<Vec<String>> = places.iter().map(row).collect();
    let headings =
        ["model", "interface", "mean accuracy", "s per item", "on the front", "file, MB", "on the front"];
    Some(all([
        paragraph(
            "Accuracy is the mean over tasks. The thin steps are the Pareto front: no other model of the run is both \
             cheaper and more accurate through that interface. Differences within the intervals above decide nothing.",
        ),
        legend(material.models()),
        element("div", &[("class", "plots")], plots.iter().map(figure)),
        table("Accuracy and its price", &headings, 2, &rows),
    ]))
}

fn places(material: &Material<'_>) -> Vec<Place> {
    let mut places = Vec::new();
    for model in &material.run.header.models {
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
                megabytes: (model.file_bytes > 0).then(|| model.file_bytes as f64 / 1e6),
            });
        }
    }
    places
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
    name: &str,
    price: fn(&Place) -> Option<f64>,
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
    let unbeaten = places.iter().filter(|place| !beaten(place, places.iter().copied(), price));
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
        Place {
            model: String::new(),
            interface: String::new(),
            accuracy,
            seconds_per_item: seconds,
            megabytes: None,
        }
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
}
