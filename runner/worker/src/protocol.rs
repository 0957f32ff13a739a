//! What supervisor and worker say to each other, one frame each.

use std::path::PathBuf;

use models::{
    Advance, Buffers, EngineError, EngineFacts, HiddenStates, Job, LoadSpec, Probe, ProbeReply, PromptSize,
    RoundReply, Shown, Tokenised,
};
use serde::{Deserialize, Serialize};

/// From the supervisor. Each is answered by exactly one final [`FromWorker`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum ToWorker {
    /// Load a model.
    Open(LoadSpec),
    /// Tell the tokens of prompts.
    Measure(Vec<Job>),
    /// Tell prompts and continuations as tokens.
    Tokenise(Vec<Job>),
    /// Answer the jobs of a round.
    Round(Vec<Job>),
    /// Forget what was evaluated for the group.
    EndGroup,
    /// Measure the engine on made-up tokens.
    Probe(Probe),
    /// Tell the memory of contexts that are not opened.
    Buffers(Vec<LoadSpec>),
    /// Make a quantised copy of a model file.
    Quantise(Quantise),
    /// Forget some pictures and take others.
    Show {
        /// Addresses of those to forget.
        forget: Vec<String>,
        /// Those to take.
        pictures: Vec<Shown>,
    },
}

/// A copy to make.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Quantise {
    /// The file to copy.
    pub source: PathBuf,
    /// The file to write.
    pub target: PathBuf,
    /// The kind of file: `Q4_0`.
    pub kind: String,
    /// Threads.
    pub threads: u32,
    /// Whether the source may be quantised already.
    pub requantise: bool,
}

/// From the worker.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum FromWorker {
    /// The model is loaded.
    Opened(EngineFacts),
    /// Tokens of the prompts, in order.
    Sizes(Vec<PromptSize>),
    /// Tokens of the jobs, in order.
    Tokens(Vec<Tokenised>),
    /// Not final: how far the round or the probe is.
    Progress(Advance),
    /// The answers of the round.
    Done(RoundReply),
    /// The group is forgotten.
    GroupEnded {
        /// Peak resident memory of the worker so far, where the system tells.
        peak_bytes: Option<u64>,
    },
    /// The request could not be done; the worker lives.
    Failed(EngineError),
    /// What was measured.
    Probed(ProbeReply),
    /// Memory of contexts, in order.
    Buffers(Vec<Buffers>),
    /// The copy is made.
    Quantised,
    /// The pictures are there.
    Shown,
    /// Not final: the hidden states of one answer of the round that follows, a frame each, so that no frame grows with the
    /// round.
    States {
        /// Place of the answer in the round.
        place: u32,
        /// Its states.
        states: HiddenStates,
    },
}
