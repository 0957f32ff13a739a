//! Fits of the recursive Bayesian model on a terminal.

use datasets::tasks::iip::routes::Kind;

use super::grid::{grid, number};
use crate::bayes::Fitted;

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
        let of = |value: fn(&crate::bayes::Found) -> f64| number(fitted.fit.as_ref().map(value));
        row.extend([
            of(|fit| fit.cost),
            of(|fit| fit.urgency),
            of(|fit| fit.fading),
            of(|fit| fit.leaving),
            of(|fit| fit.log_likelihood),
            number((fitted.n > 0).then_some(fitted.uniform_log_likelihood)),
            of(|fit| fit.loss),
        ]);
        row
    };
    let mut headings = vec!["model", "task", "interface", "n", "no route"];
    headings.extend(Kind::ALL.map(Kind::word));
    headings.extend(["cost", "urgency", "fading", "leaving", "log L", "uniform", "nats/choice"]);
    grid(&headings, 3, fitted.iter().map(row).collect(), width)
}
