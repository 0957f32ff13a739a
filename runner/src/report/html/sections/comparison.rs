//! The first model against the others, item by item.

use super::Material;
use crate::compare::tables;
use crate::report::html::markup::{Markup, all, paragraph, table};

pub(super) fn render(material: &Material<'_>) -> Option<Markup> {
    let comparison = material.comparison.as_ref()?;
    let introduction = paragraph(&format!(
        "The reference is {}. Pairs are items that both models answered; items of one family count as one witness. \
         Differences are points of per cent, candidate minus reference.",
        comparison.reference.name
    ));
    let tables = tables(comparison);
    let tables = tables.iter().map(|shown| table(shown.title, &shown.headings, 3, &shown.rows));
    let notes = comparison.notes.iter().map(|note| paragraph(note));
    Some(all(std::iter::once(introduction).chain(tables).chain(notes)))
}
