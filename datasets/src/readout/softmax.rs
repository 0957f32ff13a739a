//! Softmax regression on hidden states, standardised on the rows that it learns from, with the strength of its penalty
//! chosen on other rows.

use super::halves::{Halves, add, dot};
use super::minimise::{Objective, minimise};
use super::{Target, best, loss};

/// Strengths of the penalty on squared weights that are tried, the strongest first.
pub const PENALTIES: [f64; 6] = [10.0, 1.0, 0.1, 0.01, 1e-3, 1e-4];
/// Steps of the optimiser for each.
const STEPS: u64 = 60;
/// Rows whose gradients are summed in single precision before they join the sum.
const BLOCK: usize = 128;

/// A readout: one row of weights and one offset per class, on standardised features.
#[derive(Clone, Debug, PartialEq)]
pub struct Softmax {
    classes: usize,
    mean: Vec<f32>,
    /// One over the standard deviation; 0 for features that do not vary.
    scale: Vec<f32>,
    /// Weights class by class, then the offsets.
    parameters: Vec<f64>,
}

/// A readout with the penalty that was chosen for it.
#[derive(Clone, Debug)]
pub struct Chosen {
    /// The readout.
    pub readout: Softmax,
    /// The strength of its penalty.
    pub penalty: f64,
    /// The share of rows right that the choice was made by.
    pub validation_accuracy: f64,
}

/// Fits a readout for each penalty and keeps the one that is right most often on the rows for validation; of equals the
/// one with the stronger penalty. Rows are numbers in `features` and `targets`.
pub fn fit_chosen(
    features: &Halves,
    targets: &[Target],
    classes: usize,
    train: &[usize],
    validation: &[usize],
) -> Option<Chosen> {
    if train.is_empty() || validation.is_empty() || classes == 0 || features.dimension() == 0 {
        return None;
    }
    let (mean, scale) = standard(features, train);
    let mut readout =
        Softmax { classes, mean, scale, parameters: vec![0.0; classes * (features.dimension() + 1)] };
    let mut chosen: Option<Chosen> = None;
    for penalty in PENALTIES {
        // Each start is the end of the stronger penalty: the way there is short.
        let objective = Fit { features, targets, rows: train, readout: &readout, penalty };
        readout.parameters = minimise(&objective, readout.parameters.clone(), STEPS);
        let validation_accuracy = readout.accuracy(features, targets, validation);
        if chosen.as_ref().is_none_or(|best| validation_accuracy > best.validation_accuracy) {
            chosen = Some(Chosen { readout: readout.clone(), penalty, validation_accuracy });
        }
    }
    chosen
}

impl Softmax {
    /// Scores of a row's classes.
    pub fn scores(&self, row: &[f32]) -> Vec<f64> {
        let mut standardised = row.to_vec();
        self.standardise(&mut standardised);
        let dimension = self.mean.len();
        let one = |class: usize| {
            let weights = &self.parameters[class * dimension..(class + 1) * dimension];
            let sum: f64 = weights.iter().zip(&standardised).map(|(w, &x)| w * f64::from(x)).sum();
            sum + self.parameters[self.classes * dimension + class]
        };
        (0..self.classes).map(one).collect()
    }

    /// The class that a row is read as.
    pub fn choose(&self, row: &[f32], target: Target) -> Option<usize> {
        best(&self.scores(row), target)
    }

    /// Share of rows that are read right; 0 of none.
    pub fn accuracy(&self, features: &Halves, targets: &[Target], rows: &[usize]) -> f64 {
        let mut row_values = vec![0.0; features.dimension()];
        let is_right = |row: &&usize| {
            features.read(**row, &mut row_values);
            self.choose(&row_values, targets[**row]) == Some(usize::from(targets[**row].class))
        };
        rows.iter().filter(is_right).count() as f64 / rows.len().max(1) as f64
    }

    #[inline]
    fn standardise(&self, row: &mut [f32]) {
        for ((value, mean), scale) in row.iter_mut().zip(&self.mean).zip(&self.scale) {
            *value = (*value - mean) * scale;
        }
    }
}

