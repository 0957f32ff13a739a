//! Replies that are little more than their label: the whole reply, its beginning, its last line.

use std::ops::Range;

use super::Kind;
use super::dress::undress;
use super::lexicon::{Hit, first_word};
use super::marks::{Mark, Marks, View};
use super::statement::{ends_line, refused};

/// Words before a label that make no other statement of a short reply.
const LEAD_IN: &[&str] = &[
    "it",
    "it's",
    "is",
    "that's",
    "the",
    "i",
    "think",
    "believe",
    "guess",
    "say",
    "would",
    "i'd",
    "so",
    "probably",
    "definitely",
    "option",
    "choice",
    "letter",
    "class",
    "apartment",
    "route",
    "picture",
    "image",
    "photo",
    "number",
    "must",
    "be",
];

/// Words before a label at the very end that conclude.
const CONCLUDING: &[&str] = &["so", "hence", "thus", "therefore", "dus", "daher", "donc", "somit"];

/// Texts of end tokens that some engines spell out.
const END_TEXTS: &[&str] = &[
    "</s>",
    "<|im_end|>",
    "<|eot_id|>",
    "<|end|>",
    "<|endoftext|>",
    "<end_of_turn>",
    "<eos>",
    "<|end_of_text|>",
];

/// The whole reply; else its beginning and its last line, the later of which decides.
pub(super) fn read(view: &View<'_>) -> Marks {
    if view.cut {
        return Marks::default();
    }
    if let Some(mark) = alone(view) {
        return Marks::last(vec![mark]);
    }
    Marks::last(leading(view).into_iter().chain(trailing(view)).collect())
}

/// The reply outside its reasoning blocks as a text answer.
pub(super) fn text(view: &View<'_>, reply: &str, visible: &[Range<usize>]) -> Marks {
    if view.cut || view.text.trim().is_empty() {
        return Marks::default();
    }
    let parts: Vec<&str> = visible.iter().map(|range| &reply[range.clone()]).collect();
    Marks::text(without_end_text(parts.join("\n").trim()).to_owned())
}

/// A reply that is a label and nothing else.
pub(super) fn alone(view: &View<'_>) -> Option<Mark> {
    let text = without_end_text(view.text.trim_end());
    let mut at = undress(text, 0);
    for _ in 0..6 {
        if let Some(hit) = view.lexicon.at(text, at)
            && text[undress(text, hit.end)..]
                .trim_matches(['.', '!', ',', ';', ':', ' ', '\n', '*', ')'])
                .is_empty()
        {
            return Some(Mark { label: Some(hit.label), at: at..hit.end, kind: Kind::Whole });
        }
        let word = first_word(&text[at..]);
        if !LEAD_IN.iter().any(|known| word.eq_ignore_ascii_case(known)) {
            return None;
        }
        at += word.len();
        at += text[at..].len() - text[at..].trim_start_matches([':', ',']).len();
        at = undress(text, at);
    }
    None
}

/// A label with which the reply begins, delimited as the label of an option is.
fn leading(view: &View<'_>) -> Option<Mark> {
    let text = view.text;
    let at = undress(text, 0);
    let hit = view.lexicon.bare(text, at)?;
    let bare = super::statement::undress_line(text, hit.end);
    let rest = &text[bare..];
    let closed = text[hit.end..bare].contains([')', ']']);
    let word = first_word(rest);
    let own = |from: usize| view.lexicon.own_option_at(hit.label, text, undress(text, from));
    let delimited = rest.starts_with('.') && !rest[1..].starts_with(|c: char| c.is_alphanumeric())
        || closed
        || rest.starts_with('\n');
    let good = delimited
        || own(bare)
        || rest.starts_with([':', '-', '.']) && own(bare + 1)
        || hit.exact && rest.starts_with("- ")
        || hit.exact && ["because", "since"].iter().any(|known| word.eq_ignore_ascii_case(known));
    if !good || refused(text, hit.end) || super::statement::another(view, hit).is_some() || lists(view, hit) {
        return None;
    }
    Some(Mark { label: Some(hit.label), at: at..hit.end, kind: Kind::Leading })
}

/// Whether a later line begins with another label: then the reply goes through the options.
fn lists(view: &View<'_>, first: Hit) -> bool {
    let text = view.text;
    text.match_indices('\n').any(|(line, _)| {
        let at = line
            + 1
            + (text[line + 1..].len()
                - text[line + 1..].trim_start_matches([' ', '*', '(', '-', '#', '[']).len());
        view.lexicon.bare(text, at).is_some_and(|hit| {
            hit.label != first.label
                && text[hit.end..].trim_start_matches(['*', '_']).starts_with(['.', ')', ':', ']'])
        })
    })
}

/// A last line that is a label, or a concluding word and a label at the very end. Only as declared, not in the
/// other case.
fn trailing(view: &View<'_>) -> Option<Mark> {
    let text = without_end_text(view.text.trim_end());
    let line = text.rfind('\n').map_or(0, |end| end + 1);
    let at = undress(text, line);
    let mark = |at: usize, hit: Hit| Mark { label: Some(hit.label), at: at..hit.end, kind: Kind::Trailing };
    if let Some(hit) = view.lexicon.at(text, at).filter(|hit| hit.exact && ends_line(text, hit.end)) {
        return Some(mark(at, hit));
    }
    let mut from = text.len().saturating_sub(64).max(line);
    while !text.is_char_boundary(from) {
        from += 1;
    }
    let tail = &text[from..];
    tail.split_whitespace().rev().nth(1).and_then(|word| {
        let start = from + (word.as_ptr() as usize - tail.as_ptr() as usize);
        let plain = word.trim_matches(|c: char| !c.is_alphabetic());
        let at = undress(text, start + word.len());
        let hit = view.lexicon.at(text, at).filter(|hit| hit.exact && ends_line(text, hit.end))?;
        CONCLUDING.iter().any(|known| plain.eq_ignore_ascii_case(known)).then(|| mark(at, hit))
    })
}

fn without_end_text(text: &str) -> &str {
    END_TEXTS.iter().find_map(|end| text.strip_suffix(end)).unwrap_or(text).trim_end()
}
