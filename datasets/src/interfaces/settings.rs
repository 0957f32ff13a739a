//! What the user chose about the ways of asking.

use std::collections::BTreeSet;

use models::{LoopGuard, Sampling, States, ThinkingCap};
use serde::{Deserialize, Serialize};

use crate::Stream;
use crate::ending::{ENDINGS, Ending};
use crate::forms::LabelSet;

const FIVE: u16 = 5;
const SEVENTY: u32 = 70;
const THOUGHT_TOKENS: u32 = 160;
const VOTE_TOKENS: u32 = 96;

// What has its default is left out of a run's identity: a run that was made before the key was there is still the same run.
fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

fn is_zero(value: &u16) -> bool {
    *value == 0
}

fn is_five(value: &u16) -> bool {
    *value == FIVE
}

fn is_seventy(value: &u32) -> bool {
    *value == SEVENTY
}

fn is_default_thought(value: &u32) -> bool {
    *value == THOUGHT_TOKENS
}

fn is_default_vote(value: &u32) -> bool {
    *value == VOTE_TOKENS
}

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
    #[serde(skip_serializing_if = "is_default")]
    pub hidden_states: States,
    /// Names of endings to sweep; `all` for the whole list.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub endings: Vec<String>,
    /// Also let the model write a reply after each of the endings.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub write_endings: bool,
    /// Label sets to ask under beside the questions' own labels.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub label_sets: Vec<LabelSet>,
    /// Places of the cue or ending to ask at beside `cue_place`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub cue_places: Vec<CuePlace>,
    /// Caps of generated tokens to try `free-cot` with beside `max_tokens`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub caps: Vec<u32>,
    /// Orders of the options that each item is asked in, under the fixed seeds 1, 2 ...; 0 for the order as it is.
    #[serde(skip_serializing_if = "is_zero")]
    pub permutations: u16,
    /// How the log-probabilities of an option's whole text become one score.
    #[serde(skip_serializing_if = "is_default")]
    pub full_string: TextNormalisation,
    /// Replies of which `self-consistency` takes the majority.
    #[serde(skip_serializing_if = "is_five")]
    pub samples: u16,
    /// Temperature, in hundredths, at which `self-consistency` and `tree-of-thought` draw.
    #[serde(skip_serializing_if = "is_seventy")]
    pub temperature_percent: u32,
    /// Lines of thought of `tree-of-thought`.
    #[serde(skip_serializing_if = "is_five")]
    pub thoughts: u16,
    /// Votes on them.
    #[serde(skip_serializing_if = "is_five")]
    pub votes: u16,
    /// Cap of tokens of one line of thought: all of them stand in the prompt of a vote.
    #[serde(skip_serializing_if = "is_default_thought")]
    pub thought_tokens: u32,
    /// Cap of tokens of one vote.
    #[serde(skip_serializing_if = "is_default_vote")]
    pub vote_tokens: u32,
    /// What ends the prompt in place of the question's own text. Not a choice: a condition sets it.
    #[serde(skip)]
    pub ending: Option<&'static Ending>,
    /// Seed that drawn replies are drawn from: the run's. Not a choice of its own.
    #[serde(skip)]
    pub seed: u64,
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
            endings: Vec::new(),
            write_endings: false,
            label_sets: Vec::new(),
            cue_places: Vec::new(),
            caps: Vec::new(),
            permutations: 0,
            full_string: TextNormalisation::Sum,
            samples: FIVE,
            temperature_percent: SEVENTY,
            thoughts: FIVE,
            votes: FIVE,
            thought_tokens: THOUGHT_TOKENS,
            vote_tokens: VOTE_TOKENS,
            ending: None,
            seed: 0,
            opens_in_reasoning: false,
            raw_prompt: false,
        }
    }
}

impl Settings {
    /// Whether prompts for labels stand without the chat template although there is one.
    pub(super) fn is_raw(&self) -> bool {
        self.cue_place == CuePlace::Raw
    }

    /// The endings that are swept, in the order of the list.
    pub fn swept_endings(&self) -> Vec<&'static Ending> {
        let wanted =
            |ending: &&Ending| self.endings.iter().any(|name| *name == "all" || *name == ending.name);
        ENDINGS.iter().filter(wanted).collect()
    }

    /// What is wrong with the choices: the key, and what to do.
    pub fn fault(&self) -> Option<(&'static str, String)> {
        let known = || ENDINGS.iter().map(|ending| ending.name.as_str()).collect::<Vec<_>>().join(", ");
        let unknown = |name: &&String| *name != "all" && Ending::named(name).is_none();
        if let Some(name) = self.endings.iter().find(unknown) {
            return Some(("endings", format!("unknown ending `{name}`; known: all, {}", known())));
        }
        let zero = [
            ("caps", self.caps.contains(&0)),
            ("samples", self.samples == 0),
            ("thoughts", self.thoughts == 0),
            ("votes", self.votes == 0),
            ("thought-tokens", self.thought_tokens == 0),
            ("vote-tokens", self.vote_tokens == 0),
            ("temperature-percent", self.temperature_percent == 0),
        ];
        if let Some((key, _)) = zero.into_iter().find(|(_, zero)| *zero) {
            return Some((key, format!("{key} is 0: give at least 1")));
        }
        let twice = [
            (
                "label-sets",
                self.label_sets.len(),
                self.label_sets.iter().map(|set| set.name()).collect::<BTreeSet<_>>().len(),
            ),
            (
                "cue-places",
                self.cue_places.len(),
                self.cue_places.iter().map(|place| place.name()).collect::<BTreeSet<_>>().len(),
            ),
            ("caps", self.caps.len(), self.caps.iter().collect::<BTreeSet<_>>().len()),
        ];
        let twice = twice.into_iter().find(|(_, named, distinct)| named != distinct);
        twice.map(|(key, _, _)| (key, format!("{key} names something twice: name it once")))
    }

    /// How the reply with this number, of those that serve one purpose, is drawn: each has a seed of its own that follows
    /// from the run's.
    pub(super) fn drawn(&self, purpose: &str, number: u16) -> Sampling {
        let seed = Stream::new(self.seed, &["reply", purpose, &number.to_string()]).bits();
        Sampling::Temperature { temperature: self.temperature_percent as f32 / 100.0, seed }
    }

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

/// Where the reasoning cue of `cot-prefix`, or an ending, stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CuePlace {
    /// At the end of the user's turn, where the instruction of `direct` stands.
    #[default]
    UserTurn,
    /// At the beginning of the assistant's turn, as if the model had begun to reason.
    AssistantLead,
    /// At the end of the text, without the model's chat template: what is scored follows the running text.
    Raw,
}

impl CuePlace {
    /// The name in configurations and results.
    pub fn name(self) -> &'static str {
        match self {
            CuePlace::UserTurn => "user-turn",
            CuePlace::AssistantLead => "assistant-lead",
            CuePlace::Raw => "raw",
        }
    }

    /// Finds a place by its name.
    pub fn named(name: &str) -> Option<CuePlace> {
        [CuePlace::UserTurn, CuePlace::AssistantLead, CuePlace::Raw]
            .into_iter()
            .find(|place| place.name() == name)
    }
}

/// How the log-probabilities of an option's whole text become one score.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TextNormalisation {
    /// Their sum: the probability of the text. Favours short options.
    #[default]
    Sum,
    /// The sum divided by the number of tokens.
    PerToken,
    /// The sum divided by the bytes of the text.
    PerByte,
    /// The sum less that of the same text after a prompt without the question: what the question adds.
    Unconditional,
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
