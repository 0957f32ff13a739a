//! What people come for, in one row per condition: the model's own readout, what is read when the readout is learnt, here and in
//! the direct condition, and what repairs give. The matrices of all pairs of conditions stand in `table`.

use super::result::{ConditionResult, CorpusResult, CurvePoint, Share, ShortcutTable};
use super::table::share;
use crate::report::decoding::REFERENCE;
use crate::report::extent::{Extent, is_varied};
use crate::report::{grid, number};

/// Headings and rows; the first column holds words.
pub(crate) struct Rows {
    pub(crate) headings: Vec<String>,
    pub(crate) rows: Vec<Vec<String>>,
}

/// What the columns of [`summary`] are.
pub(crate) const LEGEND: &str = "Per condition, in % right over the items for test: the model's own readout; a probe, a low-rank repair and an \
     affine control learnt in this condition; \"of direct\": learnt in `direct`, tried here. Shuffled: the probe learnt from \
     shuffled labels. Best layer: the highest of the curve, the first of equals; a highest of many is too high.";

/// Columns that go where a terminal has no room, these first.
const FIRST_TO_GO: [&str; 6] = [AFFINE_OF_DIRECT, LOW_RANK_OF_DIRECT, "n", "mean\nrank", "MR", "MA"];
const LOW_RANK_OF_DIRECT: &str = "low-rank\nof direct";
const AFFINE_OF_DIRECT: &str = "affine\nof direct";

impl Rows {
    /// Characters of the longest line.
    fn width(&self) -> usize {
        let headings: Vec<&str> = self.headings.iter().map(String::as_str).collect();
        let lines = grid(&headings, 1, self.rows.clone(), None);
        lines.lines().map(|line| line.chars().count()).max().unwrap_or_default()
    }

    fn without(&mut self, at: usize) {
        self.headings.remove(at);
        self.rows.iter_mut().for_each(|row| drop(row.remove(at)));
    }
}

/// The summary as far as a terminal has room for it, and what it has no room for.
pub(crate) fn fitted(corpus: &CorpusResult, width: Option<u16>) -> (Rows, Vec<String>) {
    let mut rows = summary(corpus, true);
    let mut gone = Vec::new();
    let width = width.map_or(usize::MAX, usize::from);
    if rows.width() > width {
        rows = summary(corpus, false);
        gone.push("intervals".to_owned());
    }
    for column in FIRST_TO_GO {
        if rows.width() > width
            && let Some(at) = rows.headings.iter().position(|heading| heading == column)
        {
            rows.without(at);
            gone.push(column.replace('\n', " "));
        }
    }
    (rows, gone)
}

/// Columns that are there in any case.
const FIXED: usize = 3;

/// One row per condition. `intervals` stand beside the own readout and the probe.
pub(crate) fn summary(corpus: &CorpusResult, intervals: bool) -> Rows {
    let headings = [
        "condition",
        "n",
        "own",
        "probe",
        "shuffled",
        "probe\nof direct",
        "low-rank",
        LOW_RANK_OF_DIRECT,
        "affine",
        AFFINE_OF_DIRECT,
        "MA",
        "MR",
        "mean\nrank",
        "best\nlayer",
    ];
    let rows: Vec<Vec<String>> = corpus.conditions.iter().map(|row| cells(corpus, row, intervals)).collect();
    // What no condition has is no column.
    let is_kept = |at: usize| at < FIXED || rows.iter().any(|row| row[at] != "-");
    let kept: Vec<usize> = (0..headings.len()).filter(|at| is_kept(*at)).collect();
    Rows {
        headings: kept.iter().map(|at| headings[*at].to_owned()).collect(),
        rows: rows.iter().map(|row| kept.iter().map(|at| row[*at].clone()).collect()).collect(),
    }
}

fn cells(corpus: &CorpusResult, row: &ConditionResult, intervals: bool) -> Vec<String> {
    let name = row.condition.as_str();
    let long = |value: Option<&Share>| if intervals { share(value) } else { short(value) };
    let probe_of = |train: &str| {
        let pair = corpus.transfer.iter().find(|pair| pair.train == train && pair.test == name);
        short(pair.map(|pair| &pair.accuracy))
    };
    let repair_of = |method: &str, train: &str| {
        let is = |row: &&super::result::RepairRow| {
            (row.method.as_str(), row.train.as_str(), row.test.as_str()) == (method, train, name)
        };
        short(corpus.repair.iter().find(is).map(|row| &row.after))
    };
    vec![
        name.to_owned(),
        row.native.accuracy.n.to_string(),
        long(Some(&row.native.accuracy)),
        long(row.probe.as_ref()),
        short(row.shuffled.as_ref()),
        probe_of(REFERENCE),
        repair_of("low-rank", name),
        repair_of("low-rank", REFERENCE),
        repair_of("affine", name),
        repair_of("affine", REFERENCE),
        number(row.native.ma),
        number(row.native.mr),
        row.native.rank.map_or("-".to_owned(), |rank| format!("{rank:.1}")),
        best_layer(corpus, name),
    ]
}

