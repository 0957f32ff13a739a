//! What cheap controls without a model get on exactly the items of a run.

use std::collections::BTreeSet;

use datasets::{Baseline, Item, Said, Task, Verdict, grade};
use serde::Serialize;

use super::cells::{Cell, Witnesses};
use super::load::RunLog;
use super::strata::{Values, as_map, split, value_of_item};
use crate::material::Choices;

/// What stands in the place of an interface.
pub const NO_INTERFACE: &str = "baseline";

/// A control's figures.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Control {
    /// Name of the task.
    pub task: String,
    /// Name of the control.
    pub baseline: String,
    /// What it does.
    pub summary: String,
    /// The stratum; empty for all items.
    #[serde(serialize_with = "as_map")]
    pub by: Values,
    /// Items.
    pub n: u64,
    /// Right answers.
    pub right: u64,
    /// Items that it gives no answer to; they count as wrong.
    pub unanswered: u64,
    /// `right / n`; `None` without items.
    pub accuracy: Option<f64>,
    /// 95 % interval of the accuracy (Wilson, by family); `None` where all items are of one family.
    pub low: Option<f64>,
    /// Its upper end.
    pub high: Option<f64>,
    /// Families of the items.
    pub families: u64,
}

/// The controls of a run's tasks, with a line for each task whose items cannot be made anew.
#[derive(Default)]
pub struct Controls {
    tasks: Vec<(String, &'static Task, Vec<Item>)>,
    /// Why a task has no controls here, one line each.
    pub notes: Vec<String>,
}

impl Controls {
    /// Makes the items of the run anew, as far as they are in its log.
    pub fn of(run: &RunLog) -> Controls {
        let mut controls = Controls::default();
        let choices = match Choices::of(&run.header) {
            Ok(choices) => choices,
            Err(failure) => {
                controls.notes.push(format!("no baselines: {failure}"));
                return controls;
            }
        };
        for (index, record) in run.header.tasks.iter().enumerate() {
            let Some(task) = Task::named(&record.task).filter(|task| !task.baselines.is_empty()) else {
                continue;
            };
            let asked: BTreeSet<&str> = run
                .items
                .iter()
                .filter(|item| usize::from(item.at.task) == index)
                .map(|item| item.item.as_str())
                .collect();
            match choices.items(&run.header, index) {
                Ok(mut items) => {
                    items.retain(|item| asked.contains(item.id.as_str()));
                    controls.tasks.push((record.name.clone(), task, items));
                }
                Err(reason) => controls.notes.push(format!("no baselines: {reason}")),
            }
        }
        controls
    }

    /// Figures over all items.
    pub fn overall(&self) -> Vec<Control> {
        self.by(&[] as &[&str])
    }

    /// Figures by the values of tags; tasks whose items lack one of them are left out.
    pub fn by(&self, tags: &[impl AsRef<str>]) -> Vec<Control> {
        let mut figures = Vec::new();
        for (name, task, items) in &self.tasks {
            figures.extend(self::figures(name, task, items, tags));
        }
        figures
    }

    /// The same for one task of the run.
    pub(super) fn of_task_by(&self, task: &str, tags: &[impl AsRef<str>]) -> Vec<Control> {
        let found = self.tasks.iter().find(|(name, ..)| name == task);
        found.map(|(name, task, items)| figures(name, task, items, tags)).unwrap_or_default()
    }
}

fn figures(name: &str, task: &Task, items: &[Item], tags: &[impl AsRef<str>]) -> Vec<Control> {
    let graded: Vec<(&Baseline, Vec<(&Item, Verdict)>)> = task
        .baselines
        .iter()
        .map(|baseline| {
            let answers = (baseline.answers)(items);
            (
                baseline,
                items.iter().zip(answers).map(|(item, answer)| (item, verdict(item, answer))).collect(),
            )
        })
        .collect();
    let mut figures = Vec::new();
    for (baseline, graded) in &graded {
        let all: Vec<&(&Item, Verdict)> = graded.iter().collect();
        for (by, stratum) in split(&all, tags, |(item, _), tag| value_of_item(item, tag)) {
            let count =
                |wanted: Verdict| stratum.iter().filter(|(_, verdict)| *verdict == wanted).count() as u64;
            let (n, right) = (stratum.len() as u64, count(Verdict::Right));
            let worth = |verdict: Verdict| f64::from(u8::from(verdict == Verdict::Right));
            let witnesses =
                Witnesses::of(stratum.iter().map(|(item, verdict)| (item.family.as_str(), worth(*verdict))));
            figures.push(Control {
                task: name.to_owned(),
                baseline: baseline.name.to_owned(),
                summary: baseline.summary.to_owned(),
                by,
                n,
                right,
                unanswered: count(NOTHING),
                accuracy: (n > 0).then(|| right as f64 / n as f64),
                low: witnesses.low,
                high: witnesses.high,
                families: witnesses.families,
            });
        }
    }
    figures
}

const NOTHING: Verdict = Verdict::Unanswered(datasets::NoAnswer::Empty);

fn verdict(item: &Item, answer: Option<u16>) -> Verdict {
    let gold = &item.first_question().gold;
    answer.map_or(NOTHING, |label| grade::grade(gold, &Said::Choice(label)))
}

impl Control {
    /// As a row of the result table.
    pub(super) fn cell(&self) -> Cell {
        Cell {
            model: self.baseline.clone(),
            task: self.task.clone(),
            interface: NO_INTERFACE.to_owned(),
            n: self.n,
            right: self.right as f64,
            accuracy: self.accuracy,
            low: self.low,
            high: self.high,
            families: self.families,
            unanswered: [(datasets::NoAnswer::Empty, self.unanswered)]
                .into_iter()
                .filter(|(_, n)| *n > 0)
                .collect(),
            ..Cell::default()
        }
    }
}
