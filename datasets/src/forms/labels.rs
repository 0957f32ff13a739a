//! What options are called: controls that tell a liking for a place from a liking for a token.

use serde::{Deserialize, Serialize};

use super::lines::shown;
use crate::import::{MOST_NUMBERS, name_list};
use crate::item::Question;
use crate::reading::Reading;

/// A set of labels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LabelSet {
    /// A, B, C ...: "A" is an English word too.
    Letters,
    /// 1, 2, 3 ...
    Numbers,
    /// Letters that are no words: Q, X, Z ...
    Consonants,
}

/// No vowel, nothing that is a word by itself, and nothing whose neighbour in the list is its neighbour in the alphabet.
const CONSONANTS: &str = "QXZKVPJTFWMRGHNDSBLC";

impl LabelSet {
    /// Every set.
    pub const ALL: [LabelSet; 3] = [LabelSet::Letters, LabelSet::Numbers, LabelSet::Consonants];

    /// The name in configurations and results.
    pub fn name(self) -> &'static str {
        match self {
            LabelSet::Letters => "letters",
            LabelSet::Numbers => "numbers",
            LabelSet::Consonants => "consonants",
        }
    }

    /// Finds a set by its name.
    pub fn named(name: &str) -> Option<LabelSet> {
        LabelSet::ALL.into_iter().find(|set| set.name() == name)
    }

    /// The first labels of the set; `None` where it has not so many. No label begins with another: a model that goes on with
    /// `10` goes on with `1`, which could never be less probable.
    pub fn of(self, count: usize) -> Option<Vec<String>> {
        let labels: Vec<String> = match self {
            LabelSet::Letters => {
                (b'A'..=b'Z').map(|letter| char::from(letter).to_string()).take(count).collect()
            }
            LabelSet::Numbers => (1..=count.min(MOST_NUMBERS)).map(|number| number.to_string()).collect(),
            LabelSet::Consonants => CONSONANTS.chars().map(String::from).take(count).collect(),
        };
        (labels.len() == count).then_some(labels)
    }

    fn noun(self) -> &'static str {
        match self {
            LabelSet::Letters | LabelSet::Consonants => "letter",
            LabelSet::Numbers => "number",
        }
    }

    /// The question under these labels. `None` where its options carry them already, where its text has no place for them,
    /// and where an instruction would go on naming the old ones.
    pub fn relabelled(self, question: &Question) -> Option<Question> {
        // Other readings have labels of their own.
        if question.reading != Reading::Statement {
            return None;
        }
        let labels = self.of(question.options.len())?;
        if labels == question.labels {
            return None;
        }
        let mut now = shown(question, &labels, &question.options)?;
        let renamed = |text: &str| self.renamed(text, &question.labels, &labels);
        now.ask.direct = renamed(&question.ask.direct)?;
        now.ask.direct_lead = renamed(&question.ask.direct_lead)?;
        // A cue that names labels in a way of its own is left out; the first one must stay what it is.
        let mut reason = Vec::new();
        for (place, cue) in now.ask.reason.into_iter().enumerate() {
            match renamed(&cue.text) {
                Some(text) => reason.push(crate::item::Cue { text, ..cue }),
                None if place == 0 => return None,
                None => {}
            }
        }
        now.ask.reason = reason;
        Some(now)
    }

    /// An instruction with its list of labels, and what they are called, replaced; `None` where it names a label otherwise.
    fn renamed(self, text: &str, before: &[String], labels: &[String]) -> Option<String> {
        let text = text.replace(&name_list(before), &name_list(labels));
        let is_word = |c: char| c.is_alphanumeric();
        let mut now = String::with_capacity(text.len());
        let mut rest = text.as_str();
        while let Some(start) = rest.find(is_word) {
            let (gap, tail) = rest.split_at(start);
            let end = tail.find(|c| !is_word(c)).unwrap_or(tail.len());
            let (word, after) = tail.split_at(end);
            if before.iter().any(|label| label == word) && !labels.iter().any(|label| label == word) {
                return None;
            }
            now.push_str(gap);
            now.push_str(if matches!(word, "letter" | "number") { self.noun() } else { word });
            rest = after;
        }
        now.push_str(rest);
        Some(now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::import::question;
    use crate::item::{Gold, Part};

    fn asked() -> Question {
        let options = ["rain", "sun", "snow"].map(str::to_owned).to_vec();
        question("What falls?", "It is cold.", LabelSet::Letters.of(3).unwrap(), options, 2)
    }

    #[test]
    fn no_label_of_a_set_begins_with_another() {
        assert_eq!(LabelSet::Numbers.of(10), None);
        for set in LabelSet::ALL {
            let labels = (2..=26).filter_map(|count| set.of(count)).next_back().unwrap();
            for (place, label) in labels.iter().enumerate() {
                let begins =
                    |(other, text): (usize, &String)| other != place && label.starts_with(text.as_str());
                assert!(!labels.iter().enumerate().any(begins), "{label}");
            }
        }
    }

    #[test]
    fn labels_change_everywhere_and_nothing_else_does() {
        let now = LabelSet::Numbers.relabelled(&asked()).unwrap();
        assert_eq!(
            now.stem,
            [Part::Text("What falls?\nContext: It is cold.\n1. rain\n2. sun\n3. snow".into())]
        );
        assert_eq!(now.ask.direct, "\nAnswer with the option's number from the given choices directly.");
        assert!(now.ask.reason[1].text.ends_with("where X is 1, 2 or 3."), "{}", now.ask.reason[1].text);
        assert_eq!((now.labels.len(), now.gold.clone()), (3, Gold::Label(2)));
        // A question that was imported with numbers is the same one.
        let own =
            question("What falls?", "It is cold.", LabelSet::Numbers.of(3).unwrap(), asked().options, 2);
        assert_eq!(now, own);
        let consonants = LabelSet::Consonants.relabelled(&asked()).unwrap();
        assert_eq!(consonants.labels, ["Q", "X", "Z"]);
        assert_eq!(consonants.ask.direct, asked().ask.direct);
    }

    #[test]
    fn what_has_no_labelled_options_has_no_other_labels() {
        assert_eq!(LabelSet::Letters.relabelled(&asked()), None, "it has them already");
        let hidden = Question { stem: vec![Part::Text("What falls?".into())], ..asked() };
        assert_eq!(LabelSet::Numbers.relabelled(&hidden), None);
        let mut named = asked();
        named.ask.direct = "\nIs it A, or another one?".into();
        assert_eq!(LabelSet::Numbers.relabelled(&named), None);
        let yes_no = crate::Task::named("logic").unwrap();
        let items = (yes_no.items)(&crate::Params::default(), 1).unwrap();
        assert_eq!(LabelSet::Numbers.relabelled(items[0].first_question()), None);
        assert_eq!(LabelSet::Consonants.of(21), None);
    }

    #[test]
    fn no_consonant_is_a_word_and_no_label_is_there_twice() {
        let labels = LabelSet::Consonants.of(20).unwrap();
        let distinct: std::collections::BTreeSet<&String> = labels.iter().collect();
        assert_eq!(distinct.len(), 20);
        assert!(labels.iter().all(|label| !"AEIOUY".contains(label.as_str())));
    }
}
