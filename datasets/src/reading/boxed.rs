//! Boxes: `\boxed{B}`. The content is found by balancing braces in one pass over the reply.

use std::ops::Range;

use super::Kind;
use super::dress::undress;
use super::marks::{Mark, View};

/// A longer box holds no label.
const LONGEST: usize = 4096;

/// The contents of all closed boxes, in the order of their closing braces.
pub fn contents(text: &str) -> Vec<&str> {
    places(text).into_iter().map(|place| &text[place]).collect()
}

/// Boxes that hold a label, or an option's text.
pub(super) fn all(view: &View<'_>) -> Vec<Mark> {
    places(view.text).into_iter().filter_map(|place| label(view, place)).collect()
}

fn label(view: &View<'_>, place: Range<usize>) -> Option<Mark> {
    if place.len() > LONGEST {
        return None;
    }
    let inside = &view.text[place.clone()];
    let at = undress(inside, 0);
    let noun = super::lexicon::first_word(&inside[at..]);
    let named = ["option", "choice", "answer", "apartment", "class", "route", "picture"];
    let at = if named.iter().any(|word| noun.eq_ignore_ascii_case(word)) {
        undress(inside, at + noun.len())
    } else {
        at
    };
    let letter = view.lexicon.at(inside, at).filter(|hit| {
        let bare = undress(inside, hit.end);
        let rest = &inside[bare..];
        let closed = inside[hit.end..bare].contains(')');
        rest.is_empty()
            || closed
            || rest.starts_with([':', '.', ','])
            || view.lexicon.own_option_at(hit.label, inside, bare)
    });
    let hit = letter.or_else(|| {
        view.lexicon
            .option_at(inside, at)
            .filter(|hit| inside[undress(inside, hit.end)..].trim_matches('.').is_empty())
    })?;
    let start = place.start + at;
    Some(Mark { label: Some(hit.label), at: start..place.start + hit.end, kind: Kind::Boxed })
}

/// One pass with a stack, so that a thousand unclosed boxes cost no more than their length.
fn places(text: &str) -> Vec<Range<usize>> {
    let bytes = text.as_bytes();
    let mut open: Vec<Option<usize>> = Vec::new();
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b'\\' => {
                let rest = &bytes[at..];
                let command =
                    [&b"\\boxed"[..], b"\\fbox"].into_iter().find(|command| rest.starts_with(command));
                let length = command.map_or(2, <[u8]>::len);
                at += length;
                if command.is_some() {
                    while bytes.get(at) == Some(&b' ') {
                        at += 1;
                    }
                    if bytes.get(at) == Some(&b'{') {
                        at += 1;
                        open.push(Some(at));
                    }
                }
                continue;
            }
            b'{' => open.push(None),
            b'}' => {
                if let Some(Some(start)) = open.pop() {
                    found.push(start..at);
                }
            }
            _ => {}
        }
        at += 1;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ext_12_nested_braces_are_balanced_and_an_open_box_is_none() {
        assert_eq!(contents(r"\boxed{\frac{3}{8}}"), [r"\frac{3}{8}"]);
        assert!(contents(r"\boxed{\frac{3}{8}").is_empty());
        assert_eq!(contents(r"{ \boxed {a} \fbox{b{c}} \{ \boxed{d\}e}"), ["a", "b{c}", r"d\}e"]);
        assert_eq!(contents("\\boxed{\u{e9}\u{4e2d}}\\"), ["\u{e9}\u{4e2d}"]);
    }
}
