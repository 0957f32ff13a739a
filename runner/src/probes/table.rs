//! Results for people, and as CSV.

use std::io::Write;

use super::result::{CorpusResult, ProbeResult, Share, ShortcutTable};
use super::split::SplitBy;
use super::summary::{LEGEND, Rows, curve_conditions, curves_beside, fitted, is_whole, left_out, shortcuts};
use crate::report::extent::Extent;
use crate::report::{grid, number, percent};

/// Everything as tables, or what can be read of it. `width` limits them where the terminal tells its width.
pub fn text(result: &ProbeResult, width: Option<u16>, extent: Extent) -> String {
    let mut parts: Vec<String> = result.notes.iter().map(|note| format!("! {note}")).collect();
    parts.push(LEGEND.to_owned());
    for corpus in &result.corpora {
        parts.push(one(corpus, width, extent));
    }
    parts.join("\n\n")
}

/// How a share is shown: with its interval.
pub(crate) fn share(share: Option<&Share>) -> String {
    match share {
        Some(Share { value: Some(value), low: Some(low), high: Some(high), .. }) => {
            format!("{:.1} [{:.1}, {:.1}]", 100.0 * value, 100.0 * low, 100.0 * high)
        }
        _ => "-".to_owned(),
    }
}

/// One line on what a corpus is.
pub(crate) fn heading(corpus: &CorpusResult) -> String {
    let [train, validation, test] = corpus.items;
    let by = match corpus.split {
        SplitBy::Tag => "the data set's own split",
        SplitBy::Family => "split by family",
        SplitBy::Item => "split by item",
    };
    let states = match (corpus.dimension, corpus.states) {
        (0, _) => "no hidden states".to_owned(),
        (dimension, 1) => format!("state behind the final norm, {dimension} numbers"),
        (dimension, states) => format!("{} layers and the final norm, {dimension} numbers", states - 1),
    };
    format!(
        "{}, {}: {train} items for training, {validation} for validation, {test} for test ({by}); {states}; chance {}, most \
         frequent label {}",
        corpus.model,
        corpus.task,
        percent(Some(corpus.chance)),
        percent(corpus.majority)
    )
}

/// Rows of the main table: model's own readout against the probe's.
pub(crate) fn condition_rows(corpus: &CorpusResult) -> Vec<Vec<String>> {
    let row = |condition: &super::result::ConditionResult| {
        vec![
            condition.condition.clone(),
            condition.native.accuracy.n.to_string(),
            share(Some(&condition.native.accuracy)),
            share(condition.probe.as_ref()),
            share(condition.shuffled.as_ref()),
            percent(condition.native.first_slot.value),
            number(condition.native.ma),
            number(condition.native.mr),
            condition.native.rank.map_or("-".to_owned(), |rank| format!("{rank:.1}")),
            condition.penalty.map_or("-".to_owned(), |penalty| format!("{penalty:e}")),
        ]
    };
    corpus.conditions.iter().map(row).collect()
}

/// Headings of [`condition_rows`].
pub(crate) const CONDITION_HEADINGS: [&str; 10] = [
    "condition",
    "n",
    "own readout %",
    "probe %",
    "shuffled %",
    "first slot",
    "MA",
    "MR",
    "mean rank",
    "penalty",
];

/// Rows of the table of transfers.
pub(crate) fn transfer_rows(corpus: &CorpusResult) -> Vec<Vec<String>> {
    let row = |transfer: &super::result::Transfer| {
        vec![transfer.train.clone(), transfer.test.clone(), share(Some(&transfer.accuracy))]
    };
    corpus.transfer.iter().map(row).collect()
}

/// Rows of the table of repairs.
pub(crate) fn repair_rows(corpus: &CorpusResult) -> Vec<Vec<String>> {
    let row = |repair: &super::result::RepairRow| {
        let method = match repair.rank {
            Some(rank) => format!("{} (rank {rank})", repair.method),
            None => repair.method.clone(),
        };
        vec![
            method,
            repair.train.clone(),
            repair.test.clone(),
            share(Some(&repair.before)),
            share(Some(&repair.after)),
        ]
    };
    corpus.repair.iter().map(row).collect()
}

/// Rows of the table of states.
pub(crate) fn curve_rows(corpus: &CorpusResult) -> Vec<Vec<String>> {
    let row = |point: &super::result::CurvePoint| {
        let layer = if point.normed { "final norm".to_owned() } else { point.layer.to_string() };
        vec![layer, point.condition.clone(), share(point.probe.as_ref()), share(point.lens.as_ref())]
    };
    corpus.curve.iter().map(row).collect()
}

/// Headings of [`curve_rows`].
pub(crate) const CURVE_HEADINGS: [&str; 4] = ["layer", "condition", "probe %", "logit lens %"];

