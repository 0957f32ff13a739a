//! Repairing the readout: an update of low rank to the rows of the vocabulary projection that belong to labels, learnt on
//! hidden states. The model's own scores stay, and what the update reads out of the state is added to them.
//!
//! An update of as many rows as there are labels has that rank at the most, so a higher one changes nothing and is lowered.

use super::halves::{Halves, add, dot};
use super::minimise::{Objective, minimise};
use super::{Target, best, loss};
use crate::Stream;

/// Strengths of the penalty on squared weights that are tried, the strongest first.
const PENALTIES: [f64; 4] = [0.1, 0.01, 1e-3, 1e-4];
const STEPS: u64 = 60;
const BLOCK: usize = 128;

/// An update: `up (down state)` is added to the scores.
#[derive(Clone, Debug, PartialEq)]
pub struct LowRank {
    /// Its rank.
    pub rank: usize,
    /// The strength of its penalty.
    pub penalty: f64,
    classes: usize,
    /// One over the root mean square of all features: the update's own unit.
    scale: f32,
    /// `down`, row by row, then `up`, class by class.
    parameters: Vec<f64>,
}

/// What an update is learnt from.
#[derive(Clone, Copy, Debug)]
pub struct Repair<'a> {
    /// States.
    pub features: &'a Halves,
    /// What is right.
    pub targets: &'a [Target],
    /// The model's own scores of each row's classes.
    pub scores: &'a [Vec<f64>],
    /// Classes.
    pub classes: usize,
}

impl LowRank {
    /// Learns an update on some rows, and chooses its penalty on others. `None` without rows.
    pub fn fit(
        repair: Repair<'_>,
        train: &[usize],
        validation: &[usize],
        rank: usize,
        seed: u64,
    ) -> Option<LowRank> {
        let dimension = repair.features.dimension();
        let rank = rank.min(repair.classes).min(dimension);
        if train.is_empty() || validation.is_empty() || rank == 0 {
            return None;
        }
        let mut stream = Stream::new(seed, &["readout", "low-rank"]);
        let width = (3.0 / dimension as f64).sqrt();
        let mut start: Vec<f64> =
            (0..rank * dimension).map(|_| (stream.unit() * 2.0 - 1.0) * width).collect();
        // With `up` at zero the update begins as none.
        start.resize(rank * (dimension + repair.classes), 0.0);
        let scale = scale(repair.features, train);
        let mut chosen: Option<(f64, LowRank)> = None;
        for penalty in PENALTIES {
            // From the very start each time: under a strong penalty an update may end as none, which has no slope.
            let blank = LowRank { rank, penalty, classes: repair.classes, scale, parameters: start.clone() };
            let fit = Fit { repair, rows: train, update: &blank };
            let parameters = minimise(&fit, start.clone(), STEPS);
            let update = LowRank { parameters, ..blank };
            let accuracy = update.accuracy(repair, validation);
            if chosen.as_ref().is_none_or(|(best, _)| accuracy > *best) {
                chosen = Some((accuracy, update));
            }
        }
        chosen.map(|(_, update)| update)
    }

    /// Scores of a row's classes with the update.
    pub fn scores(&self, row: &[f32], own: &[f64]) -> Vec<f64> {
        let dimension = row.len();
        let (down, up) = self.parameters.split_at(self.rank * dimension);
        let inner: Vec<f64> = down
            .chunks_exact(dimension)
            .map(|down| down.iter().zip(row).map(|(w, &x)| w * f64::from(x * self.scale)).sum())
            .collect();
        let added = |class: usize| -> f64 {
            up[class * self.rank..(class + 1) * self.rank].iter().zip(&inner).map(|(u, x)| u * x).sum()
        };
        own.iter().enumerate().map(|(class, own)| own + added(class)).collect()
    }

    /// The class that a row is read as.
    pub fn choose(&self, row: &[f32], own: &[f64], target: Target) -> Option<usize> {
        best(&self.scores(row, own), target)
    }

    fn accuracy(&self, repair: Repair<'_>, rows: &[usize]) -> f64 {
        let mut row_values = vec![0.0; repair.features.dimension()];
        let is_right = |row: &&usize| {
            repair.features.read(**row, &mut row_values);
            let target = repair.targets[**row];
            self.choose(&row_values, &repair.scores[**row], target) == Some(usize::from(target.class))
        };
        rows.iter().filter(is_right).count() as f64 / rows.len().max(1) as f64
    }
}

/// One over the root mean square of all features.
fn scale(features: &Halves, rows: &[usize]) -> f32 {
    let mut row_values = vec![0.0; features.dimension()];
    let mut sum = 0.0;
    for &row in rows {
        features.read(row, &mut row_values);
        sum += f64::from(dot(&row_values, &row_values));
    }
    let mean = sum / (rows.len() * features.dimension()).max(1) as f64;
    if mean > 0.0 { (1.0 / mean.sqrt()) as f32 } else { 0.0 }
}

/// Mean loss of the rows, and half the penalty times the squared weights.
struct Fit<'a> {
    repair: Repair<'a>,
    rows: &'a [usize],
    update: &'a LowRank,
}

