//! How many items it takes to see a difference, before anything is run.
//!
//! What is needed depends on how many answers differ between two models, which nobody knows beforehand: a table over
//! several shares tells more than one number.

use std::fmt;

use serde::Serialize;

use super::Plan;
use crate::statistics::{detectable, items_to_detect, items_to_exclude};

/// Shares of answers that differ: two neighbours of a ladder, and models that have little in common.
const SHARES: [f64; 4] = [0.05, 0.1, 0.2, 0.4];

/// What a difference of a chosen size takes.
#[derive(Clone, Debug, Serialize)]
pub struct Design {
    /// The difference, as a fraction.
    pub difference: f64,
    /// For several shares of answers that differ.
    pub needs: Vec<Need>,
    /// What the plan's items show.
    pub rows: Vec<Row>,
}

/// Items that it takes when so many answers differ.
#[derive(Clone, Debug, Serialize)]
pub struct Need {
    /// Share of answers that differ.
    pub differing: f64,
    /// Items to see the difference with probability 0.8; `None` when it cannot be so large.
    pub to_see: Option<f64>,
    /// Items to show with probability 0.8 that there is no such loss, where there is none.
    pub to_exclude: Option<f64>,
}

/// A task of the plan.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// Name of the task.
    pub task: String,
    /// Its items.
    pub items: u64,
    /// Families that they come from: items of one family are no independent witnesses.
    pub families: u64,
    /// The smallest difference that so many independent items show, for the same shares.
    pub smallest: Vec<Option<f64>>,
}

/// The design of a plan.
pub fn design(plan: &Plan, difference: f64) -> Design {
    let need = |differing: f64| Need {
        differing,
        to_see: items_to_detect(difference, differing).map(f64::ceil),
        to_exclude: items_to_exclude(difference, differing).map(f64::ceil),
    };
    let rows = plan.tasks.iter().map(|task| {
        let families: std::collections::BTreeSet<&str> =
            task.items.iter().map(|item| item.family.as_str()).collect();
        Row {
            task: task.record.name.clone(),
            items: task.items.len() as u64,
            families: families.len() as u64,
            smallest: SHARES.iter().map(|share| detectable(task.items.len() as f64, *share)).collect(),
        }
    });
    Design { difference, needs: SHARES.iter().map(|share| need(*share)).collect(), rows: rows.collect() }
}

impl fmt::Display for Design {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let points = 100.0 * self.difference;
        writeln!(f, "items for a difference of {points} points (probability 0.8 at 5 %), all tasks alike:")?;
        let count = |items: Option<f64>| items.map_or("never".to_owned(), |items| format!("{items:.0}"));
        writeln!(
            f,
            "  {:>20}  {:>12}  {:>24}",
            "answers that differ", "to see it", "to exclude such a loss"
        )?;
        for need in &self.needs {
            let differing = format!("{:.0} %", 100.0 * need.differing);
            let (see, exclude) = (count(need.to_see), count(need.to_exclude));
            writeln!(f, "  {differing:>20}  {see:>12}  {exclude:>24}")?;
        }
        writeln!(f, "smallest difference, in points, that the planned items show:")?;
        let shares: String =
            SHARES.iter().map(|share| format!(" {:>8}", format!("{:.0} %", 100.0 * share))).collect();
        writeln!(f, "  {:<16} {:>7} {:>9}{shares}", "task", "items", "families")?;
        for row in &self.rows {
            let smallest: String = row
                .smallest
                .iter()
                .map(|value| {
                    let value = value.map_or("none".to_owned(), |value| format!("{:.1}", 100.0 * value));
                    format!(" {value:>8}")
                })
                .collect();
            writeln!(f, "  {:<16} {:>7} {:>9}{smallest}", row.task, row.items, row.families)?;
        }
        writeln!(
            f,
            "  items of one family count for less than one each; `compare` says how much (design effect)"
        )
    }
}
