//! The ways of asking. Interfaces build requests and read replies; they never grade.

use models::{Prompt, Reply, Request};

use crate::item::Question;
use crate::verdict::{Loss, Said, Skip};

/// A way of asking a question.
pub struct Interface {
    /// The name in configurations and results: `cot-prefix`.
    pub name: &'static str,
    /// One line for lists.
    pub summary: &'static str,
    /// Whether the question can be asked this way.
    pub fits: fn(&Question) -> bool,
    /// Starts an exchange.
    pub open: fn(&Question, &Settings) -> Box<dyn Exchange + Send>,
}

/// What the user chose about the ways of asking.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// Name of the reasoning cue; the question's first one when `None` or when the question lacks it.
    pub cue: Option<String>,
    /// Cap of generated tokens.
    pub max_tokens: u32,
    /// Most probable tokens to log beside label scores.
    pub top: u16,
}

/// One exchange about one question.
pub trait Exchange {
    /// The next move, given the replies to the last requests (none at the start).
    fn step(&mut self, replies: &[Reply]) -> Move;
}

/// What an exchange does next.
#[derive(Debug)]
pub enum Move {
    /// Ask these.
    Ask(Vec<(Prompt, Request)>),
    /// The exchange is over.
    Said {
        /// What was said.
        said: Said,
        /// The reply as it stays in a conversation.
        reply: String,
    },
    /// The prompt did not fit; nothing was asked.
    Skipped(Skip),
    /// The engine failed.
    Lost(Loss),
}
