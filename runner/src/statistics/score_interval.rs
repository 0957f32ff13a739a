//! The interval of a difference of two paired proportions that does not claim certainty when no pair differs.

use super::normal::z;

/// Tango's score interval (Statistics in Medicine 17, 1998) of the second proportion minus the first, from `pairs` pairs
/// of which `only_first` and `only_second` are right on one side alone. Counts may be fractional: divided by a
/// design effect they stand for the independent pairs that families of items are worth. `None` without pairs.
pub fn score_interval(only_first: f64, only_second: f64, pairs: f64, level: f64) -> Option<(f64, f64)> {
    if pairs <= 0.0
        || only_first < 0.0
        || only_second < 0.0
        || only_first + only_second > pairs * (1.0 + 1e-9)
    {
        return None;
    }
    let z = z((1.0 + level) / 2.0);
    let observed = (only_second - only_first) / pairs;
    // The score falls as the assumed difference rises.
    let solve = |wanted: f64, mut low: f64, mut high: f64| {
        for _ in 0..200 {
            let middle = (low + high) / 2.0;
            if score(only_first, only_second, pairs, middle) > wanted { low = middle } else { high = middle }
        }
        (low + high) / 2.0
    };
    Some((solve(z, -1.0, observed), solve(-z, observed, 1.0)))
}

/// The score statistic of an assumed difference, with the probability of a loss at its maximum likelihood given it.
fn score(only_first: f64, only_second: f64, pairs: f64, assumed: f64) -> f64 {
    let distance = only_second - only_first - pairs * assumed;
    let a = 2.0 * pairs;
    let b = -only_second - only_first + (2.0 * pairs - only_second + only_first) * assumed;
    let c = -only_first * assumed * (1.0 - assumed);
    let loss = ((b * b - 4.0 * a * c).max(0.0).sqrt() - b) / (2.0 * a);
    let variance = pairs * (2.0 * loss + assumed * (1.0 - assumed));
    if variance <= 0.0 {
        return if distance == 0.0 { 0.0 } else { distance.signum() * f64::INFINITY };
    }
    distance / variance.sqrt()
}
