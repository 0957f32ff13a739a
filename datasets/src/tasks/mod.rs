//! The tasks. A new one is a file and a line in [`ALL`].

use crate::Task;
use crate::task::Resolve;

pub mod apartments;
pub mod logic;
pub mod vehicles;

/// Every task, in the order of lists and reports.
pub const ALL: &[&Task] = &[&logic::LOGIC, &vehicles::VEHICLES, &apartments::APARTMENTS];

/// Tasks whose parameters can name files, with what reads them.
pub const RESOLVERS: &[(&Task, Resolve)] = &[(&logic::LOGIC, logic::resolve)];
