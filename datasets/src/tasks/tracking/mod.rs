//! What the three state-tracking tasks share: episodes that are asked about after each of their updates.
//!
//! One family is one episode. Depth d shows its first d updates and asks one question about the state after them,
//! so the depths of an episode extend each other and share their prompts up to the query.

mod baselines;
mod figures;
mod layout;
#[cfg(test)]
pub(super) mod reader;

use std::fmt;

pub(super) use baselines::{MOST_FREQUENT, STATELESS};
pub(super) use figures::ANALYSIS;
pub(super) use layout::{Example, Layout};

use crate::item::{Item, Tags};
use crate::{Stream, TaskError};

/// A small world whose state changes by updates.
pub(super) trait World: Clone {
    /// A change of the state, shown as one line.
    type Update: fmt::Display;

    /// The state in lines, as a prompt describes it at the start.
    fn state(&self) -> Vec<String>;

    /// Draws the next update.
    fn draw(&self, stream: &mut Stream) -> Self::Update;

    /// Carries an update out.
    fn apply(&mut self, update: &Self::Update);

    /// Draws a question about this state of an episode that began at `start`.
    fn query(&self, start: &Self, stream: &mut Stream) -> Query;
}

/// A question about a state. Answers are indices into the options of the task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Query {
    /// What is asked.
    pub(super) text: String,
    /// The answer in the state that is asked about.
    pub(super) gold: u16,
    /// The answer that the initial state would give.
    pub(super) initial: u16,
}

/// Which episodes to make, and where to stop in them.
pub(super) struct Episodes<'a> {
    /// Name of the task.
    pub(super) task: &'a str,
    /// Tells apart the random streams of different worlds of the task.
    pub(super) world: &'a str,
    /// Number of episodes.
    pub(super) episodes: u32,
    /// Numbers of updates after which a question is asked.
    pub(super) depths: &'a [u32],
    /// Tags of every item.
    pub(super) tags: &'a Tags,
    /// Seed of all draws.
    pub(super) seed: u64,
}

/// Depths of the paper.
pub(super) fn default_depths() -> Vec<u32> {
    (0..=10).collect()
}

impl Episodes<'_> {
    /// Refuses numbers that make no sense.
    pub(super) fn check(&self) -> Result<(), TaskError> {
        let refuse = |message: String| Err(TaskError::Params(format!("{}: {message}", self.task)));
        if !(1..=100_000).contains(&self.episodes) {
            return refuse(format!("episodes must be 1 to 100000, not {}", self.episodes));
        }
        if self.depths.is_empty() {
            return refuse("depths is empty; name at least one number of updates".to_owned());
        }
        if !self.depths.is_sorted_by(|a, b| a < b) {
            return refuse("depths must rise, each one once".to_owned());
        }
        match self.depths.last() {
            Some(&deepest) if deepest > 1000 => refuse(format!("depths may go to 1000, not to {deepest}")),
            _ => Ok(()),
        }
    }

    /// All items, episode by episode. An episode's updates depend on its number alone, and a question on the
    /// number and the depth: other lists of depths or more episodes leave the items as they are.
    pub(super) fn items<W: World>(&self, layout: &Layout, begin: impl Fn(&mut Stream) -> W) -> Vec<Item> {
        let layout = layout.ready();
        let mut items = Vec::with_capacity(self.episodes as usize * self.depths.len());
        for episode in 0..self.episodes {
            let number = episode.to_string();
            let family = format!("e{episode:03}");
            let mut stream = Stream::new(self.seed, &[self.task, self.world, "episode", &number]);
            let start = begin(&mut stream);
            let state = start.state();
            let mut now = start.clone();
            let mut updates = Vec::new();
            for &depth in self.depths {
                while updates.len() < depth as usize {
                    let update = now.draw(&mut stream);
                    now.apply(&update);
                    updates.push(update.to_string());
                }
                let purpose = [self.task, self.world, "query", &number, &depth.to_string()];
                let query = now.query(&start, &mut Stream::new(self.seed, &purpose));
                let mut tags = self.tags.clone();
                tags.insert("depth".to_owned(), depth.to_string());
                tags.insert("dependent".to_owned(), (query.gold != query.initial).to_string());
                tags.insert("initial".to_owned(), layout.options()[usize::from(query.initial)].to_owned());
                let question = layout.question(&state, &updates, &query);
                items.push(Item::one(format!("{family}-d{depth:02}"), family.clone(), tags, question));
            }
        }
        items
    }
}

/// An ordered pair of two different numbers of `0..count`, uniform.
pub(super) fn ordered_pair(stream: &mut Stream, count: usize) -> (usize, usize) {
    let first = stream.below(count);
    let second = stream.below(count - 1);
    (first, if second < first { second } else { second + 1 })
}

/// Persons and rooms are named by capital letters.
pub(super) fn letter(index: usize) -> char {
    char::from(b'A' + index as u8)
}
