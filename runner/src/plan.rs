//! From a configuration to what will be asked, in which groups. Pure but for the files that tasks and models name.

mod control;
mod design;
mod fitting;
mod grouping;
mod identity;
mod mmproj;
mod model;
mod order;
mod params;
mod parity;
mod shard;

use std::collections::BTreeSet;

use datasets::interfaces::Interface;
use datasets::{Condition, Files, Item, Params, Settings, Task, TaskError};

use crate::config::{Config, ConfigError, TaskChoice};
use crate::disk::Disk;
use crate::entry::{GroupRef, TaskRecord};
use crate::exit::Failure;
use crate::material;

pub use design::{Design, design};
pub use grouping::chunks;
pub use identity::{difference, items_sha256};
pub use mmproj::Mmproj;
pub use model::PlannedModel;
pub(crate) use model::resolve;
pub use order::{Visit, round_of, visits};
pub use parity::{Pair, parity_sample};
pub use shard::Shard;

/// What will be asked.
pub struct Plan {
    /// The effective configuration.
    pub config: Config,
    /// The models, in order.
    pub models: Vec<PlannedModel>,
    /// The tasks, in order.
    pub tasks: Vec<PlannedTask>,
    /// Notes for people: what was read from files.
    pub notes: Vec<String>,
    /// The part of the groups that is run; all when absent.
    pub shard: Option<Shard>,
    /// CPU level of the workers; part of what the run is.
    pub level: String,
}

/// A task with its items.
pub struct PlannedTask {
    /// What the log says of it.
    pub record: TaskRecord,
    /// The items, families together.
    pub items: Vec<Item>,
    /// The conditions that they are asked under.
    pub conditions: Vec<Condition>,
    /// Ranges of `items`, one per group.
    pub chunks: Vec<std::ops::Range<usize>>,
}

/// A group: some items of a task, under all their conditions, with one model.
#[derive(Clone, Copy, Debug)]
pub struct Group {
    /// Its place in the run.
    pub at: GroupRef,
    /// Its place in the task.
    pub chunk: usize,
}

impl Plan {
    /// Whether any reply is written.
    pub fn generates(&self) -> bool {
        let mut conditions = self.tasks.iter().flat_map(|task| &task.conditions);
        conditions.any(|condition| condition.interface.generates)
    }

    /// Makes the plan. `name` and `text` are the configuration's, for messages.
    pub fn make(config: Config, name: &str, text: &str) -> Result<Plan, Failure> {
        Plan::make_from(config, name, text, &mut Disk)
    }

    /// Makes the plan; tasks read their files from `files`.
    pub fn make_from(config: Config, name: &str, text: &str, files: &mut dyn Files) -> Result<Plan, Failure> {
        let mut notes = Vec::new();
        let mut tasks = Vec::new();
        let mut choices = Vec::new();
        for choice in &config.tasks {
            let task = plan_task(&config, choice, (name, text), files, &mut notes)?;
            choices.push(choice.clone());
            let control = control::of(&config, choice, &task, &mut notes);
            tasks.push(task);
            if let Some(control) = control {
                // Its files and its sweep are those of its task, and have been told.
                tasks.push(plan_task(&config, &control, (name, text), files, &mut Vec::new())?);
                choices.push(control);
            }
        }
        // The controls are tasks like others from here on, in the log too.
        let config = Config { tasks: choices, ..config };
        if tasks.is_empty() {
            return Err(Failure::usage(format!(
                "{name}: no task is named: add [[task]] tables or use --task; `edge-eval list tasks` shows them"
            )));
        }
        if let Some(twice) = repeated(tasks.iter().map(|task| task.record.name.as_str())) {
            return Err(Failure::usage(format!(
                "{name}: two tasks are called {twice:?}: give one of them a `label`"
            )));
        }
        if config.models.is_empty() {
            return Err(Failure::usage(format!(
                "{name}: no model is named: add a [[model]] table or use --model FILE (or --model fake)"
            )));
        }
        let models: Vec<PlannedModel> =
            config.models.iter().map(PlannedModel::open).collect::<Result<_, _>>()?;
        if let Some(twice) = repeated(models.iter().map(|model| model.record.name.as_str())) {
            return Err(Failure::usage(format!(
                "{name}: two models are called {twice:?}: give one of them a `name`"
            )));
        }
        for model in &models {
            tasks.iter().try_for_each(|task| in_text_alone(name, model, task))?;
        }
        Ok(Plan { config, models, tasks, notes, shard: None, level: crate::levels::OWN_BUILD.to_owned() })
    }

    /// Every group, in canonical order: by model, by task, by items.
    pub fn groups(&self) -> impl Iterator<Item = Group> + '_ {
        let places = (0..self.models.len()).flat_map(move |model| {
            self.tasks.iter().enumerate().flat_map(move |(task, planned)| {
                (0..planned.chunks.len()).map(move |chunk| (model, task, chunk))
            })
        });
        places.enumerate().map(|(group, (model, task, chunk))| Group {
            at: GroupRef { group: group as u32, model: model as u16, task: task as u16 },
            chunk,
        })
    }

    /// The groups of a model that are run here.
    pub fn own_groups(&self, model: usize) -> impl Iterator<Item = Group> + '_ {
        let is_own = move |group: &Group| {
            usize::from(group.at.model) == model && self.shard.is_none_or(|shard| shard.has(group.at.group))
        };
        self.groups().filter(is_own)
    }

    /// The items of a group.
    pub fn items(&self, group: Group) -> &[Item] {
        let task = self.task(group);
        &task.items[task.chunks[group.chunk].clone()]
    }

    /// The task of a group.
    pub fn task(&self, group: Group) -> &PlannedTask {
        &self.tasks[usize::from(group.at.task)]
    }

    /// The model of a group.
    pub fn model(&self, group: Group) -> &PlannedModel {
        &self.models[usize::from(group.at.model)]
    }

    /// How a model is asked, task by task: the configuration's choices with what the model's template implies.
    pub fn settings(&self, model: &PlannedModel) -> Vec<Settings> {
        let of_task = |task: &TaskChoice| Settings {
            cue: task.cue.clone().or_else(|| self.config.asking.cue.clone()),
            opens_in_reasoning: model.renderer.facts().opens_reasoning.is_some(),
            raw_prompt: model.renderer.facts().text.is_empty(),
            seed: self.config.seed,
            ..self.config.asking.clone()
        };
        self.config.tasks.iter().map(of_task).collect()
    }
}

