//! The ways of asking. Interfaces build requests and read replies; they never grade.
//!
//! A new one is a file and a line in [`ALL`].

mod cot_prefix;
mod direct;
mod free_cot;
mod full_string;
mod label_scores;
mod prompt;
mod sampled;
mod self_consistency;
mod separator;
mod settings;
mod tree_of_thought;

use models::{Prompt, Reply, Request};

pub use full_string::{TextScores, best, text_scores};
pub use label_scores::{choose, normalised};
pub use separator::separator;
pub use settings::{CuePlace, Normalisation, Separator, Settings, TextNormalisation};
pub use tree_of_thought::is_vote;

use crate::item::Question;
use crate::reading::Found;
use crate::verdict::{Loss, Said, Skip};

/// Every interface, in the order of lists and reports.
pub const ALL: &[&Interface] = &[
    &direct::DIRECT,
    &cot_prefix::COT_PREFIX,
    &free_cot::FREE_COT,
    &full_string::FULL_STRING,
    &self_consistency::SELF_CONSISTENCY,
    &tree_of_thought::TREE_OF_THOUGHT,
];

/// A way of asking a question.
pub struct Interface {
    /// The name in configurations and results: `cot-prefix`.
    pub name: &'static str,
    /// One line for lists.
    pub summary: &'static str,
    /// Whether the model generates text: such groups are kept small.
    pub generates: bool,
    /// Whether labels are scored where an answer is due, so that their mass tells whether the model means to give one.
    pub scores_labels: bool,
    /// Whether the texts of the options are scored in place of their labels.
    pub scores_texts: bool,
    /// Whether it asks more once it has replies, in prompts that cannot be measured beforehand.
    pub asks_on: bool,
    /// Whether its prompt ends with the question's cue.
    pub cued: bool,
    /// Whether the length of one reply is what its result hangs on, so that caps can be swept.
    pub capped: bool,
    /// Which endings are swept through it.
    pub endings: Endings,
    /// Whether the question can be asked this way.
    pub fits: fn(&Question) -> bool,
    /// Starts an exchange.
    pub open: fn(&Question, &Settings) -> Box<dyn Exchange + Send>,
}

/// Which endings of a sweep an interface takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Endings {
    /// None.
    None,
    /// Those that ask for a rationale.
    Reasoning,
    /// Those that do not.
    Others,
    /// All.
    All,
    /// All, where the settings want replies written after each.
    Written,
}

impl Interface {
    /// Finds an interface by its name.
    pub fn named(name: &str) -> Option<&'static Interface> {
        ALL.iter().copied().find(|interface| interface.name == name)
    }
}

impl std::fmt::Debug for Interface {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Interface").field("name", &self.name).finish_non_exhaustive()
    }
}

/// One exchange about one question.
pub trait Exchange {
    /// The next move, given the replies to the last requests (none at the start).
    fn step(&mut self, replies: &[Reply]) -> Move;
}

/// What an exchange does next.
#[derive(Clone, Debug)]
pub enum Move {
    /// Ask these.
    Ask(Vec<(Prompt, Request)>),
    /// The exchange is over.
    Said {
        /// What was said.
        said: Said,
        /// The reply as it stays in a conversation.
        reply: String,
        /// What was found in the text of the reply; `None` where labels were scored.
        found: Option<Box<Found>>,
        /// Whether `said` comes from scoring the labels after a chain that gave no answer itself. Reports show
        /// such answers apart: without them the item is unanswered, as `found` says.
        rescued: bool,
    },
    /// The prompt did not fit; nothing was asked.
    Skipped(Skip),
    /// The engine failed.
    Lost(Loss),
}

#[cfg(test)]
mod lab_tests;
#[cfg(test)]
mod tests;