impl Objective for Fit<'_> {
    fn value(&self, point: &[f64], gradient: &mut [f64]) -> f64 {
        let Repair { features, targets, scores, classes } = self.repair;
        let (rank, dimension) = (self.update.rank, features.dimension());
        let down: Vec<f32> = point[..rank * dimension].iter().map(|&w| w as f32).collect();
        let up = &point[rank * dimension..];
        gradient.fill(0.0);
        let mut row_values = vec![0f32; dimension];
        let mut block_gradient = vec![0f32; rank * dimension];
        let (mut inner, mut with) = (vec![0f64; rank], vec![0f64; classes]);
        let mut residual = vec![0f64; classes];
        let mut total = 0.0;
        for block in self.rows.chunks(BLOCK) {
            block_gradient.fill(0.0);
            for &row in block {
                features.read(row, &mut row_values);
                row_values.iter_mut().for_each(|value| *value *= self.update.scale);
                for (inner, down) in inner.iter_mut().zip(down.chunks_exact(dimension)) {
                    *inner = f64::from(dot(down, &row_values));
                }
                let target = targets[row];
                for (class, with) in with.iter_mut().enumerate() {
                    let up = &up[class * rank..(class + 1) * rank];
                    *with = scores[row][class] + up.iter().zip(&inner).map(|(u, x)| u * x).sum::<f64>();
                }
                total += loss(&with, target, &mut residual);
                for (part, down) in block_gradient.chunks_exact_mut(dimension).enumerate() {
                    let slope: f64 =
                        (0..classes).map(|class| residual[class] * up[class * rank + part]).sum();
                    add(down, slope as f32, &row_values);
                }
                for (place, slope) in gradient[rank * dimension..].iter_mut().enumerate() {
                    *slope += residual[place / rank] * inner[place % rank];
                }
            }
            for (sum, &part) in gradient.iter_mut().zip(&block_gradient) {
                *sum += f64::from(part);
            }
        }
        let count = self.rows.len() as f64;
        let mut squares = 0.0;
        for (slope, &weight) in gradient.iter_mut().zip(point) {
            *slope = *slope / count + self.update.penalty * weight;
            squares += weight * weight;
        }
        total / count + self.update.penalty / 2.0 * squares
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// States with a raised feature per class, and own scores that always say the first class.
    fn broken(count: usize) -> (Halves, Vec<Target>, Vec<Vec<f64>>) {
        let mut stream = Stream::new(3, &["broken"]);
        let mut features = Halves::with_room(24, count);
        let mut targets = Vec::new();
        for _ in 0..count {
            let class = stream.below(4);
            let mut row: Vec<f32> = (0..24).map(|_| (stream.unit() * 2.0 - 1.0) as f32).collect();
            row[class] += 3.0;
            assert!(features.push_floats(&row));
            targets.push(Target { class: class as u16, valid: 0b1111 });
        }
        (features, targets, vec![vec![0.0, -2.0, -2.0, -2.0]; count])
    }

    #[test]
    fn an_update_repairs_a_readout_that_always_says_the_first_label() {
        let (features, targets, scores) = broken(450);
        let repair = Repair { features: &features, targets: &targets, scores: &scores, classes: 4 };
        let of = |part: usize| (0..450).filter(move |row| row % 3 == part).collect::<Vec<usize>>();
        let update = LowRank::fit(repair, &of(0), &of(1), 32, 1).unwrap();
        assert_eq!(update.rank, 4, "four rows have no higher rank");
        assert!(update.accuracy(repair, &of(2)) > 0.95);
        let first = of(2).iter().filter(|&&row| best(&scores[row], targets[row]) == Some(0)).count();
        assert_eq!(first, 150, "before, all are the first label");
        assert_eq!(
            LowRank::fit(repair, &of(0), &of(1), 32, 1),
            Some(update),
            "the same seed, the same update"
        );
    }

    #[test]
    fn the_gradient_is_the_slope_of_the_value() {
        let (features, targets, scores) = broken(40);
        let repair = Repair { features: &features, targets: &targets, scores: &scores, classes: 4 };
        let rows: Vec<usize> = (0..40).collect();
        let blank = LowRank { rank: 2, penalty: 0.2, classes: 4, scale: 0.7, parameters: Vec::new() };
        let fit = Fit { repair, rows: &rows, update: &blank };
        let point: Vec<f64> = (0..56).map(|i| f64::from(i % 7) / 9.0 - 0.3).collect();
        let mut gradient = vec![0.0; 56];
        fit.value(&point, &mut gradient);
        for place in 0..56 {
            let shifted = |by: f64| {
                let mut shifted = point.clone();
                shifted[place] += by;
                fit.value(&shifted, &mut vec![0.0; 56])
            };
            let slope = (shifted(1e-2) - shifted(-1e-2)) / 2e-2;
            assert!((slope - gradient[place]).abs() < 5e-4, "{place}: {slope} {}", gradient[place]);
        }
    }
}
