//! Figures about replies that the papers report beside accuracy.

mod expressions;
mod pearson;

pub use expressions::{Expressions, expressions};
pub use pearson::pearson;