/// Mean and one over the standard deviation of each feature.
fn standard(features: &Halves, rows: &[usize]) -> (Vec<f32>, Vec<f32>) {
    let count = rows.len() as f64;
    let mut row_values = vec![0.0; features.dimension()];
    let mut pass = |centre: Option<&[f64]>| {
        let mut sums = vec![0f64; features.dimension()];
        for &row in rows {
            features.read(row, &mut row_values);
            for (place, (sum, &value)) in sums.iter_mut().zip(&row_values).enumerate() {
                let value = f64::from(value);
                *sum += centre.map_or(value, |centre| (value - centre[place]).powi(2));
            }
        }
        sums.iter_mut().for_each(|sum| *sum /= count);
        sums
    };
    let mean = pass(None);
    let variance = pass(Some(&mean));
    let scale = |variance: f64| if variance > 1e-20 { (1.0 / variance.sqrt()) as f32 } else { 0.0 };
    (mean.iter().map(|&mean| mean as f32).collect(), variance.into_iter().map(scale).collect())
}

/// Mean loss of the rows, and half the penalty times the squared weights.
struct Fit<'a> {
    features: &'a Halves,
    targets: &'a [Target],
    rows: &'a [usize],
    /// Gives the standardisation.
    readout: &'a Softmax,
    penalty: f64,
}

