//! Apartments by number: the first one of a direct reply; of a reasoned one the last explicit statement, else the
//! last `Apartment n`, else the last number that stands alone.

use std::sync::LazyLock;

use regex::Regex;

use super::marks::{Marks, View};
use super::{named, statement};

static NAME: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?i)(?-u:\b)(?:apartment|apt\.?|appartement|wohnung|flat)").expect("the pattern is constant")
});

/// Reads the number of an apartment.
pub(super) fn read(view: &View<'_>) -> Marks {
    let numbers = || named::words(view, |_, hit| hit.exact);
    if !view.reasoned {
        return Marks::first(numbers());
    }
    let stated = Marks::last(statement::explicit(view));
    if view.cut {
        return stated;
    }
    stated.or(|| Marks::last(named::all(view, &NAME))).or(|| Marks::last(numbers()))
}
