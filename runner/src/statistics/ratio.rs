//! By what factor a mean changes between two conditions of the same items.

use datasets::Stream;
use serde::Serialize;

use super::bootstrap::{Draws, Resampled, resamples_for};

/// A ratio of means.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Ratio {
    /// Second mean over first; `None` where the first is zero.
    pub value: Option<f64>,
    /// 95 % interval; `None` for fewer than two families, or where a resample has a mean of zero.
    pub low: Option<f64>,
    /// Its upper end.
    pub high: Option<f64>,
}

/// The ratio of the mean of the second values to that of the first, both summed up by family. Families are drawn with
/// replacement, the two values of a family together, and the interval is that of the logarithm (Davison and Hinkley, 1997,
/// section 2.4 and 5.2: a ratio is closer to symmetric there).
pub fn ratio(families: &[(f64, f64)], stream: &mut Stream) -> Ratio {
    let sums = families.iter().fold((0.0, 0.0), |sums, pair| (sums.0 + pair.0, sums.1 + pair.1));
    let value = (sums.0 > 0.0).then(|| sums.1 / sums.0);
    let (low, high) = interval(families, stream).unzip();
    Ratio { value, low, high }
}

fn interval(families: &[(f64, f64)], stream: &mut Stream) -> Option<(f64, f64)> {
    let bound = u32::try_from(families.len()).ok().filter(|bound| *bound > 1)?;
    let mut draws = Draws::of(stream);
    let mut logs = Vec::new();
    for _ in 0..resamples_for(families.len()) {
        let (mut first, mut second) = (0.0, 0.0);
        for _ in 0..bound {
            let pair = families[draws.below(bound) as usize];
            first += pair.0;
            second += pair.1;
        }
        let log = (second / first).ln();
        if !log.is_finite() {
            return None;
        }
        logs.push(log);
    }
    logs.sort_by(f64::total_cmp);
    let resampled = Resampled { means: logs, families: families.len() };
    resampled.interval(0.95).map(|(low, high)| (low.exp(), high.exp()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_constant_factor_is_found_without_doubt() {
        let families: Vec<(f64, f64)> = (1..40).map(|n| (f64::from(n), 3.0 * f64::from(n))).collect();
        let found = ratio(&families, &mut Stream::new(1, &["t"]));
        for value in [found.value, found.low, found.high] {
            assert!((value.unwrap() - 3.0).abs() < 1e-9, "{found:?}");
        }
    }

    #[test]
    fn the_interval_holds_the_true_ratio_as_often_as_it_says() {
        // Log-normal-like pairs with a true ratio of means of 2: uniform on (0, 2) and on (0, 4).
        let mut held = 0;
        for trial in 0..200 {
            let mut stream = Stream::new(trial, &["pairs"]);
            let families: Vec<(f64, f64)> =
                (0..40).map(|_| (2.0 * stream.unit(), 4.0 * stream.unit())).collect();
            let found = ratio(&families, &mut Stream::new(trial, &["draws"]));
            held += u32::from((found.low.unwrap()..=found.high.unwrap()).contains(&2.0));
        }
        // 190 expected of 200, standard deviation 3.
        assert!((180..=200).contains(&held), "{held}");
    }

    #[test]
    fn what_cannot_be_said_is_not_said() {
        let none = Ratio { value: None, low: None, high: None };
        assert_eq!(ratio(&[], &mut Stream::new(1, &["t"])), none);
        assert_eq!(ratio(&[(0.0, 1.0)], &mut Stream::new(1, &["t"])).value, None);
        assert_eq!(ratio(&[(1.0, 2.0)], &mut Stream::new(1, &["t"])), Ratio { value: Some(2.0), ..none });
    }
}
