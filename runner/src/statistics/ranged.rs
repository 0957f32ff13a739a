//! Median and range of a few repetitions: with two to ten values nothing more can honestly be said of their spread.

use serde::Serialize;

use super::median;

/// A median with the ends of what it was taken over.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Ranged {
    /// Values.
    pub n: u64,
    /// Their median; `None` of nothing.
    pub median: Option<f64>,
    /// The lowest.
    pub low: Option<f64>,
    /// The highest.
    pub high: Option<f64>,
}

/// Median and range of the finite values.
pub fn ranged(values: impl IntoIterator<Item = f64>) -> Ranged {
    let values: Vec<f64> = values.into_iter().filter(|value| value.is_finite()).collect();
    Ranged {
        n: values.len() as u64,
        median: median(values.iter().copied()),
        low: values.iter().copied().reduce(f64::min),
        high: values.iter().copied().reduce(f64::max),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_middle_and_the_ends_are_those_of_finite_values() {
        let found = ranged([4.0, 1.0, f64::NAN, 2.0, 9.0]);
        assert_eq!(found, Ranged { n: 4, median: Some(3.0), low: Some(1.0), high: Some(9.0) });
        assert_eq!(ranged([7.0]), Ranged { n: 1, median: Some(7.0), low: Some(7.0), high: Some(7.0) });
        assert_eq!(ranged([]), Ranged::default());
    }
}
