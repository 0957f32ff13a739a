//! Pictures by number: `3`, `picture 3`, `the third picture`, `(c)`. "All are the same person" is an answer, and a
//! wrong one.

use std::sync::LazyLock;

use regex::Regex;

use super::marks::{Marks, View};
use super::{named, statement, whole};

const WORDS: &[&str] =
    &["first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth"];

const THINGS: &str = "picture|pic|image|photo|photograph|face|person|candidate|option|number|individual";

static NAME: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(&format!(r"(?i)(?:(?-u:\b)(?:{THINGS})(?-u:\b)|#)")).expect("the pattern is constant")
});

static THE_NTH: LazyLock<Regex> = LazyLock::new(|| {
    let words = WORDS.join("|");
    Regex::new(&format!(
        r"(?i)(?-u:\b)(?P<nth>{words}|[0-9]{{1,2}}(?:st|nd|rd|th))\x20{{1,3}}(?:{THINGS}|one)(?-u:\b)"
    ))
    .expect("the pattern is constant")
});

static ALL_SAME: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r"(?i)(?-u:\b)(?:all|each|every)(?-u:\b)[^.\n]{0,60}(?-u:\b)same\x20{1,3}(?:person|individual|man|woman|face)(?-u:\b)|(?-u:\b)(?:all|each|every)(?-u:\b)[^.\n]{0,60}(?-u:\b)identical(?-u:\b)",
    )
    .expect("the pattern is constant")
});

/// Reads a picture: the last one of a reasoned reply, the first one of a direct reply.
pub(super) fn read(view: &View<'_>) -> Marks {
    let stated = Marks::last(statement::explicit(view));
    if view.cut {
        return stated;
    }
    let order = |marks| if view.reasoned { Marks::last(marks) } else { Marks::first(marks) };
    stated
        .or(|| Marks::last(whole::alone(view).into_iter().collect()))
        .or(|| all_same(view))
        .or(|| order(nth(view)))
        .or(|| order(named::all(view, &NAME)))
        .or(|| {
            order(named::words(view, |at, hit| {
                hit.exact && view.text[at..].starts_with(|c: char| c.is_ascii_digit())
            }))
        })
}

/// Other spellings of the label with this index.
pub(super) fn synonyms(index: usize) -> impl Iterator<Item = String> {
    let number = index + 1;
    let end = match (number % 10, number % 100) {
        (1, tens) if tens != 11 => "st",
        (2, tens) if tens != 12 => "nd",
        (3, tens) if tens != 13 => "rd",
        _ => "th",
    };
    let letter = u8::try_from(index)
        .ok()
        .filter(|index| *index < 26)
        .map(|index| char::from(b'a' + index).to_string());
    let word = WORDS.get(index).map(|word| (*word).to_owned());
    [Some(format!("{number}{end}")), letter, word].into_iter().flatten()
}

/// `the second picture`: what precedes the thing.
fn nth(view: &View<'_>) -> Vec<super::marks::Mark> {
    let found = THE_NTH.captures_iter(view.text).filter_map(|found| {
        let nth = found.name("nth")?;
        let hit = view.lexicon.bare(view.text, nth.start())?;
        Some(super::marks::Mark { label: Some(hit.label), at: nth.range(), kind: super::Kind::Named })
    });
    found.collect()
}

fn all_same(view: &View<'_>) -> Marks {
    match ALL_SAME.find(view.text) {
        Some(found) if !super::anchors::spoiled(view.text, found.start()) => {
            Marks::text(found.as_str().to_owned())
        }
        _ => Marks::default(),
    }
}
