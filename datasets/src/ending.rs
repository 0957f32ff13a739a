//! Texts that end a prompt in place of a question's own instruction or cue: the list in `data/endings.toml`, and the list of
//! words with which a rationale begins.

use std::sync::LazyLock;

use serde::{Deserialize, Serialize};

use crate::import::name_list;

/// A named ending.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ending {
    /// The name in configurations and results: `step-by-step`.
    pub name: String,
    /// What it asks the model to write next.
    pub asks: Asks,
    /// How explicitly a rationale is asked for: 0 to 3.
    pub strength: u8,
    /// The text; `{labels}` stands for the question's labels.
    text: String,
}

/// What an ending asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Asks {
    /// A rationale.
    Reasoning,
    /// The answer.
    Answer,
    /// Nothing in particular.
    Nothing,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Endings {
    ending: Vec<Ending>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Words {
    words: Vec<String>,
}

/// Every ending, in the order of lists and reports. A test holds that the embedded file is read.
pub static ENDINGS: LazyLock<Vec<Ending>> = LazyLock::new(|| {
    let list: Option<Endings> = toml::from_str(include_str!("../data/endings.toml")).ok();
    list.map(|list| list.ending).unwrap_or_default()
});

/// Texts of tokens that begin a rationale: each word as it stands, and with a space before it.
pub static CONTINUATION_TOKENS: LazyLock<Vec<String>> = LazyLock::new(|| {
    let list: Option<Words> = toml::from_str(include_str!("../data/continuation-tokens.toml")).ok();
    let words = list.map(|list| list.words).unwrap_or_default();
    words.into_iter().flat_map(|word| [format!(" {word}"), word]).collect()
});

impl Ending {
    /// Finds an ending by its name.
    pub fn named(name: &str) -> Option<&'static Ending> {
        ENDINGS.iter().find(|ending| ending.name == name)
    }

    /// The text for a question with these labels, without a line break before it.
    pub fn text(&self, labels: &[String]) -> String {
        self.text.replace("{labels}", &name_list(labels))
    }

    /// The text as it stands in the list.
    pub fn pattern(&self) -> &str {
        &self.text
    }

    /// What ends a user's turn: the text on a line of its own.
    pub fn terminal(&self, labels: &[String]) -> String {
        match self.text(labels) {
            text if text.is_empty() => text,
            text => format!("\n{text}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn the_list_has_what_it_must_have() {
        let count = |asks: Asks| ENDINGS.iter().filter(|ending| ending.asks == asks).count();
        assert!(ENDINGS.len() >= 11, "{}", ENDINGS.len());
        // At least four explicit requests of several strengths, the minimal cue, several that elicit an answer.
        let requests: Vec<u8> = ENDINGS
            .iter()
            .filter(|ending| ending.asks == Asks::Reasoning && ending.strength >= 2)
            .map(|ending| ending.strength)
            .collect();
        assert!(requests.len() >= 4 && requests.iter().collect::<BTreeSet<_>>().len() > 1, "{requests:?}");
        assert_eq!(Ending::named("reasoning-colon").map(Ending::pattern), Some("Reasoning:"));
        assert!(count(Asks::Answer) >= 4);
        let names: BTreeSet<&String> = ENDINGS.iter().map(|ending| &ending.name).collect();
        assert_eq!(names.len(), ENDINGS.len());
        // Names are parts of the names of conditions, and "all" stands for the whole list.
        let plain =
            |name: &&String| name.chars().all(|c| c.is_ascii_lowercase() || c == '-') && **name != "all";
        assert!(names.iter().all(plain), "{names:?}");
    }

    #[test]
    fn opt_06_an_ending_lists_the_labels_that_there_are() {
        let labels = |count: u8| (0..count).map(|n| char::from(b'A' + n).to_string()).collect::<Vec<_>>();
        let ending = Ending::named("labels-only").unwrap();
        assert_eq!(ending.text(&labels(2)), "Reply with A or B and nothing else.");
        assert!(ending.text(&labels(10)).contains("I or J and"));
        assert_eq!(Ending::named("nothing").unwrap().terminal(&labels(2)), "");
        assert_eq!(Ending::named("answer-colon").unwrap().terminal(&labels(2)), "\nAnswer:");
    }

    #[test]
    fn continuation_tokens_are_words_that_no_label_set_has() {
        let tokens: BTreeSet<&String> = CONTINUATION_TOKENS.iter().collect();
        assert_eq!(tokens.len(), CONTINUATION_TOKENS.len());
        assert!(tokens.len() >= 80, "{}", tokens.len());
        assert!(tokens.iter().all(|token| token.trim().len() > 1));
    }
}
