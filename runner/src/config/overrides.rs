//! What the command line changes in a configuration.

use std::path::PathBuf;

use datasets::interfaces::Interface;
use models::template::Thinking;
use serde::{Deserialize, Serialize};
use toml::Spanned;

use super::{Config, ConfigError, ModelChoice, TaskChoice};
use crate::memory::Budget;

/// Choices of the command line; what is absent leaves the configuration alone.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, rename_all = "kebab-case")]
pub struct Overrides {
    /// Replace the models.
    pub models: Vec<String>,
    /// Chat template of every model: `gguf`, `raw` or a file.
    pub template: Option<String>,
    /// Picture projector of every model.
    pub mmproj: Option<PathBuf>,
    /// Keep only these tasks; one that the configuration lacks is added with its defaults.
    pub tasks: Vec<String>,
    /// Replace the interfaces, also those of single tasks.
    pub interfaces: Vec<String>,
    /// Items per task, also for tasks with a limit of their own.
    pub limit: Option<usize>,
    /// Seed.
    pub seed: Option<u64>,
    /// Replace every memory budget.
    pub memory_budget: Option<Budget>,
    /// Let mapped weights exceed the budget.
    pub allow_overcommit: bool,
    /// Rounds over the models.
    pub rounds: Option<u32>,
    /// CPU level of workers.
    pub cpu_level: Option<String>,
}

impl Overrides {
    /// Applies them.
    pub fn apply(&self, config: &mut Config) -> Result<(), ConfigError> {
        if let Some(name) = self.interfaces.iter().find(|name| Interface::named(name).is_none()) {
            let known = datasets::condition::interface_names();
            return Err(ConfigError::whole(
                "--interface",
                format!("unknown interface `{name}`; known: {known}"),
            ));
        }
        let is_task = |name: &str| {
            datasets::Task::named(name).is_some() || config.tasks.iter().any(|task| task.is_called(name))
        };
        if let Some(name) = self.tasks.iter().find(|name| !is_task(name)) {
            let known = datasets::tasks::ALL.iter().map(|task| task.name).collect::<Vec<_>>().join(", ");
            return Err(ConfigError::whole("--task", format!("unknown task `{name}`; known: {known}")));
        }
        for (flag, names) in [("--interface", &self.interfaces), ("--task", &self.tasks)] {
            let twice = names.iter().enumerate().find(|(index, name)| names[..*index].contains(name));
            if let Some((_, name)) = twice {
                return Err(ConfigError::whole(flag, format!("`{name}` is named twice")));
            }
        }
        if self.limit == Some(0) {
            return Err(ConfigError::whole("--limit", "0 items are nothing to run: give at least 1"));
        }
        if !self.models.is_empty() {
            let choice = |path: &String| ModelChoice {
                path: PathBuf::from(path),
                name: None,
                template: None,
                thinking: Thinking::Default,
                guess_pre_tokenizer: false,
                memory_budget: None,
                mmproj: None,
            };
            // A model of the configuration keeps its own settings when it is named again.
            let known = |path: &String| {
                config.models.iter().find(|model| {
                    model.name.as_deref() == Some(path.as_str()) || model.path.to_str() == Some(path.as_str())
                })
            };
            config.models =
                self.models.iter().map(|path| known(path).cloned().unwrap_or_else(|| choice(path))).collect();
        }
        if let Some(template) = &self.template {
            config.models.iter_mut().for_each(|model| model.template = Some(template.clone()));
        }
        if let Some(mmproj) = &self.mmproj {
            config.models.iter_mut().for_each(|model| model.mmproj = Some(mmproj.clone()));
        }
        if !self.tasks.is_empty() {
            let mut kept = Vec::new();
            for name in &self.tasks {
                let before = kept.len();
                kept.extend(config.tasks.iter().filter(|task| task.is_called(name)).cloned());
                if kept.len() == before {
                    kept.push(TaskChoice::named(name));
                }
            }
            config.tasks = kept;
        }
        if !self.interfaces.is_empty() {
            config.interfaces.clone_from(&self.interfaces);
            config.tasks.iter_mut().for_each(|task| task.interfaces = None);
        }
        if let Some(limit) = self.limit {
            config.limit = Some(limit);
            config.tasks.iter_mut().for_each(|task| task.limit = None);
        }
        if let Some(seed) = self.seed {
            config.seed = seed;
        }
        if let Some(budget) = self.memory_budget {
            config.memory.budget = budget;
            config.memory.devices.clear();
            config.models.iter_mut().for_each(|model| model.memory_budget = None);
        }
        if let Some(rounds) = self.rounds {
            config.sweep.rounds = rounds;
            if let Some(message) = config.sweep.fault() {
                return Err(ConfigError::whole("--rounds", message));
            }
        }
        config.memory.allow_overcommit |= self.allow_overcommit;
        if let Some(level) = &self.cpu_level {
            config.engine.cpu_level.clone_from(level);
        }
        Ok(())
    }
}

impl TaskChoice {
    /// A task with its default parameters.
    pub fn named(name: &str) -> Self {
        TaskChoice {
            name: Spanned::new(0..0, name.to_owned()),
            label: None,
            limit: None,
            interfaces: None,
            cue: None,
            params: toml::Table::new(),
        }
    }

    /// How results call it.
    pub fn display_name(&self) -> &str {
        self.label.as_deref().unwrap_or(self.name.as_ref())
    }

    fn is_called(&self, name: &str) -> bool {
        self.display_name() == name || self.name.as_ref() == name
    }
}
