//! Intervals of one proportion, and medians.

use super::cluster_t::freedom;
use super::normal::t;
use super::{Family, design_effect};

/// 97.5 % quantile of the standard normal distribution.
const Z: f64 = 1.959_963_984_540_054;
/// The probability below the upper end.
const LEVEL: f64 = 0.975;

/// A 95 % interval of a proportion by Wilson's score, which does not claim certainty at 0 % and 100 %.
/// `successes` may be fractional where answers are partly right. `None` without trials.
pub fn wilson(successes: f64, trials: u64) -> Option<(f64, f64)> {
    (trials > 0).then(|| score(successes / trials as f64, trials as f64))
}

/// Wilson's interval of a share seen in so many trials, which may be a part of one.
fn score(p: f64, n: f64) -> (f64, f64) {
    let denominator = 1.0 + Z * Z / n;
    let centre = (p + Z * Z / (2.0 * n)) / denominator;
    let half = Z / denominator * (p * (1.0 - p) / n + Z * Z / (4.0 * n * n)).sqrt();
    // At both ends one bound is exact; rounding must not move it.
    let low = if p == 0.0 { 0.0 } else { (centre - half).max(0.0) };
    let high = if p == 1.0 { 1.0 } else { (centre + half).min(1.0) };
    (low, high)
}

/// The same over items that come in families: Wilson's interval on as many trials as the items are worth (Korn and
/// Graubard, Survey Methodology 24, 1998): their number over the design effect, and fewer where few families tell how large
/// that is, by the squared ratio of the t quantiles of as many items and of the families' degrees of freedom. Where every
/// item is a family of its own it is the plain interval. `None` where several items are one family: they are one witness.
/// `squares` is the sum of the items' squared values.
pub fn wilson_by_family(families: &[Family], squares: f64) -> Option<(f64, f64)> {
    let items: u64 = families.iter().map(|family| family.items).sum();
    let sum = families.iter().map(|family| family.sum).sum::<f64>();
    if families.len() as u64 == items {
        return wilson(sum, items);
    }
    let n = items as f64;
    let few = t(LEVEL, n - 1.0)? / t(LEVEL, freedom(families, n).filter(|_| families.len() > 1)?)?;
    Some(score(sum / n, n / design_effect(families, squares) * few * few))
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
    fn five_forms_of_an_item_that_go_all_one_way_are_one_trial_with_few_degrees_of_freedom() {
        let of = |sums: &[f64]| sums.iter().map(|&sum| Family { sum, items: 5 }).collect::<Vec<_>>();
        // Ten families of five, six always right, four never. Around the mean of 3 their sums square to 6 x 4 + 4 x 9 = 60, the
        // items to 30 - 50 x 0.36 = 12: a design effect of (10/9 x 60) / (50/49 x 12) = 49/9. The 97.5 % quantiles of Student's
        // distribution with 49 and 9 degrees of freedom are 2.009575 and 2.262157: 450/49 x 0.789156 trials are 7.2474.
        let sums = [5.0, 5.0, 5.0, 5.0, 5.0, 5.0, 0.0, 0.0, 0.0, 0.0];
        close(wilson_by_family(&of(&sums), 30.0), 0.27494, 0.85578);
        // Families that are as mixed as the whole are nearly as good as items of their own: 50 x 0.789156 trials.
        close(wilson_by_family(&of(&[3.0; 10]), 30.0), 0.44494, 0.73732);
        assert_eq!(wilson_by_family(&[], 0.0), None);
    }

    #[test]
    fn one_family_is_one_witness_and_items_of_their_own_keep_the_plain_interval() {
        assert_eq!(wilson_by_family(&[Family { sum: 20.0, items: 22 }], 20.0), None);
        let alone: Vec<Family> =
            (0..22).map(|at| Family { sum: f64::from(u8::from(at < 7)), items: 1 }).collect();
        assert_eq!(wilson_by_family(&alone, 7.0), wilson(7.0, 22));
        assert_eq!(wilson_by_family(&alone[..1], 1.0), wilson(1.0, 1));
        // One pair among 99 families moves it by less than a thousandth.
        let mut paired: Vec<Family> =
            (0..98).map(|at| Family { sum: f64::from(u8::from(at < 59)), items: 1 }).collect();
        paired.push(Family { sum: 1.0, items: 2 });
        let (found, plain) = (wilson_by_family(&paired, 60.0).unwrap(), wilson(60.0, 100).unwrap());
        assert!((found.0 - plain.0).abs() < 1e-3 && (found.1 - plain.1).abs() < 1e-3, "{found:?} {plain:?}");
    }

    #[test]
    fn all_right_is_no_certainty_with_two_families_either() {
        // Two families of eleven, 21 and 1 degrees of freedom: 22 x (2.079614 / 12.706205)^2 = 0.58933 trials.
        close(wilson_by_family(&[Family { sum: 11.0, items: 11 }; 2], 22.0), 0.1330, 1.0);
    }

    #[test]
    fn medians_ignore_what_is_not_a_number() {
        assert_eq!(median([3.0, 1.0, f64::NAN, 2.0]), Some(2.0));
        assert_eq!(median([4.0, 1.0]), Some(2.5));
        assert_eq!(median([f64::INFINITY]), None);
    }
}
