//! Yes or No: the first such word of a direct reply; of a reasoned one the last explicit statement, else the last
//! such word.

use super::dress::undress;
use super::marks::{Marks, View};
use super::{named, statement};

/// Reads Yes or No. The article in "there is no rule" is not an answer, except where the reply begins with it.
pub(super) fn read(view: &View<'_>) -> Marks {
    let opening = undress(view.text, 0);
    let words = || named::words(view, |at, hit| at == opening || view.lexicon.at(view.text, at) == Some(hit));
    if !view.reasoned {
        return Marks::first(words());
    }
    Marks::last(statement::explicit(view))
        .or(|| if view.cut { Marks::default() } else { Marks::last(words()) })
}
