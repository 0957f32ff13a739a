//! The tasks. A new one is a file and a line in [`ALL`].

use crate::Task;

/// Every task, in the order of lists and reports.
pub const ALL: &[&Task] = &[];
