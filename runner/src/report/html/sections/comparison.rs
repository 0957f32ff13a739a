//! The first model against the others, item by item.

use super::Material;
use crate::compare::{DIFFERENCES, tables};
use crate::report::html::markup::{Markup, all, details, paragraph, table};

/// Notes that stand open.
const MOST_NOTES: usize = 8;

pub(super) fn render(material: &Material<'_>) -> Option<Markup> {
    let comparison = material.comparison.as_ref()?;
    let introduction = paragraph(&format!(
        "The reference is {}. Pairs are items that both models answered; items of one family count as one witness. \
         Differences are points of per cent, candidate minus reference.",
        comparison.reference.name
    ));
    let mut parts = vec![introduction];
    let mut left_out = 0;
    for shown in tables(comparison) {
        // The differences of all conditions are what the sentences rest on; the other tables would be as long again.
        if shown.title == DIFFERENCES {
            parts.push(material.by_condition(shown.title, &shown.headings, 3, &shown.rows, [1, 2]));
            continue;
        }
        let is_open = |row: &&Vec<String>| material.is_plain(&row[1], &row[2]);
        let open: Vec<Vec<String>> = shown.rows.iter().filter(is_open).cloned().collect();
        left_out += shown.rows.len() - open.len();
        parts.push(table(shown.title, &shown.headings, 3, &open));
    }
    if left_out > 0 {
        parts.push(paragraph(&format!(
            "Left out: {left_out} rows of conditions that vary something. `edge-eval compare` of this run shows them; its \
             --csv FILE and --json have them."
        )));
    }
    let notes = comparison.notes.iter().map(|note| paragraph(note));
    match comparison.notes.len() {
        0..=MOST_NOTES => parts.extend(notes),
        count => parts.push(details(&format!("{count} notes on this comparison"), notes.collect::<Vec<_>>())),
    }
    Some(all(parts))
}
