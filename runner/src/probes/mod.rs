//! Linear readouts of a run's hidden states: is the answer there, although the model's own readout does not give it?
//!
//! Works on runs that kept states (`[asking] hidden-states`) and on readouts that were recorded elsewhere, both as the same
//! [`Corpus`]: samples with labels, gold, the model's own label scores, and a reference to states in a file. Nothing here
//! needs the model. The method is in `docs/probes.md`.

mod analysis;
mod corpus;
mod curve;
mod from_run;
mod lens;
#[cfg(test)]
pub(crate) mod made_up;
mod native;
mod npy;
mod pool;
mod readouts;
mod repair;
mod result;
mod shortcut;
mod split;
mod summary;
mod table;
#[cfg(test)]
mod tests;

pub use analysis::{Options, analyse};
pub use corpus::{Corpora, Corpus, Sample, States, load, load_answers};
pub use readouts::{READOUTS_FILE, export};
pub use result::{
    ConditionResult, CorpusResult, CurvePoint, Native, PROBES_FILE, ProbeResult, RepairRow, Share,
    ShortcutTable, Transfer,
};
pub use split::{Part, SplitBy};
pub(crate) use summary::{
    LEGEND, Rows, curve_conditions, curves_beside, is_whole, left_out, shortcuts, summary,
};
pub(crate) use table::{
    CONDITION_HEADINGS, CURVE_HEADINGS, condition_rows, curve_rows, heading, repair_rows, shortcut_headings,
    shortcut_rows, transfer_rows,
};
pub use table::{text, write_csv};
