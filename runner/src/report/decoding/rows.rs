//! The laboratory's tables in words, the same on a terminal and on the page: a title, headings, rows.

use super::{ConditionRow, Decoding, OptionsRow, OrdersRow, ShiftRow, SlotRow, TextsRow, WrittenRow};
use crate::report::extent::Extent;
use crate::report::grid::{interval, number, percent};
use crate::statistics::{Ratio, Spread};

/// Columns from the left that hold words: every row begins with model, task and condition.
pub(in crate::report) const WORDS: usize = 3;

/// A table in words.
pub(in crate::report) struct Listed {
    pub(in crate::report) title: &'static str,
    pub(in crate::report) headings: Vec<&'static str>,
    pub(in crate::report) rows: Vec<Vec<String>>,
    /// Rows that are left out: those of conditions that vary something, where a task has many conditions.
    pub(in crate::report) left_out: usize,
}

impl Listed {
    /// What is left out, and how to get it.
    pub(in crate::report) fn left_out_in_words(&self) -> Option<String> {
        (self.left_out > 0).then(|| {
            format!(
                "Left out: {} rows of conditions that vary something. `edge-eval report DIR --decoding` shows them with \
                 --all-rows; --csv FILE and --json have them.",
                self.left_out
            )
        })
    }
}

/// Every condition.
pub(in crate::report) fn conditions(decoding: &Decoding, _: Extent) -> Listed {
    let cells = |row: &ConditionRow| {
        let shares = [row.chance, row.first_slot, row.unanswered].map(percent);
        let means =
            [row.label_mass, row.continuation_mass, row.gold_rank, row.margin, row.entropy].map(number);
        let accuracy = [row.n.to_string(), percent(row.accuracy), interval(row.low, row.high)];
        line([&row.model, &row.task, &row.condition], accuracy.into_iter().chain(shares).chain(means))
    };
    Listed {
        title: "Conditions (MA: label mass, MR: continuation mass; means)",
        headings: headed(&[
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
        ]),
        rows: decoding.conditions.iter().map(cells).collect(),
        left_out: 0,
    }
}

/// Every condition beside the direct one.
pub(in crate::report) fn shifts(decoding: &Decoding, _: Extent) -> Listed {
    let cells = |row: &ShiftRow| {
        let masses = fold(&row.label_mass).into_iter().chain(fold(&row.continuation_mass));
        let rank = [signed(row.gold_rank, 1.0), ends(row.gold_rank_low, row.gold_rank_high, 1.0)];
        let accuracy = [signed(row.accuracy, 100.0), ends(row.accuracy_low, row.accuracy_high, 100.0)];
        let all = [row.n.to_string()].into_iter().chain(masses).chain(rank).chain(accuracy);
        line([&row.model, &row.task, &row.condition], all)
    };
    Listed {
        title: "Against the direct condition, on the same items (x: ratio of means)",
        headings: headed(&[
            "n",
            "MA",
            "95 % interval",
            "MR",
            "95 % interval",
            "gold rank",
            "95 % interval",
            "accuracy",
            "95 % interval",
        ]),
        rows: decoding.shifts.iter().map(cells).collect(),
        left_out: 0,
    }
}

/// Orders of the options.
pub(in crate::report) fn orders(decoding: &Decoding, _: Extent) -> Listed {
    let cells = |row: &OrdersRow| {
        let counts = [row.seeds.to_string(), row.items.to_string()];
        let spreads = [spread(&row.accuracy), spread(&row.first_slot)];
        let shares = [row.chance, row.all_right, row.same_content].map(percent);
        line([&row.model, &row.task, &row.condition], counts.into_iter().chain(spreads).chain(shares))
    };
    Listed {
        title: "Over the orders of the options (mean and sample deviation over seeds)",
        headings: headed(&[
            "orders",
            "items",
            "accuracy",
            "first slot",
            "chance",
            "right in all",
            "same content",
        ]),
        rows: decoding.orders.iter().map(cells).collect(),
        left_out: 0,
    }
}

/// Places of the label.
pub(in crate::report) fn slots(decoding: &Decoding, extent: Extent) -> Listed {
    let cells = |row: &SlotRow| {
        let said = [row.slot.to_string(), row.n.to_string(), percent(row.said), row.right_here.to_string()];
        let gold = [percent(row.accuracy), number(row.gold_probability), number(row.gold_share)];
        line([&row.model, &row.task, &row.condition], said.into_iter().chain(gold))
    };
    let is_shown = |row: &&SlotRow| decoding.is_shown(extent, [&row.model, &row.task, &row.condition]);
    let shown: Vec<&SlotRow> = decoding.slots.iter().filter(is_shown).collect();
    Listed {
        title: "By place of the label",
        headings: headed(&["place", "n", "said", "right here", "accuracy there", "p(gold)", "among labels"]),
        left_out: decoding.slots.len() - shown.len(),
        rows: shown.into_iter().map(cells).collect(),
    }
}

