//! The material: items, questions, what counts as right.

use std::collections::BTreeMap;

use models::Turn;
use serde::{Deserialize, Serialize};

use crate::picture::Picture;
use crate::reading::Reading;

/// Strata of an item: depth, band, route type, source ...; values are short words or numbers.
pub type Tags = BTreeMap<String, String>;

/// One thing that a model is tried on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Item {
    /// Unique within the task and its parameters, independent of limits: `g017-w03`.
    pub id: String,
    /// Items of one family share their material (a grammar, an episode): they share a prompt prefix, are kept in
    /// one group, and count as one cluster in intervals.
    pub family: String,
    /// Strata for reports.
    pub tags: Tags,
    /// What happens.
    pub script: Script,
}

/// The course of an item.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Script {
    /// One question.
    One(Box<Question>),
    /// Passes over the same cards, with feedback, until one pass is all right.
    Passes(Box<Passes>),
}

/// Cards that are asked in passes: each pass asks all of them, in its own order. After every answer the truth is
/// told, and everything said stays in view. The first pass without a mistake ends the item.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Passes {
    /// The first question; the later ones differ from it in history, stem and gold.
    pub first: Question,
    /// What is learnt.
    pub cards: Vec<Card>,
    /// Indices of `cards`, one order for each pass that may be needed.
    pub orders: Vec<Vec<u16>>,
    /// Opens the next turn after a right answer: `Correct.`
    pub right: String,
    /// Opens the next turn after any other answer: `Incorrect.`
    pub wrong: String,
    /// Stands between the feedback and the next card.
    pub join: String,
}

/// A card of [`Passes`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Card {
    /// What is asked.
    pub text: String,
    /// Index of the right label.
    pub gold: u16,
    /// The truth as feedback tells it: `This vehicle is Class A.`
    pub truth: String,
    /// Whether the card breaks the rule that the others follow.
    pub exception: bool,
}

/// A part of what a question shows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Part {
    /// Text.
    Text(String),
    /// A picture, where it stands among the texts.
    Picture(Box<Picture>),
}

impl Part {
    /// A part that shows a picture.
    pub fn picture(picture: Picture) -> Self {
        Part::Picture(Box::new(picture))
    }
}

impl From<String> for Part {
    fn from(text: String) -> Self {
        Part::Text(text)
    }
}

/// What one exchange asks.
///
/// The user's turn is the stem followed by the terminal text of the interface: `ask.direct`, or the chosen cue of
/// `ask.reason`. Terminal texts bring their own leading newline, so that prompts are plain concatenations.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Question {
    /// Earlier turns that stay in view (few-shot pairs, passes with feedback); strictly user, assistant, ...
    pub history: Vec<Turn>,
    /// What is shown, the same for every interface.
    pub stem: Vec<Part>,
    /// Terminal texts.
    pub ask: Ask,
    /// The answers that can be given, in display order: what is scored, and what a reply is read for.
    pub labels: Vec<String>,
    /// What each label stands for; empty where labels speak for themselves (Yes / No).
    pub options: Vec<String>,
    /// How a free reply is read.
    pub reading: Reading,
    /// What is right.
    pub gold: Gold,
}

impl Question {
    /// The pictures of the stem, then those of the stems that cues bring.
    pub fn pictures(&self) -> impl Iterator<Item = &Picture> {
        let cues = self.ask.reason.iter().filter_map(|cue| cue.stem.as_ref());
        std::iter::once(&self.stem).chain(cues).flatten().filter_map(|part| match part {
            Part::Picture(picture) => Some(picture.as_ref()),
            Part::Text(_) => None,
        })
    }

    /// The same question with its pictures left out: the control that tells what text alone gives away.
    #[must_use]
    pub fn withheld(mut self) -> Self {
        let cues = self.ask.reason.iter_mut().filter_map(|cue| cue.stem.as_mut());
        for stem in std::iter::once(&mut self.stem).chain(cues) {
            stem.retain(|part| matches!(part, Part::Text(_)));
        }
        self
    }
}

/// Terminal texts of a question.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ask {
    /// Asks for the answer at once.
    pub direct: String,
    /// Text with which the assistant's turn begins before a label is scored: `Answer: [[`. Often empty.
    pub direct_lead: String,
    /// Ask for reasoning; the first is the default.
    pub reason: Vec<Cue>,
}

/// A text that asks for reasoning.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cue {
    /// Names the cue in configurations and results: `step-by-step`.
    pub name: String,
    /// Replaces the stem where the paper's reasoning prompt differs in more than its last line (few-shot examples
    /// with worked reasoning).
    pub stem: Option<Vec<Part>>,
    /// The terminal text.
    pub text: String,
}

/// What is right.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Gold {
    /// Index of the right label.
    Label(u16),
    /// A preference order: ranks of letters, best first, and the letters that may stand anywhere.
    Ordering {
        /// Ranks; the letters of one rank are not ordered among each other.
        chain: Vec<String>,
        /// Letters that may stand anywhere.
        free: String,
    },
    /// One of several routes, each of a kind; the published figure is the distribution over the kinds.
    Route {
        /// Index of the right label.
        label: u16,
        /// The kind behind each label.
        kinds: Vec<String>,
        /// Steps of the right route until it has signalled its goal.
        steps: u16,
    },
}

impl Gold {
    /// Index of the right label, where labels are what is answered.
    pub fn label(&self) -> Option<u16> {
        match self {
            Gold::Label(label) | Gold::Route { label, .. } => Some(*label),
            Gold::Ordering { .. } => None,
        }
    }
}

impl Item {
    /// An item that asks one question.
    pub fn one(id: impl Into<String>, family: impl Into<String>, tags: Tags, question: Question) -> Self {
        Item { id: id.into(), family: family.into(), tags, script: Script::One(Box::new(question)) }
    }

    /// The pictures that the item shows, in order; those of other forms of its stem too.
    pub fn pictures(&self) -> impl Iterator<Item = &Picture> {
        self.first_question().pictures()
    }

    /// The first question that will be asked.
    pub fn first_question(&self) -> &Question {
        match &self.script {
            Script::One(question) => question,
            Script::Passes(passes) => &passes.first,
        }
    }
}

/// Builds tags from pairs.
pub fn tags<const N: usize>(pairs: [(&str, String); N]) -> Tags {
    pairs.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
}
