//! The laboratory's tables for spreadsheets: one figure a row, with its interval where it has one. `table` names the table, `by`
//! what the figure is of beside model, task and condition: a place, a number of options.

use std::io::Write;

use super::Decoding;

/// The columns.
const COLUMNS: [&str; 10] =
    ["table", "model", "task", "condition", "by", "figure", "value", "low", "high", "n"];

/// A figure: name, value, lower and upper end.
type Figure = (&'static str, Option<f64>, Option<f64>, Option<f64>);

/// Writes all tables into one file.
pub fn write_decoding_csv(decoding: &Decoding, output: impl Write) -> csv::Result<()> {
    let mut writer = csv::Writer::from_writer(output);
    writer.write_record(COLUMNS)?;
    let number =
        |value: Option<f64>| value.filter(|value| value.is_finite()).map_or(String::new(), |v| v.to_string());
    let mut put =
        |table: &str, place: [&String; 3], by: String, n: u64, figures: &[Figure]| -> csv::Result<()> {
            for (figure, value, low, high) in figures {
                let [model, task, condition] = place;
                let row = [table, model, task, condition, &by, figure].map(str::to_owned);
                let numbers = [number(*value), number(*low), number(*high), n.to_string()];
                writer.write_record(row.iter().chain(&numbers))?;
            }
            Ok(())
        };
    let plain = |name: &'static str, value: Option<f64>| (name, value, None, None);
    for row in &decoding.conditions {
        let figures = [
            ("accuracy", row.accuracy, row.low, row.high),
            plain("chance", row.chance),
            plain("first-slot", row.first_slot),
            plain("first-is-right", row.first_is_right),
            plain("unanswered", row.unanswered),
            plain("label-mass", row.label_mass),
            plain("continuation-mass", row.continuation_mass),
            plain("variant-mass", row.variant_mass),
            plain("gold-rank", row.gold_rank),
            plain("gold-probability", row.gold_probability),
            plain("margin", row.margin),
            plain("entropy", row.entropy),
        ];
        put("conditions", [&row.model, &row.task, &row.condition], String::new(), row.n, &figures)?;
    }
    for row in &decoding.shifts {
        let figures = [
            ("label-mass-ratio", row.label_mass.value, row.label_mass.low, row.label_mass.high),
            (
                "continuation-mass-ratio",
                row.continuation_mass.value,
                row.continuation_mass.low,
                row.continuation_mass.high,
            ),
            ("gold-rank-difference", row.gold_rank, row.gold_rank_low, row.gold_rank_high),
            ("accuracy-difference", row.accuracy, row.accuracy_low, row.accuracy_high),
        ];
        put("shifts", [&row.model, &row.task, &row.condition], String::new(), row.n, &figures)?;
    }
    for row in &decoding.orders {
        let figures = [
            plain("accuracy-mean", row.accuracy.mean),
            plain("accuracy-deviation", row.accuracy.deviation),
            plain("first-slot-mean", row.first_slot.mean),
            plain("first-slot-deviation", row.first_slot.deviation),
            plain("chance", row.chance),
            plain("right-in-all", row.all_right),
            plain("same-content", row.same_content),
        ];
        let by = format!("orders={}", row.seeds);
        put("orders", [&row.model, &row.task, &row.condition], by, row.items, &figures)?;
    }
    for row in &decoding.slots {
        let place = [&row.model, &row.task, &row.condition];
        put("slots", place, format!("place={}", row.slot), row.n, &[plain("said", row.said)])?;
        let here = [
            plain("accuracy-where-right", row.accuracy),
            plain("gold-probability", row.gold_probability),
            plain("gold-share", row.gold_share),
        ];
        put("slots", place, format!("place={}", row.slot), row.right_here, &here)?;
    }
    for row in &decoding.options {
        let figures = [
            ("accuracy", row.accuracy, row.low, row.high),
            plain("first-slot", row.first_slot),
            plain("chance", Some(row.chance)),
        ];
        let by = format!("options={}", row.options);
        put("options", [&row.model, &row.task, &row.condition], by, row.n, &figures)?;
    }
    for row in &decoding.texts {
        let figures = [
            plain("accuracy-sum", row.sum),
            plain("accuracy-per-token", row.per_token),
            plain("accuracy-per-byte", row.per_byte),
            plain("accuracy-unconditional", row.unconditional),
            plain("unequal-tokens", row.unequal),
        ];
        put("texts", [&row.model, &row.task, &row.condition], String::new(), row.n, &figures)?;
    }
    for row in &decoding.written {
        let figures = [
            plain("accuracy", row.accuracy),
            ("gain-over-direct", row.gain, row.gain_low, row.gain_high),
            plain("gain-over-free-cot", row.gain_over_chain),
            plain("evaluated-tokens-per-item", row.evaluated_per_item),
            plain("written-tokens-per-item", row.written_per_item),
            plain("tokens-times-direct", row.times_direct),
            plain("joules-per-item", row.joules_per_item),
        ];
        put("written", [&row.model, &row.task, &row.condition], String::new(), row.n, &figures)?;
    }
    writer.flush()?;
    Ok(())
}
