//! What is asked and what counts as right.
//!
//! Pure: no clock, no environment, no files, no threads. The same seed gives the same items for ever; a golden
//! hash per task holds that down. Tasks make [`Item`]s, interfaces turn a [`Question`] into requests and read the
//! replies into [`Said`], [`grade`](grade::grade) compares that with the gold.

pub mod analysis;
pub mod bayes;
pub mod condition;
pub mod drawing;
pub mod ending;
pub mod episode;
pub mod fault;
pub mod files;
pub mod forms;
pub mod grade;
pub mod grid;
pub mod import;
pub mod interfaces;
pub mod item;
pub mod papers;
pub mod picture;
pub mod reading;
pub mod readout;
#[cfg(test)]
mod replies;
pub mod rng;
pub mod sample;
pub mod statistics;
pub mod task;
pub mod tasks;
pub mod verdict;

pub use analysis::{Analysis, Figure, Played};
pub use condition::Condition;
pub use ending::{Asks, Ending};
pub use episode::{Episode, Heard, Outcome, Step};
pub use files::{Files, Held, Texts};
pub use forms::LabelSet;
pub use interfaces::{
    CuePlace, Exchange, Interface, Move, Normalisation, Separator, Settings, TextNormalisation,
};
pub use item::{Ask, Card, Cue, Gold, Item, Part, Passes, Question, Script, Tags};
pub use picture::{Picture, PictureError, Pixels};
pub use rng::Stream;
pub use task::{Baseline, Params, ReadFile, Resolved, Task, TaskError};
pub use verdict::{Loss, NoAnswer, Said, Skip, Verdict};
