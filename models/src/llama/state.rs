//! Where the jobs of a packed round stand.

use super::leaves::{Forest, Read};
use super::vocabulary::Vocabulary;
use super::work::{Doing, Task};
use super::writing::{Next, Writing};
use crate::logits::Row;
use crate::tree::NodeId;
use crate::{Finish, Reply, Usage};

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

    /// What the job has cost so far.
    pub(super) fn usage_mut(&mut self) -> Option<&mut Usage> {
        match self {
            State::Open(task) => Some(&mut task.usage),
            State::Done(reply) => reply.usage_mut(),
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

/// The jobs of a round, in their order.
pub(super) struct Jobs<'a>(Vec<State<'a>>);

impl<'a> Jobs<'a> {
    pub(super) fn new(tasks: Vec<Result<Task<'a>, Box<Reply>>>) -> Self {
        let state = |task: Result<Task<'a>, Box<Reply>>| {
            task.map_or_else(|reply| State::Done(*reply), |task| State::Open(Box::new(task)))
        };
        Jobs(tasks.into_iter().map(state).collect())
    }

    /// The prefix tree of those that have no reply yet.
    pub(super) fn forest(&self) -> Forest {
        Forest::grow(self.0.iter().map(|job| match job {
            State::Open(task) => Some(&task.doing),
            State::Done(_) => None,
        }))
    }

    /// How many have their reply.
    pub(super) fn done(&self) -> u32 {
        self.0.iter().filter(|job| !job.is_open()).count() as u32
    }

    /// Hands a row of logits to the job that waits for it; where a reply begins, tells its leaf and how.
    pub(super) fn read(
        &mut self,
        read: Read,
        row: Row<'_>,
        vocabulary: &Vocabulary,
    ) -> Option<(usize, Result<Next, String>)> {
        let State::Open(task) = &mut self.0[read.job()] else { return None };
        match (&mut task.doing, read) {
            (Doing::Score(scoring), Read::First { .. }) => scoring.first(row, vocabulary),
            (Doing::Score(scoring), Read::Later { label, token, .. }) => scoring.later(label, token, row),
            (Doing::Write(_, writing), Read::Begin { leaf, .. }) => {
                return Some((leaf, writing.row(row, vocabulary)));
            }
            _ => {}
        }
        None
    }

    /// Gives a job its reply; tells whether it had none.
    pub(super) fn finish(&mut self, job: usize, outcome: Result<Finish, String>) -> bool {
        let nothing = Reply::Failed { reason: String::new(), usage: Usage::default() };
        match std::mem::replace(&mut self.0[job], State::Done(nothing)) {
            State::Open(task) => {
                self.0[job] = State::Done(task.reply(outcome));
                true
            }
            done => {
                self.0[job] = done;
                false
            }
        }
    }

    /// Ends the score jobs whose logits are all read; gives their number.
    pub(super) fn conclude_scores(&mut self, forest: &Forest) -> u32 {
        let mut ended = 0;
        for job in 0..self.0.len() {
            if self.0[job].scores() && forest.is_read(job) {
                ended += u32::from(self.finish(job, Ok(Finish::Stop)));
            }
        }
        ended
    }

    /// The replies, in order.
    pub(super) fn replies(self) -> Vec<Reply> {
        let lost = || Reply::Failed { reason: "the job was never reached".into(), usage: Usage::default() };
        let reply = |job| match job {
            State::Done(reply) => reply,
            State::Open(_) => lost(),
        };
        self.0.into_iter().map(reply).collect()
    }
}

impl<'a> std::ops::Index<usize> for Jobs<'a> {
    type Output = State<'a>;

    fn index(&self, job: usize) -> &State<'a> {
        &self.0[job]
    }
}

impl<'a> std::ops::IndexMut<usize> for Jobs<'a> {
    fn index_mut(&mut self, job: usize) -> &mut State<'a> {
        &mut self.0[job]
    }
}

/// Where an admitted leaf has its tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Seat {
    /// A sequence of the cache of prompts.
    Prompts(i32),
    /// One of the cache of replies.
    Streams(i32),
}

/// An admitted leaf: it has a sequence of a cache.
pub(super) struct Flight {
    pub(super) leaf: usize,
    pub(super) node: NodeId,
    pub(super) seat: Seat,
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

impl Flight {
    /// The reply's next token, which is on its way now, and its position.
    pub(super) fn advance(&mut self) -> Option<(i32, usize)> {
        let Some(Next::Token(token)) = self.next else { return None };
        self.next = None;
        self.steps += 1;
        Some((token, self.prompt_tokens + self.steps - 1))
    }
}
