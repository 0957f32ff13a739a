//! The result tables on a terminal.

use super::cells::Cell;
use super::grid::{grid, interval, percent};
use super::strata::Stratum;
use crate::regrade::Change;

/// Renders the figures; `width` limits it where the terminal tells its width.
pub fn table(cells: &[Cell], width: Option<u16>) -> String {
    let headings = [
        "model",
        "task",
        "interface",
        "n",
        "accuracy",
        "95 % interval",
        "chance",
        "unanswered",
        "skipped",
        "lost",
        "tokens in",
        "evaluated",
        "out",
        "time, tok/s",
    ];
    let row = |cell: &Cell| {
        let rate = cell.tokens_per_s.map_or("-".to_owned(), |rate| format!("{rate:.0}"));
        let mut row = vec![cell.model.clone(), cell.task.clone(), cell.interface.clone()];
        row.extend(results(cell));
        row.extend([cell.prompt_tokens, cell.evaluated_tokens, cell.output_tokens].map(|n| n.to_string()));
        row.push(format!("{:.1} s, {rate}", cell.engine_s));
        row
    };
    grid(&headings, 3, cells.iter().map(row).collect(), width)
}

/// Renders strata: what was asked, the tags, the results.
pub fn strata_table(strata: &[Stratum], tags: &[String], width: Option<u16>) -> String {
    let mut headings = vec!["model", "task", "interface"];
    headings.extend(tags.iter().map(String::as_str));
    let words = headings.len();
    headings.extend(["n", "accuracy", "95 % interval", "chance", "unanswered", "skipped", "lost"]);
    let row = |stratum: &Stratum| {
        let cell = &stratum.cell;
        let mut row = vec![cell.model.clone(), cell.task.clone(), cell.interface.clone()];
        row.extend(stratum.by.iter().map(|(_, value)| value.clone()));
        row.extend(results(cell));
        row
    };
    grid(&headings, words, strata.iter().map(row).collect(), width)
}

/// What the columns from `n` to `lost` hold.
pub(super) fn results(cell: &Cell) -> [String; 7] {
    [
        cell.n.to_string(),
        percent(cell.accuracy),
        interval(cell.low, cell.high),
        percent(cell.chance),
        cell.unanswered_total().to_string(),
        cell.skipped.to_string(),
        cell.lost.to_string(),
    ]
}

/// Renders what reading a log again changed.
pub fn changes_table(changes: &[Change], width: Option<u16>) -> String {
    let row = |change: &Change| {
        let side = |verdict: &str, answer: &str| match answer {
            "" => verdict.to_owned(),
            answer => format!("{verdict}: {answer}"),
        };
        vec![
            change.model.clone(),
            change.task.clone(),
            change.interface.clone(),
            change.item.clone(),
            change.gold.clone(),
            side(&change.verdict_before, &change.answer_before),
            side(&change.verdict_now, &change.answer_now),
        ]
    };
    let headings = ["model", "task", "interface", "item", "gold", "before", "now"];
    grid(&headings, headings.len(), changes.iter().map(row).collect(), width)
}
