//! What is checked over all items of a file: ids, rotated copies, where the right options stand.

use std::collections::{BTreeMap, BTreeSet};

use super::{Circular, Counts, Entry, ImportError, Rules};

/// Ids of further passes are those of the first plus a multiple of this.
const PASS: u64 = 1_000_000;

/// Items below which the positions of the gold say nothing.
const FEW: usize = 8;

/// Refuses repeated ids, or numbers them.
pub(super) fn ids(entries: &mut [Entry], rules: &Rules) -> Result<(), ImportError> {
    let mut lines: BTreeMap<String, u64> = BTreeMap::new();
    let mut taken: BTreeSet<String> = entries.iter().map(|entry| entry.id.clone()).collect();
    for entry in entries {
        match lines.get(&entry.id) {
            None => {
                lines.insert(entry.id.clone(), entry.line);
            }
            Some(first) if !rules.reid => {
                let reason =
                    format!("the id is taken by line {first}; make ids unique, or set params.import.reid");
                return Err(ImportError::row(entry.line, Some(&entry.id), reason));
            }
            Some(_) => {
                let own = entry.id.clone();
                let free = (2u64..).map(|number| format!("{own}-{number}")).find(|id| !taken.contains(id));
                entry.id = free.unwrap_or(own);
                taken.insert(entry.id.clone());
            }
        }
    }
    Ok(())
}

/// Recognises rows that repeat a question with rotated options.
pub(super) fn circular(
    entries: &mut Vec<Entry>,
    keep: Circular,
    counts: &mut Counts,
    warnings: &mut Vec<String>,
) {
    let numbers: Option<Vec<u64>> = entries.iter().map(|entry| entry.id.parse().ok()).collect();
    let Some(numbers) = numbers else { return };
    let known: BTreeSet<u64> = numbers.iter().copied().collect();
    if !numbers.iter().any(|&number| number >= PASS && known.contains(&(number % PASS))) {
        return;
    }
    for (entry, number) in entries.iter_mut().zip(&numbers) {
        entry.family = (number % PASS).to_string();
        entry.pass = u32::try_from(number / PASS).unwrap_or(u32::MAX);
    }
    match keep {
        Circular::First => {
            let before = entries.len();
            entries.retain(|entry| entry.pass == 0);
            counts.further_passes = (before - entries.len()) as u64;
        }
        Circular::All => warnings.push(
            "rows are passes over the same questions with rotated options: the tag `pass` tells them apart; accuracy over all rows counts each question several times"
                .to_owned(),
        ),
    }
}

/// Counts where the right options stand, and warns where that is no accident.
pub(super) fn gold_positions(entries: &[Entry], counts: &mut Counts, warnings: &mut Vec<String>) {
    let most = entries.iter().map(|entry| entry.options.len()).max().unwrap_or(0);
    let mut found = vec![0u64; most];
    let (mut expected, mut variance) = (vec![0.0f64; most], vec![0.0f64; most]);
    for entry in entries {
        let share = 1.0 / entry.options.len() as f64;
        for position in 0..entry.options.len() {
            expected[position] += share;
            variance[position] += share * (1.0 - share);
        }
        if let Some(count) = found.get_mut(usize::from(entry.gold)) {
            *count += 1;
        }
    }
    if entries.len() >= FEW {
        // Four standard deviations: one honest file in some thousand is warned about.
        let far = |position: &usize| {
            let off = found[*position] as f64 - expected[*position];
            off * off > 16.0 * variance[*position]
        };
        let odd: Vec<String> = (0..most)
            .filter(far)
            .map(|position| {
                format!(
                    "{} times at position {} where {:.0} are expected",
                    found[position],
                    position + 1,
                    expected[position]
                )
            })
            .collect();
        if !odd.is_empty() {
            warnings.push(format!(
                "the right option stands {}; set params.show.shuffle, or accuracy measures the position",
                odd.join(", ")
            ));
        }
    }
    counts.gold_positions = found;
}
