//! Fits of the recursive Bayesian model, for people and for spreadsheets.

use std::io::Write;

use datasets::bayes::fit::Held;
use datasets::tasks::iip::routes::Kind;

use super::grid::{grid, number};
use crate::bayes::{Chooser, Fitted, Found};

/// Renders fits; shares are those chosen, with the mean prediction behind the stroke.
pub fn fits_table(fitted: &[Fitted], width: Option<u16>) -> String {
    let row = |fitted: &Fitted| {
        let mut row = vec![fitted.model.clone(), fitted.task.clone(), fitted.interface.clone()];
        row.push(fitted.n.to_string());
        row.push(fitted.unanswered.to_string());
        for kind in 0..Kind::ALL.len() {
            row.push(match &fitted.fit {
                Some(fit) => {
                    let share = fitted.chosen[kind] as f64 / fitted.n as f64;
                    format!("{share:.2}/{:.2}", fit.predicted[kind])
                }
                None => "-".to_owned(),
            });
        }
        let of = |value: fn(&Found) -> f64| number(fitted.fit.as_ref().map(value));
        row.extend([
            of(|fit| fit.cost),
            of(|fit| fit.urgency),
            of(|fit| fit.fading),
            of(|fit| fit.leaving),
            logarithm(fitted.fit.as_ref().map(|fit| fit.log_likelihood)),
            logarithm((fitted.n > 0).then_some(fitted.uniform_log_likelihood)),
            of(|fit| fit.loss),
        ]);
        row
    };
    let mut headings = vec!["model", "task", "interface", "n", "no route"];
    headings.extend(Kind::ALL.map(Kind::word));
    headings.extend(["cost", "urgency", "fading", "leaving", "log L", "uniform", "nats/choice"]);
    grid(&headings, 3, fitted.iter().map(row).collect(), width)
}

/// What counts is by how much two of them differ, however large they are.
fn logarithm(value: Option<f64>) -> String {
    value.map_or("-".to_owned(), |value| format!("{value:.1}"))
}

/// Writes the likelihood surfaces: one row per point, after model, task and interface.
pub fn write_surfaces_csv(
    choosers: &[Chooser],
    held: &Held,
    resolution: usize,
    output: impl Write,
) -> csv::Result<()> {
    let mut writer = csv::Writer::from_writer(output);
    writer.write_record(["model", "task", "interface", "n", "cost", "urgency", "loss", "log_likelihood"])?;
    for chooser in choosers {
        let n = chooser.n();
        for row in chooser.surface(held, resolution) {
            let figures = [row.cost, row.urgency, row.loss, -row.loss * n as f64];
            let names = [&chooser.model, &chooser.task, &chooser.interface];
            let names = names.into_iter().cloned().chain([n.to_string()]);
            writer.write_record(names.chain(figures.map(|value| value.to_string())))?;
        }
    }
    writer.flush()?;
    Ok(())
}

/// Writes what the fitted actor would have chosen on each item beside what was chosen.
pub fn write_predictions_csv(choosers: &[Chooser], fitted: &[Fitted], output: impl Write) -> csv::Result<()> {
    let mut writer = csv::Writer::from_writer(output);
    let headings = ["model", "task", "interface", "item", "chosen"].map(str::to_owned);
    let chances = Kind::ALL.map(|kind| format!("p_{}", kind.word()));
    writer.write_record(headings.iter().chain(&chances))?;
    for (chooser, fitted) in choosers.iter().zip(fitted) {
        let Some(found) = &fitted.fit else { continue };
        for (item, chosen, chances) in chooser.predictions(found, fitted.order) {
            let names = [&chooser.model, &chooser.task, &chooser.interface].map(String::as_str);
            let names = names.into_iter().chain([item, chosen.word()]).map(str::to_owned);
            writer.write_record(names.chain(chances.map(|chance| chance.to_string())))?;
        }
    }
    writer.flush()?;
    Ok(())
}
