//! Named figures beside accuracy: means of the items' scores, and what a task's own analysis counts, for all items and
//! by the strata that the task's paper reports.

use std::collections::{BTreeMap, BTreeSet};

use datasets::{Figure, Played, Task, Verdict};
use models::Reply;
use serde::Serialize;

use super::cells::{Place, places};
use super::load::RunLog;
use super::strata::{Values, as_map, broken_down};
use crate::entry::ItemRecord;
use crate::material::Choices;

/// One figure of one model on one task through one interface.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FigureRow {
    /// Name of the model.
    pub model: String,
    /// Name of the task; where it was asked with several cues, the mean over them has a name of its own.
    pub task: String,
    /// Name of the interface.
    pub interface: String,
    /// The stratum; empty for all items.
    #[serde(serialize_with = "as_map")]
    pub by: Values,
    /// Name of the figure.
    pub figure: String,
    /// Its value; `None` where these items do not define it.
    pub value: Option<f64>,
    /// What it was taken over.
    pub n: u64,
}

/// The figures of a run. `tags` replace the tasks' own strata when there are any.
pub fn figures(run: &RunLog, tags: &[String]) -> Vec<FigureRow> {
    let mut rows = Vec::new();
    for place in places(run).iter().chain(&pooled(run)) {
        let task = run.header.tasks.get(place.task_index).and_then(|record| Task::named(&record.task));
        let analysis = task.map(|task| &task.analysis);
        let mut add = |by: Values, items: &[&ItemRecord]| {
            let played: Vec<(Played<'_>, &ItemRecord)> =
                items.iter().filter_map(|item| played(item)).collect();
            let mut figures = means(&played);
            if let Some(analysis) = analysis {
                let played: Vec<Played<'_>> = played.into_iter().map(|(played, _)| played).collect();
                figures.extend((analysis.figures)(&played));
            }
            // In a stratum of one depth there is no growth with depth: what a stratum cannot have is left out.
            figures.retain(|figure| figure.value.is_some() || by.is_empty());
            rows.extend(figures.into_iter().map(|figure| place.row(by.clone(), figure)));
        };
        add(Vec::new(), &place.items);
        if tags.is_empty() {
            for strata in analysis.map(|analysis| analysis.strata).unwrap_or_default() {
                broken_down(place, strata).into_iter().for_each(|(by, items)| add(by, &items));
            }
        } else {
            broken_down(place, tags).into_iter().for_each(|(by, items)| add(by, &items));
        }
    }
    rows
}

impl Place<'_> {
    fn row(&self, by: Values, figure: Figure) -> FigureRow {
        FigureRow {
            model: self.model.clone(),
            task: self.task.clone(),
            interface: self.interface.clone(),
            by,
            figure: figure.name,
            value: figure.value,
            n: figure.n,
        }
    }
}

/// Accuracy, the share of items without an answer, and the mean of every score.
fn means(played: &[(Played<'_>, &ItemRecord)]) -> Vec<Figure> {
    let n = played.len() as u64;
    let mean = |sum: f64, n: u64| (n > 0).then(|| sum / n as f64);
    let worth = |item: &Played<'_>| match item.verdict {
        Verdict::Right => 1.0,
        Verdict::Partial(part) => f64::from(part),
        _ => 0.0,
    };
    let right = played.iter().map(|(item, _)| worth(item)).sum();
    let unanswered = played.iter().filter(|(item, _)| matches!(item.verdict, Verdict::Unanswered(_))).count();
    let mut figures = vec![
        Figure { name: "accuracy".to_owned(), value: mean(right, n), n },
        Figure { name: "no answer".to_owned(), value: mean(unanswered as f64, n), n },
    ];
    // Names in the order of their first appearance, which is the task's own.
    let mut names: Vec<&str> = Vec::new();
    let mut sums: BTreeMap<&str, (f64, u64)> = BTreeMap::new();
    for (name, value) in played.iter().flat_map(|(_, item)| &item.scores) {
        let sum = sums.entry(name).or_insert_with(|| {
            names.push(name);
            (0.0, 0)
        });
        sum.0 += value;
        sum.1 += 1;
    }
    // A learning curve that one item ended early goes on with another's passes: names that count belong in order.
    names.sort_by_key(|name| trailing_number(name));
    figures.extend(names.into_iter().map(|name| {
        let (sum, n) = sums[name];
        Figure { name: name.to_owned(), value: mean(sum, n), n }
    }));
    figures
}

/// The number at the end of a name; 0 where there is none, so that such names keep their order before the others.
fn trailing_number(name: &str) -> u32 {
    let digits = name.len() - name.trim_end_matches(|c: char| c.is_ascii_digit()).len();
    name[name.len() - digits..].parse().unwrap_or(0)
}

/// What an item came to; `None` when it was not asked or was lost.
fn played(item: &ItemRecord) -> Option<(Played<'_>, &ItemRecord)> {
    if matches!(item.verdict, Verdict::Skipped(_) | Verdict::Lost(_)) {
        return None;
    }
    let replies = item.turns.iter().flat_map(|turn| &turn.replies).filter_map(|reply| match reply {
        Reply::Generated(generated) => Some(generated.text()),
        _ => None,
    });
    Some((Played { tags: &item.tags, verdict: item.verdict, replies: replies.collect() }, item))
}

/// The same task asked with several cues, pooled: over the same items that is the mean over the prompts.
fn pooled(run: &RunLog) -> Vec<Place<'_>> {
    let Ok(choices) = Choices::of(&run.header) else { return Vec::new() };
    let mut pools: BTreeMap<(String, usize, String), Vec<Place<'_>>> = BTreeMap::new();
    for place in places(run) {
        let Some(record) = run.header.tasks.get(place.task_index) else { continue };
        let same = |other: &crate::entry::TaskRecord| {
            other.task == record.task && other.items_sha256 == record.items_sha256
        };
        let first = run.header.tasks.iter().position(same).unwrap_or(place.task_index);
        pools.entry((place.model.clone(), first, place.interface.clone())).or_default().push(place);
    }
    let mut pooled = Vec::new();
    for ((model, first, interface), places) in pools {
        // Equal prompts are no several prompts: direct questions carry no cue, and a cue can be named that is the first.
        let prompts: BTreeSet<_> = places.iter().map(first_prompt).collect();
        if prompts.len() < 2 || prompts.len() != places.len() {
            continue;
        }
        let cues: Vec<String> = places.iter().map(|place| cue(run, &choices, place.task_index)).collect();
        let task = run.header.tasks.get(first).map(|record| record.task.clone()).unwrap_or_default();
        pooled.push(Place {
            model,
            task: format!("{task} (mean of cues {})", cues.join(", ")),
            task_index: first,
            interface,
            by: places[0].by,
            noise_floor: places[0].noise_floor,
            items: places.into_iter().flat_map(|place| place.items).collect(),
        });
    }
    pooled
}

/// The cue that a task was asked with; the first of its questions where none is named.
fn cue(run: &RunLog, choices: &Choices, task: usize) -> String {
    let first = || {
        let items = choices.items(&run.header, task).ok()?;
        Some(items.first()?.first_question().ask.reason.first()?.name.clone())
    };
    choices.cue(task).map(str::to_owned).or_else(first).unwrap_or_else(|| "first cue".to_owned())
}

/// Identity of the prompt of the item that comes first by its id.
fn first_prompt(place: &Place<'_>) -> Option<[u8; 8]> {
    let first = place.items.iter().min_by_key(|item| &item.item)?;
    first.turns.first().map(|turn| turn.prompt_hash)
}

#[cfg(test)]
mod tests;
