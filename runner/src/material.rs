//! From a log back to what was asked: the items of its tasks, made anew from the logged parameters, seed and limit and
//! held against the logged hash; and how they were asked.

mod prompts;

use datasets::{Item, Params, Settings, Task, TaskError, forms, sample};
use models::template::{Renderer, Thinking, Tokens};
use serde::Deserialize;

use crate::entry::Header;
use crate::exit::{Exit, Failure};
use crate::plan::items_sha256;

pub use prompts::Prompts;

/// All items of a task, or the sample that a limit leaves; each in so many orders of its options, where orders are asked for
/// and it has any.
pub fn items(
    task: &Task,
    params: &Params,
    seed: u64,
    limit: Option<usize>,
    permutations: u16,
) -> Result<Vec<Item>, TaskError> {
    let items = (task.items)(params, seed)?;
    let items = match limit {
        Some(limit) => sample::limited(items, limit, seed, task),
        None => items,
    };
    Ok(match permutations {
        0 => items,
        count => items.iter().flat_map(|item| forms::forms(item, count)).collect(),
    })
}

/// The choices of a logged run that its items and readings depend on.
#[derive(Clone, Debug, Deserialize)]
pub struct Choices {
    seed: u64,
    limit: Option<usize>,
    asking: Settings,
    model: Vec<ModelChoices>,
    task: Vec<TaskChoices>,
}

#[derive(Clone, Debug, Deserialize)]
struct ModelChoices {
    #[serde(default)]
    thinking: Thinking,
}

#[derive(Clone, Debug, Deserialize)]
struct TaskChoices {
    limit: Option<usize>,
    cue: Option<String>,
}

impl Choices {
    /// Reads the choices of a log.
    pub fn of(header: &Header) -> Result<Choices, Failure> {
        serde_json::from_str(&header.config_json).map_err(|error| {
            Failure::new(
                Exit::Mismatch,
                format!(
                    "the log's configuration is not one of this version ({error}): use the program that made the run ({})",
                    header.program
                ),
            )
        })
    }

    /// Name of the reasoning cue that a task was asked with; `None` for the first cue of each question.
    pub fn cue(&self, task: usize) -> Option<&str> {
        let own = self.task.get(task).and_then(|task| task.cue.as_deref());
        own.or(self.asking.cue.as_deref())
    }

    /// Makes the items of a task anew. `Err` is one line: why they are not those that were asked.
    pub fn items(&self, header: &Header, index: usize) -> Result<Vec<Item>, String> {
        let record = header.tasks.get(index).ok_or_else(|| format!("the log has no task {index}"))?;
        let other = |what: String| {
            format!("task {}: {what}: use the program that made the run ({})", record.name, header.program)
        };
        let task = Task::named(&record.task)
            .ok_or_else(|| other(format!("this version has no task `{}`", record.task)))?;
        let params: toml::Table = serde_json::from_str(&record.params_json)
            .map_err(|error| other(format!("the logged parameters cannot be read ({error})")))?;
        let limit = self.task.get(index).and_then(|task| task.limit).or(self.limit);
        let items = items(task, &Params(params), self.seed, limit, self.asking.permutations)
            .map_err(|error| other(format!("the logged parameters give no items ({error})")))?;
        let now = items_sha256(&items);
        if now != record.items_sha256 {
            let short = |hash: &str| hash.chars().take(12).collect::<String>();
            return Err(other(format!(
                "this version makes other items from the logged parameters and seed (items_sha256 {} in the log, {} now)",
                short(&record.items_sha256),
                short(&now)
            )));
        }
        Ok(items)
    }

    /// How a model was asked the questions of a task: the choices with what the model's template implies.
    pub fn settings(&self, header: &Header, model: usize, task: usize) -> Result<Settings, String> {
        let record = header.models.get(model).ok_or_else(|| format!("the log has no model {model}"))?;
        let thinking = self.model.get(model).map(|model| model.thinking).unwrap_or_default();
        let opens_in_reasoning = if record.template.is_empty() {
            false
        } else {
            // Whether a reasoning block is left open does not depend on the model's own tokens.
            let renderer = Renderer::of_text(&record.name, &record.template, Tokens::default(), thinking)
                .map_err(|error| format!("model {}: {error}", record.name))?;
            renderer.facts().opens_reasoning.is_some()
        };
        Ok(Settings {
            cue: self.cue(task).map(str::to_owned),
            opens_in_reasoning,
            raw_prompt: record.template.is_empty(),
            seed: self.seed,
            ..self.asking.clone()
        })
    }
}
