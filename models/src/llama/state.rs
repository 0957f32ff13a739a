//! Where the jobs of a packed round stand.

use super::work::{Doing, Task};
use super::writing::{Next, Writing};
use crate::Reply;
use crate::tree::NodeId;

/// A job on its way.
pub(super) enum State<'a> {
    Open(Box<Task<'a>>),
    Done(Reply),
}

impl<'a> State<'a> {
    /// The reply that the job is writing, if it writes one.
    pub(super) fn writing(&self) -> Option<&Writing<'a>> {
        match self {
            State::Open(task) => match &task.doing {
                Doing::Write(_, writing) => Some(writing),
                Doing::Score(_) => None,
            },
            State::Done(_) => None,
        }
    }

    /// The same, to write on.
    pub(super) fn writing_mut(&mut self) -> Option<&mut Writing<'a>> {
        match self {
            State::Open(task) => match &mut task.doing {
                Doing::Write(_, writing) => Some(writing),
                Doing::Score(_) => None,
            },
            State::Done(_) => None,
        }
    }

    /// Whether the job has no reply yet.
    pub(super) fn is_open(&self) -> bool {
        matches!(self, State::Open(_))
    }

    /// Whether the job still waits for label scores.
    pub(super) fn scores(&self) -> bool {
        matches!(self, State::Open(task) if matches!(task.doing, Doing::Score(_)))
    }
}

/// An admitted leaf: it has a sequence of the cache.
pub(super) struct Flight {
    pub(super) leaf: usize,
    pub(super) node: NodeId,
    pub(super) sequence: i32,
    /// The job that writes here; `None` where only labels end.
    pub(super) writer: Option<usize>,
    pub(super) prompt_tokens: usize,
    /// Tokens of the reply that were evaluated.
    pub(super) steps: usize,
    /// Whether the whole prompt is evaluated.
    pub(super) is_read: bool,
    /// What the reply's last row of logits led to.
    pub(super) next: Option<Next>,
}
