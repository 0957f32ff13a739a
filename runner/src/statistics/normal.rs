//! Quantiles of the standard normal and of Student's distribution.

use statrs::distribution::{ContinuousCDF, Normal, StudentsT};

/// The quantile of the standard normal distribution; infinite at 0 and 1.
pub(super) fn z(probability: f64) -> f64 {
    Normal::standard().inverse_cdf(probability)
}

/// Probability below `z` in the standard normal distribution.
pub(super) fn below(z: f64) -> f64 {
    Normal::standard().cdf(z)
}

/// The quantile of Student's distribution; `None` without degrees of freedom.
pub(super) fn t(probability: f64, freedom: f64) -> Option<f64> {
    StudentsT::new(0.0, 1.0, freedom).ok().map(|student| student.inverse_cdf(probability))
}
