//! Published figures beside measured ones, task by task. They come from other models, other items and other prompts
//! than the run's; sample sizes stand beside both.

use std::collections::BTreeSet;

use datasets::papers::{self, PaperError};

use super::baselines::Controls;
use super::figures::{FigureRow, figures};
use super::grid::number;
use super::load::RunLog;
use super::strata::in_words;

/// What stands in the place of a paper for measured figures.
pub const THIS_RUN: &str = "this run";

/// A figure, published or measured; of a measured one the paper is [`THIS_RUN`] and the table the run's task.
pub type Published = papers::Row;

/// The value on a table: what a paper printed stays as it printed it.
pub(super) fn value_in_words(row: &Published) -> String {
    match row.paper == THIS_RUN {
        true => number(Some(row.value)),
        false => row.value.to_string(),
    }
}

/// Published and measured figures of the tasks of a run: for each task its papers' rows, then the run's own accuracies
/// and whatever else the papers report under the same name. Tasks that no paper reports are left out.
pub fn published(run: &RunLog, controls: &Controls) -> Result<Vec<Published>, PaperError> {
    let measured = figures(run, &[]);
    let mut rows = Vec::new();
    let mut seen = BTreeSet::new();
    for task in run.header.tasks.iter().map(|record| record.task.as_str()) {
        if !seen.insert(task) {
            continue;
        }
        let papers = papers::on(task)?;
        if papers.is_empty() {
            continue;
        }
        let metrics: BTreeSet<String> = papers.iter().map(|row| row.metric.clone()).collect();
        let with_strata = metrics.contains("accuracy");
        rows.extend(papers);
        let own = |row: &&FigureRow| {
            let names =
                run.header.tasks.iter().filter(|record| record.task == task).map(|record| &record.name);
            let mean = row.task.strip_prefix(task).is_some_and(|rest| rest.starts_with(" (mean of cues "));
            mean || names.into_iter().any(|name| *name == row.task)
        };
        // Papers report by one tag at a time; crossed strata are among the figures.
        for row in measured.iter().filter(own).filter(|row| row.by.len() < 2) {
            let metric = [row.figure.clone(), format!("share of {}", row.figure)]
                .into_iter()
                .find(|name| metrics.contains(name) || name == "accuracy");
            rows.extend(metric.and_then(|metric| from_run(task, row, metric)));
        }
        for record in run.header.tasks.iter().filter(|record| record.task == task) {
            rows.extend(from_controls(task, &record.name, controls, with_strata));
        }
    }
    Ok(rows)
}

fn from_run(task: &str, row: &FigureRow, metric: String) -> Option<Published> {
    Some(Published {
        paper: THIS_RUN.to_owned(),
        table: row.task.clone(),
        task: task.to_owned(),
        model: row.model.clone(),
        condition: condition(&row.interface, &in_words(&row.by)),
        metric,
        value: row.value?,
        n: Some(row.n),
        human: false,
    })
}

fn from_controls(task: &str, name: &str, controls: &Controls, with_strata: bool) -> Vec<Published> {
    let mut figures = controls.of_task_by(name, &[] as &[&str]);
    let analysis = datasets::Task::named(task).map(|task| &task.analysis);
    if with_strata {
        let strata = analysis.map(|analysis| analysis.strata).unwrap_or_default();
        let single = strata.iter().filter(|tags| tags.len() == 1);
        figures.extend(single.flat_map(|tags| controls.of_task_by(name, tags)));
    }
    let row = |control: super::baselines::Control| {
        Some(Published {
            paper: THIS_RUN.to_owned(),
            table: name.to_owned(),
            task: task.to_owned(),
            model: control.baseline.clone(),
            condition: condition("control", &in_words(&control.by)),
            metric: "accuracy".to_owned(),
            value: control.accuracy?,
            n: Some(control.n),
            human: false,
        })
    };
    figures.into_iter().filter_map(row).collect()
}

fn condition(interface: &str, stratum: &str) -> String {
    if stratum.is_empty() { interface.to_owned() } else { format!("{interface}, {stratum}") }
}

/// Rows that differ in a number at the end of their condition alone (`CoT, depth 3`), joined to one line.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Series<'a> {
    /// The first row.
    pub(super) first: &'a Published,
    /// The condition without the number: `CoT, depth`; the whole condition of a single row.
    pub(super) condition: String,
    /// The numbers with the values.
    pub(super) points: Vec<(String, &'a Published)>,
}

/// Joins neighbours.
pub(super) fn series(rows: &[Published]) -> Vec<Series<'_>> {
    let mut all: Vec<Series<'_>> = Vec::new();
    for row in rows {
        let (stem, number) = match row.condition.rsplit_once(' ') {
            Some((stem, number)) if number.parse::<u32>().is_ok() => (stem, number),
            _ => (row.condition.as_str(), ""),
        };
        let head =
            |row: &Published| (row.table.clone(), row.model.clone(), row.metric.clone(), row.paper.clone());
        match all.last_mut() {
            Some(open)
                if !number.is_empty()
                    && open.condition == stem
                    && !open.points[0].0.is_empty()
                    && head(open.first) == head(row) =>
            {
                open.points.push((number.to_owned(), row));
            }
            _ => all.push(Series {
                first: row,
                condition: stem.to_owned(),
                points: vec![(number.to_owned(), row)],
            }),
        }
    }
    all
}

#[cfg(test)]
mod tests;
