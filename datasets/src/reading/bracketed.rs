//! Double brackets: the last `[[label]]` whose content is one of the labels, else the last `Answer: label`.

use super::Kind;
use super::dress::undress;
use super::marks::{Mark, Marks, View};
use super::{statement, whole};

/// A longer content is no label.
const LONGEST: usize = 256;

/// Reads double brackets. A reply that is a label and nothing else counts as well: nothing else can be meant.
pub(super) fn read(view: &View<'_>) -> Marks {
    Marks::last(brackets(view)).or(|| Marks::last(statement::explicit(view))).or(|| {
        let alone = if view.cut { None } else { whole::alone(view) };
        Marks::last(alone.into_iter().collect())
    })
}

fn brackets(view: &View<'_>) -> Vec<Mark> {
    let text = view.text;
    let mut marks = Vec::new();
    for (open, _) in text.match_indices("[[") {
        let at = undress(text, open);
        let Some(hit) = view.lexicon.bare(text, at) else { continue };
        let after = undress(text, hit.end);
        let closed =
            text[hit.end..after].contains("]]") || text[hit.end..after].replace(' ', "").contains("]]");
        if closed && hit.end - open <= LONGEST {
            marks.push(Mark { label: Some(hit.label), at: at..hit.end, kind: Kind::Bracketed });
        }
    }
    marks
}
