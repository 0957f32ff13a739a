//! What may be asked of a model.

use serde::{Deserialize, Serialize};

use crate::States;

/// Who speaks in a conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Role {
    /// Standing instructions.
    System,
    /// The one who asks.
    User,
    /// The model.
    Assistant,
}

impl Role {
    /// The name that chat templates compare with.
    pub fn as_str(self) -> &'static str {
        match self {
            Role::System => "system",
            Role::User => "user",
            Role::Assistant => "assistant",
        }
    }
}

/// One turn of a conversation.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Turn {
    /// Who speaks.
    pub role: Role,
    /// What is said. It is data: control tokens spelled in it are never parsed as such.
    pub text: String,
    /// Pictures in the text, in order; most turns have none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pictures: Vec<PictureAt>,
}

/// A picture's place in the text of a turn.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct PictureAt {
    /// It stands before this byte of the text; pictures at one place stand in their order.
    pub at: u32,
    /// Which picture: a hash that names its content. Whoever made the prompt knows where the pixels are.
    pub address: String,
}

impl Turn {
    /// A turn of the one who asks.
    pub fn user(text: impl Into<String>) -> Self {
        Turn { role: Role::User, text: text.into(), pictures: Vec::new() }
    }

    /// A turn of the one who asks, with pictures.
    pub fn shown(text: impl Into<String>, pictures: Vec<PictureAt>) -> Self {
        Turn { pictures, ..Turn::user(text) }
    }

    /// A turn of the model.
    pub fn assistant(text: impl Into<String>) -> Self {
        Turn { role: Role::Assistant, text: text.into(), pictures: Vec::new() }
    }
}

/// A prompt as an interface means it, before a chat template (or none) gives it its final form.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Prompt {
    /// The conversation so far; ends with a user turn.
    pub turns: Vec<Turn>,
    /// Text with which the assistant's own turn begins (a prefill); often empty.
    pub lead: String,
    /// Whether the texts stand as they are, without the model's chat template.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub raw: bool,
}

/// A stretch of a rendered prompt: a text, or a picture.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Segment {
    /// The text, valid UTF-8 by construction; empty for a picture.
    pub text: String,
    /// Whether control tokens spelled in the text are parsed as such. True for what the template wrote,
    /// false where item text spells a control token.
    pub control: bool,
    /// The address of the picture that stands here.
    pub picture: Option<String>,
}

impl Segment {
    /// A text.
    pub fn text(text: impl Into<String>, control: bool) -> Self {
        Segment { text: text.into(), control, picture: None }
    }

    /// A picture.
    pub fn picture(address: impl Into<String>) -> Self {
        Segment { text: String::new(), control: false, picture: Some(address.into()) }
    }
}

/// The addresses of the pictures in a rendered prompt, in order.
pub fn pictures(prompt: &[Segment]) -> impl Iterator<Item = &str> {
    prompt.iter().filter_map(|segment| segment.picture.as_deref())
}

/// A request with its rendered prompt, ready for an engine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Job {
    /// Unique within one round; replies carry it back.
    pub id: u32,
    /// The rendered prompt.
    pub prompt: Vec<Segment>,
    /// Whether the tokenizer adds its own begin-of-sequence token: false when a template wrote it.
    pub add_bos: bool,
    /// What is asked.
    pub request: Request,
    /// Whether a later round of the group may go on from here, so that keeping what was evaluated may pay.
    pub follow_up: bool,
}

/// What is asked of a model at the end of a prompt.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Request {
    /// Log-probabilities of given continuations.
    Score(Score),
    /// Text.
    Generate(Generate),
}

/// Score given continuations of the prompt.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Score {
    /// Texts whose log-probability is wanted, each as it would follow the prompt, separator included.
    pub continuations: Vec<String>,
    /// How many of the most probable next tokens to report beside them.
    pub top: u16,
    /// Sets of token texts. Of each set the probability is wanted that the next token is one of these texts; a text that
    /// no token of the vocabulary spells counts for nothing.
    pub watch: Vec<Vec<String>>,
    /// Which hidden states are wanted where the probabilities of the continuations are read.
    pub states: States,
}

/// Generate text.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Generate {
    /// Upper bound of generated tokens.
    pub max_tokens: u32,
    /// Texts that end the generation; they are not part of the reply.
    pub stop: Vec<String>,
    /// How the next token is chosen.
    pub sampling: Sampling,
    /// Ends a generation that repeats itself.
    pub loop_guard: Option<LoopGuard>,
    /// Closes a reasoning block that takes too long.
    pub thinking: Option<ThinkingCap>,
}

/// A budget for reasoning blocks: when it is spent the block is closed for the model, which then goes on to answer.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ThinkingCap {
    /// Tokens that one block may have.
    pub max_tokens: u32,
    /// What closes the block that the prompt leaves open, if it does.
    pub inside: Option<String>,
    /// What opens and what closes blocks, pair by pair.
    pub marks: Vec<(String, String)>,
}

/// How the next token is chosen.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum Sampling {
    /// The most probable token; ties go to the lowest id.
    Greedy,
    /// Drawn from the distribution at a temperature, from a stated seed.
    Temperature {
        /// Divides the logits; above zero.
        temperature: f32,
        /// Seed of this reply's own random stream.
        seed: u64,
    },
}

/// When a generation counts as stuck: its end is some run of up to `max_period` tokens, `repeats` times in a row and
/// over at least `min_tokens` tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LoopGuard {
    /// Longest run looked for, in tokens.
    pub max_period: u16,
    /// Equal runs in a row that count as a loop.
    pub repeats: u16,
    /// Shortest repeated stretch that counts: rulers and tables of equal digits are no loops.
    pub min_tokens: u16,
}

impl Default for LoopGuard {
    fn default() -> Self {
        LoopGuard { max_period: 64, repeats: 6, min_tokens: 96 }
    }
}