/// Refuses a task that shows pictures to a model that cannot see them: it must never be asked without them unnoticed.
fn in_text_alone(name: &str, model: &PlannedModel, task: &PlannedTask) -> Result<(), Failure> {
    let shown = task.items.iter().filter(|item| item.pictures().next().is_some()).count();
    let Some(first) = task.items.iter().find_map(|item| item.pictures().next()) else { return Ok(()) };
    if model.shows_pictures() {
        return Ok(());
    }
    Err(Failure::usage(format!(
        "{name}: task {} shows pictures in {shown} of {} items, and model {} is asked in text alone: give its picture projector with \
         `mmproj = \"FILE\"` or --mmproj, or set {} in the task's params",
        task.record.name,
        task.items.len(),
        model.record.name,
        first.text_form()
    )))
}

fn repeated<'a>(names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let mut seen = std::collections::HashSet::new();
    names.into_iter().find(|name| !seen.insert(*name))
}

fn plan_task(
    config: &Config,
    choice: &TaskChoice,
    (name, text): (&str, &str),
    files: &mut dyn Files,
    notes: &mut Vec<String>,
) -> Result<PlannedTask, Failure> {
    let at = choice.name.span();
    let error =
        |path: &[&str], message: String| ConfigError::on_task(name, text, &at, path, message).to_string();
    let wrong = |key: &str, message: String| Failure::usage(error(&[key], message));
    let known = || datasets::tasks::ALL.iter().map(|task| task.name).collect::<Vec<_>>().join(", ");
    let task = Task::named(choice.name.as_ref()).ok_or_else(|| {
        wrong("name", format!("unknown task `{}`; known: {}", choice.name.as_ref(), known()))
    })?;
    let interfaces = match &choice.interfaces {
        Some(own) => interfaces(own).map_err(|message| wrong("interfaces", message))?,
        None => interfaces(&config.interfaces).map_err(|message| {
            Failure::usage(ConfigError::on_key(name, text, &["interfaces"], message).to_string())
        })?,
    };
    let params = Params(choice.params.clone());
    let bad_params = |fault: TaskError| {
        let message = format!("task {}: {fault}", task.name);
        let path = params::path(&choice.params, &fault);
        let message = error(&path.iter().map(String::as_str).collect::<Vec<_>>(), message);
        match fault {
            TaskError::Data { .. } => Failure::input(message),
            TaskError::Params(_) | TaskError::Key { .. } => Failure::usage(message),
        }
    };
    let resolved = task.resolved(&params, files).map_err(bad_params)?;
    notes.extend(resolved.notes.iter().map(|note| format!("{}: {note}", task.name)));
    let limit = choice.limit.or(config.limit);
    let permutations = config.asking.permutations;
    let items =
        material::items(task, &resolved.params, config.seed, limit, permutations).map_err(bad_params)?;
    if items.is_empty() {
        return Err(wrong("params", format!("task {}: these parameters give no items", task.name)));
    }
    if let Some(cue) = &choice.cue {
        let known: BTreeSet<&str> = items
            .iter()
            .flat_map(|item| &item.first_question().ask.reason)
            .map(|cue| cue.name.as_str())
            .collect();
        if !known.contains(cue.as_str()) {
            let known: Vec<&str> = known.into_iter().collect();
            return Err(wrong(
                "cue",
                format!("task {} has no cue `{cue}`; it has: {}", task.name, known.join(", ")),
            ));
        }
    }
    let conditions = Condition::of(&interfaces, &config.asking);
    let not_asked = fitting::notes(choice.display_name(), &items, &conditions, &config.asking);
    notes.extend(not_asked.map_err(|message| wrong("interfaces", message))?);
    let most = grouping::most(config.engine.group_items, &conditions);
    let chunks = chunks(&items, grouping::most_shown(most, &items));
    let record = TaskRecord {
        name: choice.display_name().to_owned(),
        task: task.name.to_owned(),
        version: task.version,
        params_json: serde_json::to_string(&resolved.params.0).unwrap_or_default(),
        interfaces: conditions.iter().map(|condition| condition.name().to_owned()).collect(),
        items: items.len() as u32,
        items_sha256: items_sha256(&items),
    };
    Ok(PlannedTask { record, items, conditions, chunks })
}

fn interfaces(names: &[String]) -> Result<Vec<&'static Interface>, String> {
    if names.is_empty() {
        return Err("no interface is named: `edge-eval list interfaces` shows them".into());
    }
    let known = datasets::condition::interface_names;
    if let Some(twice) = repeated(names.iter().map(String::as_str)) {
        return Err(format!("interface `{twice}` is named twice"));
    }
    let find = |name: &String| {
        Interface::named(name).ok_or_else(|| format!("unknown interface `{name}`; known: {}", known()))
    };
    names.iter().map(find).collect()
}
