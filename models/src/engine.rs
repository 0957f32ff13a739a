//! What can load a model and answer jobs.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::{Encoded, Job, Phase, Probe, ProbeReply, Readout, Reply, Shown, Span};

/// What to load, and how.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LoadSpec {
    /// The GGUF file; `fake` and its variants name the built-in fake engine.
    pub model: PathBuf,
    /// Load the vocabulary alone: enough to measure prompts, never to answer jobs.
    pub vocab_only: bool,
    /// Tokens that one sequence may have.
    pub context_tokens: u32,
    /// Whether jobs share what they have in common, or are each evaluated alone.
    pub mode: Mode,
    /// Tokens that all sequences together may have in the KV cache; at least `context_tokens` are taken.
    pub cells: u32,
    /// Sequences evaluated side by side.
    pub sequences: u32,
    /// Replies generated side by side; 0 counts as 1.
    pub parallel: u32,
    /// Largest number of tokens handed to the library in one call.
    pub batch_tokens: u32,
    /// Threads for generating.
    pub threads: u32,
    /// Threads for evaluating prompts.
    pub threads_batch: u32,
    /// Whether the weights are mapped from the file instead of read into memory.
    pub mmap: bool,
    /// How keys and values are stored in the cache.
    pub kv: KvType,
    /// The file that turns pictures into what the model reads, where it is asked with pictures.
    pub mmproj: Option<PathBuf>,
}

impl LoadSpec {
    /// One prompt at a time, in a small context, on one thread: what checks begin with, that name only what they need otherwise.
    pub fn plain(model: impl Into<PathBuf>) -> Self {
        LoadSpec {
            model: model.into(),
            vocab_only: false,
            context_tokens: 256,
            mode: Mode::Exact,
            cells: 256,
            sequences: 1,
            parallel: 1,
            batch_tokens: 512,
            threads: 1,
            threads_batch: 1,
            mmap: true,
            kv: KvType::F16,
            mmproj: None,
        }
    }
}

/// How keys and values are stored in the KV cache.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum KvType {
    /// 16-bit floats: what the library uses by itself.
    #[default]
    F16,
    /// 8-bit blocks: about half the memory; changes answers.
    Q8_0,
    /// 4-bit blocks: about a quarter of the memory; changes answers more.
    Q4_0,
}

impl KvType {
    /// Bytes of a row of `elements`, which the library wants in whole blocks of 32.
    pub fn row_bytes(self, elements: u64) -> u64 {
        match self {
            KvType::F16 => elements.saturating_mul(2),
            KvType::Q8_0 => elements.div_ceil(32).saturating_mul(34),
            KvType::Q4_0 => elements.div_ceil(32).saturating_mul(18),
        }
    }
}

/// Memory that a context takes, found without allocating it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Buffers {
    /// The KV cache, and the states of recurrent layers.
    pub cache_bytes: u64,
    /// What is computed on the way to the logits, for the largest batch.
    pub compute_bytes: u64,
    /// Rows of logits kept for the caller.
    pub output_bytes: u64,
    /// What is computed on the way from a picture to what the model reads.
    pub picture_bytes: u64,
}

/// How the jobs of a round are evaluated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mode {
    /// What prompts share is evaluated once, and many sequences share a batch. Fast; the shape of a batch moves
    /// logits of quantised models a little.
    #[default]
    Packed,
    /// Each job alone, from an empty cache.
    Exact,
}

/// What an engine says of itself once it is open.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EngineFacts {
    /// Name and version of the engine.
    pub engine: String,
    /// What the library reports of the processor features in use.
    pub system: String,
    /// Tokens that one sequence may have.
    pub context_tokens: u32,
    /// Context that the model was trained for.
    pub trained_context_tokens: u32,
    /// Tokens in the vocabulary.
    pub vocab_tokens: u32,
    /// Whether the tokenizer adds a begin-of-sequence token by itself.
    pub adds_bos: bool,
    /// Whether prompts share tokens and batches.
    pub packs: bool,
    /// Time to load in microseconds.
    pub load_us: u64,
    /// Whether jobs are answered one by one from states kept where their prompts part: the model keeps one state per
    /// sequence, and can neither share tokens among sequences nor go back.
    pub checkpoints: bool,
    /// Processor level that the engine's process was built for; empty for a build that names none.
    pub level: String,
    /// Whether prompts may show pictures.
    pub shows_pictures: bool,
}

