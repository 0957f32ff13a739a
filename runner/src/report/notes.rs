//! What a reader must know before believing the table, one line each.

use datasets::NoAnswer;

use super::cells::Cell;
use super::completeness::completeness;
use super::grid::number;
use super::load::RunLog;
use super::memory::memory_notes;
use super::note::{Like, Note};
use super::parity::Parity;
use super::pictures::picture_costs;
use super::witnesses::witnesses;

/// The notes on a run; `mass_floor` is the median label mass below which one warns.
pub fn notes(run: &RunLog, cells: &[Cell], parity: &[Parity], mass_floor: f64) -> Vec<Note> {
    let mut notes: Vec<Note> = Vec::new();
    let mut plain: Vec<String> = Vec::new();
    notes.extend(completeness(run).into_iter().chain(witnesses(run, cells)).map(Note::from));
    for cell in cells {
        let place = format!("{} / {} / {}", cell.model, cell.task, cell.interface);
        let of = |applies: &dyn Fn(&Cell) -> bool| {
            let is_own = |other: &&Cell| other.model == cell.model && applies(other);
            cells.iter().filter(is_own).count()
        };
        let like = |what: String, figure: String, weight: f64, so: &str, of: usize| Like {
            place: [&cell.model, &cell.task, &cell.interface].map(String::clone),
            what,
            figure,
            weight,
            so: so.to_owned(),
            of,
        };
        if let Some(mass) = cell.median_label_mass.filter(|mass| *mass < mass_floor) {
            let shown = number(Some(mass));
            let text = format!(
                "{place}: median label mass {shown} is below {mass_floor}: the model hardly means to answer with a label here"
            );
            let like = like(
                format!("median label mass is below {mass_floor}"),
                format!("lowest {shown}"),
                -mass,
                "the model hardly means to answer with a label there",
                of(&|other| other.median_label_mass.is_some()),
            );
            notes.push(Note::like(text, like));
        }
        if cell.outgrown > 0 {
            let so = "they count as unanswered: raise context-cap-tokens or ask for fewer passes";
            let text = format!(
                "{place}: {} of {} conversations outgrew the context and count as unanswered: raise context-cap-tokens or ask for fewer passes",
                cell.outgrown, cell.n
            );
            let share = cell.outgrown as f64 / cell.n.max(1) as f64;
            let figure = format!("most, {} of {}", cell.outgrown, cell.n);
            let what = "conversations outgrew the context".to_owned();
            notes.push(Note::like(text, like(what, figure, share, so, of(&|_| true))));
        }
        let cut: u64 = cell.unanswered.iter().filter(|(reason, _)| is_cut(**reason)).map(|(_, n)| n).sum();
        let truncated = cut.saturating_sub(cell.outgrown);
        if cell.n > 0 && truncated * 5 > cell.n {
            let so = "raise max-tokens or read accuracy as a lower bound";
            let text =
                format!("{place}: {truncated} of {} replies were cut off before an answer: {so}", cell.n);
            let share = truncated as f64 / cell.n as f64;
            let figure = format!("most, {truncated} of {}", cell.n);
            let what = "replies were cut off before an answer".to_owned();
            notes.push(Note::like(text, like(what, figure, share, so, of(&|_| true))));
        }
        if cell.rescued > 0 && cell.n > 0 {
            let without = 100.0 * (cell.right - cell.rescued_right as f64) / cell.n as f64;
            let so = "accuracy counts them, and the CSV of items marks each";
            let text = format!(
                "{place}: {} of {} answers were rescued by scoring the labels after a chain without an answer; accuracy without \
                 them {without:.1} %",
                cell.rescued, cell.n
            );
            let share = cell.rescued as f64 / cell.n as f64;
            let figure =
                format!("most, {} of {}, accuracy without them {without:.1} %", cell.rescued, cell.n);
            let what =
                "answers were rescued by scoring the labels after a chain without an answer".to_owned();
            notes.push(Note::like(text, like(what, figure, share, so, of(&|_| true))));
        }
    }
    for row in parity {
        plain.push(format!(
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
        plain.push(format!("{} / {}: {}", cost.model, cost.task, cost.in_words()));
    }
    plain.extend(super::machine_notes::machine_notes(run));
    if !run.deaths.is_empty() {
        plain.push(format!("workers died {} times; `log dump` tells where", run.deaths.len()));
    }
    plain.extend(memory_notes(run));
    if !run.summary.is_whole() {
        plain.push(format!("the log is not whole: {}; see `log verify`", run.summary));
    }
    notes.extend(plain.into_iter().map(Note::from));
    notes
}

fn is_cut(reason: NoAnswer) -> bool {
    matches!(reason, NoAnswer::Truncated | NoAnswer::OpenReasoning)
}
