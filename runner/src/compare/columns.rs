//! The tables of a comparison: headings and rows, the same on a terminal and on a page.

use super::Comparison;
use super::effects::Effect;
use super::estimate::Mean;
use super::rounds::{RoundRatios, in_words};
use super::rows::Row;
use crate::report::{number, percent, probability};
use crate::statistics::McNemar;

/// A table. The first three columns are words.
pub(crate) struct Table {
    /// What it shows.
    pub(crate) title: &'static str,
    /// What stands above its columns.
    pub(crate) headings: Vec<&'static str>,
    /// Its rows.
    pub(crate) rows: Vec<Vec<String>>,
}

/// Title of the table of differences.
pub(crate) const DIFFERENCES: &str = "Differences in points of per cent, and tests";

/// Every table, in order; one without rows is left out.
pub(crate) fn tables(comparison: &Comparison) -> Vec<Table> {
    let rows = &comparison.rows;
    let all = [
        flips(rows),
        differences(rows),
        labels(rows),
        costs(rows),
        over_rounds(comparison),
        effects(&comparison.effects),
    ];
    all.into_iter().filter(|table| !table.rows.is_empty()).collect()
}

fn place(row: &Row) -> Vec<String> {
    [&row.candidate, &row.task, &row.interface].map(String::clone).to_vec()
}

fn of_rows(
    title: &'static str,
    headings: &[&'static str],
    rows: &[Row],
    fields: fn(&Row) -> Vec<String>,
) -> Table {
    let row = |row: &Row| place(row).into_iter().chain(fields(row)).collect();
    let headings = ["candidate", "task", "interface"].iter().chain(headings).copied().collect();
    Table { title, headings, rows: rows.iter().map(row).collect() }
}

fn flips(rows: &[Row]) -> Table {
    let headings = [
        "pairs",
        "families",
        "both right",
        "only reference",
        "only candidate",
        "both wrong",
        "accuracy",
        "to",
    ];
    of_rows("Flips", &headings, rows, |row| {
        let counts =
            [row.pairs, row.families, row.both_right, row.only_reference, row.only_candidate, row.both_wrong];
        let shares = [row.accuracy_reference, row.accuracy_candidate].map(percent);
        counts.map(|count| count.to_string()).into_iter().chain(shares).collect()
    })
}

fn differences(rows: &[Row]) -> Table {
    let headings = [
        "difference",
        "95 % interval",
        "McNemar p",
        "mid-p",
        "loss p",
        "by family p",
        "Holm p",
        "detectable",
    ];
    of_rows(DIFFERENCES, &headings, rows, |row| {
        let by_item = |p: fn(&McNemar) -> f64| row.mcnemar.as_ref().map(p);
        let tests = [
            by_item(|test| test.two_sided),
            by_item(|test| test.mid_p),
            by_item(|test| test.loss),
            row.by_family.map(|test| test.two_sided),
            row.holm,
        ];
        let mut fields = vec![points(row.difference.value), ends(&row.difference)];
        fields.extend(tests.map(probability));
        fields.push(row.detectable.map_or("-".to_owned(), |value| format!("{:.1}", 100.0 * value)));
        fields
    })
}

fn labels(rows: &[Row]) -> Table {
    let headings = ["same answer", "KL, nats", "total variation", "first slot", "to", "shift, 95 % interval"];
    of_rows("What the labels get", &headings, rows, |row| {
        let labels = &row.labels;
        let mut fields = vec![percent(labels.same_answer)];
        fields.extend([labels.kl, labels.total_variation].map(number));
        fields.extend([labels.first_slot_reference, labels.first_slot_candidate].map(percent));
        fields.push(ends(&labels.first_slot_shift));
        fields
    })
}

fn costs(rows: &[Row]) -> Table {
    let headings = ["time ratio", "engine ms/item", "to", "energy ratio", "J/item", "to"];
    of_rows("Time and energy", &headings, rows, |row| {
        let mut fields = vec![number(row.time_ratio)];
        fields.extend([row.median_ms_reference, row.median_ms_candidate].map(number));
        fields.push(row.energy.in_words());
        fields.extend([row.energy.reference_j_per_item, row.energy.candidate_j_per_item].map(number));
        fields
    })
}

/// Ratios round by round; rows over all tasks stand behind those of tasks.
fn over_rounds(comparison: &Comparison) -> Table {
    let row = |place: [&str; 3], rounds: &RoundRatios| {
        let mut fields = place.map(str::to_owned).to_vec();
        let count = rounds.each.len();
        fields.push(count.to_string());
        fields.extend([rounds.time, rounds.energy].map(|figure| in_words(figure, count)));
        rounds.are_told().then_some(fields)
    };
    let of_tasks =
        comparison.rows.iter().map(|own| row([&own.candidate, &own.task, &own.interface], &own.rounds));
    let several = comparison.overall.iter().filter(|own| own.tasks > 1);
    let of_all = several.map(|own| row([&own.candidate, "(all tasks)", &own.interface], &own.rounds));
    Table {
        title: "Ratios over rounds: median (lowest to highest)",
        headings: vec!["candidate", "task", "interface", "rounds", "time ratio", "energy ratio"],
        rows: of_tasks.chain(of_all).flatten().collect(),
    }
}

fn effects(effects: &[Effect]) -> Table {
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
                fields.push(probability(Some(other.test.two_sided).filter(|_| other.items > 0)));
            }
            None => fields.extend(["-"; 3].map(str::to_owned)),
        }
        fields
    };
    Table {
        title: "What reasoning first does, and how much more than to the reference",
        headings: headings.to_vec(),
        rows: effects.iter().map(row).collect(),
    }
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
