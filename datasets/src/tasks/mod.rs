//! The tasks. A new one is a file and a line in [`ALL`].

pub mod iip;
pub mod ir;
#[cfg(test)]
pub(crate) mod official;

use crate::Task;

/// Every task, in the order of lists and reports.
pub const ALL: &[&Task] = &[&ir::IR, &iip::IIP];
