//! The laboratory's tables on a terminal.

use super::Decoding;
use super::rows::{self, headed, names};
use crate::report::grid::{grid, interval, number, percent};
use crate::statistics::{Ratio, Spread};

/// Renders every table that has rows, each under its name.
pub fn decoding_tables(decoding: &Decoding, width: Option<u16>) -> String {
    let mut parts: Vec<String> = decoding.notes.iter().map(|note| format!("! {note}")).collect();
    let mut add = |title: &str, headings: &[&str], rows: Vec<Vec<String>>| {
        if !rows.is_empty() {
            parts.push(format!("{title}\n{}", grid(&headed(headings), 3, rows, width)));
        }
    };
    add(
        "Conditions (MA: label mass, MR: continuation mass; means)",
        &[
            "n",
            "accuracy",
            "95 % interval",
            "chance",
            "first slot",
            "no answer",
            "MA",
            "MR",
            "gold rank",
            "margin",
            "entropy",
        ],
        decoding
            .conditions
            .iter()
            .map(|row| {
                let mut cells = names(&row.model, &row.task, &row.condition);
                cells.extend([
                    row.n.to_string(),
                    percent(row.accuracy),
                    interval(row.low, row.high),
                    percent(row.chance),
                    percent(row.first_slot),
                    percent(row.unanswered),
                ]);
                cells.extend(
                    [row.label_mass, row.continuation_mass, row.gold_rank, row.margin, row.entropy]
                        .map(number),
                );
                cells
            })
            .collect(),
    );
    add(
        "Against the direct condition, on the same items (x: ratio of means)",
        &[
            "n",
            "MA",
            "95 % interval",
            "MR",
            "95 % interval",
            "gold rank",
            "95 % interval",
            "accuracy",
            "95 % interval",
        ],
        decoding
            .shifts
            .iter()
            .map(|row| {
                let mut cells = names(&row.model, &row.task, &row.condition);
                cells.push(row.n.to_string());
                cells.extend(fold(&row.label_mass));
                cells.extend(fold(&row.continuation_mass));
                cells.push(signed(row.gold_rank, 1.0));
                cells.push(ends(row.gold_rank_low, row.gold_rank_high, 1.0));
                cells.push(signed(row.accuracy, 100.0));
                cells.push(ends(row.accuracy_low, row.accuracy_high, 100.0));
                cells
            })
            .collect(),
    );
    add(
        "Over the orders of the options (mean and sample deviation over seeds)",
        &rows::ORDERS,
        rows::orders(decoding),
    );
    add(
        "By place of the label",
        &["place", "n", "said", "right here", "accuracy there", "p(gold)", "among labels"],
        decoding
            .slots
            .iter()
            .map(|row| {
                let mut cells = names(&row.model, &row.task, &row.condition);
                cells.extend([
                    row.slot.to_string(),
                    row.n.to_string(),
                    percent(row.said),
                    row.right_here.to_string(),
                ]);
                cells.extend([percent(row.accuracy), number(row.gold_probability), number(row.gold_share)]);
                cells
            })
            .collect(),
    );
    add(
        "By number of options",
        &["options", "n", "accuracy", "95 % interval", "chance", "first slot"],
        decoding
            .options
            .iter()
            .map(|row| {
                let mut cells = names(&row.model, &row.task, &row.condition);
                cells.extend([row.options.to_string(), row.n.to_string(), percent(row.accuracy)]);
                cells.extend([
                    interval(row.low, row.high),
                    percent(Some(row.chance)),
                    percent(row.first_slot),
                ]);
                cells
            })
            .collect(),
    );
    add(
        "Whole texts of the options, accuracy by every way to judge them",
        &rows::TEXTS,
        rows::texts(decoding),
    );
    add(
        "What writing costs and gains",
        &[
            "n",
            "accuracy",
            "over direct",
            "95 % interval",
            "over free-cot",
            "evaluated/item",
            "written/item",
            "x direct",
            "J/item",
        ],
        decoding
            .written
            .iter()
            .map(|row| {
                let mut cells = names(&row.model, &row.task, &row.condition);
                cells.extend([row.n.to_string(), percent(row.accuracy), signed(row.gain, 100.0)]);
                cells.extend([ends(row.gain_low, row.gain_high, 100.0), signed(row.gain_over_chain, 100.0)]);
                let round = |value: Option<f64>| value.map_or("-".to_owned(), |value| format!("{value:.0}"));
                cells.extend([round(row.evaluated_per_item), round(row.written_per_item)]);
                cells.extend([
                    row.times_direct.map_or("-".to_owned(), |times| format!("{times:.1}")),
                    number(row.joules_per_item),
                ]);
                cells
            })
            .collect(),
    );
    parts.join("\n\n")
}

/// A ratio and its interval: `x 0.07`, `0.05 - 0.11`.
pub(in crate::report) fn fold(ratio: &Ratio) -> [String; 2] {
    let value = ratio.value.map_or("-".to_owned(), |value| format!("x {}", factor(value)));
    let ends = match (ratio.low, ratio.high) {
        (Some(low), Some(high)) => format!("{} - {}", factor(low), factor(high)),
        _ => "-".to_owned(),
    };
    [value, ends]
}

/// Three digits, however small.
fn factor(value: f64) -> String {
    if value >= 100.0 {
        format!("{value:.0}")
    } else if value >= 0.01 {
        format!("{value:.3}")
    } else {
        format!("{value:.2e}")
    }
}

/// A difference with its sign, `scale` times.
pub(in crate::report) fn signed(value: Option<f64>, scale: f64) -> String {
    value.map_or("-".to_owned(), |value| format!("{:+.1}", scale * value))
}

/// The ends of its interval.
pub(in crate::report) fn ends(low: Option<f64>, high: Option<f64>, scale: f64) -> String {
    match (low, high) {
        (Some(low), Some(high)) => format!("{:+.1} - {:+.1}", scale * low, scale * high),
        _ => "-".to_owned(),
    }
}

/// `45.78 ± 0.66 %`.
pub(in crate::report) fn spread(spread: &Spread) -> String {
    match (spread.mean, spread.deviation) {
        (Some(mean), Some(deviation)) => format!("{:.2} ± {:.2} %", 100.0 * mean, 100.0 * deviation),
        (mean, _) => percent(mean),
    }
}
