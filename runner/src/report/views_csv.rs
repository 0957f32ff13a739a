//! The views of a report for spreadsheets: raw numbers, one row per stratum, control or figure. What does not exist is
//! an empty field.

use std::io::Write;

use super::baselines::Control;
use super::figures::FigureRow;
use super::papers::Published;
use super::strata::{Stratum, Values};

/// Strata: one column for each tag, after model, task and interface.
pub fn write_strata_csv(strata: &[Stratum], tags: &[String], output: impl Write) -> csv::Result<()> {
    let results = [
        "n",
        "right",
        "accuracy",
        "low",
        "high",
        "chance",
        "unanswered",
        "rescued",
        "skipped",
        "lost",
        "families",
    ];
    let row = |stratum: &Stratum| {
        let cell = &stratum.cell;
        let mut row = vec![cell.model.clone(), cell.task.clone(), cell.interface.clone()];
        row.extend(levels(&stratum.by));
        row.extend([cell.n.to_string(), cell.right.to_string()]);
        row.extend([cell.accuracy, cell.low, cell.high, cell.chance].map(number));
        row.extend(
            [cell.unanswered_total(), cell.rescued, cell.skipped, cell.lost, cell.families]
                .map(|n| n.to_string()),
        );
        row
    };
    write(headings(&["model", "task", "interface"], tags, &results), strata.iter().map(row), output)
}

/// Controls without a model: one column for each tag, after task and baseline.
pub fn write_baselines_csv(controls: &[Control], tags: &[String], output: impl Write) -> csv::Result<()> {
    let row = |control: &Control| {
        let mut row = vec![control.task.clone(), control.baseline.clone()];
        row.extend(levels(&control.by));
        row.extend([control.n, control.right, control.unanswered].map(|n| n.to_string()));
        row.extend([control.accuracy, control.low, control.high].map(number));
        row.push(control.families.to_string());
        row
    };
    let results = ["n", "right", "unanswered", "accuracy", "low", "high", "families"];
    write(headings(&["task", "baseline"], tags, &results), controls.iter().map(row), output)
}

/// Named figures; the stratum is one column, `tag=value` separated by spaces.
pub fn write_figures_csv(figures: &[FigureRow], output: impl Write) -> csv::Result<()> {
    let row = |figure: &FigureRow| {
        let by: Vec<String> = figure.by.iter().map(|(tag, value)| format!("{tag}={value}")).collect();
        vec![
            figure.model.clone(),
            figure.task.clone(),
            figure.interface.clone(),
            by.join(" "),
            figure.figure.clone(),
            number(figure.value),
            figure.n.to_string(),
        ]
    };
    let headings = headings(&["model", "task", "interface", "stratum", "figure", "value", "n"], &[], &[]);
    write(headings, figures.iter().map(row), output)
}

/// Published and measured figures.
pub fn write_papers_csv(rows: &[Published], output: impl Write) -> csv::Result<()> {
    let row = |row: &Published| {
        vec![
            row.task.clone(),
            row.paper.clone(),
            row.table.clone(),
            row.model.clone(),
            row.condition.clone(),
            row.metric.clone(),
            row.value.to_string(),
            row.n.map_or(String::new(), |n| n.to_string()),
            row.human.to_string(),
        ]
    };
    let names = ["task", "paper", "table", "model", "condition", "metric", "value", "n", "human"];
    write(headings(&names, &[], &[]), rows.iter().map(row), output)
}

fn write(
    headings: Vec<String>,
    rows: impl Iterator<Item = Vec<String>>,
    output: impl Write,
) -> csv::Result<()> {
    let mut writer = csv::Writer::from_writer(output);
    writer.write_record(headings)?;
    for row in rows {
        writer.write_record(row)?;
    }
    writer.flush()?;
    Ok(())
}

fn headings(before: &[&str], tags: &[String], after: &[&str]) -> Vec<String> {
    let names = before.iter().copied().chain(tags.iter().map(String::as_str)).chain(after.iter().copied());
    names.map(str::to_owned).collect()
}

fn levels(by: &Values) -> impl Iterator<Item = String> {
    by.iter().map(|(_, value)| value.clone())
}

fn number(value: Option<f64>) -> String {
    value.filter(|value| value.is_finite()).map_or(String::new(), |value| value.to_string())
}
