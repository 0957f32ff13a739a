//! Costs on a terminal and for spreadsheets.

use std::io::Write;

use super::costs::{Cost, Spent};
use super::grid::grid;
use crate::statistics::Ranged;
use crate::telemetry::missing::Missing;

/// Headings of the table; the first three columns are words.
pub(super) const HEADINGS: [&str; 13] = [
    "model",
    "task",
    "interface",
    "alone n",
    "end to end p50/p90 ms",
    "first token p50 ms",
    "between p50 ms",
    "gross J",
    "net J",
    "J/item",
    "J/token",
    "J/correct",
    "marks",
];

/// Renders the costs. What is absent says why.
pub fn costs_table(costs: &[Cost], width: Option<u16>) -> String {
    grid(&HEADINGS, 3, costs.iter().map(row).collect(), width)
}

/// One row of the table.
pub(super) fn row(cost: &Cost) -> Vec<String> {
    let mut row = vec![cost.model.clone(), cost.task.clone(), cost.interface.clone()];
    match &cost.latency {
        None => row.extend(["0", "not-sampled", "not-sampled", "not-sampled"].map(str::to_owned)),
        Some(latency) => row.extend([
            latency.end_to_end.n.to_string(),
            format!("{}/{}", ms(latency.end_to_end.p50_ms), ms(latency.end_to_end.p90_ms)),
            ms(latency.first_token.p50_ms),
            ms(latency.between_tokens.p50_ms),
        ]),
    }
    let energy = &cost.energy;
    let why = energy.missing.map_or("-", Missing::word).to_owned();
    let joules = |value: Option<f64>| match (value, energy.missing) {
        (Some(value), _) => significant(value),
        (None, Some(missing)) => missing.word().to_owned(),
        (None, None) => "-".to_owned(),
    };
    match energy.gross_j {
        None => row.extend(std::iter::repeat_n(why, 5)),
        Some(gross) => {
            row.push(with_doubt(gross, energy.doubt_j));
            row.push(joules(energy.net_j));
            row.extend([energy.per_item_j, energy.per_token_j, energy.per_correct_j].map(joules));
        }
    }
    row.push(marks(energy));
    row
}

fn ms(value: Option<f64>) -> String {
    value.map_or("-".to_owned(), significant)
}

/// Three significant digits: no sensor here is better than that.
pub(super) fn significant(value: f64) -> String {
    let magnitude = if value == 0.0 { 0 } else { value.abs().log10().floor() as i32 };
    format!("{value:.*}", (2 - magnitude).clamp(0, 6) as usize)
}

/// `120 ± 2`: as many places as the doubt has.
pub(super) fn with_doubt(value: f64, doubt: Option<f64>) -> String {
    match doubt {
        Some(doubt) => format!("{} ± {}", significant(value), significant(doubt)),
        None => significant(value),
    }
}

fn marks(energy: &Spent) -> String {
    let marks: Vec<&str> = energy.marks.iter().map(|mark| mark.word()).collect();
    match marks.is_empty() || energy.gross_j.is_none() {
        true => "-".to_owned(),
        false => marks.join(" "),
    }
}

/// The columns of costs for spreadsheets.
const COLUMNS: [&str; 51] = [
    "model",
    "task",
    "interface",
    "alone_n",
    "end_to_end_p50_ms",
    "end_to_end_p90_ms",
    "end_to_end_p99_ms",
    "end_to_end_max_ms",
    "first_token_p50_ms",
    "first_token_p90_ms",
    "first_token_p99_ms",
    "between_tokens_n",
    "between_tokens_p50_ms",
    "between_tokens_p90_ms",
    "between_tokens_p99_ms",
    "prompt_tokens_per_s",
    "output_tokens_per_s",
    "major_faults",
    "source",
    "channel",
    "domain",
    "kind",
    "rate_hz",
    "gross_j",
    "missing",
    "doubt_j",
    "net_j",
    "idle_w",
    "mean_w",
    "time_s",
    "items",
    "items_without",
    "j_per_item",
    "j_per_token",
    "j_per_correct",
    "readings",
    "failed",
    "gap_s",
    "calibrated",
    "marks",
    "rounds",
    "s_per_item_median",
    "s_per_item_low",
    "s_per_item_high",
    "tokens_per_s_median",
    "tokens_per_s_low",
    "tokens_per_s_high",
    "j_per_item_rounds",
    "j_per_item_median",
    "j_per_item_low",
    "j_per_item_high",
];

