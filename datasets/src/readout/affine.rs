//! Calibrating label scores: a factor and an offset for each label. It knows nothing of the state, so what it wins back was
//! in the scores; what only an update of the projection or a probe wins back was not.

use super::minimise::{Objective, minimise};
use super::{Target, best, loss};

/// Penalty on how far factors are from one and offsets from zero: keeps a label that never varies where it is.
const PENALTY: f64 = 1e-4;
const STEPS: u64 = 100;

/// A calibration.
#[derive(Clone, Debug, PartialEq)]
pub struct Affine {
    /// Factors, one per class.
    pub factors: Vec<f64>,
    /// Offsets, one per class.
    pub offsets: Vec<f64>,
}

impl Affine {
    /// Learns a calibration of scores on some rows; `None` without rows.
    pub fn fit(scores: &[Vec<f64>], targets: &[Target], classes: usize, train: &[usize]) -> Option<Affine> {
        if train.is_empty() || classes == 0 {
            return None;
        }
        let mut start = vec![1.0; classes];
        start.resize(2 * classes, 0.0);
        let point = minimise(&Fit { scores, targets, classes, rows: train }, start, STEPS);
        let (factors, offsets) = point.split_at(classes);
        Some(Affine { factors: factors.to_vec(), offsets: offsets.to_vec() })
    }

    /// The class that scores are read as.
    pub fn choose(&self, scores: &[f64], target: Target) -> Option<usize> {
        let calibrated: Vec<f64> = scores
            .iter()
            .enumerate()
            .map(|(class, score)| self.factors[class] * score + self.offsets[class])
            .collect();
        best(&calibrated, target)
    }
}

struct Fit<'a> {
    scores: &'a [Vec<f64>],
    targets: &'a [Target],
    classes: usize,
    rows: &'a [usize],
}

impl Objective for Fit<'_> {
    fn value(&self, point: &[f64], gradient: &mut [f64]) -> f64 {
        let (factors, offsets) = point.split_at(self.classes);
        gradient.fill(0.0);
        let (mut with, mut residual) = (vec![0.0; self.classes], vec![0.0; self.classes]);
        let mut total = 0.0;
        for &row in self.rows {
            let (target, scores) = (self.targets[row], &self.scores[row]);
            for class in (0..self.classes).filter(|&class| target.allows(class)) {
                with[class] = factors[class] * scores[class] + offsets[class];
            }
            total += loss(&with, target, &mut residual);
            for class in (0..self.classes).filter(|&class| target.allows(class)) {
                gradient[class] += residual[class] * scores[class];
                gradient[self.classes + class] += residual[class];
            }
        }
        let count = self.rows.len() as f64;
        let mut away = 0.0;
        for (place, slope) in gradient.iter_mut().enumerate() {
            let from = if place < self.classes { point[place] - 1.0 } else { point[place] };
            *slope = *slope / count + PENALTY * from;
            away += from * from;
        }
        total / count + PENALTY / 2.0 * away
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Stream;

    #[test]
    fn a_bias_towards_one_label_is_taken_back() {
        let mut stream = Stream::new(9, &["biased"]);
        let mut scores = Vec::new();
        let mut targets = Vec::new();
        for _ in 0..200 {
            let class = stream.below(2);
            let own = stream.unit();
            // The right label leads by one to two, but the first label has six on top.
            scores.push(if class == 0 { vec![1.0 + own + 6.0, 0.0] } else { vec![6.0, 1.0 + own] });
            targets.push(Target { class: class as u16, valid: 3 });
        }
        let rows: Vec<usize> = (0..200).collect();
        let right = |choose: &dyn Fn(&[f64], Target) -> Option<usize>| {
            rows.iter()
                .filter(|&&row| choose(&scores[row], targets[row]) == Some(usize::from(targets[row].class)))
                .count()
        };
        let seconds = targets.iter().filter(|target| target.class == 1).count();
        assert_eq!(right(&|scores, target| best(scores, target)), 200 - seconds);
        let affine = Affine::fit(&scores, &targets, 2, &rows).unwrap();
        assert_eq!(right(&|scores, target| affine.choose(scores, target)), 200);
    }
}
