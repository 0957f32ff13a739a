//! Other forms of a question that ask the same: options in another order, or under other labels.
//!
//! Both need to know where the options stand in the text. That is read off the text itself: a question has other forms
//! only where its stem shows its options once, as lines of label and text.

mod labels;
mod lines;
mod permuted;

pub use labels::LabelSet;
pub use permuted::{base, forms, permutation};
