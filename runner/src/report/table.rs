//! The result table on a terminal.

use comfy_table::{CellAlignment, ContentArrangement, Table, presets};

use super::cells::Cell;
use super::load::RunLog;

const HEADINGS: [&str; 14] = [
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

/// Renders the figures; `width` limits it where the terminal tells its width.
pub fn table(cells: &[Cell], width: Option<u16>) -> String {
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_content_arrangement(ContentArrangement::Disabled);
    if let Some(width) = width {
        table.set_content_arrangement(ContentArrangement::Dynamic).set_width(width);
    }
    table.set_header(HEADINGS);
    for index in 3..HEADINGS.len() {
        if let Some(column) = table.column_mut(index) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    for cell in cells {
        table.add_row(row(cell));
    }
    table.to_string()
}

fn row(cell: &Cell) -> Vec<String> {
    let percent =
        |value: Option<f64>| value.map_or("-".to_owned(), |value| format!("{:.1} %", 100.0 * value));
    let interval = match (cell.low, cell.high) {
        (Some(low), Some(high)) => format!("{:.1} - {:.1}", 100.0 * low, 100.0 * high),
        _ => "-".to_owned(),
    };
    let rate = cell.tokens_per_s.map_or("-".to_owned(), |rate| format!("{rate:.0}"));
    vec![
        cell.model.clone(),
        cell.task.clone(),
        cell.interface.clone(),
        cell.n.to_string(),
        percent(cell.accuracy),
        interval,
        percent(cell.chance),
        cell.unanswered_total().to_string(),
        cell.skipped.to_string(),
        cell.lost.to_string(),
        cell.prompt_tokens.to_string(),
        cell.evaluated_tokens.to_string(),
        cell.output_tokens.to_string(),
        format!("{:.1} s, {rate}", cell.engine_s),
    ]
}

/// What a reader must know before believing the table, one line each.
pub fn notes(run: &RunLog, cells: &[Cell], mass_floor: f64) -> Vec<String> {
    let mut notes = Vec::new();
    if run.complete.is_none() {
        notes.push(format!(
            "incomplete: {} of {} groups are in the log",
            run.groups.len(),
            run.header.groups
        ));
    }
    for cell in cells {
        let place = format!("{} / {} / {}", cell.model, cell.task, cell.interface);
        if let Some(mass) = cell.median_label_mass.filter(|mass| *mass < mass_floor) {
            notes.push(format!(
                "{place}: median label mass {mass:.3} is below {mass_floor}: the model hardly means to answer with a label here"
            ));
        }
        let truncated: u64 =
            cell.unanswered.iter().filter(|(reason, _)| is_cut(**reason)).map(|(_, n)| n).sum();
        if cell.n > 0 && truncated * 5 > cell.n {
            notes.push(format!(
                "{place}: {truncated} of {} replies were cut off before an answer: raise max-tokens or read accuracy as a lower bound",
                cell.n
            ));
        }
    }
    if !run.deaths.is_empty() {
        notes.push(format!("workers died {} times; `log dump` tells where", run.deaths.len()));
    }
    if run.summary.damaged_stretches > 0 {
        notes.push(format!(
            "the log has {} damaged stretches; see `log verify`",
            run.summary.damaged_stretches
        ));
    }
    notes
}

fn is_cut(reason: datasets::NoAnswer) -> bool {
    use datasets::NoAnswer::{OpenReasoning, Truncated};
    matches!(reason, Truncated | OpenReasoning)
}
