//! The laboratory's tables on a terminal.

use super::Decoding;
use super::rows::{self, Listed, WORDS};
use crate::report::grid::grid;

/// Renders every table that has rows, each under its name.
pub fn decoding_tables(decoding: &Decoding, width: Option<u16>) -> String {
    let notes = decoding.notes.iter().map(|note| format!("! {note}"));
    let tables: [fn(&Decoding) -> Listed; 7] = [
        rows::conditions,
        rows::shifts,
        rows::orders,
        rows::slots,
        rows::options,
        rows::texts,
        rows::written,
    ];
    let tables = tables.iter().map(|table| table(decoding)).filter(|table| !table.rows.is_empty());
    let tables =
        tables.map(|table| format!("{}\n{}", table.title, grid(&table.headings, WORDS, table.rows, width)));
    notes.chain(tables).collect::<Vec<_>>().join("\n\n")
}
