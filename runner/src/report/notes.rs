//! What a reader must know before believing the table, one line each.

use datasets::NoAnswer;

use super::cells::Cell;
use super::load::RunLog;
use super::memory::memory_notes;
use super::parity::Parity;
use super::pictures::picture_costs;

/// The notes on a run; `mass_floor` is the median label mass below which one warns.
pub fn notes(run: &RunLog, cells: &[Cell], parity: &[Parity], mass_floor: f64) -> Vec<String> {
    let mut notes = Vec::new();
    if run.complete.is_none() {
        notes.push(format!(
            "incomplete: {} of {} groups are in the log",
            run.groups.len(),
            run.header.own_groups()
        ));
    }
    for cell in cells {
        let place = format!("{} / {} / {}", cell.model, cell.task, cell.interface);
        if let Some(mass) = cell.median_label_mass.filter(|mass| *mass < mass_floor) {
            notes.push(format!(
                "{place}: median label mass {mass:.3} is below {mass_floor}: the model hardly means to answer with a label here"
            ));
        }
        if cell.outgrown > 0 {
            notes.push(format!(
                "{place}: {} of {} conversations outgrew the context and count as unanswered: raise context-cap-tokens or ask for fewer passes",
                cell.outgrown, cell.n
            ));
        }
        let cut: u64 = cell.unanswered.iter().filter(|(reason, _)| is_cut(**reason)).map(|(_, n)| n).sum();
        let truncated = cut.saturating_sub(cell.outgrown);
        if cell.n > 0 && truncated * 5 > cell.n {
            notes.push(format!(
                "{place}: {truncated} of {} replies were cut off before an answer: raise max-tokens or read accuracy as a lower bound",
                cell.n
            ));
        }
    }
    for row in parity {
        let number = |value: Option<f64>| value.map_or("-".to_owned(), |value| format!("{value:.3}"));
        notes.push(format!(
            "{}: {} items scored alone and packed: scores differ by {} in the median and by {} at the most, {} answers differ; \
             {} of {} scored answers lead by less than the noise floor of {} and are undecided",
            row.model,
            row.n,
            number(row.median_difference),
            number(row.largest_difference),
            row.flips,
            row.undecided,
            row.scored,
            number(row.noise_floor)
        ));
    }
    for cost in picture_costs(run) {
        notes.push(format!("{} / {}: {}", cost.model, cost.task, cost.in_words()));
    }
    for cell in cells.iter().filter(|cell| cell.rescued > 0 && cell.n > 0) {
        let without = (cell.right - cell.rescued_right as f64) / cell.n as f64;
        notes.push(format!(
            "{} / {} / {}: {} of {} answers were rescued by scoring the labels after a chain without an answer; accuracy \
             without them {:.1} %",
            cell.model,
            cell.task,
            cell.interface,
            cell.rescued,
            cell.n,
            100.0 * without
        ));
    }
    notes.extend(super::machine_notes::machine_notes(run));
    if !run.deaths.is_empty() {
        notes.push(format!("workers died {} times; `log dump` tells where", run.deaths.len()));
    }
    notes.extend(memory_notes(run));
    if !run.summary.is_whole() {
        notes.push(format!("the log is not whole: {}; see `log verify`", run.summary));
    }
    notes
}

fn is_cut(reason: NoAnswer) -> bool {
    matches!(reason, NoAnswer::Truncated | NoAnswer::OpenReasoning)
}
