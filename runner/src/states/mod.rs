//! The hidden states of a run: one append-only file beside the log, for readouts that are learnt later and without the model.
//!
//! Blocks follow each other: a header in JSON, numbers as they are, a checksum over both. A group's blocks are forced to the
//! device before the log says that the group is complete, so a complete group has its states; one that is run again
//! after a crash writes the same blocks again, and the last ones count. The byte format is in `docs/probes.md`.

mod block;
mod reader;
#[cfg(test)]
mod tests;
mod writer;

use models::States;
use serde::{Deserialize, Serialize};

use crate::entry::Header;

pub use reader::{Kept, StatesFile};
pub use writer::StatesWriter;

/// Name of the file in a run folder.
pub const STATES_FILE: &str = "states";
/// What the file begins with; the format number and a newline follow.
const MAGIC: &str = "edge-eval states ";
/// The newest format that this build reads, and the one it writes.
pub const FORMAT: u32 = 1;

/// Which hidden states a run keeps.
pub fn wanted(header: &Header) -> States {
    let config: serde_json::Value = serde_json::from_str(&header.config_json).unwrap_or_default();
    serde_json::from_value(config["asking"]["hidden-states"].clone()).unwrap_or_default()
}

/// The header of a block.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
enum Head {
    /// First block: whose states these are. No body.
    Run {
        /// Identity of the run.
        run_id: String,
    },
    /// A model whose states follow. No body.
    Model {
        /// Index in the run.
        model: u16,
        /// Name in the run.
        name: String,
        /// Hex SHA-256 of its file; empty for the fake engine.
        sha256: String,
    },
    /// The norm before the vocabulary projection. Body: the weights, then the offsets, as 32-bit floats.
    Norm {
        /// The model.
        model: u16,
        /// Whether the mean is taken out.
        centred: bool,
        /// Added to the mean square.
        epsilon: f32,
        /// Weights; none stand for ones.
        weights: u32,
        /// Offsets; none stand for zeros.
        offsets: u32,
    },
    /// A row of the vocabulary projection. Body: halves.
    Row {
        /// The model.
        model: u16,
        /// The token.
        token: i32,
        /// Numbers.
        dimension: u32,
        /// The halves are times two to this power.
        exponent: u8,
    },
    /// States where labels were scored. Body: halves, state by state.
    Item(Place),
    /// What cannot be had of a model. No body.
    Refused {
        /// The model.
        model: u16,
        /// One line for people.
        reason: String,
    },
    /// Groups whose states were lost before this file was written. No body.
    Absent {
        /// The groups.
        groups: Vec<u32>,
        /// One line for people.
        reason: String,
    },
}

/// Whose states they are, and what they are like.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Place {
    /// Index of the model.
    pub model: u16,
    /// Index of the task.
    pub task: u16,
    /// The group.
    pub group: u32,
    /// The item.
    pub item: String,
    /// The interface: the condition.
    pub interface: String,
    /// The turn, from 0.
    pub turn: u16,
    /// The request of the turn, from 0.
    pub request: u16,
    /// Numbers of one state.
    pub dimension: u32,
    /// One per state: its halves are times two to this power.
    pub exponents: Vec<u8>,
}

/// What tells states from others of the same run: model, task, item, condition, turn, request. A place that is written again
/// replaces the first.
pub type Key<'a> = (u16, u16, &'a str, &'a str, u16, u16);

impl Place {
    /// Its key.
    pub fn key(&self) -> Key<'_> {
        (self.model, self.task, &self.item, &self.interface, self.turn, self.request)
    }
}
