//! What the user chose about the ways of asking.

use models::{LoopGuard, States, ThinkingCap};
use serde::{Deserialize, Serialize};

/// What the user chose about the ways of asking. Every field changes prompts or readings, so all of it belongs in
/// the identity of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default, rename_all = "kebab-case")]
pub struct Settings {
    /// Name of the reasoning cue; the question's first one when `None` or when the question lacks it.
    pub cue: Option<String>,
    /// Where `cot-prefix` puts the cue.
    pub cue_place: CuePlace,
    /// How a label's token log-probabilities become one score.
    pub normalisation: Normalisation,
    /// What stands between the prompt and a label.
    pub separator: Separator,
    /// Cap of generated tokens.
    pub max_tokens: u32,
    /// Texts that end a generation; needed where a model without a chat template goes on with a next question.
    pub stop: Vec<String>,
    /// Ends a generation that repeats itself; the default guard unless `loop-guard-off`.
    pub loop_guard_off: bool,
    /// Tokens that a reasoning block may have before it is closed for the model; 0 for no such budget.
    pub thinking_max_tokens: u32,
    /// When a chain was cut or gave no answer, score the labels after it. Reported apart.
    pub rescue: bool,
    /// Most probable tokens to log beside label scores.
    pub top: u16,
    /// Which hidden states are kept where labels are scored. Changes no answer, but what a run holds.
    pub hidden_states: States,
    /// The prompt opens a reasoning block, so replies begin inside it. Not a choice: the runner sets it from the
    /// rendered prompt ([`crate::reading::opens_in_reasoning`]).
    #[serde(skip)]
    pub opens_in_reasoning: bool,
    /// Prompts are rendered without a chat template, so a label follows the running text and no header. Not a
    /// choice either: the runner sets it from how it renders.
    #[serde(skip)]
    pub raw_prompt: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            cue: None,
            cue_place: CuePlace::UserTurn,
            normalisation: Normalisation::Sum,
            separator: Separator::Auto,
            max_tokens: 512,
            stop: Vec::new(),
            loop_guard_off: false,
            thinking_max_tokens: 0,
            rescue: false,
            top: 10,
            hidden_states: States::None,
            opens_in_reasoning: false,
            raw_prompt: false,
        }
    }
}

impl Settings {
    /// The budget for reasoning blocks; what marks them is filled in where the prompt gets its form.
    pub fn thinking_cap(&self) -> Option<ThinkingCap> {
        let max_tokens = self.thinking_max_tokens;
        (max_tokens > 0).then(|| ThinkingCap { max_tokens, ..ThinkingCap::default() })
    }

    /// The guard against repetition, where it is on.
    pub fn loop_guard(&self) -> Option<LoopGuard> {
        (!self.loop_guard_off).then(LoopGuard::default)
    }
}

/// Where the reasoning cue of `cot-prefix` stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CuePlace {
    /// At the end of the user's turn, where the instruction of `direct` stands.
    #[default]
    UserTurn,
    /// At the beginning of the assistant's turn, as if the model had begun to reason.
    AssistantLead,
}

/// How the log-probabilities of a label's tokens become one score.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Normalisation {
    /// Their sum: the probability of the label. Favours labels of fewer tokens.
    #[default]
    Sum,
    /// The sum divided by the number of tokens.
    PerToken,
    /// The sum divided by the bytes of the label, its separator not counted.
    PerByte,
}

/// What stands between the prompt and a label.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Separator {
    /// Nothing or one space, by [`separator`](super::separator()).
    #[default]
    Auto,
    /// Nothing.
    None,
    /// One space.
    Space,
}
