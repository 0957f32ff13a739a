//! What the rules work on and what they hand back.

use std::ops::Range;

use super::Kind;
use super::lexicon::Lexicon;
use crate::verdict::Said;

/// A reply as the rules see it.
pub(super) struct View<'a> {
    /// The folded text outside reasoning blocks.
    pub(super) text: &'a str,
    /// Whether the reply was cut off: its end delimits nothing.
    pub(super) cut: bool,
    /// Whether it was asked to reason first.
    pub(super) reasoned: bool,
    /// The labels.
    pub(super) lexicon: &'a Lexicon,
}

/// A candidate in folded places.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Mark {
    pub(super) label: Option<u16>,
    pub(super) at: Range<usize>,
    pub(super) kind: Kind,
}

/// The candidates of the level that decides.
#[derive(Debug, Default)]
pub(super) struct Marks {
    /// In the order of the text.
    pub(super) all: Vec<Mark>,
    decisive: Option<usize>,
    text: Option<String>,
}

impl Marks {
    /// The last one decides.
    pub(super) fn last(all: Vec<Mark>) -> Self {
        let decisive = all.len().checked_sub(1);
        Marks { all, decisive, text: None }
    }

    /// The first one decides.
    pub(super) fn first(all: Vec<Mark>) -> Self {
        let decisive = (!all.is_empty()).then_some(0);
        Marks { all, decisive, text: None }
    }

    /// An answer that is no label.
    pub(super) fn text(text: String) -> Self {
        Marks { all: Vec::new(), decisive: None, text: Some(text) }
    }

    /// Whether nothing was found on this level, so that the next may be asked.
    pub(super) fn none(&self) -> bool {
        self.all.is_empty() && self.text.is_none()
    }

    /// These, or where there are none those of the next level.
    pub(super) fn or(self, next: impl FnOnce() -> Marks) -> Marks {
        if self.none() { next() } else { self }
    }

    /// What they come to; `None` is no answer.
    pub(super) fn said(&self) -> Option<Said> {
        if let Some(text) = &self.text {
            return Some(Said::Text(text.clone()));
        }
        self.all.get(self.decisive?)?.label.map(Said::Choice)
    }
}

impl View<'_> {
    /// Whether a candidate that ends here may be the beginning of something longer, cut off.
    pub(super) fn unfinished(&self, end: usize) -> bool {
        self.cut && self.text[end..].bytes().all(|byte| byte == b' ')
    }
}
