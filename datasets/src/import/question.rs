//! Entries to items: the text of a multiple-choice question, its terminal texts, its options in a drawn order.

use serde::{Deserialize, Serialize};

use super::Entry;
use crate::item::{Ask, Cue, Gold, Item, Part, Question};
use crate::picture::{FilePicture, Picture};
use crate::reading::Reading;
use crate::{Stream, Tags};

/// How items are shown.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default, rename_all = "kebab-case")]
pub struct Layout {
    /// What options are called.
    pub labels: Labels,
    /// Show the hint as a line of context.
    pub hint: bool,
    /// Draw the order of the options, from the seed and the item's id.
    pub shuffle: bool,
}

impl Default for Layout {
    fn default() -> Self {
        Layout { labels: Labels::Letters, hint: true, shuffle: false }
    }
}

/// What options are called.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Labels {
    /// A, B, C ...
    #[default]
    Letters,
    /// 1, 2, 3 ...: no label is a word of running text.
    Numbers,
}

impl Layout {
    /// The item of an entry.
    pub fn item(&self, entry: &Entry, seed: u64) -> Item {
        let mut order: Vec<usize> = (0..entry.options.len()).collect();
        if self.shuffle {
            Stream::new(seed, &["file", "options", &entry.id]).shuffle(&mut order);
        }
        let options: Vec<String> = order.iter().map(|&from| entry.options[from].clone()).collect();
        // By place and not by text: two options can have the same text.
        let gold = order.iter().position(|&from| from == usize::from(entry.gold)).unwrap_or_default();
        let labels = self.labels.of(options.len());
        let mut tags = Tags::new();
        tags.insert("options".to_owned(), options.len().to_string());
        tags.insert("gold".to_owned(), labels[gold].clone());
        for (name, value) in [("group", &entry.group), ("question", &entry.family)] {
            if !value.is_empty() {
                tags.insert(name.to_owned(), value.clone());
            }
        }
        if !entry.family.is_empty() {
            tags.insert("pass".to_owned(), entry.pass.to_string());
        }
        if entry.image {
            tags.insert("image".to_owned(), "not-shown".to_owned());
        } else if !entry.pictures.is_empty() {
            tags.insert("image".to_owned(), "shown".to_owned());
        }
        tags.extend(entry.tags.clone());
        if self.shuffle {
            let places: Vec<String> = order.iter().map(|from| (from + 1).to_string()).collect();
            tags.insert("order".to_owned(), places.join("-"));
        }
        let hint = if self.hint { entry.hint.as_str() } else { "" };
        let mut question =
            question(&entry.question, hint, labels, options, u16::try_from(gold).unwrap_or(u16::MAX));
        if !entry.pictures.is_empty() {
            // Pictures come first, each on a line of its own: all interfaces share what they cost.
            let picture = |picture: &FilePicture| {
                [Part::picture(Picture::File(picture.clone())), "\n".to_owned().into()]
            };
            question.stem.splice(0..0, entry.pictures.iter().flat_map(picture));
        }
        let family = if entry.family.is_empty() { &entry.id } else { &entry.family };
        Item::one(&entry.id, family, tags, question)
    }
}

/// Most options that numbers serve: no label begins with another.
pub const MOST_NUMBERS: usize = 9;

impl Labels {
    /// The labels of so many options.
    pub fn of(self, count: usize) -> Vec<String> {
        match self {
            Labels::Letters => {
                (b'A'..=b'Z').take(count).map(|letter| char::from(letter).to_string()).collect()
            }
            Labels::Numbers => (1..=count).map(|number| number.to_string()).collect(),
        }
    }
}

/// A multiple-choice question: the question, a line of context where there is a hint, the options one a line.
pub fn question(text: &str, hint: &str, labels: Vec<String>, options: Vec<String>, gold: u16) -> Question {
    let mut stem = text.to_owned();
    if !hint.trim().is_empty() {
        stem.push_str("\nContext: ");
        stem.push_str(hint.trim());
    }
    for (label, option) in labels.iter().zip(&options) {
        stem.push('\n');
        stem.push_str(label);
        stem.push_str(". ");
        stem.push_str(option);
    }
    let kind = if labels.first().is_some_and(|label| label == "1") { "number" } else { "letter" };
    let list = name_list(&labels);
    Question {
        history: Vec::new(),
        stem: vec![Part::Text(stem)],
        ask: Ask {
            direct: format!("\nAnswer with the option's {kind} from the given choices directly."),
            direct_lead: String::new(),
            reason: vec![
                Cue {
                    name: "step-by-step".to_owned(),
                    stem: None,
                    text: "\nLet me think step by step.".to_owned(),
                },
                Cue {
                    name: "answer-line".to_owned(),
                    stem: None,
                    text: format!(
                        "\nThink step by step, then end with one line \"Answer: X\", where X is {list}."
                    ),
                },
            ],
        },
        labels,
        options,
        reading: Reading::Statement,
        gold: Gold::Label(gold),
    }
}

/// Names labels in a sentence: `A, B or C`.
pub fn name_list(labels: &[String]) -> String {
    match labels {
        [] => String::new(),
        [only] => only.clone(),
        [first @ .., last] => format!("{} or {last}", first.join(", ")),
    }
}
