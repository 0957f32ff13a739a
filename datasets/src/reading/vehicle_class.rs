//! Vehicle classes A and B. "A" is also the English article, so a letter needs quotes, the word "class", a line of
//! its own or the end of the reply; "B" needs the same, or the rule would lean to B.

use std::sync::LazyLock;

use regex::Regex;

use super::marks::{Marks, View};
use super::{named, statement, whole};

static NAME: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?i)(?-u:\b)(?:class|klasse|classe|clase)(?-u:\b)").expect("the pattern is constant")
});

/// Reads a class: the last one of a reasoned reply, the first one of a direct reply.
pub(super) fn read(view: &View<'_>) -> Marks {
    let stated = Marks::last(statement::explicit(view));
    if view.cut {
        return stated;
    }
    let order = |marks| if view.reasoned { Marks::last(marks) } else { Marks::first(marks) };
    stated
        .or(|| Marks::last(whole::alone(view).into_iter().collect()))
        .or(|| order(named::all(view, &NAME)))
        .or(|| order(named::words(view, |at, hit| hit.exact && apart(view.text, at, hit.end))))
}

/// Whether a letter is set apart: in quotes, on a line of its own, at the end of the reply.
fn apart(text: &str, start: usize, end: usize) -> bool {
    let quoted = ['\'', '"', '`']
        .iter()
        .any(|quote| text[..start].ends_with(*quote) && text[end..].starts_with(*quote));
    let dressing = |c: char| matches!(c, ' ' | '*' | '_' | '(' | ')' | '[' | ']' | '"' | '\'' | '.' | '$');
    let head = text[..start].trim_end_matches(dressing);
    let tail = text[end..].trim_start_matches(dressing);
    let own_line = (head.is_empty() || head.ends_with('\n')) && (tail.is_empty() || tail.starts_with('\n'));
    quoted || own_line || tail.trim_start().is_empty()
}
