//! The interval of a mean of independent estimates that have intervals of their own.

/// An estimate with its interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// The value.
    pub value: f64,
    /// Lower end of its interval.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

/// The plain mean of independent estimates, its interval recovered from theirs (MOVER: Zou and Donner, Statistics in
/// Medicine 27, 2008): a side's distances from the values add up as squares. `None` without any.
pub fn combined(estimates: &[Estimate]) -> Option<Estimate> {
    let count = estimates.len() as f64;
    let value = estimates.iter().map(|estimate| estimate.value).sum::<f64>() / count;
    let side = |distance: fn(&Estimate) -> f64| {
        estimates.iter().map(|estimate| distance(estimate).powi(2)).sum::<f64>().sqrt() / count
    };
    (!estimates.is_empty()).then(|| Estimate {
        value,
        low: value - side(|estimate| estimate.value - estimate.low),
        high: value + side(|estimate| estimate.high - estimate.value),
    })
}
