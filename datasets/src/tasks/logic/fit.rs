//! Makes statements fit into the middle of a sentence.
//!
//! The templates put a statement after "If" and after "the case that". Corpora end statements with full stops,
//! open them with capitals and leave half a pair of quotes behind.

use std::collections::BTreeMap;

use super::pairs::{Pair, Source};

/// A pair's texts as the templates take them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Fitted {
    /// A at the start of a sentence.
    pub(super) a: String,
    /// A inside a sentence.
    pub(super) a_inside: String,
    /// B inside a sentence.
    pub(super) b_inside: String,
}

impl Fitted {
    /// The texts untouched.
    pub(super) fn raw(pair: &Pair) -> Self {
        Fitted { a: pair.a.clone(), a_inside: pair.a.clone(), b_inside: pair.b.clone() }
    }
}

/// Fits pairs. Which first words are common nouns is learnt from the pairs of the same source.
pub(super) fn fitted(pairs: &[Pair]) -> Vec<Fitted> {
    let mut sources: BTreeMap<Source, WordCases> = BTreeMap::new();
    for pair in pairs {
        let cases = sources.entry(pair.source).or_default();
        cases.learn(&cleaned(&pair.a));
        cases.learn(&cleaned(&pair.b));
    }
    let fit = |pair: &Pair| {
        let cases = &sources[&pair.source];
        let (a, b) = (cleaned(&pair.a), cleaned(&pair.b));
        Fitted { a: opened(&a), a_inside: cases.inside(&a), b_inside: cases.inside(&b) }
    };
    pairs.iter().map(fit).collect()
}

/// Single spaces, no end punctuation, no stray double quotes.
fn cleaned(text: &str) -> String {
    let plain = text.replace("``", "\"").replace("''", "\"").replace(['“', '”'], "\"");
    let words = plain.split_whitespace().collect::<Vec<_>>().join(" ");
    let quotes = words.matches('"').count();
    let whole = quotes == 2 && words.starts_with('"') && words.ends_with('"');
    let kept = if quotes % 2 == 1 || whole { words.replace('"', "") } else { words };
    let end = |c: char| c.is_whitespace() || ".!?,;:".contains(c);
    kept.trim().trim_end_matches(end).split_whitespace().collect::<Vec<_>>().join(" ")
}

/// With a capital at the start.
fn opened(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// How often a word stands inside a sentence in lower case and with a capital.
#[derive(Default)]
struct WordCases(BTreeMap<String, (u32, u32)>);

impl WordCases {
    fn learn(&mut self, statement: &str) {
        for word in statement.split(' ').skip(1).map(bare) {
            let counts = self.0.entry(word.to_lowercase()).or_default();
            if word.starts_with(char::is_uppercase) {
                counts.1 += 1;
            } else {
                counts.0 += 1;
            }
        }
    }

    /// The statement with its first letter lowered where the first word is no name.
    fn inside(&self, statement: &str) -> String {
        let first = statement.split(' ').next().map_or("", bare);
        let mut letters = first.chars();
        let capital = letters.next().is_some_and(char::is_uppercase);
        // "TV", "US", "McKay": more capitals mark a name or an abbreviation.
        if !capital || letters.any(char::is_uppercase) || !self.is_common(&first.to_lowercase()) {
            return statement.to_owned();
        }
        let mut letters = statement.chars();
        letters.next().map_or_else(String::new, |first| first.to_lowercase().chain(letters).collect())
    }

    fn is_common(&self, word: &str) -> bool {
        let stem = word.split(['\'', '’']).next().unwrap_or(word);
        if stem == "i" {
            return false;
        }
        FUNCTION_WORDS.contains(&stem) || self.0.get(word).is_some_and(|(lower, upper)| lower > upper)
    }
}

/// A word without the punctuation around it.
fn bare(word: &str) -> &str {
    word.trim_matches(|c: char| !c.is_alphanumeric())
}

/// Words that are never names at the start of a statement: determiners, pronouns, numbers, prepositions,
/// conjunctions, auxiliaries, frequent adverbs. "Will" and "May" are left out: they are names as well.
#[rustfmt::skip]
const FUNCTION_WORDS: &[&str] = &[
    "a", "an", "the", "this", "that", "these", "those", "some", "any", "all", "both", "each", "every", "no",
    "none", "neither", "either", "many", "much", "more", "most", "few", "fewer", "several", "other", "others",
    "another", "such", "only", "half", "enough", "he", "she", "it", "we", "you", "they", "him", "her", "us",
    "them", "me", "my", "your", "his", "its", "our", "their", "mine", "yours", "one", "ones", "somebody", "someone",
    "something", "anybody", "anyone", "anything", "nobody", "nothing", "everybody", "everyone", "everything",
    "who", "what", "which", "whose", "where", "when", "why", "how", "there", "here", "two", "three", "four", "five",
    "six", "seven", "eight", "nine", "ten", "eleven", "twelve", "dozens", "twenty", "thirty", "forty", "fifty",
    "hundred", "hundreds", "thousands", "millions", "first", "second", "third", "in", "on", "at", "by", "for",
    "from", "of", "off", "to", "with", "without", "within", "into", "onto", "over", "under", "above", "below",
    "behind", "beside", "between", "among", "around", "about", "across", "after", "before", "during", "near",
    "outside", "inside", "through", "until", "since", "against", "along", "up", "down", "out", "and", "or", "but",
    "nor", "so", "yet", "if", "because", "although", "though", "while", "as", "than", "then", "not", "is", "are",
    "was", "were", "be", "been", "being", "am", "has", "have", "had", "do", "does", "did", "can", "could", "would",
    "should", "must", "might", "shall", "now", "today", "yesterday", "tomorrow", "still", "also", "just", "even",
    "never", "always", "often", "sometimes", "usually", "perhaps", "maybe", "very", "too", "yes", "well", "almost",
];
