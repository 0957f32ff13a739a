//! Reads and grades the replies of a log again, without the model: the items are made anew, and every logged reply goes
//! through its interface's exchange as if it had just come.

mod replay;
mod rewrite;

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use datasets::{Condition, Item, Normalisation, Settings, TextNormalisation};
use serde::Serialize;

use crate::entry::{Header, ItemRecord};
use crate::exit::{Exit, Failure};
use crate::material::Choices;
use crate::report::{RunLog, answer_in_words, gold_in_words, verdict_in_words};

pub use replay::{Course, replay};
pub use rewrite::{beside, is_regraded, rewrite};

/// What it takes to read a log's replies again.
pub struct Regrader {
    tasks: Vec<HashMap<String, Item>>,
    /// By model and task.
    settings: Vec<Vec<Settings>>,
}

/// What came of a log.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Outcome {
    /// Reading version of the log.
    pub reading_before: u32,
    /// Reading version of this program.
    pub reading_now: u32,
    /// Item-interface pairs that were read again.
    pub read: u64,
    /// Pairs that have no replies to read, because the engine lost them; kept.
    pub lost: u64,
    /// Conversations that would have gone another way, so that their later replies answer other questions; kept.
    pub other_course: u64,
    /// Pairs that would now be asked something more (a rescue), which the log cannot answer; they count as unanswered.
    pub unasked: u64,
    /// How many pairs went from what to what.
    pub transitions: BTreeMap<String, u64>,
    /// Every pair that changed.
    pub changes: Vec<Change>,
}

/// A pair that changed.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Change {
    /// Name of the model.
    pub model: String,
    /// Name of the task.
    pub task: String,
    /// Name of the interface.
    pub interface: String,
    /// Id of the item.
    pub item: String,
    /// What is right, of the last question.
    pub gold: String,
    /// The verdict in the log.
    pub verdict_before: String,
    /// The verdict now.
    pub verdict_now: String,
    /// The last answer in the log.
    pub answer_before: String,
    /// The last answer now.
    pub answer_now: String,
}

impl Regrader {
    /// Makes the items of a run anew. Refused where they are not those that were asked.
    pub fn of(header: &Header) -> Result<Regrader, Failure> {
        let choices = Choices::of(header)?;
        let mismatch = |message: String| Failure::new(Exit::Mismatch, message);
        let mut tasks = Vec::new();
        for index in 0..header.tasks.len() {
            let items = choices.items(header, index).map_err(mismatch)?;
            tasks.push(items.into_iter().map(|item| (item.id.clone(), item)).collect());
        }
        let of_model = |model: usize| {
            (0..header.tasks.len())
                .map(|task| choices.settings(header, model, task))
                .collect::<Result<_, _>>()
        };
        let settings = (0..header.models.len()).map(of_model).collect::<Result<_, _>>().map_err(mismatch)?;
        Ok(Regrader { tasks, settings })
    }

    /// Reads one record again.
    pub fn record(&self, record: &ItemRecord) -> Result<(ItemRecord, Course), String> {
        let (model, task) = (usize::from(record.at.model), usize::from(record.at.task));
        let unknown = |what: &str| format!("item {} through {}: {what}", record.item, record.interface);
        let item = self.tasks.get(task).and_then(|items| items.get(&record.item));
        let item = item.ok_or_else(|| unknown("the task has no such item"))?;
        let condition = Condition::named(&record.interface)
            .ok_or_else(|| unknown("this version has no such interface or ending"))?;
        let settings = self.settings.get(model).and_then(|tasks| tasks.get(task));
        let settings = settings.ok_or_else(|| unknown("the log has no such model"))?;
        Ok(replay(record, item, &condition, settings))
    }
}

/// Reads a whole run again.
pub fn regrade(run: &RunLog, regrader: &Regrader) -> Result<Outcome, Failure> {
    let mut outcome = Outcome {
        reading_before: run.header.reading_version,
        reading_now: datasets::reading::VERSION,
        ..Outcome::default()
    };
    for before in &run.items {
        let (now, course) =
            regrader.record(before).map_err(|message| Failure::new(Exit::Mismatch, message))?;
        match course {
            Course::Lost => outcome.lost += 1,
            Course::Other => outcome.other_course += 1,
            Course::Read { unasked } => {
                outcome.read += 1;
                outcome.unasked += u64::from(unasked);
            }
        }
        outcome.compare(run, before, &now);
    }
    Ok(outcome)
}

impl Outcome {
    fn compare(&mut self, run: &RunLog, before: &ItemRecord, now: &ItemRecord) {
        let (was, is) = (verdict_in_words(before.verdict), verdict_in_words(now.verdict));
        let said = |item: &ItemRecord| item.turns.iter().map(|turn| turn.said.clone()).collect::<Vec<_>>();
        let transition = if before.verdict != now.verdict {
            format!("{was} -> {is}")
        } else if said(before) != said(now) {
            format!("{was} -> {is}, another answer")
        } else if before.scores != now.scores {
            format!("{was} -> {is}, other scores")
        } else {
            return;
        };
        *self.transitions.entry(transition).or_default() += 1;
        let name = |name: Option<&String>| name.cloned().unwrap_or_default();
        let answer = |item: &ItemRecord| item.turns.last().map(answer_in_words).unwrap_or_default();
        self.changes.push(Change {
            model: name(run.header.models.get(usize::from(before.at.model)).map(|model| &model.name)),
            task: name(run.header.tasks.get(usize::from(before.at.task)).map(|task| &task.name)),
            interface: before.interface.clone(),
            item: before.item.clone(),
            gold: now.turns.last().map(gold_in_words).unwrap_or_default(),
            verdict_before: was,
            verdict_now: is,
            answer_before: answer(before),
            answer_now: answer(now),
        });
    }
}

/// How scores are to be judged, where it is not as the run says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Judging {
    /// Scores of labels.
    pub labels: Option<Normalisation>,
    /// Scores of the options' texts.
    pub texts: Option<TextNormalisation>,
}

impl Judging {
    /// Writes what is chosen into the configuration that a header holds.
    fn apply(self, header: &mut Header) -> Result<(), Failure> {
        let wrong = |error: serde_json::Error| {
            Failure::new(Exit::Mismatch, format!("the log's configuration cannot be read: {error}"))
        };
        if self == Judging::default() {
            return Ok(());
        }
        let mut config: serde_json::Value = serde_json::from_str(&header.config_json).map_err(wrong)?;
        if let Some(labels) = self.labels {
            config["asking"]["normalisation"] = serde_json::json!(labels);
        }
        if let Some(texts) = self.texts {
            config["asking"]["full-string"] = serde_json::json!(texts);
        }
        header.config_json = config.to_string();
        Ok(())
    }
}

/// Opens a run to read it again.
pub fn open(dir: &Path, judging: Judging) -> Result<(RunLog, Regrader), Failure> {
    let mut run = RunLog::read(dir)?;
    judging.apply(&mut run.header)?;
    let regrader = Regrader::of(&run.header)
        .map_err(|failure| Failure::new(failure.exit, format!("{}: {failure}", dir.display())))?;
    Ok((run, regrader))
}

#[cfg(test)]
mod tests;
