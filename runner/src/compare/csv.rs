//! A comparison as CSV: one row per candidate, task and interface. Columns are stable; new ones are appended.

use std::io::Write;

use super::Comparison;
use super::rows::Row;

/// The columns, in order.
pub const COLUMNS: [&str; 54] = [
    "reference",
    "candidate",
    "task",
    "interface",
    "pairs",
    "families",
    "missing_in_reference",
    "missing_in_candidate",
    "not_counted",
    "both_right",
    "only_reference",
    "only_candidate",
    "both_wrong",
    "accuracy_reference",
    "accuracy_candidate",
    "difference",
    "low",
    "high",
    "method",
    "least",
    "design_effect",
    "mcnemar_p",
    "mcnemar_mid_p",
    "mcnemar_loss_p",
    "family_p",
    "family_loss_p",
    "holm_p",
    "detectable",
    "kl",
    "total_variation",
    "same_answer",
    "first_slot_reference",
    "first_slot_candidate",
    "first_slot_low",
    "first_slot_high",
    "time_ratio",
    "median_ms_reference",
    "median_ms_candidate",
    "energy_ratio",
    "energy_low",
    "energy_high",
    "energy_missing",
    "j_per_item_reference",
    "j_per_item_candidate",
    "bootstrap_low",
    "bootstrap_high",
    "time_rounds",
    "time_ratio_median",
    "time_ratio_low",
    "time_ratio_high",
    "energy_rounds",
    "energy_ratio_median",
    "energy_ratio_low",
    "energy_ratio_high",
];

/// Writes the rows.
pub fn write_csv(comparison: &Comparison, output: impl Write) -> csv::Result<()> {
    let mut writer = csv::Writer::from_writer(output);
    writer.write_record(COLUMNS)?;
    for row in &comparison.rows {
        writer.write_record(record(&comparison.reference.name, row))?;
    }
    writer.flush()?;
    Ok(())
}

fn record(reference: &str, row: &Row) -> Vec<String> {
    let number = |value: Option<f64>| {
        value.filter(|value| value.is_finite()).map_or(String::new(), |value| value.to_string())
    };
    let mut fields: Vec<String> =
        [reference, &row.candidate, &row.task, &row.interface].map(str::to_owned).to_vec();
    let counts = [
        row.pairs,
        row.families,
        row.missing_in_reference,
        row.missing_in_candidate,
        row.not_counted,
        row.both_right,
        row.only_reference,
        row.only_candidate,
        row.both_wrong,
    ];
    fields.extend(counts.map(|count| count.to_string()));
    fields.extend([row.accuracy_reference, row.accuracy_candidate].map(number));
    fields.extend([row.difference.value, row.difference.low, row.difference.high].map(number));
    let method = serde_json::json!(row.difference.method);
    fields.push(method.as_str().unwrap_or_default().to_owned());
    let numbers = [
        row.difference.least,
        Some(row.difference.design_effect),
        row.mcnemar.map(|test| test.two_sided),
        row.mcnemar.map(|test| test.mid_p),
        row.mcnemar.map(|test| test.loss),
        row.by_family.map(|test| test.two_sided),
        row.by_family.map(|test| test.loss),
        row.holm,
        row.detectable,
        row.labels.kl,
        row.labels.total_variation,
        row.labels.same_answer,
        row.labels.first_slot_reference,
        row.labels.first_slot_candidate,
        row.labels.first_slot_shift.low,
        row.labels.first_slot_shift.high,
        row.time_ratio,
        row.median_ms_reference,
        row.median_ms_candidate,
    ];
    fields.extend(numbers.map(number));
    let energy = &row.energy;
    fields.extend([energy.ratio, energy.low, energy.high].map(number));
    fields.push(energy.missing.unwrap_or_default().to_owned());
    fields.extend([energy.reference_j_per_item, energy.candidate_j_per_item].map(number));
    let ends = row.difference.bootstrap;
    fields.extend([ends.map(|ends| ends.0), ends.map(|ends| ends.1)].map(number));
    for figure in [row.rounds.time, row.rounds.energy] {
        fields.push(figure.n.to_string());
        fields.extend([figure.median, figure.low, figure.high].map(number));
    }
    fields
}
