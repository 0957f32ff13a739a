//! What was asked and answered, item by item, and what is needed to read it.

use datasets::reading::Found;
use datasets::{Gold, Said, Verdict};
use models::{Encoded, Reply, Scored, Usage};
use serde::{Deserialize, Serialize};

use super::GroupRef;

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

/// Texts of tokens. Scores name their tokens by id; this is what the ids stand for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Pieces {
    /// Index of the model.
    pub model: u16,
    /// Id and text; shown lossily, control tokens by name.
    pub pieces: Vec<(i32, String)>,
}

/// The pictures that were encoded for a group.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pictures {
    /// Which group.
    pub at: GroupRef,
    /// The pictures, each once.
    pub pictures: Vec<Encoded>,
}
