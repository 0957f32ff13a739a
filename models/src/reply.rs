//! What a model answers.

use serde::{Deserialize, Serialize};

use crate::HiddenStates;

/// The answer to one [`Job`](crate::Job).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Reply {
    /// Answer to a score request.
    Scored(Scored),
    /// Answer to a generate request.
    Generated(Generated),
    /// The prompt with what is asked for does not fit the context; nothing was evaluated.
    TooLong {
        /// Tokens of the prompt and the longest continuation or one generated token.
        needed: u32,
        /// Tokens that one sequence may have.
        context: u32,
    },
    /// The engine could not do this job; the others of the round are not concerned.
    Failed {
        /// One line for people.
        reason: String,
        /// What was spent on it.
        usage: Usage,
    },
}

impl Reply {
    /// Tokens that the job cost.
    pub fn usage(&self) -> Usage {
        match self {
            Reply::Scored(s) => s.usage,
            Reply::Generated(g) => g.usage,
            Reply::TooLong { .. } => Usage::default(),
            Reply::Failed { usage, .. } => *usage,
        }
    }

    /// The same, to be added to; `None` where nothing was done.
    pub fn usage_mut(&mut self) -> Option<&mut Usage> {
        match self {
            Reply::Scored(s) => Some(&mut s.usage),
            Reply::Generated(g) => Some(&mut g.usage),
            Reply::Failed { usage, .. } => Some(usage),
            Reply::TooLong { .. } => None,
        }
    }
}

/// Log-probabilities of the continuations, in the order asked.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Scored {
    /// One per continuation.
    pub labels: Vec<LabelScore>,
    /// Total label mass: the probability, over the full vocabulary, that the text goes on with one of the
    /// continuations (one that begins with another is part of that one's); `None` when a logit was not finite.
    pub mass: Option<f64>,
    /// The most probable next tokens, best first.
    pub top: Vec<TokenProb>,
    /// What the job cost.
    pub usage: Usage,
    /// Probability of each watched set of tokens, in the order asked; empty when a logit was not finite.
    pub watched: Vec<f64>,
    /// Entropy of the next token's distribution over the full vocabulary, in nats; `None` when a logit was not finite.
    pub entropy: Option<f64>,
    /// The hidden states that were wanted, as far as they can be had. They travel and are kept apart from the rest:
    /// a log holds answers.
    #[serde(skip)]
    pub states: Option<HiddenStates>,
}

/// One continuation's score.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LabelScore {
    /// Token ids from the point where the labels' joint tokenisations part from the prompt's.
    pub tokens: Vec<i32>,
    /// Natural log-probability of each of `tokens` given all before it; not finite values are kept as they
    /// came, and make the item "nonfinite".
    pub logprobs: Vec<f32>,
    /// 1 + the number of tokens that are more probable than the first of `tokens` at its position.
    pub rank: u32,
}

impl LabelScore {
    /// Log-probability of the whole continuation.
    pub fn sum(&self) -> f64 {
        self.logprobs.iter().map(|&p| f64::from(p)).sum()
    }
}

/// A token with its probability.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TokenProb {
    /// Token id.
    pub token: i32,
    /// The token's bytes, shown lossily; for display only, ids are the key.
    pub piece: String,
    /// Natural log-probability.
    pub logprob: f32,
}

/// Generated text.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Generated {
    /// The bytes of the reply without the end token or stop text; may end inside a character.
    pub bytes: Vec<u8>,
    /// Token ids, the end token excluded.
    pub tokens: Vec<i32>,
    /// Why it ended.
    pub finish: Finish,
    /// Whether a reasoning block was closed for the model because its budget was spent.
    pub thinking_cut: bool,
    /// What the job cost.
    pub usage: Usage,
}

impl Generated {
    /// The reply as text; broken characters become U+FFFD.
    pub fn text(&self) -> std::borrow::Cow<'_, str> {
        String::from_utf8_lossy(&self.bytes)
    }
}

/// Why a generation ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Finish {
    /// The model ended its turn.
    Stop,
    /// A stop text appeared.
    StopText,
    /// The token cap was reached.
    Length,
    /// The context is full.
    ContextFull,
    /// The reply repeats itself.
    Loop,
}

/// Tokens that a job cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// Tokens of the prompt.
    pub prompt_tokens: u32,
    /// Tokens that the model evaluated for this job (a shared token is counted for the first job that needs
    /// it), generated ones excluded.
    pub evaluated_tokens: u32,
    /// Tokens generated.
    pub output_tokens: u32,
    /// Time spent evaluating the prompt and scoring, in microseconds; a share by tokens where jobs were packed.
    pub prefill_us: u64,
    /// Time spent generating, in microseconds; a share by tokens where jobs were packed.
    pub decode_us: u64,
    /// Tokens of the prompt that belong to pictures.
    pub picture_tokens: u32,
    /// Pictures that were encoded for this job (one that others share is counted for the first job that needs it).
    pub pictures_encoded: u32,
    /// Time spent encoding them, in microseconds; part of `prefill_us`.
    pub encode_us: u64,
}

impl std::ops::AddAssign for Usage {
    fn add_assign(&mut self, other: Self) {
        self.prompt_tokens += other.prompt_tokens;
        self.evaluated_tokens += other.evaluated_tokens;
        self.output_tokens += other.output_tokens;
        self.prefill_us += other.prefill_us;
        self.decode_us += other.decode_us;
        self.picture_tokens += other.picture_tokens;
        self.pictures_encoded += other.pictures_encoded;
        self.encode_us += other.encode_us;
    }
}

/// A stretch of an engine's work, with its duration on the monotonic clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Phase {
    /// What was done.
    pub kind: PhaseKind,
    /// Wall time of the phase in microseconds.
    pub wall_us: u64,
    /// The part of it spent inside the model library's calls, in microseconds.
    pub library_us: u64,
    /// Tokens that it concerned.
    pub tokens: u32,
}

/// Kinds of phases.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum PhaseKind {
    /// Text to tokens.
    Tokenize,
    /// Evaluating prompts.
    Prefill,
    /// Generating, one token after another.
    Decode,
    /// Evaluating prompts and generating in the same calls.
    Mixed,
}
