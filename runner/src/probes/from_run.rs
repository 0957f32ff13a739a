//! Samples of a run: answers from its log, states from the file beside it.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::Path;
use std::sync::Arc;

use models::Reply;

use super::corpus::{Corpora, Kept, Sample, States};
use crate::entry::{Header, ItemRecord, TurnRecord};
use crate::exit::{Exit, Failure};
use crate::report::RunLog;
use crate::states::{STATES_FILE, StatesFile};

/// What was met before, so that parts of one plan join and runs of other items stay apart.
#[derive(Debug, Default)]
pub(super) struct Known {
    /// What decides the items of a task, with the number that it was given.
    materials: HashMap<String, usize>,
    /// The file behind each model's name.
    models: HashMap<String, String>,
    /// Model, task, item and condition.
    samples: HashSet<(String, String, String, String)>,
}

/// A turn's states by task, item, interface and turn; the last request counts.
type Places<'a> = HashMap<(u16, u16, &'a str, &'a str, u16), &'a crate::states::Kept>;

/// Adds the samples of a run.
pub(super) fn add(corpora: &mut Corpora, known: &mut Known, dir: &Path) -> Result<(), Failure> {
    let run = RunLog::read(dir)?;
    match StatesFile::of_run(dir)? {
        Some(file) => with_states(corpora, known, dir, &run, &file),
        None => Err(Failure::input(format!(
            "{}: the run kept no hidden states (there is no file `{STATES_FILE}`): run it with hidden-states = \"final\" or \
             \"layers\" under [asking]",
            dir.display()
        ))),
    }
}

/// Adds the samples of a run, with states where it kept them.
pub(super) fn add_answers(corpora: &mut Corpora, known: &mut Known, dir: &Path) -> Result<(), Failure> {
    let run = RunLog::read(dir)?;
    if let Some(file) = StatesFile::of_run(dir)? {
        return with_states(corpora, known, dir, &run, &file);
    }
    for item in &run.items {
        let header = &run.header;
        let model = header.models.get(usize::from(item.at.model)).map(|model| model.name.as_str());
        let task = header.tasks.get(usize::from(item.at.task)).map(|task| task.name.as_str());
        let (Some(model), Some(task)) = (model, task) else { continue };
        let samples =
            item.turns.iter().enumerate().filter_map(|(turn, record)| sample(item, turn, record, ""));
        corpora.of(model, task).samples.extend(samples);
    }
    Ok(())
}

fn with_states(
    corpora: &mut Corpora,
    known: &mut Known,
    dir: &Path,
    run: &RunLog,
    file: &StatesFile,
) -> Result<(), Failure> {
    // States of a part may have been put beside the merged log.
    let own = |run_id: &String| {
        *run_id == run.header.run_id || run.sources.iter().any(|source| source.run_id == *run_id)
    };
    if !file.run_id.as_ref().is_some_and(own) {
        return Err(Failure::new(
            Exit::Mismatch,
            format!("{}: the file `{STATES_FILE}` belongs to another run than the log", dir.display()),
        ));
    }
    if file.damaged > 0 {
        corpora.notes.push(format!(
            "{}: {} damaged stretches were passed over",
            file.path().display(),
            file.damaged
        ));
    }
    for (model, reason) in &file.refusals {
        let name = file.models.get(model).map_or("?", |(name, _)| name);
        corpora.notes.push(format!("{}: model {name}: {reason}", dir.display()));
    }
    let mut gone: BTreeMap<&str, u64> = BTreeMap::new();
    file.absent.values().for_each(|reason| *gone.entry(reason).or_default() += 1);
    let groups = |(reason, count)| format!("{}: no hidden states of {count} groups: {reason}", dir.display());
    corpora.notes.extend(gone.into_iter().map(groups));
    let numbers =
        Arc::new(file.file().map_err(|error| Failure::disk(format!("{}: {error}", file.path().display())))?);
    let mut places: Places<'_> = HashMap::new();
    for kept in &file.kept {
        let place = &kept.place;
        places.insert((place.model, place.task, &place.item, &place.interface, place.turn), kept);
    }
    let (mut missing, mut twice) = (0u64, 0u64);
    for item in &run.items {
        let (Some(model), Some(task)) = (
            run.header.models.get(usize::from(item.at.model)),
            run.header.tasks.get(usize::from(item.at.task)),
        ) else {
            continue;
        };
        let prefix = known.prefix(&material(&run.header, usize::from(item.at.task)));
        for (turn, record) in item.turns.iter().enumerate() {
            let Some(mut sample) = sample(item, turn, record, &prefix) else { continue };
            let key = (item.at.model, item.at.task, item.item.as_str(), item.interface.as_str(), turn as u16);
            let Some(kept) = places.get(&key) else {
                missing += 1;
                continue;
            };
            sample.states = Some(States {
                file: Arc::clone(&numbers),
                at: kept.at,
                dimension: kept.place.dimension as usize,
                count: kept.place.exponents.len(),
                kind: Kept::Halves(kept.place.exponents.clone()),
            });
            let model_name = known.model_name(&model.name, &model.sha256);
            let name = (model_name.clone(), task.name.clone(), sample.id.clone(), sample.condition.clone());
            if !known.samples.insert(name) {
                twice += 1;
                continue;
            }
            let corpus = corpora.of(&model_name, &task.name);
            corpus.shortcut_tag = corpus.shortcut_tag.or(shortcut_tag(&task.task, &task.params_json));
            corpus.samples.push(sample);
            if corpus.norm.is_none() {
                corpus.norm = file.norms.get(&item.at.model).cloned();
                let rows = file.rows.range((item.at.model, i32::MIN)..=(item.at.model, i32::MAX));
                corpus.rows.extend(rows.map(|((_, token), row)| (*token, row.state(0))));
            }
        }
    }
    if missing > 0 {
        corpora.notes.push(format!(
            "{}: {missing} scored answers have no hidden states and are left out",
            dir.display()
        ));
    }
    if twice > 0 {
        corpora.notes.push(format!(
            "{}: {twice} answers of items and conditions that came before are left out",
            dir.display()
        ));
    }
    Ok(())
}

