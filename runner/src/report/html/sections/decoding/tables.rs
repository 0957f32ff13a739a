//! The laboratory's tables on the page.

use crate::report::decoding::rows::{self, headed, names};
use crate::report::decoding::{Decoding, ends, fold, signed};
use crate::report::grid::{number, percent};
use crate::report::html::markup::{Markup, all, details, table};

/// A table: caption, headings, rows.
type Listed<'a> = (&'static str, Vec<&'static str>, &'a [Vec<String>]);

pub(super) fn tables(decoding: &Decoding) -> Markup {
    let mut parts = Vec::new();
    let shifts: Vec<Vec<String>> = decoding
        .shifts
        .iter()
        .map(|row| {
            let mut cells = names(&row.model, &row.task, &row.condition);
            cells.push(row.n.to_string());
            cells.extend(fold(&row.label_mass));
            cells.extend(fold(&row.continuation_mass));
            cells.push(signed(row.gold_rank, 1.0));
            cells.push(signed(row.accuracy, 100.0));
            cells.push(ends(row.accuracy_low, row.accuracy_high, 100.0));
            cells
        })
        .collect();
    let (orders, texts) = (rows::orders(decoding), rows::texts(decoding));
    let written: Vec<Vec<String>> = decoding
        .written
        .iter()
        .map(|row| {
            let mut cells = names(&row.model, &row.task, &row.condition);
            cells.extend([row.n.to_string(), percent(row.accuracy), signed(row.gain, 100.0)]);
            cells.extend([ends(row.gain_low, row.gain_high, 100.0), signed(row.gain_over_chain, 100.0)]);
            cells.extend([row.evaluated_per_item, row.written_per_item, row.joules_per_item].map(number));
            cells
        })
        .collect();
    let options: Vec<Vec<String>> = decoding
        .options
        .iter()
        .map(|row| {
            let mut cells = names(&row.model, &row.task, &row.condition);
            cells.extend([row.options.to_string(), row.n.to_string(), percent(row.accuracy)]);
            cells.extend([percent(Some(row.chance)), percent(row.first_slot)]);
            cells
        })
        .collect();
    let conditions: Vec<Vec<String>> = decoding
        .conditions
        .iter()
        .map(|row| {
            let mut cells = names(&row.model, &row.task, &row.condition);
            cells.extend([
                row.n.to_string(),
                percent(row.accuracy),
                percent(row.chance),
                percent(row.first_slot),
            ]);
            cells.extend(
                [row.label_mass, row.continuation_mass, row.gold_rank, row.margin, row.entropy].map(number),
            );
            cells
        })
        .collect();
    let lists: [Listed<'_>; 5] = [
        (
            "Against the direct condition, on the same items: ratios of mean mass, differences of rank and accuracy",
            headed(&[
                "n",
                "MA",
                "95 % interval",
                "MR",
                "95 % interval",
                "gold rank",
                "accuracy",
                "95 % interval",
            ]),
            &shifts,
        ),
        (
            "Over the orders of the options: mean and sample deviation over seeds",
            headed(&rows::ORDERS),
            &orders,
        ),
        ("Whole texts of the options, accuracy by every way to judge them", headed(&rows::TEXTS), &texts),
        (
            "What writing costs and gains",
            headed(&[
                "n",
                "accuracy",
                "over direct",
                "95 % interval",
                "over free-cot",
                "evaluated/item",
                "written/item",
                "J/item",
            ]),
            &written,
        ),
        ("By number of options", headed(&["options", "n", "accuracy", "chance", "first slot"]), &options),
    ];
    for (caption, headings, rows) in &lists {
        if !rows.is_empty() {
            parts.push(table(caption, headings, 3, rows));
        }
    }
    let headings =
        headed(&["n", "accuracy", "chance", "first slot", "MA", "MR", "gold rank", "margin", "entropy"]);
    let values = table("MA: label mass, MR: continuation mass", &headings, 3, &conditions);
    parts.push(details("Means of every condition", [values]));
    all(parts)
}
