//! The label before its phrase: `B is the correct answer`. Weaker than a phrase before its label, because texts
//! about wrong answers use it as well.

use std::sync::LazyLock;

use regex::Regex;

use super::Kind;
use super::marks::{Mark, View};

static PHRASE: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r"(?ix) (?-u:\b) (?:is|must\x20be|would\x20be|has\x20to\x20be) \x20{1,3} (?:indeed\x20|therefore\x20|clearly\x20)?
        (?: (?:the\x20{1,3})? (?:only\x20)? (?:correct|right|best) (?:\x20{1,3}(?:answer|option|choice|one|statement|match))? | the\x20{1,3}answer ) (?-u:\b)",
    )
    .expect("the pattern is constant")
});

/// All of them in order.
pub(super) fn all(view: &View<'_>) -> Vec<Mark> {
    let text = view.text;
    let mut marks = Vec::new();
    for phrase in PHRASE.find_iter(text) {
        let head =
            text[..phrase.start()].trim_end_matches([' ', '*', '_', '$', ')', ']', '"', '\'', '`', '}']);
        if head.len() + 16 < phrase.start()
            || text[phrase.end()..].trim_start_matches(['*', ' ', '"', ')']).starts_with('?')
        {
            continue;
        }
        let Some((label, start)) = view.lexicon.before(text, head.len()) else { continue };
        if super::anchors::spoiled(text, start) {
            continue;
        }
        marks.push(Mark { label: Some(label), at: start..head.len(), kind: Kind::Reverse });
    }
    marks
}
