//! Things called by name: `Apartment 2`, `Class A`, `Route B`; and words that are labels wherever they stand.

use regex::Regex;

use super::Kind;
use super::anchors::is_noun;
use super::dress::undress;
use super::lexicon::{Hit, first_word};
use super::marks::{Mark, View};
use super::statement::another;

/// Every label that follows one of the names, in order; two named in one breath (`Class A or B`) are none.
pub(super) fn all(view: &View<'_>, name: &Regex) -> Vec<Mark> {
    let text = view.text;
    let mut marks = Vec::new();
    let mut free_from = 0;
    for found in name.find_iter(text) {
        let mut at = found.end();
        let mut hit = None;
        for _ in 0..4 {
            at = undress(text, at);
            hit = view.lexicon.bare(text, at).filter(|hit| {
                let article = ["a", "i"].contains(&&text[at..hit.end]);
                if article {
                    !text[hit.end..].starts_with(' ')
                } else {
                    hit.exact || view.lexicon.at(text, at) == Some(*hit)
                }
            });
            let word = first_word(&text[at..]);
            if hit.is_some() {
                break;
            } else if text[at..].starts_with([':', '=']) {
                at += 1;
            } else if !word.is_empty()
                && (is_noun(word)
                    || ["is", "no", "would", "be"].iter().any(|known| word.eq_ignore_ascii_case(known)))
            {
                at += word.len();
            } else {
                break;
            }
        }
        let Some(hit) = hit else { continue };
        if let Some(end) = another(view, hit) {
            free_from = end;
        }
        if at >= free_from && !view.unfinished(hit.end) {
            marks.push(Mark { label: Some(hit.label), at: at..hit.end, kind: Kind::Named });
        }
    }
    marks
}

/// Every label that stands as a word of its own and that `counts`, in order; several in one breath are none.
pub(super) fn words(view: &View<'_>, counts: impl Fn(usize, Hit) -> bool) -> Vec<Mark> {
    let text = view.text;
    let mut marks = Vec::new();
    let mut inside = false;
    let mut free_from = 0;
    for (at, c) in text.char_indices() {
        let begins = c.is_alphanumeric() && (!inside || !c.is_ascii());
        inside = c.is_alphanumeric() && c.is_ascii();
        if !begins || at < free_from {
            continue;
        }
        let Some(hit) = view.lexicon.bare(text, at).filter(|hit| counts(at, *hit)) else { continue };
        if let Some(end) = another(view, hit) {
            free_from = end;
        } else if !view.unfinished(hit.end) {
            marks.push(Mark { label: Some(hit.label), at: at..hit.end, kind: Kind::Word });
        }
    }
    marks
}