impl Objective for Fit<'_> {
    fn value(&self, point: &[f64], gradient: &mut [f64]) -> f64 {
        let (classes, dimension) = (self.readout.classes, self.features.dimension());
        let weights: Vec<f32> = point[..classes * dimension].iter().map(|&w| w as f32).collect();
        let offsets = &point[classes * dimension..];
        gradient.fill(0.0);
        let mut row_values = vec![0f32; dimension];
        let mut block_gradient = vec![0f32; classes * dimension];
        let (mut scores, mut residual) = (vec![0f64; classes], vec![0f64; classes]);
        let mut total = 0.0;
        for block in self.rows.chunks(BLOCK) {
            block_gradient.fill(0.0);
            for &row in block {
                self.features.read(row, &mut row_values);
                self.readout.standardise(&mut row_values);
                let target = self.targets[row];
                for (class, weights) in weights.chunks_exact(dimension).enumerate() {
                    if target.allows(class) {
                        scores[class] = f64::from(dot(weights, &row_values)) + offsets[class];
                    }
                }
                total += loss(&scores, target, &mut residual);
                for (class, part) in block_gradient.chunks_exact_mut(dimension).enumerate() {
                    if target.allows(class) {
                        add(part, residual[class] as f32, &row_values);
                        gradient[classes * dimension + class] += residual[class];
                    }
                }
            }
            for (sum, &part) in gradient.iter_mut().zip(&block_gradient) {
                *sum += f64::from(part);
            }
        }
        let count = self.rows.len() as f64;
        gradient.iter_mut().for_each(|sum| *sum /= count);
        let mut squares = 0.0;
        for (slope, &weight) in gradient.iter_mut().zip(&point[..classes * dimension]) {
            *slope += self.penalty * weight;
            squares += weight * weight;
        }
        total / count + self.penalty / 2.0 * squares
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Stream;

    /// Noise, with one raised feature per class.
    fn planted(count: usize, dimension: usize, classes: usize, raised: f32) -> (Halves, Vec<Target>) {
        let mut stream = Stream::new(5, &["planted"]);
        let mut features = Halves::with_room(dimension, count);
        let mut targets = Vec::new();
        for _ in 0..count {
            let class = stream.below(classes);
            let mut row: Vec<f32> = (0..dimension).map(|_| (stream.unit() * 2.0 - 1.0) as f32).collect();
            row[class] += raised;
            assert!(features.push_floats(&row));
            targets.push(Target { class: class as u16, valid: (1 << classes) - 1 });
        }
        (features, targets)
    }

    fn thirds(count: usize) -> (Vec<usize>, Vec<usize>, Vec<usize>) {
        let of = |part: usize| (0..count).filter(|row| row % 3 == part).collect();
        (of(0), of(1), of(2))
    }

    #[test]
    fn a_planted_code_is_found_and_shuffled_labels_leave_chance() {
        let (features, mut targets) = planted(600, 40, 4, 3.0);
        let (train, validation, test) = thirds(600);
        let chosen = fit_chosen(&features, &targets, 4, &train, &validation).unwrap();
        // Noise reaches 2 above other noise at most, and the raised feature stands 3 above: the classes are separable.
        assert!(chosen.readout.accuracy(&features, &targets, &test) > 0.99);
        let truth = targets.clone();
        let mut classes: Vec<u16> = targets.iter().map(|target| target.class).collect();
        Stream::new(6, &["shuffle"]).shuffle(&mut classes);
        targets.iter_mut().zip(classes).for_each(|(target, class)| target.class = class);
        let lost = fit_chosen(&features, &targets, 4, &train, &validation).unwrap();
        let right = lost.readout.accuracy(&features, &truth, &test) * 200.0;
        // 200 draws at 1/4: mean 50, standard deviation 6.1; four of them.
        assert!((right - 50.0).abs() < 25.0, "{right}");
    }

    #[test]
    fn the_gradient_is_the_slope_of_the_value() {
        let (features, mut targets) = planted(50, 6, 3, 1.0);
        // Some rows have two choices only.
        targets
            .iter_mut()
            .filter(|target| target.class < 2)
            .step_by(2)
            .for_each(|target| target.valid = 0b011);
        let rows: Vec<usize> = (0..50).collect();
        let (mean, scale) = standard(&features, &rows);
        let readout = Softmax { classes: 3, mean, scale, parameters: Vec::new() };
        let fit =
            Fit { features: &features, targets: &targets, rows: &rows, readout: &readout, penalty: 0.3 };
        let point: Vec<f64> = (0..21).map(|i| f64::from(i % 5) / 7.0 - 0.2).collect();
        let mut gradient = vec![0.0; 21];
        fit.value(&point, &mut gradient);
        for place in 0..21 {
            let shifted = |by: f64| {
                let mut shifted = point.clone();
                shifted[place] += by;
                fit.value(&shifted, &mut [0.0; 21])
            };
            let slope = (shifted(1e-2) - shifted(-1e-2)) / 2e-2;
            assert!((slope - gradient[place]).abs() < 2e-4, "{place}: {slope} {}", gradient[place]);
        }
    }

    #[test]
    fn choices_that_are_not_offered_are_never_read() {
        let (features, targets) = planted(300, 20, 3, 3.0);
        let (train, validation, test) = thirds(300);
        let chosen = fit_chosen(&features, &targets, 3, &train, &validation).unwrap();
        let mut row = vec![0.0; 20];
        for &at in &test {
            features.read(at, &mut row);
            let without = Target { valid: 0b111 & !(1 << targets[at].class), ..targets[at] };
            let read = chosen.readout.choose(&row, without).unwrap();
            assert!(read != usize::from(targets[at].class) && read < 3);
        }
    }

    #[test]
    fn two_points_are_parted_where_the_closed_form_says() {
        // One feature at -1 and +1, two classes, penalty p: by symmetry the weights are (-w, w), the loss is
        // ln(1 + exp(-2w)) + p w^2, and its slope is zero where 1 / (1 + exp(2w)) = p w.
        let mut features = Halves::with_room(1, 2);
        assert!(features.push_floats(&[-1.0]) && features.push_floats(&[1.0]));
        let targets = [Target { class: 0, valid: 3 }, Target { class: 1, valid: 3 }];
        let (mean, scale) = standard(&features, &[0, 1]);
        let readout = Softmax { classes: 2, mean, scale, parameters: Vec::new() };
        let fit =
            Fit { features: &features, targets: &targets, rows: &[0, 1], readout: &readout, penalty: 0.1 };
        let point = minimise(&fit, vec![0.0; 4], 100);
        let weight = point[1];
        assert!((1.0 / (1.0 + (2.0 * weight).exp()) - 0.1 * weight).abs() < 1e-4, "{point:?}");
        assert!(
            (point[0] + weight).abs() < 1e-4 && point[2].abs() < 1e-4 && point[3].abs() < 1e-4,
            "{point:?}"
        );
    }

    #[test]
    fn no_rows_give_no_readout() {
        let (features, targets) = planted(4, 3, 2, 1.0);
        assert!(fit_chosen(&features, &targets, 2, &[], &[0]).is_none());
        assert!(fit_chosen(&features, &targets, 2, &[0], &[]).is_none());
    }
}
