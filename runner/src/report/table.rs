//! The result tables on a terminal.

use super::cells::Cell;
use super::figures::FigureRow;
use super::grid::{grid, interval, number, percent};
use super::papers::{Published, series};
use super::strata::{Stratum, in_words};
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
fn results(cell: &Cell) -> [String; 7] {
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

/// Renders named figures.
pub fn figures_table(figures: &[FigureRow], width: Option<u16>) -> String {
    let row = |figure: &FigureRow| {
        vec![
            figure.model.clone(),
            figure.task.clone(),
            figure.interface.clone(),
            in_words(&figure.by),
            figure.figure.clone(),
            number(figure.value),
            figure.n.to_string(),
        ]
    };
    let headings = ["model", "task", "interface", "stratum", "figure", "value", "n"];
    grid(&headings, 5, figures.iter().map(row).collect(), width)
}

/// Renders published and measured figures; values over a row of depths stand in one line.
pub fn papers_table(rows: &[Published], width: Option<u16>) -> String {
    let row = |series: super::papers::Series<'_>| {
        let numbers: Vec<&str> = series.points.iter().map(|(number, _)| number.as_str()).collect();
        let condition = match &numbers[..] {
            [""] => series.condition.clone(),
            numbers => format!("{} {}", series.condition, numbers.join(" ")),
        };
        let values: Vec<String> = series.points.iter().map(|(_, row)| number(Some(row.value))).collect();
        let mut sizes: Vec<String> =
            series.points.iter().map(|(_, row)| row.n.map_or("-".to_owned(), |n| n.to_string())).collect();
        sizes.dedup();
        let first = series.first;
        let people = if first.human && !first.model.contains("human") { " (people)" } else { "" };
        vec![
            first.task.clone(),
            first.paper.clone(),
            first.table.clone(),
            format!("{}{people}", first.model),
            condition,
            first.metric.clone(),
            values.join(" "),
            sizes.join(" "),
        ]
    };
    let headings = ["task", "paper", "table", "model", "condition", "metric", "value", "n"];
    grid(&headings, 8, series(rows).into_iter().map(row).collect(), width)
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
