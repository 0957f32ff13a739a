//! The laboratory's tables on a terminal.

use super::Decoding;
use super::rows::{self, Listed, WORDS};
use crate::report::extent::Extent;
use crate::report::grid::grid;
use crate::report::note::gathered;

/// Renders every table that has rows, each under its name; those that multiply with conditions as far as `extent` goes.
pub fn decoding_tables(decoding: &Decoding, width: Option<u16>, extent: Extent) -> String {
    let notes = gathered(&decoding.notes).into_iter().map(|note| format!("! {note}"));
    let tables: [fn(&Decoding, Extent) -> Listed; 7] = [
        rows::conditions,
        rows::shifts,
        rows::orders,
        rows::slots,
        rows::options,
        rows::texts,
        rows::written,
    ];
    let tables = tables.iter().map(|table| table(decoding, extent));
    let tables = tables.filter(|table| !table.rows.is_empty() || table.left_out > 0).map(|table| {
        let left_out = table.left_out_in_words().map_or(String::new(), |words| format!("\n{words}"));
        format!("{}\n{}{left_out}", table.title, grid(&table.headings, WORDS, table.rows, width))
    });
    notes.chain(tables).collect::<Vec<_>>().join("\n\n")
}
