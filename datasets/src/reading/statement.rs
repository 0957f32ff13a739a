//! The general policy: explicit statements, then what can be meant by nothing else.

use super::anchors;
use super::dress::undress;
use super::lexicon::{Hit, ends_well, first_word, starts_well};
use super::marks::{Mark, Marks, View};
use super::{Kind, boxed, option_text, whole};

/// Bytes after a label that are searched for the next line of an enumeration.
const LINE: usize = 400;

/// Reads by the general policy.
pub(super) fn read(view: &View<'_>) -> Marks {
    Marks::last(explicit(view))
        .or(|| if view.cut { Marks::default() } else { Marks::last(super::reverse::all(view)) })
        .or(|| whole::read(view))
        .or(|| option_text::read(view))
}

/// Every explicit statement, in order.
pub(super) fn explicit(view: &View<'_>) -> Vec<Mark> {
    let mut marks = announced(view);
    marks.extend(boxed::all(view));
    marks.sort_by_key(|mark| (mark.at.start, mark.at.end));
    marks.dedup_by(|later, earlier| later.at == earlier.at && later.label == earlier.label);
    marks.retain(|mark| !view.unfinished(mark.at.end));
    marks
}

/// What announcing phrases announce.
pub(super) fn announced(view: &View<'_>) -> Vec<Mark> {
    let text = view.text;
    let stands = |at: usize| view.lexicon.at(text, at).is_some();
    let mut marks: Vec<Mark> = Vec::new();
    for anchor in anchors::all(text, &stands) {
        let at = anchor.at;
        if at >= text.len() || !starts_well(text, at) {
            continue;
        }
        let Some(hit) = view.lexicon.at(text, at).or_else(|| view.lexicon.option_at(text, at)) else {
            continue;
        };
        if !anchor.tied && !ends_line(text, hit.end)
            || refused(text, hit.end)
            || (anchor.new_line && enumerates(view, at, hit))
        {
            continue;
        }
        let (label, end) = match another(view, hit) {
            Some(end) if refused(text, end) => continue, // "yes or no?"
            Some(end) => (None, end),
            None => (Some(hit.label), hit.end),
        };
        let mark = Mark { label, at: at..end, kind: Kind::Statement };
        if marks.last().is_none_or(|last| *last != mark) {
            marks.push(mark);
        }
    }
    marks
}

/// Whether what follows a label takes it back: a question mark, `is wrong`, `is not`.
pub(super) fn refused(text: &str, end: usize) -> bool {
    let rest = &text[end..undress_line(text, end)];
    let after = &text[end + rest.len()..];
    if after.starts_with('?') {
        return true;
    }
    let first = first_word(after);
    let second = first_word(after[first.len()..].trim_start_matches(' '));
    let be = ["is", "was", "are", "seems", "would", "can", "could"]
        .iter()
        .any(|word| first.eq_ignore_ascii_case(word));
    let no = ["not", "wrong", "incorrect", "false", "impossible", "eliminated", "unlikely", "out", "never"];
    first.eq_ignore_ascii_case("cannot")
        || first.to_ascii_lowercase().ends_with("n't")
        || be && no.iter().any(|word| second.eq_ignore_ascii_case(word))
}

/// Where another label ends that is named in the same breath: `A or B`, `A, B and C`.
pub(super) fn another(view: &View<'_>, hit: Hit) -> Option<usize> {
    let text = view.text;
    let mut end = hit.end;
    let mut several = false;
    let mut firm = false;
    for _ in 0..26 {
        let at = undress_line(text, end);
        let rest = &text[at..];
        let word = first_word(rest);
        let either =
            ["or", "oder", "ou", "of", "vs", "versus"].iter().any(|known| word.eq_ignore_ascii_case(known));
        let both = ["and", "und", "en", "et", "y", "e"].iter().any(|known| word.eq_ignore_ascii_case(known));
        let sign = rest
            .chars()
            .next()
            .filter(|c| ['/', '&', ',', '\u{6216}', '\u{548C}', '\u{4E0E}', '\u{8207}'].contains(c));
        let (length, strong) = match sign {
            _ if either => (word.len(), true),
            _ if both => (word.len(), false),
            Some(',') => (1, false),
            Some(sign) => (sign.len_utf8(), true),
            None => break,
        };
        let mut next = undress_line(text, at + length);
        let noun = first_word(&text[next..]);
        if anchors::is_noun(noun) {
            next = undress_line(text, next + noun.len());
        }
        let Some(hit) = view.lexicon.bare(text, next).filter(|next| next.label != hit.label) else {
            // `A, B, or C`: the comma before the word.
            if several && sign == Some(',') && word.is_empty() {
                let word_at = undress_line(text, at + length);
                if ["or", "and"].iter().any(|known| first_word(&text[word_at..]).eq_ignore_ascii_case(known))
                {
                    end = at + length;
                    continue;
                }
            }
            break;
        };
        several = true;
        firm |= strong;
        end = hit.end;
    }
    // `B, A is wrong` and `B and A is wrong` go on; `B, A.` and `B and A.` do not.
    (several && (firm || ends_clause(text, end))).then_some(end)
}

/// Passes over dressing on the same line.
pub(super) fn undress_line(text: &str, from: usize) -> usize {
    let to = undress(text, from);
    text[from..to].find('\n').map_or(to, |line| from + line)
}

/// Whether nothing but dressing and a full stop follows on the line.
pub(super) fn ends_line(text: &str, end: usize) -> bool {
    let mut at = undress_line(text, end);
    if text[at..].starts_with(['.', '!']) {
        at = undress_line(text, at + 1);
    }
    text[at..].is_empty() || text[at..].starts_with('\n')
}

fn ends_clause(text: &str, end: usize) -> bool {
    let at = undress_line(text, end);
    text[at..].is_empty() || text[at..].starts_with(['\n', '.', ';', '!'])
}

/// Whether a label that opens a line is the first of a list of options.
fn enumerates(view: &View<'_>, at: usize, hit: Hit) -> bool {
    let text = view.text;
    if !text[hit.end..].starts_with(['.', ')', ':']) {
        return false;
    }
    debug_assert!(ends_well(text, at, hit.end));
    let mut limit = (hit.end + LINE).min(text.len());
    while !text.is_char_boundary(limit) {
        limit -= 1;
    }
    let Some(line) = text[hit.end..limit].find('\n') else { return false };
    let next = undress(text, hit.end + line);
    view.lexicon
        .bare(text, next)
        .is_some_and(|other| other.label != hit.label && text[other.end..].starts_with(['.', ')', ':']))
}