fn short(share: Option<&Share>) -> String {
    share.and_then(|share| share.value).map_or("-".to_owned(), |value| format!("{:.1}", 100.0 * value))
}

/// The layer whose probe is right most often, and how often.
fn best_layer(corpus: &CorpusResult, condition: &str) -> String {
    let mut best: Option<(&CurvePoint, f64)> = None;
    for point in corpus.curve.iter().filter(|point| point.condition == condition) {
        let Some(value) = point.probe.and_then(|share| share.value) else { continue };
        if best.is_none_or(|(_, most)| value > most) {
            best = Some((point, value));
        }
    }
    best.map_or("-".to_owned(), |(point, value)| {
        let layer = if point.normed { "norm".to_owned() } else { point.layer.to_string() };
        format!("{layer}: {:.1}", 100.0 * value)
    })
}

/// Whether a corpus is shown whole.
pub(crate) fn is_whole(corpus: &CorpusResult, extent: Extent) -> bool {
    extent.shows_all_of(corpus.conditions.len())
}

/// Conditions whose curves are shown, in their order.
pub(crate) fn curve_conditions(corpus: &CorpusResult, extent: Extent) -> Vec<&str> {
    let mut names: Vec<&str> = Vec::new();
    for point in &corpus.curve {
        let name = point.condition.as_str();
        if !names.contains(&name) && (is_whole(corpus, extent) || !is_varied(name)) {
            names.push(name);
        }
    }
    names
}

/// Curves with a row for each state and columns for each of these conditions.
pub(crate) fn curves_beside(corpus: &CorpusResult, conditions: &[&str]) -> Rows {
    let mut rows: Vec<Vec<String>> = Vec::new();
    let mut headings = vec!["layer".to_owned()];
    for state in 1..=corpus.states {
        rows.push(vec![if state == corpus.states { "final norm".to_owned() } else { state.to_string() }]);
    }
    for name in conditions {
        let own: Vec<&CurvePoint> = corpus.curve.iter().filter(|point| point.condition == *name).collect();
        let kinds: [(&str, fn(&CurvePoint) -> Option<&Share>); 2] =
            [("probe %", |point| point.probe.as_ref()), ("logit lens %", |point| point.lens.as_ref())];
        for (kind, of) in kinds {
            if own.iter().all(|point| of(point).is_none()) {
                continue;
            }
            headings.push(format!("{name}\n{kind}"));
            for (at, row) in rows.iter_mut().enumerate() {
                row.push(share(own.iter().find(|point| point.layer == at + 1).and_then(|point| of(point))));
            }
        }
    }
    Rows { headings, rows }
}

/// Shortcut tables that are shown.
pub(crate) fn shortcuts(corpus: &CorpusResult, extent: Extent) -> Vec<&ShortcutTable> {
    let is_shown = |table: &&ShortcutTable| is_whole(corpus, extent) || !is_varied(&table.condition);
    corpus.shortcut.iter().filter(is_shown).collect()
}

/// What is not shown of a corpus and how to get it; `None` where all is.
pub(crate) fn left_out(corpus: &CorpusResult, extent: Extent) -> Option<String> {
    if is_whole(corpus, extent) {
        return None;
    }
    let shown = curve_conditions(corpus, extent);
    let curves = corpus.curve.iter().filter(|point| !shown.contains(&point.condition.as_str())).count();
    let tables = corpus.shortcut.iter().filter(|table| is_varied(&table.condition));
    let counts = [
        (corpus.transfer.len(), "of transfer between all conditions"),
        (corpus.repair.len(), "of repairs learnt in every condition"),
        (curves, "of curves of varied conditions"),
        (tables.map(|table| table.rows.len()).sum(), "of shortcut tables of varied conditions"),
    ];
    let words: Vec<String> = counts
        .iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, what)| format!("{count} rows {what}"))
        .collect();
    (!words.is_empty()).then(|| {
        format!(
            "Left out: {}. `edge-eval probe` and `report` show them with --all-rows; `probe --csv FILE`, `probe --json` and the \
             file probes.json have them.",
            words.join(", ")
        )
    })
}

#[cfg(test)]
mod tests;
