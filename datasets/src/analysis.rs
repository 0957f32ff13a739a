//! What a task's results are looked at for, beyond accuracy: plain data in, named figures out.

use std::borrow::Cow;

use crate::Verdict;

/// How a task's results are usually broken down, and what else is counted.
pub struct Analysis {
    /// Tags by which the task's paper reports, each list crossed. Items without such a tag are not broken down by it.
    pub strata: &'static [&'static [&'static str]],
    /// Figures that are no mean of an item's scores.
    pub figures: Figures,
}

/// Figures of items that one model was asked through one interface.
pub type Figures = fn(&[Played<'_>]) -> Vec<Figure>;

/// What one item came to.
#[derive(Clone, Debug)]
pub struct Played<'a> {
    /// Strata of the item.
    pub tags: &'a [(String, String)],
    /// What it is worth; never skipped and never lost.
    pub verdict: Verdict,
    /// The texts that were generated, in order; none where labels were scored.
    pub replies: Vec<Cow<'a, str>>,
}

/// A named figure.
#[derive(Clone, Debug, PartialEq)]
pub struct Figure {
    /// Its name. Where a paper's table has the same figure, `data/papers/` calls it the same.
    pub name: String,
    /// Its value; `None` where these items do not define it.
    pub value: Option<f64>,
    /// What it was taken over.
    pub n: u64,
}

impl Played<'_> {
    /// The value of a tag.
    pub fn tag(&self, key: &str) -> Option<&str> {
        self.tags.iter().find(|(tag, _)| tag == key).map(|(_, value)| value.as_str())
    }
}

/// Accuracy and the means of scores, over all items.
pub const PLAIN: Analysis = Analysis { strata: &[], figures: none };

/// For tasks whose figures are all means of scores.
pub fn none(_: &[Played<'_>]) -> Vec<Figure> {
    Vec::new()
}
