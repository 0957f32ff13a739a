//! The bigram control: a word belongs to a grammar if all its pairs of neighbours were seen in the training words.

use std::collections::BTreeSet;

use super::RULES;
use crate::item::{Item, Part};
use crate::task::Baseline;

/// Answers from the training words that the prompt shows, as a model has to.
pub(super) const BIGRAM: Baseline = Baseline {
    name: "bigram",
    summary: "Yes if every pair of neighbours of the word, start and end included, occurs in the 15 training words",
    answers,
};

fn answers(items: &[Item]) -> Vec<Option<u16>> {
    items.iter().map(|item| answer(&text(&item.first_question().stem))).collect()
}

#[allow(irrefutable_let_patterns)] // kinds of parts are an open list
fn text(stem: &[Part]) -> String {
    stem.iter().map(|part| if let Part::Text(text) = part { text.as_str() } else { "" }).collect()
}

/// 0 for Yes, 1 for No.
fn answer(stem: &str) -> Option<u16> {
    let (train, word) = stem.split_once(RULES)?;
    let seen: BTreeSet<(char, char)> = train.lines().flat_map(pairs).collect();
    Some(u16::from(!pairs(word.trim()).all(|pair| seen.contains(&pair))))
}

/// Neighbours of a word set between marks.
fn pairs(word: &str) -> impl Iterator<Item = (char, char)> {
    let left = std::iter::once('^').chain(word.chars());
    let right = word.chars().chain(std::iter::once('$'));
    left.zip(right)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_of_seen_neighbours_is_a_yes_and_any_unseen_pair_a_no() {
        let ask = |word: &str| answer(&format!("ABC\nACB\n{RULES}\n{word}"));
        assert_eq!(ask("ABC"), Some(0));
        assert_eq!(ask("ABCB"), Some(0), "A, AB, BC, CB, and B may end a word");
        assert_eq!(ask("BAC"), Some(1), "no training word begins with B");
        assert_eq!(ask("ABA"), Some(1), "BA is new");
        assert_eq!(ask("A"), Some(1), "no training word ends with A");
        assert_eq!(answer("no such prompt"), None);
    }
}
