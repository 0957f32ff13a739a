//! What was said, and what it is worth.

use serde::{Deserialize, Serialize};

/// What an exchange came to, before grading.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Said {
    /// One of the question's labels.
    Choice(u16),
    /// A text answer that is not a label, cut out of the reply.
    Text(String),
    /// No answer, and why.
    Nothing(NoAnswer),
}

/// Why there is no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum NoAnswer {
    /// The reply is not empty and has no answer in it.
    Unparsed,
    /// The generation was cut off before an answer.
    Truncated,
    /// The generation ended inside a reasoning block.
    OpenReasoning,
    /// The reply is empty.
    Empty,
    /// The generation repeats itself.
    Loop,
    /// The best labels have exactly equal scores.
    Tie,
    /// A score is not a finite number.
    Nonfinite,
}

/// What an answer is worth.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum Verdict {
    /// As the gold says.
    Right,
    /// An answer that is not the gold.
    Wrong,
    /// Partly right, in (0, 1).
    Partial(f32),
    /// No answer: wrong in accuracy, and shown apart.
    Unanswered(NoAnswer),
    /// Not asked.
    Skipped(Skip),
    /// Asked, but the engine failed: no part of accuracy.
    Lost(Loss),
}

/// Why an item was not asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Skip {
    /// The prompt does not fit the context.
    TooLong,
}

/// How an answer was lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Loss {
    /// The engine refused the job.
    EngineError,
    /// The worker died on it.
    WorkerDied,
    /// The worker did not answer in time.
    Deadline,
}
