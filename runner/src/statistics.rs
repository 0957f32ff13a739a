//! What reports and comparisons calculate. Pure: numbers in, numbers out; every formula names its source.
//!
//! Distributions come from `statrs`; `tests` holds all of it against SciPy and statsmodels, and coverage and size
//! against simulation.

mod bootstrap;
mod cluster_t;
mod combined;
mod design;
mod divergence;
mod holm;
mod mcnemar;
mod normal;
mod power;
mod proportion;
mod ranged;
mod ratio;
mod score_interval;
mod sign_flip;
mod spread;
#[cfg(test)]
mod tests;

pub use bootstrap::{Family, Resampled, quantile, resamples_for};
pub use cluster_t::cluster_t;
pub use combined::{Estimate, combined};
pub use design::{design_effect, mean};
pub use divergence::{Divergence, divergence};
pub use holm::holm;
pub use mcnemar::{McNemar, mcnemar};
pub use power::{detectable, items_to_detect, items_to_exclude};
pub use proportion::{median, wilson, wilson_by_family};
pub use ranged::{Ranged, ranged};
pub use ratio::{Ratio, ratio};
pub use score_interval::score_interval;
pub use sign_flip::{SignFlip, sign_flip};
pub use spread::{Spread, spread};