impl Known {
    /// The name; with the beginning of the file's hash where another file has that name already.
    fn model_name(&mut self, name: &str, sha256: &str) -> String {
        let first = self.models.entry(name.to_owned()).or_insert_with(|| sha256.to_owned());
        match first == sha256 {
            true => name.to_owned(),
            false => format!("{name} ({})", sha256.chars().take(8).collect::<String>()),
        }
    }

    /// Nothing for the first material of a task, a number for others: equal ids of other seeds are other items.
    fn prefix(&mut self, material: &str) -> String {
        let next = self.materials.len();
        match *self.materials.entry(material.to_owned()).or_insert(next) {
            0 => String::new(),
            number => format!("{}:", number + 1),
        }
    }
}

/// What decides which item an id names: not the limit, which only decides how many there are.
fn material(header: &Header, task: usize) -> String {
    let seed = serde_json::from_str::<serde_json::Value>(&header.config_json)
        .ok()
        .and_then(|config| config.get("seed").and_then(serde_json::Value::as_u64));
    let record = &header.tasks[task];
    format!("{} {} {} {seed:?}", record.task, record.version, record.params_json)
}

/// The tag of the paper's shortcut tables, where a task is asked in its neutralised form.
fn shortcut_tag(task: &str, params_json: &str) -> Option<&'static str> {
    let params: serde_json::Value = serde_json::from_str(params_json).ok()?;
    match (task, params.get("form")?.as_str()?) {
        ("ir", "shortcut") => Some("kind"),
        ("iip", "shortcut-routes") => Some("type"),
        ("iip", "shortcut" | "shortcut-route") => Some("kind"),
        _ => None,
    }
}

/// A turn whose labels were scored and whose gold is one of them.
fn sample(item: &ItemRecord, turn: usize, record: &TurnRecord, prefix: &str) -> Option<Sample> {
    let gold = usize::from(record.gold.label()?);
    let scored = record.replies.iter().rev().find_map(|reply| match reply {
        Reply::Scored(scored) if scored.labels.len() == record.labels.len() => Some(scored),
        _ => None,
    })?;
    if gold >= record.labels.len() || record.labels.len() < 2 {
        return None;
    }
    let id = match item.turns.len() {
        1 => format!("{prefix}{}", item.item),
        _ => format!("{prefix}{}.{}", item.item, turn + 1),
    };
    Some(Sample {
        id,
        family: format!("{prefix}{}", item.family),
        condition: item.interface.clone(),
        tags: item.tags.clone(),
        labels: record.labels.clone(),
        gold,
        scores: scored.labels.iter().map(models::LabelScore::sum).collect(),
        tokens: scored.labels.iter().filter_map(|label| label.tokens.first().copied()).collect(),
        ma: scored.mass,
        mr: scored.watched.first().copied(),
        rank: scored.labels.get(gold).map(|label| label.rank),
        states: None,
    })
}
