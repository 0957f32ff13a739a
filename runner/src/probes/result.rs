//! What an analysis gives: kept in the run folder, read by reports.

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::split::SplitBy;
use crate::exit::Failure;
use crate::statistics::wilson;

/// Name of the file in a run folder.
pub const PROBES_FILE: &str = "probes.json";
/// Version of the file.
const FORMAT: u32 = 1;

/// Everything that `edge-eval probe` found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ProbeResult {
    /// Version of this form.
    pub format: u32,
    /// The program.
    pub program: String,
    /// Seed of splits, shuffles and starts.
    pub seed: u64,
    /// By model and task.
    pub corpora: Vec<CorpusResult>,
    /// What people should know, one line each.
    pub notes: Vec<String>,
}

/// One model on one task.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CorpusResult {
    /// Name of the model.
    pub model: String,
    /// Name of the task.
    pub task: String,
    /// Numbers of a state; 0 where there are no states.
    pub dimension: usize,
    /// States kept per answer.
    pub states: usize,
    /// Classes of the readout: the labels.
    pub classes: Vec<String>,
    /// What the split follows.
    pub split: SplitBy,
    /// Items for training, validation and test.
    pub items: [u64; 3],
    /// Mean of one over the number of choices, over the items for test.
    pub chance: f64,
    /// Share of the most frequent right label of the items for training among the items for test.
    pub majority: Option<f64>,
    /// By condition.
    pub conditions: Vec<ConditionResult>,
    /// Readouts learnt in one condition, tried in another.
    pub transfer: Vec<Transfer>,
    /// By state and condition; empty where only the last state was kept.
    pub curve: Vec<CurvePoint>,
    /// Readouts that were repaired.
    pub repair: Vec<RepairRow>,
    /// Readouts learnt without some kinds of items.
    pub shortcut: Vec<ShortcutTable>,
    /// What people should know, one line each.
    pub notes: Vec<String>,
}

/// One condition, over the items for test.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ConditionResult {
    /// The condition.
    pub condition: String,
    /// What the model's own scores say.
    pub native: Native,
    /// What a readout of the last state says that was learnt in the same condition.
    pub probe: Option<Share>,
    /// The same, learnt from labels that were shuffled.
    pub shuffled: Option<Share>,
    /// Strength of the penalty that was chosen.
    pub penalty: Option<f64>,
    /// Share right of the items for validation with it.
    pub validation_accuracy: Option<f64>,
}

/// Figures of the model's own scores.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Native {
    /// Items right.
    pub accuracy: Share,
    /// Items for which the first label is chosen.
    pub first_slot: Share,
    /// How often each place is chosen.
    pub slots: Vec<u64>,
    /// Items without a choice: equal best scores, or one that is no number.
    pub undecided: u64,
    /// Mean probability that any label comes next.
    pub ma: Option<f64>,
    /// Mean probability of tokens that go on with a text.
    pub mr: Option<f64>,
    /// Mean rank of the right label's first token.
    pub rank: Option<f64>,
}

/// A share with its interval.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Share {
    /// Items that count.
    pub right: u64,
    /// Items.
    pub n: u64,
    /// `right / n`; absent without items.
    pub value: Option<f64>,
    /// 95 % interval (Wilson); items of one family are not independent, which widens it in truth.
    pub low: Option<f64>,
    /// Its upper end.
    pub high: Option<f64>,
}

impl Share {
    /// The share of so many.
    pub fn of(right: u64, n: u64) -> Share {
        let bounds = wilson(right as f64, n);
        Share {
            right,
            n,
            value: (n > 0).then(|| right as f64 / n as f64),
            low: bounds.map(|(low, _)| low),
            high: bounds.map(|(_, high)| high),
        }
    }
}

/// A readout learnt in one condition and tried in another.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Transfer {
    /// Where it was learnt.
    pub train: String,
    /// Where it was tried.
    pub test: String,
    /// How often it was right.
    pub accuracy: Share,
}

/// One state of one condition.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CurvePoint {
    /// The layer behind which the state was taken, from 1; one more than the layers is the state behind the final norm.
    pub layer: usize,
    /// Whether it is the state behind the final norm.
    pub normed: bool,
    /// The condition.
    pub condition: String,
    /// What a readout says that was learnt on this state.
    pub probe: Option<Share>,
    /// What the model's own end says of it.
    pub lens: Option<Share>,
}

/// A repaired readout.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RepairRow {
    /// `low-rank` or `affine`.
    pub method: String,
    /// Rank of the update; absent for a calibration.
    pub rank: Option<usize>,
    /// Where it was learnt.
    pub train: String,
    /// Where it was tried.
    pub test: String,
    /// How often the model's own scores are right there.
    pub before: Share,
    /// How often the repaired ones are.
    pub after: Share,
}

/// Readouts learnt without some kinds of items, in the layout of the paper's tables.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ShortcutTable {
    /// The condition.
    pub condition: String,
    /// The tag that names the kinds.
    pub tag: String,
    /// The kinds: columns.
    pub kinds: Vec<String>,
    /// Rows.
    pub rows: Vec<ShortcutRow>,
}

/// One row of a shortcut table.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ShortcutRow {
    /// Kinds that were not learnt from; none for the first row.
    pub without: Vec<String>,
    /// Share right by kind, over the items for test.
    pub by_kind: Vec<Share>,
    /// Over all of them.
    pub all: Share,
}

impl ProbeResult {
    /// A result with its version.
    pub(super) fn new(seed: u64, corpora: Vec<CorpusResult>, notes: Vec<String>) -> ProbeResult {
        let program = format!("edge-eval {}", env!("CARGO_PKG_VERSION"));
        ProbeResult { format: FORMAT, program, seed, corpora, notes }
    }

    /// Reads the result that lies in a run folder; `None` where there is none, as beside a log that lies alone in a file.
    pub fn of_run(dir: &Path) -> Result<Option<ProbeResult>, Failure> {
        if !dir.is_dir() {
            return Ok(None);
        }
        let path = dir.join(PROBES_FILE);
        let text = match std::fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(Failure::disk(format!("{}: {error}", path.display()))),
        };
        let wrong = |what: String| {
            Failure::disk(format!("{}: {what}: make it anew with `edge-eval probe`", path.display()))
        };
        let result: ProbeResult = serde_json::from_str(&text).map_err(|error| wrong(error.to_string()))?;
        if result.format != FORMAT {
            return Err(wrong(format!("it is of format {}, this program reads {FORMAT}", result.format)));
        }
        Ok(Some(result))
    }

    /// Puts the result into a folder.
    pub fn save(&self, dir: &Path) -> Result<(), Failure> {
        let path = dir.join(PROBES_FILE);
        let text = serde_json::to_string_pretty(self).unwrap_or_default();
        std::fs::write(&path, text + "\n")
            .map_err(|error| Failure::disk(format!("{}: {error}", path.display())))
    }
}
