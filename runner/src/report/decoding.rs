//! The decoding laboratory's part of a report: what endings, labels, orders of options and ways of scoring do to answers,
//! and where the probability goes.

mod conditions;
mod costs;
mod csv;
mod orders;
mod readout;
pub(in crate::report) mod rows;
mod shift;
mod slots;
#[cfg(test)]
mod tests;
mod text;
mod texts;

use serde::Serialize;

use super::cells::{Cell, places};
use super::extent::{Extent, is_varied};
use super::load::RunLog;
use super::note::Note;

pub use conditions::ConditionRow;
pub use costs::WrittenRow;
pub use csv::write_decoding_csv;
pub use orders::{OptionsRow, OrdersRow};
pub use readout::Readout;
pub(crate) use readout::readout;
pub use shift::ShiftRow;
pub use slots::SlotRow;
pub use text::decoding_tables;
pub use texts::TextsRow;

/// The tables of the laboratory.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Decoding {
    /// Accuracy, first slot and diagnostics, by condition.
    pub conditions: Vec<ConditionRow>,
    /// Where the probability goes between the direct condition and each other.
    pub shifts: Vec<ShiftRow>,
    /// By place of the label.
    pub slots: Vec<SlotRow>,
    /// Over the orders of the options.
    pub orders: Vec<OrdersRow>,
    /// By number of options.
    pub options: Vec<OptionsRow>,
    /// Whole texts of options, judged in every way.
    pub texts: Vec<TextsRow>,
    /// What writing costs and gains.
    pub written: Vec<WrittenRow>,
    /// What to know before believing it.
    pub notes: Vec<Note>,
}

impl Decoding {
    /// Whether rows of this model, task and condition are shown in tables that have several rows per condition.
    pub(in crate::report) fn is_shown(&self, extent: Extent, [model, task, condition]: [&String; 3]) -> bool {
        let own = |row: &&ConditionRow| (&row.model, &row.task) == (model, task);
        !is_varied(condition) || extent.shows_all_of(self.conditions.iter().filter(own).count())
    }
}

/// The condition that others are held against.
pub const REFERENCE: &str = "direct";

/// Makes the tables. `cells` are those of the run.
pub fn decoding(run: &RunLog, cells: &[Cell]) -> Decoding {
    let places = places(run);
    let by_place: Vec<(&super::cells::Place<'_>, Vec<Readout<'_>>)> = places
        .iter()
        .map(|place| (place, place.items.iter().filter_map(|item| readout(item, place.by)).collect()))
        .filter(|(_, readouts): &(_, Vec<Readout<'_>>)| !readouts.is_empty())
        .collect();
    let seed = seed(run);
    let mut decoding = Decoding {
        conditions: conditions::rows(&by_place),
        shifts: shift::rows(&by_place, seed),
        slots: slots::rows(&by_place),
        orders: orders::rows(&by_place),
        options: orders::by_options(&by_place),
        texts: texts::rows(&by_place, run),
        written: costs::rows(run, cells, &by_place, seed),
        notes: Vec::new(),
    };
    decoding.notes = texts::notes(&by_place, &decoding.texts, run);
    decoding
}

/// Whether there is more to tell than the plain table does: something was varied, or labels were scored in more than one way.
pub fn has_decoding(decoding: &Decoding) -> bool {
    !decoding.shifts.is_empty() || !decoding.orders.is_empty() || !decoding.texts.is_empty()
}

/// Seed of the bootstrap: the run's, so that a report says the same twice.
fn seed(run: &RunLog) -> u64 {
    let config: serde_json::Value = serde_json::from_str(&run.header.config_json).unwrap_or_default();
    config["seed"].as_u64().unwrap_or(1)
}

/// Mean of values that exist; `None` of none.
fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (sum, n) = values.fold((0.0, 0u64), |(sum, n), value| (sum + value, n + 1));
    (n > 0).then(|| sum / n as f64)
}