/// Rows of a shortcut table, in per cent as the paper prints them.
pub(crate) fn shortcut_rows(table: &ShortcutTable) -> Vec<Vec<String>> {
    let shown = |share: &Share| share.value.map_or("-".to_owned(), |value| format!("{:.2}", 100.0 * value));
    let row = |row: &super::result::ShortcutRow| {
        let name = match row.without.is_empty() {
            true => "Overall".to_owned(),
            false => format!("w/o {}", row.without.join("/")),
        };
        let mut cells = vec![name];
        cells.extend(row.by_kind.iter().map(shown));
        cells.push(shown(&row.all));
        cells
    };
    table.rows.iter().map(row).collect()
}

/// Headings of [`shortcut_rows`].
pub(crate) fn shortcut_headings(table: &ShortcutTable) -> Vec<&str> {
    let kinds = table.kinds.iter().map(String::as_str);
    std::iter::once(table.condition.as_str()).chain(kinds).chain(["Avg"]).collect()
}

fn one(corpus: &CorpusResult, width: Option<u16>, extent: Extent) -> String {
    let mut parts = vec![heading(corpus)];
    parts.extend(corpus.notes.iter().map(|note| format!("! {note}")));
    let beside = |rows: Rows| {
        let headings: Vec<&str> = rows.headings.iter().map(String::as_str).collect();
        grid(&headings, 1, rows.rows, width)
    };
    let is_whole = is_whole(corpus, extent);
    let (rows, gone) = fitted(corpus, width);
    parts.push(beside(rows));
    if !gone.is_empty() {
        parts.push(format!("No room here for: {}.", gone.join(", ")));
    }
    if is_whole {
        parts.push(grid(&CONDITION_HEADINGS, 1, condition_rows(corpus), width));
    }
    if corpus.transfer.len() > 1 && is_whole {
        parts.push(grid(&["learnt in", "tried in", "probe %"], 2, transfer_rows(corpus), width));
    }
    if !corpus.repair.is_empty() && is_whole {
        parts.push(grid(
            &["repair", "learnt in", "tried in", "before %", "after %"],
            3,
            repair_rows(corpus),
            width,
        ));
    }
    let curves = curve_conditions(corpus, extent);
    if is_whole && !curves.is_empty() {
        parts.push(grid(&CURVE_HEADINGS, 2, curve_rows(corpus), width));
    } else if !curves.is_empty() {
        parts.push(beside(curves_beside(corpus, &curves)));
    }
    for table in shortcuts(corpus, extent) {
        parts.push(grid(&shortcut_headings(table), 1, shortcut_rows(table), width));
    }
    parts.extend(left_out(corpus, extent));
    parts.join("\n")
}

/// Every share as a row.
pub fn write_csv(result: &ProbeResult, out: impl Write) -> csv::Result<()> {
    let mut csv = csv::Writer::from_writer(out);
    csv.write_record([
        "model", "task", "view", "trained", "tested", "layer", "kind", "right", "n", "accuracy", "low",
        "high",
    ])?;
    for corpus in &result.corpora {
        let mut write = |view: &str, trained: &str, tested: &str, layer: &str, kind: &str, share: &Share| {
            let number = |value: Option<f64>| value.map_or(String::new(), |value| value.to_string());
            csv.write_record([
                corpus.model.as_str(),
                &corpus.task,
                view,
                trained,
                tested,
                layer,
                kind,
                &share.right.to_string(),
                &share.n.to_string(),
                &number(share.value),
                &number(share.low),
                &number(share.high),
            ])
        };
        for row in &corpus.conditions {
            write("native", "", &row.condition, "", "", &row.native.accuracy)?;
            write("first-slot", "", &row.condition, "", "", &row.native.first_slot)?;
            if let Some(shuffled) = &row.shuffled {
                write("shuffled", &row.condition, &row.condition, "", "", shuffled)?;
            }
        }
        for row in &corpus.transfer {
            write("probe", &row.train, &row.test, "", "", &row.accuracy)?;
        }
        for row in &corpus.curve {
            let layer = if row.normed { "norm".to_owned() } else { row.layer.to_string() };
            if let Some(probe) = &row.probe {
                write("layer-probe", &row.condition, &row.condition, &layer, "", probe)?;
            }
            if let Some(lens) = &row.lens {
                write("layer-lens", "", &row.condition, &layer, "", lens)?;
            }
        }
        for row in &corpus.repair {
            write(&row.method, &row.train, &row.test, "", "", &row.after)?;
        }
        for table in &corpus.shortcut {
            for row in &table.rows {
                let without = if row.without.is_empty() {
                    "all".to_owned()
                } else {
                    format!("without {}", row.without.join("+"))
                };
                for (kind, share) in table.kinds.iter().zip(&row.by_kind) {
                    write("shortcut", &without, &table.condition, "", kind, share)?;
                }
                write("shortcut", &without, &table.condition, "", "all", &row.all)?;
            }
        }
    }
    csv.flush()?;
    Ok(())
}
