//! Reports: they read logs and nothing else.

mod baselines;
mod cells;
mod clusters;
mod completeness;
mod cost_views;
mod costs;
#[cfg(test)]
mod costs_tests;
pub mod decoding;
pub(crate) mod extent;
mod figures;
mod fits;
mod grid;
mod html;
mod items_csv;
mod json;
mod lines;
mod load;
mod machine_notes;
#[cfg(test)]
pub(crate) mod made_up;
mod memory;
pub mod meter_csv;
mod note;
mod notes;
mod papers;
mod parity;
mod phase_views;
mod phases;
mod pictures;
mod repeats;
mod round_views;
mod rounds;
#[cfg(test)]
mod rounds_tests;
mod strata;
mod table;
mod timeline_csv;
mod views_csv;
mod witnesses;

pub use baselines::{Control, Controls, NO_INTERFACE};
pub use cells::{Cell, cells};
pub(crate) use cells::{Place, places, worth};
pub(crate) use clusters::clusters;
pub use cost_views::{costs_table, write_costs_csv};
pub use costs::{Cost, Sensor, Spent, costs, has_costs};
pub use decoding::{Decoding, decoding, decoding_tables, has_decoding, write_decoding_csv};
pub use extent::Extent;
pub(crate) use extent::is_varied;
pub use figures::{FigureRow, figures};
pub use fits::{fits_table, write_predictions_csv, write_surfaces_csv};
pub(crate) use grid::{grid, number, percent, probability};
pub use html::{ItemChoice, html};
pub use items_csv::{COLUMNS, write_items_csv};
pub(crate) use items_csv::{answer_in_words, gold_in_words, verdict, verdict_in_words};
pub use json::{Views, to_json};
pub use lines::{figures_table, papers_table};
pub use load::{Done, Measured, RunLog};
pub(crate) use machine_notes::{LOADED, load_of_others};
pub use memory::{ModelMemory, memory, memory_table};
pub use note::{Note, gathered};
pub use notes::notes;
pub use papers::{Published, THIS_RUN, published};
pub use parity::{Parity, parity};
pub use phase_views::{phases_table, write_phases_csv};
pub use phases::{Asked, PhaseCost, phases};
pub use pictures::{PictureCost, picture_costs};
pub use repeats::{Repeat, join_repeats};
pub use round_views::{ROUND_HEADINGS, round_rows, rounds_table};
pub(crate) use rounds::rounds;
pub use rounds::{Round, RoundCost, Rounds};
pub use strata::{GOLD, SAID, Stratum, Values, strata};
pub use table::{changes_table, strata_table, table};
pub use timeline_csv::write_timeline_csv;
pub use views_csv::{write_baselines_csv, write_figures_csv, write_papers_csv, write_strata_csv};
pub(crate) use witnesses::FEW_FAMILIES;

use std::collections::BTreeMap;

/// Puts rows of controls behind the models' rows of the same task; tasks in the order of the run.
pub fn beside(run: &RunLog, mut rows: Vec<Stratum>, controls: &[Control]) -> Vec<Stratum> {
    rows.extend(controls.iter().map(|control| Stratum { by: control.by.clone(), cell: control.cell() }));
    let places: BTreeMap<&str, usize> =
        run.header.tasks.iter().enumerate().map(|(place, task)| (task.name.as_str(), place)).collect();
    rows.sort_by_key(|row| places.get(row.cell.task.as_str()).copied());
    rows
}
