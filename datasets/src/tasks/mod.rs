//! The tasks. A new one is a file and a line in [`ALL`].

pub mod grammar;
pub mod hand_swap;
pub mod lights;
pub mod linear_world;
mod tracking;

use crate::Task;

/// Every task, in the order of lists and reports.
pub const ALL: &[&Task] =
    &[&grammar::GRAMMAR, &linear_world::LINEAR_WORLD, &hand_swap::HAND_SWAP, &lights::LIGHTS];
