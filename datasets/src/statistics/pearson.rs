//! Pearson's correlation: whether replies grow with the depth of the question.

/// Pearson's correlation coefficient of pairs of numbers; `None` for fewer than two pairs, where one side does not
/// vary, or where a number is not finite.
pub fn pearson(pairs: &[(f64, f64)]) -> Option<f64> {
    if pairs.len() < 2 || pairs.iter().any(|(x, y)| !x.is_finite() || !y.is_finite()) {
        return None;
    }
    let count = pairs.len() as f64;
    let mean_x = pairs.iter().map(|(x, _)| x).sum::<f64>() / count;
    let mean_y = pairs.iter().map(|(_, y)| y).sum::<f64>() / count;
    let (mut xx, mut yy, mut xy) = (0.0, 0.0, 0.0);
    for (x, y) in pairs {
        let (dx, dy) = (x - mean_x, y - mean_y);
        xx += dx * dx;
        yy += dy * dy;
        xy += dx * dy;
    }
    // The mean of equal numbers can be off by a rounding error, which is no variation.
    let first = pairs[0];
    if pairs.iter().all(|pair| pair.0 == first.0) || pairs.iter().all(|pair| pair.1 == first.1) {
        return None;
    }
    let r = xy / (xx.sqrt() * yy.sqrt());
    r.is_finite().then(|| r.clamp(-1.0, 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_equals_hand_computed_coefficients() {
        // Anscombe's first set: r = 0.81642 in his table.
        let anscombe = [
            (10.0, 8.04),
            (8.0, 6.95),
            (13.0, 7.58),
            (9.0, 8.81),
            (11.0, 8.33),
            (14.0, 9.96),
            (6.0, 7.24),
            (4.0, 4.26),
            (12.0, 10.84),
            (7.0, 4.82),
            (5.0, 5.68),
        ];
        assert!((pearson(&anscombe).unwrap() - 0.81642).abs() < 5e-6);
        // Deviations (-1, 0, 1) and (-1, 1, 0): 1 / sqrt(2 * 2).
        assert!((pearson(&[(1.0, 1.0), (2.0, 3.0), (3.0, 2.0)]).unwrap() - 0.5).abs() < 1e-12);
        assert!((pearson(&[(0.0, 5.0), (1.0, 3.0)]).unwrap() + 1.0).abs() < 1e-12);
    }

    #[test]
    fn it_is_undefined_without_variation_or_for_numbers_that_are_not_finite() {
        assert_eq!(pearson(&[]), None);
        assert_eq!(pearson(&[(1.0, 2.0)]), None);
        assert_eq!(pearson(&[(0.1, 1.0), (0.1, 2.0), (0.1, 3.0)]), None);
        assert_eq!(pearson(&[(1.0, 0.1), (2.0, 0.1), (3.0, 0.1)]), None);
        assert_eq!(pearson(&[(1.0, f64::NAN), (2.0, 1.0)]), None);
    }
}
