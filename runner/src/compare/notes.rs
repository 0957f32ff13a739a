//! What to know of the rows before believing them. What holds of many rows is one note: a ladder has a row for every rung, task
//! and interface.

use std::collections::{BTreeMap, BTreeSet};

use super::rows::Row;
use super::side::Side;
use crate::report::{FEW_FAMILIES, LOADED};

pub(super) fn notes(rows: &[Row]) -> Vec<String> {
    few_families(rows).into_iter().chain(repeated(rows)).chain(uncompared(rows)).collect()
}

/// Tasks whose items come from few families, each with the fewest that a row has.
fn few_families(rows: &[Row]) -> Option<String> {
    let mut tasks: BTreeMap<&str, (u64, u64)> = BTreeMap::new();
    let is_told = |row: &&Row| row.families > 0 && row.families < FEW_FAMILIES.min(row.pairs);
    for row in rows.iter().filter(is_told) {
        let least = tasks.entry(&row.task).or_insert((row.families, row.pairs));
        *least = (*least).min((row.families, row.pairs));
    }
    let each = tasks.iter().map(|(task, (families, items))| format!("{task}: {items} items from {families}"));
    let each = each.collect::<Vec<_>>().join(", ");
    (!tasks.is_empty())
        .then(|| format!("few families ({each}): a difference can be theirs alone; ask for more families"))
}

/// Sides that shared their processors while they were timed.
pub(super) fn loaded(side: &Side) -> Option<String> {
    let load = side.others_load.filter(|load| *load > LOADED)?;
    Some(format!(
        "{}: other programs took {:.0} % of all processors while its groups ran: what is said of its speed and energy holds of that",
        side.name,
        100.0 * load
    ))
}

/// Tasks that ask what another asked already, through these interfaces.
fn repeated(rows: &[Row]) -> Vec<String> {
    let mut tasks: BTreeMap<(&str, &str), BTreeSet<&str>> = BTreeMap::new();
    for row in rows {
        if let Some(other) = &row.repeats {
            tasks.entry((&row.task, other)).or_default().insert(&row.interface);
        }
    }
    let note = |((task, other), interfaces): ((&str, &str), BTreeSet<&str>)| {
        let interfaces: Vec<&str> = interfaces.into_iter().collect();
        format!(
            "{task} asks the prompts of {other} once more through {}: it has no part in the verdict over tasks and in Holm p",
            interfaces.join(", ")
        )
    };
    tasks.into_iter().map(note).collect()
}

/// Answers that have no counterpart, candidate by candidate.
fn uncompared(rows: &[Row]) -> Vec<String> {
    type Figure = fn(&Row) -> u64;
    let figures: [(&str, Figure); 2] = [
        ("are in one log alone", |row| row.missing_in_reference + row.missing_in_candidate),
        ("were skipped or lost on one side", |row| row.not_counted),
    ];
    let mut notes = Vec::new();
    for candidate in rows.chunk_by(|a, b| a.candidate == b.candidate) {
        for (what, figure) in figures {
            let told: Vec<&Row> = candidate.iter().filter(|row| figure(row) > 0).collect();
            let total: u64 = told.iter().map(|row| figure(row)).sum();
            let Some(first) = told.first() else { continue };
            let place = match told.len() {
                1 => format!("{} / {} / {}", first.candidate, first.task, first.interface),
                rows => format!("{}, {rows} of {} rows", first.candidate, candidate.len()),
            };
            notes.push(format!("{place}: {total} items {what}"));
        }
    }
    notes
}
