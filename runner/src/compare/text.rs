//! A comparison on a terminal: tables, notes, and the verdicts last.

use super::Comparison;
use super::columns::tables;
use super::costs::Costs;
use crate::report::{grid, number};

/// Renders everything; `width` limits the tables where the terminal tells its width.
pub fn text(comparison: &Comparison, width: Option<u16>) -> String {
    let mut parts = vec![format!("reference: {}", comparison.reference.name)];
    parts.extend(tables(comparison).into_iter().map(|table| grid(&table.headings, 3, table.rows, width)));
    parts.push(costs(comparison, width));
    let notes: String = comparison.notes.iter().map(|note| format!("! {note}\n")).collect();
    format!("{notes}{}\n\n{}\n", parts.join("\n\n"), comparison.sentences.join("\n"))
}

fn costs(comparison: &Comparison, width: Option<u16>) -> String {
    let headings = ["model", "quantisation", "run", "file, MB", "ratio", "peak, MB", "ratio"];
    let megabytes = |bytes: Option<u64>| {
        number(bytes.filter(|&bytes| bytes > 0).map(|bytes| (bytes as f64 / 1e5).round() / 10.0))
    };
    let row = |costs: &Costs| {
        vec![
            costs.name.clone(),
            costs.quantisation.clone(),
            costs.run.clone(),
            megabytes(Some(costs.file_bytes)),
            number(costs.file_ratio),
            megabytes(costs.peak_bytes),
            number(costs.peak_ratio),
        ]
    };
    let all = std::iter::once(&comparison.reference).chain(&comparison.candidates);
    grid(&headings, 3, all.map(row).collect(), width)
}
