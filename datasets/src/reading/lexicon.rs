//! The words that stand for an answer, and when one of them really stands at a place of the text.
//!
//! A label must be delimited on both sides in the Unicode sense, and must not be the beginning of something else:
//! the article A, the pronoun I, a decimal number, a hyphenated name. What cannot be told apart is no label.

use super::folded::fold;
use super::{How, Reading};

/// All spellings of the labels of one question.
pub(super) struct Lexicon {
    surfaces: Vec<Surface>,
    /// Option texts, longest first.
    options: Vec<Surface>,
}

/// One spelling.
pub(super) struct Surface {
    /// Folded text.
    pub(super) text: String,
    /// The label it stands for.
    pub(super) label: u16,
    letter: bool,
    /// Also a word of running text: A, I, no.
    everyday: bool,
}

/// A spelling found at a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Hit {
    /// The label.
    pub(super) label: u16,
    /// Where it ends.
    pub(super) end: usize,
    /// Spelled exactly as declared, not in the other case.
    pub(super) exact: bool,
}

/// What may follow an everyday word that is a label: `The answer is A because` but not `A lever`.
const AFTER_A_LABEL: &[&str] = &[
    "and",
    "as",
    "based",
    "because",
    "but",
    "by",
    "due",
    "for",
    "from",
    "given",
    "if",
    "in",
    "instead",
    "is",
    "not",
    "or",
    "rather",
    "since",
    "so",
    "that",
    "therefore",
    "thus",
    "was",
    "when",
    "where",
    "which",
    "while",
    "with",
    "although",
    "though",
    "hence",
    "it",
    "this",
    "these",
    "they",
    "there",
    "its",
    "i",
    "we",
    "fits",
    "seems",
    "weil",
    "da",
    "denn",
    "ist",
    "und",
    "omdat",
    "want",
    "en",
    "car",
    "parce",
    "et",
    "est",
    "porque",
    "pues",
    "ya",
    "y",
];

impl Lexicon {
    pub(super) fn new(how: &How<'_>) -> Self {
        let surface = |text: &str, label: u16| {
            let text = fold(text).trim().to_owned();
            let mut chars = text.chars();
            let letter = chars.next().is_some_and(char::is_alphabetic) && chars.next().is_none();
            let everyday = ["a", "i", "no"].iter().any(|word| text.eq_ignore_ascii_case(word));
            Surface { text, label, letter, everyday }
        };
        let number = |index: usize| u16::try_from(index).unwrap_or(u16::MAX);
        let mut surfaces: Vec<Surface> =
            how.labels.iter().enumerate().map(|(index, label)| surface(label, number(index))).collect();
        if how.reading == Reading::Ordinal {
            for (index, _) in how.labels.iter().enumerate() {
                surfaces.extend(super::ordinal::synonyms(index).map(|word| surface(&word, number(index))));
            }
        }
        let mut options: Vec<Surface> =
            how.options.iter().enumerate().map(|(index, text)| surface(text, number(index))).collect();
        if how.options.is_empty() {
            // Labels that are words speak for themselves: they are found in a sentence as an option text is.
            options =
                how.labels.iter().enumerate().map(|(index, label)| surface(label, number(index))).collect();
            options.retain(|word| word.text.chars().count() >= 3);
        }
        surfaces.retain(|surface| !surface.text.is_empty());
        options.retain(|surface| !surface.text.is_empty());
        // A longer spelling hides a shorter one inside it.
        surfaces.sort_by_key(|surface| std::cmp::Reverse(surface.text.len()));
        options.sort_by_key(|surface| std::cmp::Reverse(surface.text.len()));
        Lexicon { surfaces, options }
    }

    /// Option texts (or labels that are words), longest first.
    pub(super) fn options(&self) -> &[Surface] {
        &self.options
    }

    /// The label that stands at `at`, delimited on the right. The caller vouches for the left side.
    pub(super) fn at(&self, text: &str, at: usize) -> Option<Hit> {
        self.surfaces.iter().find_map(|surface| {
            let end = at + starts_with(&text[at..], &surface.text)?;
            let exact = text[at..end] == surface.text;
            let stands = ends_well(text, at, end) && self.no_word(surface, exact, text, end);
            stands.then_some(Hit { label: surface.label, end, exact })
        })
    }

    /// The label that stands at `at`, delimited on both sides, whatever words follow.
    pub(super) fn bare(&self, text: &str, at: usize) -> Option<Hit> {
        if !starts_well(text, at) {
            return None;
        }
        self.surfaces.iter().find_map(|surface| {
            let end = at + starts_with(&text[at..], &surface.text)?;
            ends_well(text, at, end).then_some(Hit {
                label: surface.label,
                end,
                exact: text[at..end] == surface.text,
            })
        })
    }

