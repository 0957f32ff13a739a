//! Why a model is not loaded: what it would take, line by line, and what would do.

use std::fmt::Write;

use serde::{Deserialize, Serialize};

use super::budget::Counts;
use super::prediction::{Kind, Prediction};
use super::{Limit, in_words};

/// What the program itself takes more or less from one start to the next: a budget that did once must do again.
const SWAY_BYTES: u64 = 1 << 20;

/// A model that does not fit, however it is loaded.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refusal {
    /// The model's name.
    pub model: String,
    /// The limit.
    pub limit: Limit,
    /// The way to load it that needs least.
    pub prediction: Prediction,
    /// The smallest budget that would do.
    pub smallest_budget_bytes: u64,
}

impl Refusal {
    /// Of the way to load a model that needs least.
    pub fn new(model: &str, limit: &Limit, prediction: Prediction) -> Self {
        Refusal {
            model: model.to_owned(),
            limit: limit.clone(),
            smallest_budget_bytes: prediction.budget_bytes(limit.counts) + SWAY_BYTES,
            prediction,
        }
    }

    /// One line: what is short, and what to do.
    pub fn line(&self) -> String {
        let counts = match self.limit.counts {
            Counts::Resident => "resident",
            Counts::Private => "private",
        };
        format!(
            "model {}: needs {} of {counts} memory at least, the budget is {} ({}), {} short: give --memory-budget {}, \
             a smaller model, or allow more in [memory]",
            self.model,
            in_words(self.smallest_budget_bytes),
            in_words(self.limit.bytes),
            self.limit.origin,
            in_words(self.smallest_budget_bytes.saturating_sub(self.limit.bytes)),
            whole_mebibytes(self.smallest_budget_bytes)
        )
    }

    /// The table: every line, and what remains of the budget after it.
    pub fn table(&self) -> String {
        let mut text = table(&self.prediction, self.limit.counts, Some(self.limit.bytes));
        let _ = writeln!(
            text,
            "  smallest budget that would do: {}",
            whole_mebibytes(self.smallest_budget_bytes)
        );
        text
    }
}

/// A budget that covers the bytes, in whole MiB.
fn whole_mebibytes(bytes: u64) -> String {
    format!("{}MiB", bytes.div_ceil(1 << 20))
}

/// A prediction as a table, with what remains of a limit after each line.
pub(crate) fn table(prediction: &Prediction, counts: Counts, limit_bytes: Option<u64>) -> String {
    let mut text = String::new();
    let remains = |left: i128| match left {
        left if left >= 0 => in_words(left as u64),
        left => format!("-{}", in_words(left.unsigned_abs() as u64)),
    };
    let mut left = limit_bytes.map(i128::from);
    let head = if left.is_some() { "remains" } else { "" };
    let _ = writeln!(text, "  {:<46} {:>11} {:>8} {:>12}", "memory", "needs", "kind", head);
    let mut row = |what: &str, bytes: u64, kind: &str, counted: bool| {
        if counted && let Some(left) = &mut left {
            *left -= i128::from(bytes);
        }
        let after = left.map(remains).unwrap_or_default();
        let _ = writeln!(text, "  {what:<46} {:>11} {kind:>8} {after:>12}", in_words(bytes));
    };
    for line in &prediction.lines {
        let (kind, counted) = match line.kind {
            Kind::Private => ("private", true),
            Kind::File => ("file", counts == Counts::Resident),
        };
        row(&line.what, line.bytes, kind, counted);
    }
    let margin = prediction.budget_bytes(counts) - prediction.counted(counts);
    row("margin of the prediction, 3 %", margin, "", true);
    let _ = writeln!(
        text,
        "  {:<46} {:>11}   private {}, file {}{}",
        "in all",
        in_words(prediction.resident_bytes()),
        in_words(prediction.of(Kind::Private)),
        in_words(prediction.of(Kind::File)),
        if prediction.sized { "" } else { "; reckoned from the header alone" }
    );
    text
}
