//! The interval of a mean over few families: a t interval whose width and degrees of freedom know the families' sizes.

use super::bootstrap::Family;
use super::design::mean;
use super::normal::t;

/// The interval that holds the true mean over items with this probability: the cluster-robust variance with the bias
/// correction CR2 and Satterthwaite degrees of freedom (Bell and McCaffrey, Survey Methodology 28, 2002; Imbens and
/// Kolesar, Review of Economics and Statistics 98, 2016), for a regression on nothing but a constant. With families of
/// equal size it is the t interval of the family means. `None` below two families, or where nothing varies.
pub fn cluster_t(families: &[Family], level: f64) -> Option<(f64, f64)> {
    if families.len() < 2 || families.iter().any(|family| family.items == 0) {
        return None;
    }
    let mean = mean(families)?;
    let all: f64 = families.iter().map(|family| family.items as f64).sum();
    // What a family's residuals are weighed with: its own part in the mean makes them too small.
    let weight = |family: &Family| 1.0 / (1.0 - family.items as f64 / all);
    let square = |family: &Family| (family.sum - mean * family.items as f64).powi(2) * weight(family);
    let variance = families.iter().map(square).sum::<f64>() / (all * all);
    if variance.is_nan() || variance <= 0.0 {
        return None;
    }
    let wide = t((1.0 + level) / 2.0, freedom(families, all)?)? * variance.sqrt();
    Some((mean - wide, mean + wide))
}

/// Twice the squared mean of the variance's estimate over its variance, were the items independent and equally
/// scattered. With `w` the weights and `n` the sizes, the estimate is a quadratic form with the matrix
/// `sqrt(w_g w_h) (n_g [g = h] - n_g n_h / N)`: the squared trace over the sum of its squared elements.
pub(super) fn freedom(families: &[Family], all: f64) -> Option<f64> {
    let sizes = || families.iter().map(|family| family.items as f64);
    // w_g n_g (1 - n_g / N) is n_g.
    let trace: f64 = all;
    let weighed = |size: f64| size / (1.0 - size / all);
    let sum: f64 = sizes().map(|size| weighed(size) * size).sum();
    let own: f64 = sizes().map(|size| size * size - (weighed(size) * size / all).powi(2)).sum();
    let squares = own + (sum / all).powi(2);
    (squares > 0.0).then(|| trace * trace / squares)
}
