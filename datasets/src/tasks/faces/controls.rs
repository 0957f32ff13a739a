//! Controls that use no model: one measures geometry, one compares pixels, two look at the candidates alone.

use super::portrait::Portrait;
use crate::drawing::Point;
use crate::item::{Item, Part};
use crate::picture::Picture;

/// Side of the pictures that pixels are compared on.
const COMPARED_PX: u16 = 64;

/// The query and the candidates of an item; `None` where it shows no drawn faces.
pub fn portraits(item: &Item) -> Option<Vec<&Portrait>> {
    let faces = item.first_question().stem.iter().filter_map(|part| match part {
        Part::Picture(picture) => match picture.as_ref() {
            Picture::Face(portrait) => Some(portrait),
            _ => None,
        },
        Part::Text(_) => None,
    });
    let faces: Vec<&Portrait> = faces.collect();
    (faces.len() >= 2).then_some(faces)
}

/// The candidate whose landmarks fit the query's best, once moved and turned onto them.
pub(super) fn geometry(items: &[Item]) -> Vec<Option<u16>> {
    nearest(items, |query, other| {
        query.landmarks().iter().zip(other.landmarks()).map(|(a, b)| misfit(a, &b)).sum::<f64>()
    })
}

/// The candidate whose pixels differ least from the query's.
pub(super) fn pixels(items: &[Item]) -> Vec<Option<u16>> {
    let small = |portrait: &Portrait| Portrait { size_px: COMPARED_PX, ..portrait.clone() }.draw().rgb;
    nearest(items, |query, other| {
        let squares =
            small(query).into_iter().zip(small(other)).map(|(a, b)| u64::from(a.abs_diff(b)).pow(2));
        squares.sum::<u64>() as f64
    })
}

/// The candidate nearest to the other candidates: who all of them resemble. It does not look at the query.
pub(super) fn medoid(items: &[Item]) -> Vec<Option<u16>> {
    least_among_candidates(items, |one, all| {
        all.iter().map(|other| u64::from(one.identity.apart(other.identity))).sum()
    })
}

/// The candidate whose measures lie farthest from the mean face. It does not look at the query.
pub(super) fn most_extreme(items: &[Item]) -> Vec<Option<u16>> {
    least_among_candidates(items, |one, _| u64::MAX - u64::from(one.identity.extremeness()))
}

fn least_among_candidates(
    items: &[Item],
    figure: impl Fn(&Portrait, &[&Portrait]) -> u64,
) -> Vec<Option<u16>> {
    let answer = |item: &Item| {
        let faces = portraits(item)?;
        let (_, candidates) = faces.split_first()?;
        (0u16..).zip(candidates).min_by_key(|(_, one)| figure(one, candidates)).map(|(label, _)| label)
    };
    items.iter().map(answer).collect()
}

fn nearest(items: &[Item], distance: impl Fn(&Portrait, &Portrait) -> f64) -> Vec<Option<u16>> {
    let answer = |item: &Item| {
        let faces = portraits(item)?;
        let (query, candidates) = faces.split_first()?;
        let distances = candidates.iter().map(|other| distance(query, other));
        (0u16..).zip(distances).min_by(|(_, a), (_, b)| a.total_cmp(b)).map(|(label, _)| label)
    };
    items.iter().map(answer).collect()
}

/// What is left between two sets of points after the best movement and rotation: Procrustes in the plane.
fn misfit(a: &[Point], b: &[Point]) -> f64 {
    let centred = |points: &[Point]| -> Vec<(f64, f64)> {
        let count = points.len() as f64;
        let (x, y) =
            points.iter().fold((0.0, 0.0), |(x, y), point| (x + f64::from(point.x), y + f64::from(point.y)));
        points.iter().map(|point| (f64::from(point.x) - x / count, f64::from(point.y) - y / count)).collect()
    };
    let (a, b) = (centred(a), centred(b));
    let (mut size, mut dot, mut cross) = (0.0, 0.0, 0.0);
    for (&(ax, ay), &(bx, by)) in a.iter().zip(&b) {
        size += ax * ax + ay * ay + bx * bx + by * by;
        dot += ax * bx + ay * by;
        cross += ax * by - ay * bx;
    }
    size - 2.0 * (dot * dot + cross * cross).sqrt()
}
