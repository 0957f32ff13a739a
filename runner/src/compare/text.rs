//! A comparison on a terminal: tables, notes, and the verdicts last.

use super::Comparison;
use super::costs::Costs;
use super::effects::Effect;
use super::estimate::Mean;
use super::rows::Row;
use crate::report::{grid, number, percent};

/// Renders everything; `width` limits the tables where the terminal tells its width.
pub fn text(comparison: &Comparison, width: Option<u16>) -> String {
    let mut parts = vec![format!("reference: {}", comparison.reference.name)];
    parts.push(flips(&comparison.rows, width));
    parts.push(differences(&comparison.rows, width));
    parts.push(labels(&comparison.rows, width));
    if !comparison.effects.is_empty() {
        parts.push(effects(&comparison.effects, width));
    }
    parts.push(costs(comparison, width));
    let notes: String = comparison.notes.iter().map(|note| format!("! {note}\n")).collect();
    format!("{notes}{}\n\n{}\n", parts.join("\n\n"), comparison.sentences.join("\n"))
}

fn place(row: &Row) -> Vec<String> {
    [&row.candidate, &row.task, &row.interface].map(String::clone).to_vec()
}

fn flips(rows: &[Row], width: Option<u16>) -> String {
    let headings = [
        "candidate",
        "task",
        "interface",
        "pairs",
        "families",
        "both right",
        "only reference",
        "only candidate",
        "both wrong",
        "accuracy",
        "to",
    ];
    let row = |row: &Row| {
        let mut fields = place(row);
        let counts =
            [row.pairs, row.families, row.both_right, row.only_reference, row.only_candidate, row.both_wrong];
        fields.extend(counts.map(|count| count.to_string()));
        fields.extend([row.accuracy_reference, row.accuracy_candidate].map(percent));
        fields
    };
    grid(&headings, 3, rows.iter().map(row).collect(), width)
}

fn differences(rows: &[Row], width: Option<u16>) -> String {
    let headings = [
        "candidate",
        "task",
        "interface",
        "difference",
        "95 % interval",
        "McNemar p",
        "mid-p",
        "loss p",
        "by family p",
        "Holm p",
        "detectable",
    ];
    let row = |row: &Row| {
        let mut fields = place(row);
        fields.push(points(row.difference.value));
        fields.push(ends(&row.difference));
        let tests =
            [row.mcnemar.two_sided, row.mcnemar.mid_p, row.mcnemar.loss, row.by_family.two_sided, row.holm];
        fields.extend(tests.map(|p| number(Some(p))));
        fields.push(row.detectable.map_or("-".to_owned(), |value| format!("{:.1}", 100.0 * value)));
        fields
    };
    grid(&headings, 3, rows.iter().map(row).collect(), width)
}

fn labels(rows: &[Row], width: Option<u16>) -> String {
    let headings = [
        "candidate",
        "task",
        "interface",
        "same answer",
        "KL, nats",
        "total variation",
        "first slot",
        "to",
        "shift, 95 % interval",
        "time ratio",
    ];
    let row = |row: &Row| {
        let labels = &row.labels;
        let mut fields = place(row);
        fields.push(percent(labels.same_answer));
        fields.extend([labels.kl, labels.total_variation].map(number));
        fields.extend([labels.first_slot_reference, labels.first_slot_candidate].map(percent));
        fields.push(ends(&labels.first_slot_shift));
        fields.push(number(row.time_ratio));
        fields
    };
    grid(&headings, 3, rows.iter().map(row).collect(), width)
}

fn effects(effects: &[Effect], width: Option<u16>) -> String {
    let headings = [
        "model",
        "task",
        "interface",
        "pairs",
        "minus direct",
        "95 % interval",
        "than reference",
        "95 % interval",
        "p",
    ];
    let row = |effect: &Effect| {
        let mut fields = [&effect.model, &effect.task, &effect.interface].map(String::clone).to_vec();
        fields.push(effect.pairs.to_string());
        fields.extend([points(effect.effect.value), ends(&effect.effect)]);
        match &effect.interaction {
            Some(other) => {
                fields.extend([points(other.difference.value), ends(&other.difference)]);
                fields.push(number(Some(other.test.two_sided)));
            }
            None => fields.extend(["-"; 3].map(str::to_owned)),
        }
        fields
    };
    grid(&headings, 3, effects.iter().map(row).collect(), width)
}

fn costs(comparison: &Comparison, width: Option<u16>) -> String {
    let headings = ["model", "quantisation", "run", "file, MB", "ratio", "peak, MB", "ratio"];
    let megabytes = |bytes: Option<u64>| {
        number(bytes.filter(|&bytes| bytes > 0).map(|bytes| (bytes as f64 / 1e5).round() / 10.0))
    };
    let row = |costs: &Costs| {
        vec![
            costs.name.clone(),
            costs.quantisation.clone(),
            costs.run.clone(),
            megabytes(Some(costs.file_bytes)),
            number(costs.file_ratio),
            megabytes(costs.peak_bytes),
            number(costs.peak_ratio),
        ]
    };
    let all = std::iter::once(&comparison.reference).chain(&comparison.candidates);
    grid(&headings, 3, all.map(row).collect(), width)
}

/// A difference in points of per cent, with its sign.
fn points(value: Option<f64>) -> String {
    value.map_or("-".to_owned(), |value| format!("{:+.1}", 100.0 * value))
}

fn ends(mean: &Mean) -> String {
    match mean.low.zip(mean.high) {
        Some((low, high)) => format!("{:+.1} to {:+.1}", 100.0 * low, 100.0 * high),
        None => "-".to_owned(),
    }
}
