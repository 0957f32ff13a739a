//! The tasks. A new one is a file and a line in [`ALL`].

pub mod apartments;
pub mod file;
pub mod grammar;
pub mod hand_swap;
pub mod iip;
pub mod ir;
pub mod lights;
pub mod linear_world;
pub mod logic;
#[cfg(test)]
pub(crate) mod official;
mod tracking;
pub mod vehicles;

use crate::Task;
use crate::analysis::{Analysis, none};
use crate::task::Resolve;

/// Every task, in the order of lists and reports.
pub const ALL: &[&Task] = &[
    &grammar::GRAMMAR,
    &vehicles::VEHICLES,
    &logic::LOGIC,
    &apartments::APARTMENTS,
    &linear_world::LINEAR_WORLD,
    &hand_swap::HAND_SWAP,
    &lights::LIGHTS,
    &ir::IR,
    &iip::IIP,
    &file::FILE,
];

/// Tasks whose parameters can name files, with what reads them.
pub const RESOLVERS: &[(&Task, Resolve)] = &[(&logic::LOGIC, logic::resolve), (&file::FILE, file::resolve)];

/// How the results of tasks are usually broken down, and what else is counted in them. A task without a line has its
/// accuracy and the means of its scores.
pub const ANALYSES: &[(&Task, &Analysis)] = &[
    (&grammar::GRAMMAR, &Analysis { strata: &[&["kind"]], figures: none }),
    (
        &logic::LOGIC,
        &Analysis { strata: &[&["source"], &["conflict"], &["source", "conflict"]], figures: none },
    ),
    (&apartments::APARTMENTS, &Analysis { strata: &[&["band"]], figures: none }),
    (&linear_world::LINEAR_WORLD, &tracking::ANALYSIS),
    (&hand_swap::HAND_SWAP, &tracking::ANALYSIS),
    (&lights::LIGHTS, &tracking::ANALYSIS),
    (&ir::IR, &Analysis { strata: &[&["kind"]], figures: none }),
    (&iip::IIP, &Analysis { strata: &[&["type"], &["kind"]], figures: none }),
    (&file::FILE, &Analysis { strata: &[&["group"]], figures: none }),
];
