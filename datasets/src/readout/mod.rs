//! Linear readouts of hidden states: what an answer is worth that somebody other than the model's own projection reads.
//!
//! Everything here is arithmetic on numbers that are given: softmax regression with invalid choices left out, an update of
//! low rank to the projection, a calibration of label scores. Which states, which splits and what it means is the
//! business of those who call.

mod affine;
mod halves;
mod low_rank;
mod minimise;
mod softmax;

pub use affine::Affine;
pub use halves::Halves;
pub use low_rank::{LowRank, Repair};
pub use softmax::{Chosen, PENALTIES, Softmax, fit_chosen};

/// Classes that one readout can tell apart: a mask has a bit for each.
pub const CLASSES: usize = 64;

/// What a readout shall say of one row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Target {
    /// The right class.
    pub class: u16,
    /// One bit per class that can be chosen.
    pub valid: u64,
}

impl Target {
    /// Whether a class can be chosen.
    pub fn allows(self, class: usize) -> bool {
        class < CLASSES && self.valid >> class & 1 == 1
    }

    /// How many can be chosen.
    pub fn choices(self) -> u32 {
        self.valid.count_ones()
    }
}

/// The best of the valid classes, ties to the lowest; `None` where no score is a number.
pub fn best(scores: &[f64], target: Target) -> Option<usize> {
    let valid = (0..scores.len()).filter(|&class| target.allows(class) && !scores[class].is_nan());
    // The first of equals stays.
    valid.reduce(|best, class| if scores[class] > scores[best] { class } else { best })
}

/// Loss of a row in nats, invalid classes left out; `residual` becomes its derivative by the scores.
fn loss(scores: &[f64], target: Target, residual: &mut [f64]) -> f64 {
    let valid = |class: &usize| target.allows(*class);
    let classes = 0..scores.len();
    let largest = classes.clone().filter(valid).map(|class| scores[class]).fold(f64::NEG_INFINITY, f64::max);
    let mut sum = 0.0;
    for class in classes {
        residual[class] = if target.allows(class) { (scores[class] - largest).exp() } else { 0.0 };
        sum += residual[class];
    }
    residual.iter_mut().for_each(|part| *part /= sum);
    let right = usize::from(target.class);
    let loss = largest + sum.ln() - scores[right];
    residual[right] -= 1.0;
    loss
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_loss_is_the_logarithm_of_the_probability_among_valid_classes() {
        // Scores ln 1, ln 3, and one that is not valid: the right one has a probability of 3/4.
        let scores = [0.0, 3f64.ln(), 50.0];
        let target = Target { class: 1, valid: 0b011 };
        let mut residual = [0.0; 3];
        assert!((loss(&scores, target, &mut residual) - (4.0f64 / 3.0).ln()).abs() < 1e-12);
        for (got, want) in residual.iter().zip([0.25, -0.25, 0.0]) {
            assert!((got - want).abs() < 1e-12);
        }
        assert_eq!((best(&scores, target), target.choices()), (Some(1), 2));
    }

    #[test]
    fn ties_go_to_the_lowest_class_and_what_is_no_number_is_not_chosen() {
        let target = Target { class: 0, valid: 0b111 };
        assert_eq!(best(&[1.0, 2.0, 2.0], target), Some(1));
        assert_eq!(best(&[f64::NAN, 2.0, 1.0], target), Some(1));
        assert_eq!(best(&[f64::NAN; 3], target), None);
    }
}