    /// The option text that stands at `at`, the longest first.
    pub(super) fn option_at(&self, text: &str, at: usize) -> Option<Hit> {
        self.options.iter().find_map(|option| {
            let end = at + starts_with(&text[at..], &option.text)?;
            ends_well(text, at, end).then_some(Hit { label: option.label, end, exact: true })
        })
    }

    /// The label that ends at `end`, spelled as declared, and where it begins.
    pub(super) fn before(&self, text: &str, end: usize) -> Option<(u16, usize)> {
        self.surfaces.iter().find_map(|surface| {
            let start = end.checked_sub(surface.text.len())?;
            let stands = text[..end].ends_with(surface.text.as_str()) && starts_well(text, start);
            stands.then_some((surface.label, start))
        })
    }

    /// Whether the option text of a label stands at `at`.
    pub(super) fn own_option_at(&self, label: u16, text: &str, at: usize) -> bool {
        let own = self.options.iter().find(|option| option.label == label);
        own.is_some_and(|option| starts_with(&text[at..], &option.text).is_some())
    }

    /// Whether the spelling that ends at `end` is no word of running text.
    fn no_word(&self, surface: &Surface, exact: bool, text: &str, end: usize) -> bool {
        if !surface.everyday && (exact || !surface.letter) {
            return true;
        }
        let rest = &text[end..];
        let Some(next) = rest.strip_prefix(' ') else { return true };
        let next = next.trim_start_matches(' ');
        if self.own_option_at(surface.label, text, text.len() - next.len()) {
            return true;
        }
        let word = first_word(next);
        word.is_empty() || AFTER_A_LABEL.iter().any(|known| word.eq_ignore_ascii_case(known))
    }
}

/// The letters with which a text begins; at most 40 bytes are looked at.
pub(super) fn first_word(text: &str) -> &str {
    let end =
        text.char_indices().find(|&(at, c)| at > 40 || !(c.is_alphabetic() || c == '\'')).map(|(at, _)| at);
    text[..end.unwrap_or(text.len())].trim_end_matches('\'')
}

/// Length of `start` at the beginning of `text`, cases aside.
pub(super) fn starts_with(text: &str, start: &str) -> Option<usize> {
    let mut chars = text.char_indices();
    for wanted in start.chars() {
        let (_, found) = chars.next()?;
        if found != wanted && !found.to_lowercase().eq(wanted.to_lowercase()) {
            return None;
        }
    }
    Some(chars.next().map_or(text.len(), |(at, _)| at))
}

/// Whether the stretch may be a word of its own as far as its right side shows.
pub(super) fn ends_well(text: &str, start: usize, end: usize) -> bool {
    let last = text[start..end].chars().next_back().unwrap_or(' ');
    let mut after = text[end..].chars();
    let Some(next) = after.next() else { return true };
    let second = after.next().unwrap_or(' ');
    let single = text[start..end].chars().nth(1).is_none();
    match next {
        _ if next.is_alphanumeric() => !last.is_alphanumeric() || (last.is_ascii() && unspaced(next)),
        '\'' | '-' | '_' | '/' if second.is_alphanumeric() => !last.is_alphanumeric(),
        '.' | ',' | ':' if second.is_numeric() => !last.is_numeric(),
        // U.S., A.M.: an abbreviation; `B.acid` is a label.
        '.' if second.is_alphabetic() => !(single && last.is_alphabetic() && after.next() == Some('.')),
        '+' | '#' | '%' | '^' | '=' | '\\' => {
            !last.is_alphanumeric() || next == '\\' && !second.is_alphanumeric()
        }
        ' ' if second == '=' => !(single && last.is_alphabetic()),
        _ => true,
    }
}

/// Whether a word may begin at `at` as far as its left side shows.
pub(super) fn starts_well(text: &str, at: usize) -> bool {
    let mut before = text[..at].chars().rev();
    let Some(previous) = before.next() else { return true };
    let second = before.next().unwrap_or(' ');
    let first = text[at..].chars().next().unwrap_or(' ');
    match previous {
        _ if previous.is_alphanumeric() => {
            !first.is_alphanumeric() || (first.is_ascii() && unspaced(previous))
        }
        '\\' => false,
        '-' | '.' | ',' if first.is_numeric() => previous == ',' && !second.is_numeric(),
        '-' | '_' | '/' | '\'' => !second.is_alphanumeric() || !first.is_alphanumeric(),
        '+' | '^' | '=' | '%' => false,
        _ => true,
    }
}

/// Scripts that put no spaces between words: a change to or from them is the border of a word.
pub(super) fn unspaced(c: char) -> bool {
    matches!(c, '\u{3040}'..='\u{30FF}' | '\u{3400}'..='\u{9FFF}' | '\u{AC00}'..='\u{D7AF}' | '\u{F900}'..='\u{FAFF}' | '\u{20000}'..='\u{3FFFF}')
}
