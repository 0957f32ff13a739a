//! What a log holds. Raw facts; nothing here is an aggregate.
//!
//! The encoding does not describe itself: variants and fields are only ever appended, and any change raises
//! [`FORMAT`].

use datasets::reading::Found;
use datasets::{Gold, Said, Verdict};
use models::{Encoded, EngineFacts, LoadSpec, Phase, Reply, Scored, Usage};
use serde::{Deserialize, Serialize};

use crate::memory::{Limit, Peaks, Prediction, Step, in_words};
use crate::plan::Shard;
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

/// What a run is. Two runs with equal headers (but for `run_id` and `device`) ask the same.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Header {
    /// Identity of the run.
    pub run_id: String,
    /// Version of the program.
    pub program: String,
    /// Version of the log's vocabulary.
    pub format: u32,
    /// Version of the extraction policy.
    pub reading_version: u32,
    /// The effective configuration as JSON: defaults and command line included.
    pub config_json: String,
    /// The models, in order.
    pub models: Vec<ModelRecord>,
    /// The tasks, in order.
    pub tasks: Vec<TaskRecord>,
    /// Groups of the whole run.
    pub groups: u32,
    /// The machine.
    pub device: Device,
    /// The part of the groups that is run here; all when absent.
    pub shard: Option<Shard>,
    /// CPU level of the worker; `own-build` where the program is its own.
    pub level: String,
}

impl Header {
    /// Groups that make this log complete.
    pub fn own_groups(&self) -> u32 {
        self.shard.map_or(self.groups, |shard| shard.share(self.groups))
    }
}

/// A model of the run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModelRecord {
    /// How results call it.
    pub name: String,
    /// The file as named.
    pub path: String,
    /// Its size.
    pub file_bytes: u64,
    /// Hex SHA-256 of the file; empty for the fake engine.
    pub sha256: String,
    /// `general.architecture`.
    pub architecture: String,
    /// Quantisation, as the file type or the tensors say.
    pub quantisation: String,
    /// Number of parameters, where the file tells.
    pub parameters: u64,
    /// `gguf`, `raw` or the template file's name.
    pub template_source: String,
    /// The chat template's text; empty for raw prompts.
    pub template: String,
    /// Hex SHA-256 of that text.
    pub template_sha256: String,
    /// The picture projector, where the model is asked with pictures.
    pub mmproj: Option<ProjectorRecord>,
}

/// What turns pictures into what a model reads.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProjectorRecord {
    /// The file as named.
    pub path: String,
    /// Its size.
    pub file_bytes: u64,
    /// Hex SHA-256 of the file; empty for the fake engine.
    pub sha256: String,
    /// `clip.projector_type`.
    pub kind: String,
    /// Quantisation, as the file type or the tensors say.
    pub quantisation: String,
    /// Number of parameters.
    pub parameters: u64,
}

/// A task of the run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TaskRecord {
    /// How results call it.
    pub name: String,
    /// The task's own name.
    pub task: String,
    /// The task's version.
    pub version: u32,
    /// Its parameters as JSON.
    pub params_json: String,
    /// Conditions that its items are asked under: interfaces, with what was varied about them.
    pub interfaces: Vec<String>,
    /// Items.
    pub items: u32,
    /// Hex SHA-256 of the items.
    pub items_sha256: String,
}

/// The machine that a process ran on.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Device {
    /// Host name is left out on purpose: logs are handed around.
    pub model: String,
    /// Operating system and kernel.
    pub system: String,
    /// Processor name.
    pub cpu: String,
    /// Physical cores, 0 when unknown.
    pub physical_cores: u32,
    /// Logical processors.
    pub logical_cores: u32,
    /// Physical memory.
    pub memory_bytes: u64,
}

/// A process that worked on the run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Session {
    /// Wall clock at its start, microseconds since 1970; an annotation, never an order.
    pub wall_us: i64,
    /// Identity of the system's boot, where it can be read.
    pub boot_id: Option<String>,
    /// The process id.
    pub pid: u32,
    /// Groups that were in the log already.
    pub groups_done: u32,
    /// Bytes of a torn tail that were cut off.
    pub torn_bytes: u64,
}

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

/// Texts of tokens. Scores name their tokens by id; this is what the ids stand for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Pieces {
    /// Index of the model.
    pub model: u16,
    /// Id and text; shown lossily, control tokens by name.
    pub pieces: Vec<(i32, String)>,
}

/// Which group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GroupRef {
    /// Number of the group in the plan.
    pub group: u32,
    /// Index of the model.
    pub model: u16,
    /// Index of the task.
    pub task: u16,
}

/// One item through one interface.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ItemRecord {
    /// Where it belongs.
    pub at: GroupRef,
    /// Name of the condition: the interface, with what was varied about it.
    pub interface: String,
    /// Id of the item.
    pub item: String,
    /// Family of the item.
    pub family: String,
    /// Strata of the item.
    pub tags: Vec<(String, String)>,
    /// Its questions in order; most items ask one.
    pub turns: Vec<TurnRecord>,
    /// What the item is worth.
    pub verdict: Verdict,
    /// Named figures beside it.
    pub scores: Vec<(String, f64)>,
    /// Tokens and time of all its requests.
    pub usage: Usage,
    /// How often the item was tried: more than once when a worker died.
    pub tries: u8,
}

