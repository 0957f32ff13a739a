//! How many items it takes to see a difference, and what a number of items can show.

use super::normal::z;

/// Level of the two-sided test that sizes are stated for.
const LEVEL: f64 = 0.05;
/// Probability to see a difference of the stated size.
const POWER: f64 = 0.8;

/// Pairs for McNemar's test (two-sided at 5 %) to see a difference of proportions with probability 0.8, when a share
/// `discordance` of the pairs differs (Connor, Biometrics 43, 1987). `None` when no number is enough: a difference
/// cannot be larger than the share of pairs that differ.
pub fn items_to_detect(difference: f64, discordance: f64) -> Option<f64> {
    let difference = difference.abs();
    if !(difference > 0.0 && discordance <= 1.0 && difference <= discordance) {
        return None;
    }
    let root =
        z(1.0 - LEVEL / 2.0) * discordance.sqrt() + z(POWER) * (discordance - difference * difference).sqrt();
    Some((root / difference).powi(2))
}

/// The smallest difference that `pairs` pairs show with probability 0.8; `None` when they show none.
pub fn detectable(pairs: f64, discordance: f64) -> Option<f64> {
    let enough = |difference| items_to_detect(difference, discordance).is_some_and(|needed| needed <= pairs);
    if !enough(discordance) {
        return None;
    }
    let (mut low, mut high) = (0.0, discordance);
    for _ in 0..100 {
        let middle = (low + high) / 2.0;
        if enough(middle) { high = middle } else { low = middle }
    }
    Some(high)
}

/// Pairs to show with probability 0.8 that a loss of `margin` or more is not there, at one-sided 5 %, when the sides are
/// equally good and a share `discordance` of the pairs differs (Liu et al., Statistics in Medicine 21, 2002).
pub fn items_to_exclude(margin: f64, discordance: f64) -> Option<f64> {
    (margin > 0.0).then(|| discordance * ((z(1.0 - LEVEL) + z(POWER)) / margin).powi(2))
}
