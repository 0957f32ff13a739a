//! Option texts instead of labels: the whole reply, or exactly one option as a whole phrase of a sentence.

use super::Kind;
use super::dress::undress;
use super::lexicon::{ends_well, starts_well};
use super::marks::{Mark, Marks, View};

/// Words that make a sentence say the opposite.
const NEGATIONS: &[&str] = &[
    "not",
    "no",
    "never",
    "neither",
    "nor",
    "cannot",
    "nicht",
    "kein",
    "keine",
    "niet",
    "geen",
    "pas",
    "unlikely",
    "wrong",
    "incorrect",
];

/// Longest sentence in which the only option named is the answer.
const SENTENCE: usize = 400;

/// Reads the option's text out of a short reply, or out of the last line of a reasoned one.
pub(super) fn read(view: &View<'_>) -> Marks {
    if view.cut {
        return Marks::default();
    }
    let text = view.text.trim_end();
    let start = if view.reasoned { text.rfind('\n').map_or(0, |end| end + 1) } else { 0 };
    let at = undress(text, start);
    if let Some(hit) = view.lexicon.option_at(text, at)
        && text[undress(text, hit.end)..].trim_matches(['.', '!', ' ', '*', '"']).is_empty()
    {
        return Marks::last(vec![Mark { label: Some(hit.label), at: at..hit.end, kind: Kind::OptionText }]);
    }
    if text.len() - start > SENTENCE || text.ends_with('?') || negated(&text[start..]) {
        return Marks::default();
    }
    let marks = phrases(view, &text[start..], start);
    match marks.as_slice() {
        [_] => Marks::last(marks),
        _ => Marks::default(),
    }
}

/// Every option named in a sentence, a longer one hiding the shorter ones inside it.
fn phrases(view: &View<'_>, sentence: &str, offset: usize) -> Vec<Mark> {
    let lower = sentence.to_lowercase();
    if lower.len() != sentence.len() {
        return Vec::new(); // Places would not carry over; rare, and better unread than wrong.
    }
    let mut marks: Vec<Mark> = Vec::new();
    for option in view.lexicon.options() {
        for (at, found) in lower.match_indices(&option.text.to_lowercase()) {
            let end = at + found.len();
            let free = marks.iter().all(|mark| end + offset <= mark.at.start || at + offset >= mark.at.end);
            if free
                && sentence.is_char_boundary(at)
                && sentence.is_char_boundary(end)
                && starts_well(sentence, at)
                && ends_well(sentence, at, end)
            {
                marks.push(Mark {
                    label: Some(option.label),
                    at: at + offset..end + offset,
                    kind: Kind::OptionText,
                });
            }
        }
    }
    // The same option twice is still one option.
    let first = marks.first().and_then(|mark| mark.label);
    if !marks.is_empty() && marks.iter().all(|mark| mark.label == first) {
        marks.truncate(1);
    }
    marks
}

fn negated(sentence: &str) -> bool {
    sentence.split(|c: char| !(c.is_alphabetic() || c == '\'')).any(|word| {
        NEGATIONS.iter().any(|no| word.eq_ignore_ascii_case(no)) || word.to_ascii_lowercase().ends_with("n't")
    })
}