/// Writes the costs. What does not exist is an empty field.
pub fn write_costs_csv(costs: &[Cost], output: impl Write) -> csv::Result<()> {
    let mut writer = csv::Writer::from_writer(output);
    writer.write_record(COLUMNS)?;
    for cost in costs {
        let mut row = vec![cost.model.clone(), cost.task.clone(), cost.interface.clone()];
        let latency = cost.latency.unwrap_or_default();
        row.push(latency.end_to_end.n.to_string());
        let spread = |spread: crate::telemetry::latency::Spread| {
            [spread.p50_ms, spread.p90_ms, spread.p99_ms].map(number)
        };
        row.extend(spread(latency.end_to_end));
        row.push(number(latency.end_to_end.max_ms));
        row.extend(spread(latency.first_token));
        row.push(latency.between_tokens.n.to_string());
        row.extend(spread(latency.between_tokens));
        row.extend([latency.prompt_tokens_per_s, latency.output_tokens_per_s].map(number));
        row.push(latency.major_faults.map_or(String::new(), |faults| faults.to_string()));
        let energy = &cost.energy;
        match &energy.sensor {
            None => row.extend(std::iter::repeat_n(String::new(), 5)),
            Some(sensor) => row.extend([
                sensor.source.clone(),
                sensor.channel.clone(),
                sensor.domain.word().to_owned(),
                sensor.kind.to_owned(),
                (sensor.rate_mhz as f64 / 1e3).to_string(),
            ]),
        }
        row.push(number(energy.gross_j));
        row.push(energy.missing.map_or(String::new(), |missing| missing.word().to_owned()));
        row.extend([energy.doubt_j, energy.net_j, energy.idle_w, energy.mean_w].map(number));
        row.push(energy.time_s.to_string());
        row.extend([energy.items, energy.items_without].map(|n| n.to_string()));
        row.extend([energy.per_item_j, energy.per_token_j, energy.per_correct_j].map(number));
        row.extend([energy.readings, energy.failed].map(|n| n.to_string()));
        row.push(energy.gap_s.to_string());
        row.push(energy.sensor.as_ref().map_or(String::new(), |sensor| sensor.calibrated.to_string()));
        row.push(energy.marks.iter().map(|mark| mark.word()).collect::<Vec<_>>().join(" "));
        let rounds = &cost.rounds;
        let ends = |figure: Ranged| [figure.median, figure.low, figure.high].map(number);
        row.push(rounds.each.len().to_string());
        row.extend(ends(rounds.seconds_per_item));
        row.extend(ends(rounds.tokens_per_s));
        row.push(rounds.joules_per_item.n.to_string());
        row.extend(ends(rounds.joules_per_item));
        writer.write_record(row)?;
    }
    writer.flush()?;
    Ok(())
}

pub(super) fn number(value: Option<f64>) -> String {
    value.filter(|value| value.is_finite()).map_or(String::new(), |value| value.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_three_significant_digits() {
        let shown = [120.04, 1.2345, 0.001234, 98765.0, 0.0].map(significant);
        assert_eq!(shown, ["120", "1.23", "0.00123", "98765", "0.00"]);
        assert_eq!(with_doubt(120.0, Some(1.6)), "120 ± 1.60");
    }

    #[test]
    fn a_cost_without_a_sensor_says_so_in_every_column() {
        let cost = Cost {
            model: "m".into(),
            energy: Spent { missing: Some(Missing::NoSensor), ..Spent::default() },
            ..Cost::default()
        };
        let table = costs_table(std::slice::from_ref(&cost), None);
        assert_eq!(table.matches("no-sensor").count(), 5, "{table}");
        let mut csv = Vec::new();
        write_costs_csv(&[cost], &mut csv).unwrap();
        let csv = String::from_utf8(csv).unwrap();
        let mut lines = csv.lines();
        let columns: Vec<&str> = lines.next().unwrap().split(',').collect();
        let values: Vec<&str> = lines.next().unwrap().split(',').collect();
        assert_eq!(columns.len(), values.len());
        let field = |name: &str| values[columns.iter().position(|column| *column == name).unwrap()];
        assert_eq!((field("gross_j"), field("missing"), field("j_per_correct")), ("", "no-sensor", ""));
        assert_eq!((field("end_to_end_p50_ms"), field("net_j")), ("", ""));
    }
}
