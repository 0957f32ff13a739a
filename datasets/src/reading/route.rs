//! Routes: the last `Best Route: X`, else the last explicit statement, else the last `Route X`. The order matters:
//! an explanation after the answer names the other routes.

use std::sync::LazyLock;

use regex::Regex;

use super::marks::{Marks, View};
use super::{Kind, named, statement, whole};

static BEST: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?i)(?-u:\b)best\s{1,3}route(?:\s{1,3}(?:is|would\s{1,3}be))?\s{0,3}[*_]{0,3}\s{0,3}(?:[:=]|is(?-u:\b)|would\s{1,3}be(?-u:\b)|-)?")
        .expect("the pattern is constant")
});

static NAME: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"(?i)(?-u:\b)route(?-u:\b)").expect("the pattern is constant"));

/// Reads a route.
pub(super) fn read(view: &View<'_>) -> Marks {
    let mut best = named::all(view, &BEST);
    for mark in &mut best {
        mark.kind = Kind::Statement;
    }
    let stated = Marks::last(best).or(|| Marks::last(statement::explicit(view)));
    if view.cut {
        return stated;
    }
    stated
        .or(|| Marks::last(whole::alone(view).into_iter().collect()))
        .or(|| Marks::last(named::all(view, &NAME)))
}
