//! Phases on a terminal and for spreadsheets.

use std::io::Write;

use super::cost_views::{number, significant, with_doubt};
use super::grid::grid;
use super::phases::{Asked, PhaseCost};
use crate::telemetry::missing::Missing;

/// Headings of the table; the first four columns are words.
pub(super) const HEADINGS: [&str; 11] =
    ["model", "task", "asked", "phase", "s", "spans", "tokens", "gross J", "mean W", "J/token", "marks"];

/// One row of the table. What is absent says why.
pub(super) fn row(cost: &PhaseCost) -> Vec<String> {
    let mut row = vec![cost.model.clone(), cost.task.clone(), word(cost.asked).to_owned()];
    row.extend([cost.phase.to_owned(), significant(cost.time_s)]);
    row.extend([cost.spans, cost.tokens].map(|count| count.to_string()));
    match cost.energy_j {
        None => {
            let why = cost.missing.map_or("-", Missing::word);
            row.extend([why; 3].map(str::to_owned));
        }
        Some(joules) => {
            let shown = |value: Option<f64>| value.map_or("-".to_owned(), significant);
            row.extend([with_doubt(joules, cost.doubt_j), shown(cost.mean_w), shown(cost.per_token_j)]);
        }
    }
    let marks: Vec<&str> = cost.marks.iter().map(|mark| mark.word()).collect();
    row.push(match marks.is_empty() || cost.energy_j.is_none() {
        true => "-".to_owned(),
        false => marks.join(" "),
    });
    row
}

fn word(asked: Asked) -> &'static str {
    match asked {
        Asked::Together => "together",
        Asked::Alone => "alone",
    }
}

/// Renders the phases.
pub fn phases_table(phases: &[PhaseCost], width: Option<u16>) -> String {
    grid(&HEADINGS, 4, phases.iter().map(row).collect(), width)
}

/// The columns of phases for spreadsheets.
const COLUMNS: [&str; 17] = [
    "model",
    "task",
    "asked",
    "phase",
    "spans",
    "time_s",
    "tokens",
    "source",
    "channel",
    "domain",
    "kind",
    "gross_j",
    "missing",
    "doubt_j",
    "mean_w",
    "j_per_token",
    "marks",
];

/// Writes the phases. What does not exist is an empty field.
pub fn write_phases_csv(phases: &[PhaseCost], output: impl Write) -> csv::Result<()> {
    let mut writer = csv::Writer::from_writer(output);
    writer.write_record(COLUMNS)?;
    for cost in phases {
        let mut row = vec![cost.model.clone(), cost.task.clone(), word(cost.asked).to_owned()];
        row.extend([cost.phase.to_owned(), cost.spans.to_string(), cost.time_s.to_string()]);
        row.push(cost.tokens.to_string());
        match &cost.sensor {
            None => row.extend(std::iter::repeat_n(String::new(), 4)),
            Some(sensor) => row.extend([
                sensor.source.clone(),
                sensor.channel.clone(),
                sensor.domain.word().to_owned(),
                sensor.kind.to_owned(),
            ]),
        }
        row.push(number(cost.energy_j));
        row.push(cost.missing.map_or(String::new(), |missing| missing.word().to_owned()));
        row.extend([cost.doubt_j, cost.mean_w, cost.per_token_j].map(number));
        row.push(cost.marks.iter().map(|mark| mark.word()).collect::<Vec<_>>().join(" "));
        writer.write_record(row)?;
    }
    writer.flush()?;
    Ok(())
}
