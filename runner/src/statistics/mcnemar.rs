//! McNemar's exact test: do two sides err on the same items equally often?

use serde::Serialize;
use statrs::distribution::{Binomial, Discrete};

/// The test of one table of flips.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct McNemar {
    /// Probability of a table at least as uneven when both sides are equally good; 1 when no pair differs.
    pub two_sided: f64,
    /// The same with half the weight of the table itself: less conservative, still near its level.
    pub mid_p: f64,
    /// Probability of at least as many losses of the second side when both are equally good.
    pub loss: f64,
}

/// Tests pairs of which `only_first` are right on the first side alone and `only_second` on the second alone. Given
/// their sum, the count of each is binomial with probability one half (McNemar, Psychometrika 12, 1947; the mid-p as in
/// Fagerland, Lydersen and Laake, BMC Medical Research Methodology 13:91, 2013).
pub fn mcnemar(only_first: u64, only_second: u64) -> McNemar {
    let nothing = McNemar { two_sided: 1.0, mid_p: 1.0, loss: 1.0 };
    let differing = only_first + only_second;
    let Ok(binomial) = Binomial::new(0.5, differing) else { return nothing };
    if differing == 0 {
        return nothing;
    }
    let fewer = only_first.min(only_second);
    let up_to = |end: u64| (0..=end).map(|count| binomial.pmf(count)).sum::<f64>().min(1.0);
    let at = binomial.pmf(fewer);
    let two_sided = (2.0 * up_to(fewer)).min(1.0);
    let mid_p = if only_first == only_second { 1.0 - at / 2.0 } else { two_sided - at };
    // At least `only_first` of one half each is at most the rest.
    McNemar { two_sided, mid_p, loss: up_to(only_second) }
}
