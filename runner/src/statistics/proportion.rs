//! Intervals of one proportion, and medians.

use super::{Family, design_effect};

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

/// The same over items that come in families: Wilson's interval on as many trials as the families' items are worth, by the
/// design effect. `squares` is the sum of the items' squared values.
pub fn wilson_by_family(families: &[Family], squares: f64) -> Option<(f64, f64)> {
    let items: u64 = families.iter().map(|family| family.items).sum();
    if items == 0 {
        return None;
    }
    let effective = (items as f64 / design_effect(families, squares)).round().max(1.0);
    let share = families.iter().map(|family| family.sum).sum::<f64>() / items as f64;
    wilson(share * effective, effective as u64)
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
    fn five_forms_of_an_item_that_go_all_one_way_are_one_trial() {
        let of = |sums: &[f64]| sums.iter().map(|&sum| Family { sum, items: 5 }).collect::<Vec<_>>();
        // Ten families of five, six always right, four never. Around the mean of 3 their sums square to 6 x 4 + 4 x 9 = 60, the
        // items to 30 - 50 x 0.36 = 12: a design effect of (10/9 x 60) / (50/49 x 12) = 5.44, and 50 / 5.44 is 9.2.
        let sums = [5.0, 5.0, 5.0, 5.0, 5.0, 5.0, 0.0, 0.0, 0.0, 0.0];
        let (found, expected) = (wilson_by_family(&of(&sums), 30.0).unwrap(), wilson(0.6 * 9.0, 9).unwrap());
        assert!((found.0 - expected.0).abs() < 1e-9 && (found.1 - expected.1).abs() < 1e-9, "{found:?}");
        // Families that are as mixed as the whole are as good as items of their own.
        assert_eq!(wilson_by_family(&of(&[3.0; 10]), 30.0), wilson(30.0, 50));
        assert_eq!(wilson_by_family(&[], 0.0), None);
    }

    #[test]
    fn medians_ignore_what_is_not_a_number() {
        assert_eq!(median([3.0, 1.0, f64::NAN, 2.0]), Some(2.0));
        assert_eq!(median([4.0, 1.0]), Some(2.5));
        assert_eq!(median([f64::INFINITY]), None);
    }
}
