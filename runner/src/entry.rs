//! What a log holds. Raw facts; nothing here is an aggregate.
//!
//! The encoding does not describe itself: variants and fields are only ever appended, and any change raises
//! [`FORMAT`].

mod answers;
mod death;
mod loading;
mod progress;
mod run;

use serde::{Deserialize, Serialize};

pub use answers::{Alone, ItemRecord, Pictures, Pieces, TurnRecord};
pub use death::{Death, DeathCause};
pub use loading::{Loaded, MemoryPlan, MemoryUse, ModelFailed, Tuned, TunedStep};
pub use progress::{Complete, GroupEnd, GroupRef, Session, Visit};
pub use run::{Device, Header, ModelRecord, ProjectorRecord, Source, TaskRecord};

use crate::telemetry::record::{Began, Ended, Stepped, Timed, Timeline, Window};

/// Version of this vocabulary.
pub const FORMAT: u32 = 1;

/// One entry of a log.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Entry {
    /// First entry: what the run is.
    Header(Box<Header>),
    /// A process began to work on the run (the first one, or a resume).
    Session(Session),
    /// A worker has loaded a model.
    Loaded(Loaded),
    /// Work on a group begins; without its end, the process died in it.
    GroupStart(GroupRef),
    /// One item through one interface.
    Item(Box<ItemRecord>),
    /// All items of a group are in the log.
    GroupEnd(GroupEnd),
    /// A worker died or was given up.
    Death(Death),
    /// All groups are in the log.
    Complete(Complete),
    /// Texts of label tokens that were new in a group; stands before the group's end.
    Pieces(Pieces),
    /// An item of the parity sample was scored again, alone.
    Alone(Box<Alone>),
    /// How many replies are written side by side, where a probe chose it.
    Tuned(Tuned),
    /// Measuring of power and machine began.
    Began(Box<Began>),
    /// A stretch of time with its energy; it may stand behind the group that it belongs to.
    Window(Box<Window>),
    /// Samples of power and machine, thinned.
    Timeline(Timeline),
    /// An item was asked on its own, for its latency.
    Timed(Box<Timed>),
    /// The wall clock jumped.
    Stepped(Stepped),
    /// Measuring ended.
    Ended(Box<Ended>),
    /// What a model will take, and how it is loaded to fit; stands before its first group.
    MemoryPlan(Box<MemoryPlan>),
    /// What the worker took up to the end of a group.
    MemoryUse(MemoryUse),
    /// A model could not be run, or not to its end.
    ModelFailed(ModelFailed),
    /// In a merged log: one of the logs that it comes from.
    Source(Source),
    /// A model's turn begins, where models take several.
    Visit(Visit),
    /// The pictures that were encoded for a group; stands before the group's end.
    Pictures(Pictures),
}
