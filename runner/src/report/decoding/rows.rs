//! Cells that the laboratory's tables have alike on a terminal and on the page.

use super::Decoding;
use super::text::spread;
use crate::report::grid::percent;

/// Headings of the orders of the options.
pub(in crate::report) const ORDERS: [&str; 7] =
    ["orders", "items", "accuracy", "first slot", "chance", "right in all", "same content"];

/// Headings of the options' whole texts.
pub(in crate::report) const TEXTS: [&str; 6] =
    ["n", "sum", "per token", "per byte", "unconditional", "unequal tokens"];

/// Headings with what every row begins with.
pub(in crate::report) fn headed<'a>(more: &[&'a str]) -> Vec<&'a str> {
    ["model", "task", "condition"].iter().chain(more).copied().collect()
}

/// What every row begins with.
pub(in crate::report) fn names(model: &str, task: &str, condition: &str) -> Vec<String> {
    [model, task, condition].map(str::to_owned).to_vec()
}

/// Rows under [`ORDERS`].
pub(in crate::report) fn orders(decoding: &Decoding) -> Vec<Vec<String>> {
    let cells = |row: &super::OrdersRow| {
        let mut cells = names(&row.model, &row.task, &row.condition);
        cells.extend([row.seeds.to_string(), row.items.to_string()]);
        cells.extend([spread(&row.accuracy), spread(&row.first_slot)]);
        cells.extend([row.chance, row.all_right, row.same_content].map(percent));
        cells
    };
    decoding.orders.iter().map(cells).collect()
}

/// Rows under [`TEXTS`].
pub(in crate::report) fn texts(decoding: &Decoding) -> Vec<Vec<String>> {
    let cells = |row: &super::TextsRow| {
        let mut cells = names(&row.model, &row.task, &row.condition);
        cells.push(row.n.to_string());
        cells.extend([row.sum, row.per_token, row.per_byte, row.unconditional, row.unequal].map(percent));
        cells
    };
    decoding.texts.iter().map(cells).collect()
}
