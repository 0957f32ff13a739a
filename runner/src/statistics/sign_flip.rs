//! McNemar's exact test where pairs come in families: items about the same material are no independent witnesses.

use std::collections::BTreeMap;

use serde::Serialize;
use statrs::distribution::{Binomial, Discrete};

/// The test of one set of families.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct SignFlip {
    /// Families whose difference is not zero: what the test stands on.
    pub families: u64,
    /// Probability of a difference at least as large when both sides are equally good; 1 when no family differs.
    pub two_sided: f64,
    /// Probability of a loss of the second side at least as large when both are equally good.
    pub loss: f64,
}

/// Tests differences (second minus first) of families. When the sides are exchangeable, the sign of each family's
/// difference is a fair coin (Fisher, The Design of Experiments, 1935, section 21), so the sum has a known distribution,
/// worked out here in full. With families of one item each this is McNemar's exact test.
pub fn sign_flip(differences: &[i64]) -> SignFlip {
    let mut sizes: BTreeMap<u64, u64> = BTreeMap::new();
    for size in differences.iter().map(|difference| difference.unsigned_abs()).filter(|&size| size > 0) {
        *sizes.entry(size).or_default() += 1;
    }
    let families = sizes.values().sum();
    if families == 0 {
        return SignFlip { families, two_sided: 1.0, loss: 1.0 };
    }
    // Probability that the positive families sum up to the index.
    let mut chance = vec![1.0];
    for (size, count) in sizes {
        let Ok(binomial) = Binomial::new(0.5, count) else { continue };
        let weights: Vec<f64> = (0..=count).map(|positive| binomial.pmf(positive)).collect();
        let mut next = vec![0.0; chance.len() + (size * count) as usize];
        for (sum, held) in chance.iter().enumerate() {
            for (positive, weight) in weights.iter().enumerate() {
                next[sum + positive * size as usize] += held * weight;
            }
        }
        chance = next;
    }
    let all = chance.len() - 1;
    let gained: i64 = differences.iter().filter(|difference| **difference > 0).sum();
    let gained = (gained as usize).min(all);
    let up_to = |end: usize| chance.iter().take(end + 1).sum::<f64>().min(1.0);
    let two_sided = (2.0 * up_to(gained.min(all - gained))).min(1.0);
    SignFlip { families, two_sided, loss: up_to(gained) }
}
