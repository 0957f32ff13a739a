//! Mean and sample deviation over a few repetitions, such as seeds.

use serde::Serialize;

/// A mean with the deviation of what it was taken over.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Spread {
    /// The mean; `None` of nothing.
    pub mean: Option<f64>,
    /// The sample deviation, with n - 1 below; `None` of fewer than two.
    pub deviation: Option<f64>,
}

/// Mean and sample deviation.
pub fn spread(values: &[f64]) -> Spread {
    let n = values.len() as f64;
    if values.is_empty() {
        return Spread::default();
    }
    let mean = values.iter().sum::<f64>() / n;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    Spread { mean: Some(mean), deviation: (values.len() > 1).then(|| (squares / (n - 1.0)).sqrt()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_deviation_is_that_of_a_sample() {
        // 2, 4, 4, 4, 5, 5, 7, 9: mean 5, squares 32, over 7.
        let found = spread(&[2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0]);
        assert_eq!(found.mean, Some(5.0));
        assert!((found.deviation.unwrap() - (32.0f64 / 7.0).sqrt()).abs() < 1e-12);
        assert_eq!(spread(&[3.0]), Spread { mean: Some(3.0), deviation: None });
        assert_eq!(spread(&[]), Spread::default());
    }
}
