//! A comparison on a terminal: tables, notes, and the verdicts last.

use std::collections::BTreeSet;

use super::Comparison;
use super::columns::tables;
use super::costs::Costs;
use crate::report::{Extent, grid, is_varied, number};

/// Renders everything, or what can be read where a sweep makes many conditions; `width` limits the tables where the terminal
/// tells its width.
pub fn text(comparison: &Comparison, width: Option<u16>, extent: Extent) -> String {
    let brief = brief(comparison, extent);
    let (shown, left_out) = brief.as_ref().map_or((comparison, 0), |(brief, left_out)| (brief, *left_out));
    let mut parts = vec![format!("reference: {}", shown.reference.name)];
    parts.extend(tables(shown).into_iter().map(|table| grid(&table.headings, 3, table.rows, width)));
    parts.push(costs(shown, width));
    let notes: String = shown.notes.iter().map(|note| format!("! {note}\n")).collect();
    let more = match left_out {
        0 => String::new(),
        _ => format!(
            "Left out: {left_out} conditions that vary something; --all-rows, --csv and --json have them.\n"
        ),
    };
    format!("{notes}{}\n\n{}\n{more}", parts.join("\n\n"), shown.sentences.join("\n"))
}

/// The conditions that vary nothing, with the number of the others; `None` where all can be shown, or all vary something.
fn brief(comparison: &Comparison, extent: Extent) -> Option<(Comparison, usize)> {
    let conditions: BTreeSet<&str> = comparison.overall.iter().map(|own| own.interface.as_str()).collect();
    let varied = conditions.iter().filter(|condition| is_varied(condition)).count();
    if extent.shows_all_of(conditions.len()) || varied == 0 || varied == conditions.len() {
        return None;
    }
    let mut brief = comparison.clone();
    let is_plain = |interface: &str| !is_varied(interface);
    brief.rows.retain(|row| is_plain(&row.interface));
    brief.effects.retain(|effect| is_plain(&effect.interface));
    // A sentence is that of the row over all tasks in its place.
    let mut own = comparison.overall.iter();
    brief.sentences.retain(|_| own.next().is_none_or(|own| is_plain(&own.interface)));
    brief.overall.retain(|own| is_plain(&own.interface));
    Some((brief, varied))
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
