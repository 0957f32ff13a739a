//! How a model came to be loaded, what it took, and why it could not be run.

use models::{EngineFacts, LoadSpec};
use serde::{Deserialize, Serialize};

use super::{DeathCause, GroupRef};
use crate::memory::{Limit, Peaks, Prediction, Step};

/// A model as the worker loaded it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Loaded {
    /// Index of the model.
    pub model: u16,
    /// What was asked for.
    pub spec: LoadSpec,
    /// What came of it.
    pub facts: EngineFacts,
}

/// What a probe chose for a model. A resumed run takes it from here.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tuned {
    /// Index of the model.
    pub model: u16,
    /// Replies written side by side.
    pub parallel: u32,
    /// What was measured.
    pub steps: Vec<TunedStep>,
}

/// Generating with a number of sequences side by side.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TunedStep {
    /// Sequences.
    pub sequences: u32,
    /// Tokens of one repetition, all sequences together.
    pub tokens: u64,
    /// Wall time of each repetition in microseconds.
    pub samples_us: Vec<u64>,
}

/// What a model will take, and how it is loaded.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MemoryPlan {
    /// Index of the model.
    pub model: u16,
    /// The budget, if there is one.
    pub limit: Option<Limit>,
    /// What was lowered to fit it.
    pub steps: Vec<Step>,
    /// What the model will take, line by line.
    pub prediction: Prediction,
    /// Mapped weights may exceed what the system can keep: they are then read again and again.
    pub overcommitted: bool,
}

/// What a worker took.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MemoryUse {
    /// The group at whose end it was read.
    pub at: GroupRef,
    /// Highest figures so far, and counts since the group before.
    pub peaks: Peaks,
    /// So much was fetched again from disk or swap that durations say little of the model.
    pub storm: bool,
}

/// A model that could not be run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModelFailed {
    /// Index of the model.
    pub model: u16,
    /// One line for people.
    pub reason: String,
    /// How its worker died, where it did.
    pub cause: Option<DeathCause>,
    /// The worker's last lines on its standard error.
    pub last_words: Vec<String>,
    /// The model was not loaded because it does not fit.
    pub refused: bool,
}
