//! The shortcut test: a readout that never saw some kinds of items. Where it is right on them all the same it read what the
//! kinds have in common; where it fails it had learnt the looks of the kinds that it knew.

use datasets::readout::fit_chosen;

use super::analysis::Bench;
use super::pool::each;
use super::result::{Share, ShortcutRow, ShortcutTable};
use crate::exit::Failure;

/// Most kinds: all pairs of them are left out too.
const MOST_KINDS: usize = 8;

/// A table for each condition: nothing left out, one kind, two kinds.
pub(super) fn shortcut(
    bench: &Bench<'_>,
    tag: &str,
    notes: &mut Vec<String>,
) -> Result<Vec<ShortcutTable>, Failure> {
    let mut kinds: Vec<&str> = bench.corpus.samples.iter().filter_map(|sample| sample.tag(tag)).collect();
    kinds.sort_unstable();
    kinds.dedup();
    if !(2..=MOST_KINDS).contains(&kinds.len()) {
        notes.push(format!(
            "no shortcut test: the tag `{tag}` has {} values on these items, and 2 to {MOST_KINDS} are needed",
            kinds.len()
        ));
        return Ok(Vec::new());
    }
    let singles = (0..kinds.len()).map(|one| vec![one]);
    let pairs = (0..kinds.len()).flat_map(|one| (one + 1..kinds.len()).map(move |two| vec![one, two]));
    let without: Vec<Vec<usize>> = std::iter::once(Vec::new())
        .chain(singles)
        .chain(pairs)
        // Something must be left to learn from.
        .filter(|left_out| left_out.len() < kinds.len())
        .collect();
    let mut tables = Vec::new();
    for (condition, (name, _)) in bench.conditions.iter().enumerate() {
        let loaded = bench.loaded(condition, bench.states - 1)?;
        let kind_of = |row: usize| bench.corpus.samples[loaded.samples[row]].tag(tag);
        let rows = each(without.len(), |at| {
            let left_out: Vec<&str> = without[at].iter().map(|&kind| kinds[kind]).collect();
            let is_kept = |row: &usize| kind_of(*row).is_some_and(|kind| !left_out.contains(&kind));
            let train: Vec<usize> = loaded.train.iter().copied().filter(is_kept).collect();
            let validation: Vec<usize> = loaded.validation.iter().copied().filter(is_kept).collect();
            let chosen =
                fit_chosen(&loaded.features, &loaded.targets, bench.classes.len(), &train, &validation)?;
            let mut row_values = vec![0.0; bench.dimension];
            let mut counts = vec![(0, 0); kinds.len()];
            for &row in &loaded.test {
                let Some(kind) = kind_of(row).and_then(|kind| kinds.iter().position(|known| *known == kind))
                else {
                    continue;
                };
                loaded.features.read(row, &mut row_values);
                let target = loaded.targets[row];
                let is_right = chosen.readout.choose(&row_values, target) == Some(usize::from(target.class));
                counts[kind].0 += u64::from(is_right);
                counts[kind].1 += 1;
            }
            let (right, n) = counts.iter().fold((0, 0), |(right, n), count| (right + count.0, n + count.1));
            Some(ShortcutRow {
                without: left_out.into_iter().map(str::to_owned).collect(),
                by_kind: counts.into_iter().map(|(right, n)| Share::of(right, n)).collect(),
                all: Share::of(right, n),
            })
        });
        tables.push(ShortcutTable {
            condition: (*name).to_owned(),
            tag: tag.to_owned(),
            kinds: kinds.iter().map(|kind| (*kind).to_owned()).collect(),
            rows: rows.into_iter().flatten().collect(),
        });
    }
    Ok(tables)
}
