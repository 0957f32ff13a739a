//! How far two distributions over the same labels are apart.

use serde::Serialize;

/// Two measures of one pair of distributions.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Divergence {
    /// Kullback and Leibler's divergence of the second from the first, in nats.
    pub kl: f64,
    /// Total variation: the largest difference in the probability of any set of labels.
    pub total_variation: f64,
}

/// Compares log-scores of the same labels, each side normalised over them: KL is the sum of p ln(p / q) (Annals of
/// Mathematical Statistics 22, 1951), total variation half the sum of |p - q|. `None` where the labels are not as many
/// or a score is not finite.
pub fn divergence(first: &[f64], second: &[f64]) -> Option<Divergence> {
    if first.is_empty() || first.len() != second.len() {
        return None;
    }
    let (p, q) = (normalised(first)?, normalised(second)?);
    let pairs = || p.iter().zip(&q);
    let kl = pairs().map(|(p, q)| p.exp() * (p - q)).sum::<f64>().max(0.0);
    let total_variation = pairs().map(|(p, q)| (p.exp() - q.exp()).abs()).sum::<f64>() / 2.0;
    Some(Divergence { kl, total_variation })
}

/// Log-probabilities over the labels alone.
fn normalised(scores: &[f64]) -> Option<Vec<f64>> {
    if scores.iter().any(|score| !score.is_finite()) {
        return None;
    }
    let most = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let total = most + scores.iter().map(|score| (score - most).exp()).sum::<f64>().ln();
    Some(scores.iter().map(|score| score - total).collect())
}