/// Numbers of options.
pub(in crate::report) fn options(decoding: &Decoding, extent: Extent) -> Listed {
    let cells = |row: &OptionsRow| {
        let counts = [row.options.to_string(), row.n.to_string()];
        let accuracy = [percent(row.accuracy), interval(row.low, row.high)];
        let shares = [Some(row.chance), row.first_slot].map(percent);
        line([&row.model, &row.task, &row.condition], counts.into_iter().chain(accuracy).chain(shares))
    };
    let is_shown = |row: &&OptionsRow| decoding.is_shown(extent, [&row.model, &row.task, &row.condition]);
    let shown: Vec<&OptionsRow> = decoding.options.iter().filter(is_shown).collect();
    Listed {
        title: "By number of options",
        headings: headed(&["options", "n", "accuracy", "95 % interval", "chance", "first slot"]),
        left_out: decoding.options.len() - shown.len(),
        rows: shown.into_iter().map(cells).collect(),
    }
}

/// Whole texts of the options.
pub(in crate::report) fn texts(decoding: &Decoding, _: Extent) -> Listed {
    let cells = |row: &TextsRow| {
        let ways = [row.sum, row.per_token, row.per_byte, row.unconditional, row.unequal].map(percent);
        line([&row.model, &row.task, &row.condition], [row.n.to_string()].into_iter().chain(ways))
    };
    Listed {
        title: "Whole texts of the options, accuracy by every way to judge them",
        headings: headed(&["n", "sum", "per token", "per byte", "unconditional", "unequal tokens"]),
        rows: decoding.texts.iter().map(cells).collect(),
        left_out: 0,
    }
}

/// What writing costs.
pub(in crate::report) fn written(decoding: &Decoding, _: Extent) -> Listed {
    let cells = |row: &WrittenRow| {
        let digits = |value: Option<f64>, digits: usize| {
            value.map_or("-".to_owned(), |value| format!("{value:.digits$}"))
        };
        let gains = [
            row.n.to_string(),
            percent(row.accuracy),
            signed(row.gain, 100.0),
            ends(row.gain_low, row.gain_high, 100.0),
            signed(row.gain_over_chain, 100.0),
        ];
        let costs = [
            digits(row.evaluated_per_item, 0),
            digits(row.written_per_item, 0),
            digits(row.times_direct, 1),
            number(row.joules_per_item),
        ];
        line([&row.model, &row.task, &row.condition], gains.into_iter().chain(costs))
    };
    Listed {
        title: "What writing costs and gains",
        headings: headed(&[
            "n",
            "accuracy",
            "over direct",
            "95 % interval",
            "over free-cot",
            "evaluated/item",
            "written/item",
            "x direct",
            "J/item",
        ]),
        rows: decoding.written.iter().map(cells).collect(),
        left_out: 0,
    }
}

fn headed(more: &[&'static str]) -> Vec<&'static str> {
    ["model", "task", "condition"].iter().chain(more).copied().collect()
}

fn line(names: [&String; WORDS], cells: impl IntoIterator<Item = String>) -> Vec<String> {
    names.into_iter().cloned().chain(cells).collect()
}

/// A ratio and its interval: `x 0.07`, `0.05 to 0.11`.
fn fold(ratio: &Ratio) -> [String; 2] {
    let value = ratio.value.map_or("-".to_owned(), |value| format!("x {}", factor(value)));
    let ends = match (ratio.low, ratio.high) {
        (Some(low), Some(high)) => format!("{} to {}", factor(low), factor(high)),
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
fn signed(value: Option<f64>, scale: f64) -> String {
    value.map_or("-".to_owned(), |value| format!("{:+.1}", scale * value))
}

/// The ends of its interval.
fn ends(low: Option<f64>, high: Option<f64>, scale: f64) -> String {
    match (low, high) {
        (Some(low), Some(high)) => format!("{:+.1} to {:+.1}", scale * low, scale * high),
        _ => "-".to_owned(),
    }
}

/// `45.78 ± 0.66 %`.
fn spread(spread: &Spread) -> String {
    match (spread.mean, spread.deviation) {
        (Some(mean), Some(deviation)) => format!("{:.2} ± {:.2} %", 100.0 * mean, 100.0 * deviation),
        (mean, _) => percent(mean),
    }
}
