//! Costs over rounds on a terminal and on a page.

use super::cost_views::significant;
use super::costs::Cost;
use super::grid::grid;
use super::rounds::Rounds;
use crate::statistics::Ranged;

/// Headings of the table; the first three columns are words.
pub const ROUND_HEADINGS: [&str; 7] = ["model", "task", "interface", "rounds", "s/item", "tok/s", "J/item"];

/// Renders costs over rounds: the median with the lowest and the highest; nothing where no cost has several rounds.
pub fn rounds_table(costs: &[Cost], width: Option<u16>) -> Option<String> {
    let rows = round_rows(costs);
    let table =
        |rows| format!("over rounds: median (lowest to highest)\n{}", grid(&ROUND_HEADINGS, 3, rows, width));
    (!rows.is_empty()).then(|| table(rows))
}

/// Rows of the table.
pub fn round_rows(costs: &[Cost]) -> Vec<Vec<String>> {
    costs.iter().filter(|cost| cost.rounds.are_told()).map(row).collect()
}

fn row(cost: &Cost) -> Vec<String> {
    let rounds = &cost.rounds;
    let mut row = [&cost.model, &cost.task, &cost.interface].map(String::clone).to_vec();
    row.push(rounds.each.len().to_string());
    row.push(in_words(rounds, rounds.seconds_per_item).unwrap_or_else(|| "-".to_owned()));
    row.push(in_words(rounds, rounds.tokens_per_s).unwrap_or_else(|| "-".to_owned()));
    let why = || {
        let reason = rounds.each.iter().find_map(|round| round.energy.missing);
        reason.map_or("-", |missing| missing.word()).to_owned()
    };
    row.push(in_words(rounds, rounds.joules_per_item).unwrap_or_else(why));
    row
}

/// `0.52 (0.50 to 0.55)`, and of how many rounds where not all have a figure.
fn in_words(rounds: &Rounds, figure: Ranged) -> Option<String> {
    let median = significant(figure.median?);
    let of = match figure.n < rounds.each.len() as u64 {
        true => format!("; {} of {}", figure.n, rounds.each.len()),
        false => String::new(),
    };
    Some(format!("{median} ({} to {}{of})", significant(figure.low?), significant(figure.high?)))
}