/// Tokens of a prompt, measured without evaluating it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PromptSize {
    /// Tokens of the prompt.
    pub prompt_tokens: u32,
    /// Tokens that the request may add at the most: the longest continuation, or the generation cap.
    pub extra_tokens: u32,
    /// Tokens of the prompt that belong to pictures.
    pub picture_tokens: u32,
}

/// A token as a vocabulary knows it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Token {
    /// Its id.
    pub id: i32,
    /// Its bytes, shown lossily; control tokens show their name. For display only, ids are the key.
    pub piece: String,
    /// Whether it is a control token.
    pub control: bool,
    /// Whether a reply ends with it.
    pub ends_generation: bool,
}

/// A job in tokens, nothing evaluated.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tokenised {
    /// The prompt's tokens.
    pub prompt: Vec<Token>,
    /// What each continuation adds behind the point where they part from the prompt's tokens; empty where none is
    /// scored.
    pub labels: Vec<Vec<Token>>,
    /// Why the job cannot be done; then there are no labels.
    pub refusal: Option<String>,
}

/// Answers to the jobs of one round, in the order of the jobs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RoundReply {
    /// One reply per job.
    pub replies: Vec<Reply>,
    /// How the time was spent.
    pub phases: Vec<Phase>,
    /// Texts of the tokens of the scored continuations, each once, by id.
    pub pieces: Vec<(i32, String)>,
    /// The calls into the library, in order, when the round had a single job: they tell when each token was known.
    pub calls: Vec<Call>,
    /// When which kind of work was done, in order.
    pub spans: Vec<Span>,
    /// Time of the whole round in microseconds.
    pub took_us: u64,
    /// The pictures that were encoded for it.
    pub pictures: Vec<Encoded>,
    /// What reads labels out of hidden states, where states were wanted.
    pub readout: Readout,
}

/// A call that evaluated tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Call {
    /// Tokens that it evaluated.
    pub tokens: u32,
    /// Its end, in microseconds since the round began.
    pub end_us: u64,
}

/// How far a round is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Advance {
    /// Jobs answered.
    pub jobs: u32,
    /// Tokens evaluated or generated.
    pub tokens: u64,
}

/// An engine failed as a whole (not on one job: that is [`Reply::Failed`]).
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
#[error("{0}")]
pub struct EngineError(pub String);

/// Loads a model and answers jobs.
///
/// Work comes in groups; a group has one or more rounds (several where episodes take turns). An engine may
/// keep what it evaluated from one round to the next, and must drop it at [`Engine::end_group`]: what a group
/// costs and answers depends on the group alone, so that a resumed run repeats it exactly.
pub trait Engine {
    /// Facts about the loaded model.
    fn facts(&self) -> EngineFacts;

    /// Takes pictures that jobs will name, and forgets others, before a round or a measurement. Of a picture to be
    /// measured the size is enough.
    fn show(&mut self, forget: &[String], pictures: Vec<Shown>) -> Result<(), EngineError>;

    /// Tokens of each job's prompt; evaluates nothing.
    fn measure(&mut self, jobs: &[Job]) -> Result<Vec<PromptSize>, EngineError>;

    /// The tokens of each job's prompt and continuations; evaluates nothing.
    fn tokenise(&mut self, jobs: &[Job]) -> Result<Vec<Tokenised>, EngineError>;

    /// Memory that contexts opened as the specs say would take; the model need not be loaded beyond its vocabulary.
    fn buffers(&mut self, specs: &[LoadSpec]) -> Result<Vec<Buffers>, EngineError>;

    /// Answers the jobs of one round. `progress` is called now and then with what is done so far.
    fn round(&mut self, jobs: &[Job], progress: &mut dyn FnMut(Advance)) -> Result<RoundReply, EngineError>;

    /// The group is over: forget what was evaluated for it.
    fn end_group(&mut self);

    /// Measures the engine on made-up tokens, beside what it keeps of a group; keeps nothing of its own.
    fn probe(&mut self, probe: &Probe, progress: &mut dyn FnMut(Advance)) -> Result<ProbeReply, EngineError>;
}
