//! The tasks. A new one is a file and a line in [`ALL`].

pub mod ai2d;
pub mod apartments;
pub mod campus;
#[cfg(test)]
mod every_task;
pub mod faces;
pub mod file;
pub mod glasses;
pub mod grammar;
pub mod hand_swap;
pub mod iip;
pub mod ir;
pub mod lights;
pub mod linear_world;
pub mod logic;
pub mod mmbench;
#[cfg(test)]
pub(crate) mod official;
pub mod scienceqa;
mod tracking;
pub mod vehicles;

use crate::Task;

/// Every task, in the order of lists and reports.
pub const ALL: &[&Task] = &[
    &grammar::GRAMMAR,
    &vehicles::VEHICLES,
    &logic::LOGIC,
    &apartments::APARTMENTS,
    &linear_world::LINEAR_WORLD,
    &hand_swap::HAND_SWAP,
    &lights::LIGHTS,
    &faces::FACES,
    &glasses::GLASSES,
    &ir::IR,
    &iip::IIP,
    &scienceqa::SCIENCEQA,
    &ai2d::AI2D,
    &mmbench::MMBENCH,
    &file::FILE,
];
