//! What families cost: how many items their items are worth.

use super::bootstrap::Family;

/// The mean over the items of all families; `None` without items.
pub fn mean(families: &[Family]) -> Option<f64> {
    let items: u64 = families.iter().map(|family| family.items).sum();
    (items > 0).then(|| families.iter().map(|family| family.sum).sum::<f64>() / items as f64)
}

/// Kish's design effect (Survey Sampling, 1965): the variance of the mean with whole families drawn, over that with
/// items drawn one by one. `squares` is the sum of the items' squared values. At least 1; 1 where nothing varies or
/// there are fewer than two families.
pub fn design_effect(families: &[Family], squares: f64) -> f64 {
    let count = families.len() as f64;
    let items = families.iter().map(|family| family.items).sum::<u64>() as f64;
    let Some(mean) = mean(families).filter(|_| families.len() > 1 && items > count) else { return 1.0 };
    let off = |family: &Family| (family.sum - mean * family.items as f64).powi(2);
    let clustered = count / (count - 1.0) * families.iter().map(off).sum::<f64>();
    let alone = items / (items - 1.0) * (squares - items * mean * mean);
    if alone > f64::EPSILON * items { (clustered / alone).max(1.0) } else { 1.0 }
}