/// One question with its answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TurnRecord {
    /// First 8 bytes of the SHA-256 of the rendered prompt of its first request.
    pub prompt_hash: [u8; 8],
    /// The labels, in display order.
    pub labels: Vec<String>,
    /// What is right.
    pub gold: Gold,
    /// What the engine answered, request by request.
    pub replies: Vec<Reply>,
    /// What was said; `None` when it was not asked or was lost.
    pub said: Option<Said>,
    /// What was found in the text of the reply.
    pub found: Option<Found>,
    /// Whether the answer comes from scoring labels after a cut chain.
    pub rescued: bool,
    /// What it is worth.
    pub verdict: Verdict,
    /// The texts that were scored, where they are not the labels: the options, in display order.
    pub texts: Vec<String>,
    /// Seeds of its drawn replies, in the order of the requests.
    pub seeds: Vec<u64>,
}

impl TurnRecord {
    /// The scores that the answer comes from: a rescue's stand behind its chain, those of an option's text before those of the
    /// same text without the question.
    pub fn scored(&self) -> Option<&Scored> {
        self.replies
            .iter()
            .find_map(|reply| if let Reply::Scored(scored) = reply { Some(scored) } else { None })
    }

    /// The same where labels were scored.
    pub fn scored_labels(&self) -> Option<&Scored> {
        self.scored().filter(|_| self.texts.is_empty())
    }
}

/// An item of the parity sample, scored with nothing else in the batch or the cache. How its scores differ from those
/// that it got in its group is what rounding does.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Alone {
    /// The item's group.
    pub at: GroupRef,
    /// Name of the interface.
    pub interface: String,
    /// Id of the item.
    pub item: String,
    /// Its scores.
    pub scored: Scored,
}

/// A group is complete.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GroupEnd {
    /// Which one.
    pub at: GroupRef,
    /// Entries of items that belong to it.
    pub items: u32,
    /// Wall time of the group in the supervisor, in microseconds.
    pub wall_us: u64,
    /// How the engine spent its time.
    pub phases: Vec<Phase>,
}

/// The pictures that were encoded for a group.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pictures {
    /// Which group.
    pub at: GroupRef,
    /// The pictures, each once.
    pub pictures: Vec<Encoded>,
}

/// A worker died or was given up.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Death {
    /// Where it was.
    pub at: GroupRef,
    /// Item and interface, when one job was tried alone.
    pub culprit: Option<(String, String)>,
    /// What happened.
    pub cause: DeathCause,
    /// The worker's last lines on its standard error.
    pub last_words: Vec<String>,
}

/// What happened to a worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum DeathCause {
    /// It ended with this code.
    Exited(i32),
    /// It was ended by this signal.
    Signal(i32),
    /// It made no progress in time and was killed.
    Deadline,
    /// It sent what is no frame.
    Garbled,
    /// It took more than its budget, and the watch killed it.
    OverBudget {
        /// What it took.
        observed_bytes: u64,
        /// What it might.
        budget_bytes: u64,
    },
    /// The system had hardly any memory left, and the watch killed the worker.
    SystemLow {
        /// What the system had.
        available_bytes: u64,
    },
    /// The kernel killed it, because its memory group had reached its limit.
    OutOfMemoryInGroup,
    /// The kernel killed it, because the system had no memory left.
    OutOfMemoryBySystem,
    /// An allocation failed.
    AllocationFailed,
    /// The processor lacks an instruction.
    IllegalInstruction,
    /// A mapped file could not be read: cut short, or its storage failed.
    StorageFault,
    /// Somebody killed it.
    KilledFromOutside,
}

impl DeathCause {
    /// For messages: "the worker {}".
    pub fn in_words(self) -> String {
        match self {
            DeathCause::Exited(code) => format!("ended with code {code}"),
            DeathCause::Signal(6) => "aborted (SIGABRT)".into(),
            DeathCause::Signal(11) => "crashed (SIGSEGV)".into(),
            DeathCause::Signal(signal) => format!("was ended by signal {signal}"),
            DeathCause::Deadline => "made no progress in time and was stopped".into(),
            DeathCause::Garbled => "sent what is no answer and was stopped".into(),
            DeathCause::OverBudget { observed_bytes, budget_bytes } => format!(
                "took {} of memory, more than its budget of {}, and was stopped",
                in_words(observed_bytes),
                in_words(budget_bytes)
            ),
            DeathCause::SystemLow { available_bytes } => format!(
                "was stopped because the system had only {} of memory left",
                in_words(available_bytes)
            ),
            DeathCause::OutOfMemoryInGroup => {
                "was killed by the kernel: its memory group had reached its limit".into()
            }
            DeathCause::OutOfMemoryBySystem => {
                "was killed by the kernel: the system had no memory left".into()
            }
            DeathCause::AllocationFailed => "could not allocate memory".into(),
            DeathCause::IllegalInstruction => "met an instruction that this CPU lacks (SIGILL)".into(),
            DeathCause::StorageFault => {
                "could not read a mapped file (SIGBUS: the file was cut short, or its storage failed)".into()
            }
            DeathCause::KilledFromOutside => "was killed from outside".into(),
        }
    }
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

/// The run is complete.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Complete {
    /// Time of the last session in microseconds.
    pub session_us: u64,
    /// Time that the last session's workers spent inside the model library, in microseconds.
    pub library_us: u64,
    /// Peak resident memory of the supervisor, where the system tells.
    pub supervisor_peak_bytes: Option<u64>,
    /// Peak resident memory of the last worker, where the system tells.
    pub worker_peak_bytes: Option<u64>,
}

/// A model's turn.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Visit {
    /// Index of the model.
    pub model: u16,
    /// The rounds whose groups it works on, from 0.
    pub rounds: Vec<u32>,
    /// Rounds of the whole run.
    pub of: u32,
}

/// A log that a merged one comes from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Source {
    /// Identity of its run.
    pub run_id: String,
    /// The machine.
    pub device: Device,
    /// Groups that were taken from it.
    pub groups: Vec<u32>,
}
