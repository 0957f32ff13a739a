//! How far a run is: processes, turns of models, groups, the end.

use models::Phase;
use serde::{Deserialize, Serialize};

/// A process that worked on the run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Session {
    /// Wall clock at its start, microseconds since 1970; an annotation, never an order.
    pub wall_us: i64,
    /// Identity of the system's boot, where it can be read.
    pub boot_id: Option<String>,
    /// The process id.
    pub pid: u32,
    /// Groups that were in the log already.
    pub groups_done: u32,
    /// Bytes of a torn tail that were cut off.
    pub torn_bytes: u64,
}

/// A model's turn.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Visit {
    /// Index of the model.
    pub model: u16,
    /// The rounds whose groups it works on, from 0.
    pub rounds: Vec<u32>,
    /// Rounds of the whole run.
    pub of: u32,
}

/// Which group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GroupRef {
    /// Number of the group in the plan.
    pub group: u32,
    /// Index of the model.
    pub model: u16,
    /// Index of the task.
    pub task: u16,
}

/// A group is complete.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GroupEnd {
    /// Which one.
    pub at: GroupRef,
    /// Entries of items that belong to it.
    pub items: u32,
    /// Wall time of the group in the supervisor, in microseconds.
    pub wall_us: u64,
    /// How the engine spent its time.
    pub phases: Vec<Phase>,
}

/// The run is complete.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Complete {
    /// Time of the last session in microseconds.
    pub session_us: u64,
    /// Time that the last session's workers spent inside the model library, in microseconds.
    pub library_us: u64,
    /// Peak resident memory of the supervisor, where the system tells.
    pub supervisor_peak_bytes: Option<u64>,
    /// Peak resident memory of the last worker, where the system tells.
    pub worker_peak_bytes: Option<u64>,
}
