//! Intervals of one proportion, and medians.

/// A 95 % interval of a proportion by Wilson's score, which does not claim certainty at 0 % and 100 %.
/// `successes` may be fractional where answers are partly right. `None` without trials.
pub fn wilson(successes: f64, trials: u64) -> Option<(f64, f64)> {
    /// 97.5 % quantile of the standard normal distribution.
    const Z: f64 = 1.959_963_984_540_054;
    if trials == 0 {
        return None;
    }
    let n = trials as f64;
    let p = successes / n;
    let denominator = 1.0 + Z * Z / n;
    let centre = (p + Z * Z / (2.0 * n)) / denominator;
    let half = Z / denominator * (p * (1.0 - p) / n + Z * Z / (4.0 * n * n)).sqrt();
    // At both ends one bound is exact; rounding must not move it.
    let low = if successes == 0.0 { 0.0 } else { (centre - half).max(0.0) };
    let high = if successes == n { 1.0 } else { (centre + half).min(1.0) };
    Some((low, high))
}

/// The median of finite values; `None` without any.
pub fn median(values: impl IntoIterator<Item = f64>) -> Option<f64> {
    let mut values: Vec<f64> = values.into_iter().filter(|value| value.is_finite()).collect();
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    match values.len() {
        0 => None,
        n if n % 2 == 1 => Some(values[middle]),
        _ => Some((values[middle - 1] + values[middle]) / 2.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(got: Option<(f64, f64)>, low: f64, high: f64) {
        let (a, b) = got.unwrap();
        assert!((a - low).abs() < 5e-5 && (b - high).abs() < 5e-5, "{a} {b}");
    }

    #[test]
    fn stat_04_all_right_and_all_wrong_are_not_certain() {
        close(wilson(0.0, 25), 0.0, 0.1332);
        close(wilson(25.0, 25), 0.8668, 1.0);
        let (low, high) = wilson(0.0, 5000).unwrap();
        assert!(low == 0.0 && (high - 0.00077).abs() < 5e-6);
    }

    #[test]
    fn stat_04_the_bound_at_an_end_is_exact_for_every_number_of_trials() {
        for trials in 1..=200 {
            assert_eq!(wilson(0.0, trials).unwrap().0, 0.0, "{trials}");
            assert_eq!(wilson(trials as f64, trials).unwrap().1, 1.0, "{trials}");
        }
    }

    #[test]
    fn stat_05_one_trial_and_none() {
        close(wilson(1.0, 1), 0.2065, 1.0);
        close(wilson(0.0, 1), 0.0, 0.7935);
        assert_eq!(wilson(0.0, 0), None);
    }

    #[test]
    fn medians_ignore_what_is_not_a_number() {
        assert_eq!(median([3.0, 1.0, f64::NAN, 2.0]), Some(2.0));
        assert_eq!(median([4.0, 1.0]), Some(2.5));
        assert_eq!(median([f64::INFINITY]), None);
    }
}
