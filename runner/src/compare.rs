//! Compares models item by item: the same questions to both sides, and what differs between the answers.
//!
//! Everything is paired, families of items count as one witness, and what cannot be compared is refused by name.

mod columns;
mod costs;
mod csv;
mod divergences;
mod effects;
mod energy;
mod estimate;
mod matching;
mod names;
mod notes;
mod overall;
mod pairs;
mod rounds;
mod rows;
mod sentence;
mod side;
#[cfg(test)]
mod tests;
mod text;

use std::collections::BTreeSet;
use std::path::Path;
use std::rc::Rc;

use serde::Serialize;

use crate::exit::{Exit, Failure};
use crate::report::{Repeat, RunLog};
use crate::statistics::holm;

pub(crate) use columns::{DIFFERENCES, tables};
pub use csv::{COLUMNS, write_csv};
pub use effects::Effect;
pub use energy::EnergyRatio;
pub use estimate::Mean;
pub(crate) use estimate::estimate;
pub use matching::FIELDS;
pub use overall::Overall;
pub use rounds::{RoundRatio, RoundRatios};
pub use rows::Row;
pub use side::{Side, join_repeats, read};
pub use text::text;

/// What is asked of a comparison.
#[derive(Clone, Debug)]
pub struct Options {
    /// A loss that does not matter, as a fraction.
    pub margin: f64,
    /// Fields that may differ all the same, of [`FIELDS`].
    pub allow: Vec<String>,
    /// Seed of the bootstrap.
    pub seed: u64,
}

/// One reference and what is compared with it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Comparison {
    /// What the others are compared with.
    pub reference: costs::Costs,
    /// The others.
    pub candidates: Vec<costs::Costs>,
    /// A loss that does not matter, as a fraction.
    pub margin: f64,
    /// One row per candidate, task and interface.
    pub rows: Vec<Row>,
    /// One row per candidate and interface, over the tasks.
    pub overall: Vec<Overall>,
    /// What reasoning first does on each side, and how much less or more it does to a candidate.
    pub effects: Vec<Effect>,
    /// What to know before believing it.
    pub notes: Vec<String>,
    /// The verdicts in plain words.
    pub sentences: Vec<String>,
}

/// Compares the models of a run that has been read: the first with the others, with the rounds of its repetitions. One that cannot
/// be compared, because a stopped run has not asked it yet, is left out with a note; the error is that of the first where none can.
pub fn compare_models(run: &RunLog, repeats: &[Repeat], options: &Options) -> Result<Comparison, Failure> {
    let of = |run: &RunLog| side::sides(run, Path::new(&run.header.run_id));
    let mut sides = of(run);
    for repeat in repeats {
        sides.iter_mut().zip(of(&repeat.run)).for_each(|(side, own)| side.repeats.push(Rc::new(own)));
    }
    let mut refused: Vec<Failure> = Vec::new();
    let reference = (!sides.is_empty()).then(|| sides.remove(0));
    let mut kept: Vec<Side> = reference.into_iter().collect();
    for side in sides {
        match kept.first().map(|reference| comparable(reference, &side, options)) {
            Some(Err(failure)) => refused.push(failure),
            _ => kept.push(side),
        }
    }
    if kept.len() < 2 && !refused.is_empty() {
        return Err(refused.swap_remove(0));
    }
    let mut comparison = compare(&kept, options)?;
    comparison.notes.extend(refused.into_iter().map(|failure| format!("left out: {failure}")));
    Ok(comparison)
}

/// Why two models of a run cannot be compared.
fn comparable(reference: &Side, candidate: &Side, options: &Options) -> Result<(), Failure> {
    let has_answers = |side: &&Side| side.places.iter().any(|(_, answers)| !answers.is_empty());
    if let Some(side) = [reference, candidate].into_iter().find(|side| !has_answers(side)) {
        return Err(Failure::new(Exit::Mismatch, format!("{} has no answers yet", side.name)));
    }
    matching::check(reference, candidate, &options.allow).map(drop)
}

/// Compares all sides behind the first with the first.
pub fn compare(sides: &[Side], options: &Options) -> Result<Comparison, Failure> {
    let [reference, candidates @ ..] = sides else {
        return Err(Failure::usage("nothing to compare: name at least one run"));
    };
    if candidates.is_empty() {
        return Err(Failure::usage(format!(
            "nothing to compare with {}: its run has one model; name another run",
            reference.name
        )));
    }
    let mut notes = Vec::new();
    let mut rows = Vec::new();
    let mut effects = effects::of_reference(reference, options.seed);
    for candidate in candidates {
        notes.extend(matching::check(reference, candidate, &options.allow)?);
        let own = rows::rows(reference, candidate, options);
        if own.is_empty() {
            return Err(Failure::new(
                Exit::Mismatch,
                format!("{} and {} have no task and interface in common", reference.name, candidate.name),
            ));
        }
        rows.extend(own);
        effects.extend(effects::effects(reference, candidate, options.seed));
    }
    let mut tested: Vec<&mut Row> = rows.iter_mut().filter(|row| row.tests()).collect();
    let p_values: Vec<f64> =
        tested.iter().filter_map(|row| row.by_family.map(|test| test.two_sided)).collect();
    tested.iter_mut().zip(holm(&p_values)).for_each(|(row, adjusted)| row.holm = Some(adjusted));
    notes.extend(notes::notes(&rows));
    if rows.iter().any(|row| row.time_ratio.is_some()) {
        notes.extend(sides.iter().filter_map(notes::loaded));
    }
    // What holds of the reference is told by each comparison with it.
    let mut told = BTreeSet::new();
    notes.retain(|note| told.insert(note.clone()));
    let overall = overall::overall(&rows, options.margin, reference, candidates);
    let sentences = sentence::sentences(reference, candidates, &overall, &rows, options.margin);
    Ok(Comparison {
        reference: costs::costs(reference, reference),
        candidates: candidates.iter().map(|candidate| costs::costs(candidate, reference)).collect(),
        margin: options.margin,
        rows,
        overall,
        effects,
        notes,
        sentences,
    })
}
