//! Where the jobs of a packed round stand.

use super::work::{Doing, Task};
use super::writing::{Next, Writing};
use crate::Reply;

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

    /// Whether the job still waits for label scores.
    pub(super) fn scores(&self) -> bool {
        matches!(self, State::Open(task) if matches!(task.doing, Doing::Score(_)))
    }
}

/// A reply in the making, in the cache.
pub(super) struct Writer {
    pub(super) leaf: usize,
    pub(super) sequence: i32,
    pub(super) prompt_tokens: usize,
    pub(super) next: Option<Next>,
}
