//! The configuration: what the user wants. `configs/default.toml` documents every key with its default, and a test
//! holds it equal to the defaults here.

mod error;
mod measures;
mod overrides;
mod place;
pub(crate) mod ranges;
mod sweep;
#[cfg(test)]
mod tests;

use std::path::PathBuf;

use datasets::Settings;
use models::Mode;
use models::template::Thinking;
use serde::{Deserialize, Serialize};
use toml::Spanned;

use crate::memory::{Allow, Budget, Counts, Enforce};

pub use error::ConfigError;
pub use measures::{LatencyChoice, TelemetryChoice};
pub use overrides::Overrides;
pub use sweep::SweepChoice;

/// The commented reference: every key with its default.
pub const REFERENCE: &str = include_str!("../../configs/default.toml");

/// A whole configuration.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Config {
    /// Seed of everything that is drawn.
    pub seed: u64,
    /// Items per task; absent for all.
    pub limit: Option<usize>,
    /// Interfaces that every task is asked through.
    pub interfaces: Vec<String>,
    /// When a task with pictures is also asked with its pictures withheld, as a task beside it.
    pub picture_control: PictureControl,
    /// Folder that holds the run folders.
    pub out: PathBuf,
    /// Models to evaluate, in order.
    #[serde(rename = "model")]
    pub models: Vec<ModelChoice>,
    /// Tasks to run, in order.
    #[serde(rename = "task")]
    pub tasks: Vec<TaskChoice>,
    /// How questions are asked.
    pub asking: Settings,
    /// What reports warn of.
    pub report: ReportChoice,
    /// How the engine works.
    pub engine: EngineChoice,
    /// What a model may take.
    pub memory: MemoryChoice,
    /// How the log is kept.
    pub log: LogChoice,
    /// What is measured beside answers.
    pub telemetry: TelemetryChoice,
    /// How many items are asked alone, for their latency.
    pub latency: LatencyChoice,
    /// How several models take turns.
    pub sweep: SweepChoice,
}

/// A model to evaluate.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct ModelChoice {
    /// A GGUF file, `fake`, or a name of the catalogue.
    pub path: PathBuf,
    /// How the model is called in results; the file's stem when absent.
    pub name: Option<String>,
    /// `gguf` (the template in the file), `raw` (none), or a template file.
    pub template: Option<String>,
    /// What the model is told about reasoning, where its template has a switch for it.
    #[serde(default)]
    pub thinking: Thinking,
    /// Run the model although its file does not say how its tokenizer cuts texts.
    #[serde(default)]
    pub guess_pre_tokenizer: bool,
    /// Memory budget of this model; overrides that of `memory`. No part of what the run is.
    #[serde(skip_serializing)]
    pub memory_budget: Option<Budget>,
    /// The file that turns pictures into what the model reads (llama.cpp calls it mmproj); without it the model is asked in
    /// text alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mmproj: Option<PathBuf>,
}

impl ModelChoice {
    /// A file with the choices that are made by themselves.
    pub fn of(path: PathBuf) -> Self {
        ModelChoice {
            path,
            name: None,
            template: Some("raw".into()),
            thinking: Thinking::Default,
            guess_pre_tokenizer: true,
            memory_budget: None,
            mmproj: None,
        }
    }
}

/// When a task with pictures is also asked with its pictures withheld.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PictureControl {
    /// Through the interfaces that score labels, which cost little.
    #[default]
    Scored,
    /// Through all interfaces.
    All,
    /// Never.
    None,
}

/// A task to run.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct TaskChoice {
    /// Name of the task.
    pub name: Spanned<String>,
    /// How the task is called in results, when it is run more than once with different parameters.
    pub label: Option<String>,
    /// Items of this task; overrides `limit`.
    pub limit: Option<usize>,
    /// Interfaces of this task; overrides `interfaces`.
    pub interfaces: Option<Vec<String>>,
    /// Reasoning cue of this task; overrides that of `asking`.
    pub cue: Option<String>,
    /// The task's own parameters.
    #[serde(default)]
    pub params: toml::Table,
}

/// What reports warn of.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct ReportChoice {
    /// Median label mass below which a report warns.
    pub mass_floor: f64,
}

/// How the engine works.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct EngineChoice {
    /// `packed`: what prompts share is evaluated once; `exact`: each prompt alone.
    pub mode: Mode,
    /// Sequences evaluated side by side.
    pub sequences: u32,
    /// Replies generated side by side; 0 leaves the number to a probe.
    pub parallel: u32,
    /// Most items of a group: what is packed together, and what a power failure can cost; 0 for what suits the interfaces.
    pub group_items: usize,
    /// Scored items per model that are scored a second time, alone, to tell how far packing moves scores.
    pub parity: usize,
    /// Tokens in the KV cache, all sequences together; 0 for what fits a modest size.
    pub cells: u32,
    /// Threads for generating; 0 for the physical cores of the fastest kind.
    pub threads: u32,
    /// Threads for evaluating prompts; 0 for the same.
    pub threads_batch: u32,
    /// Tokens handed to the library at once.
    pub batch_tokens: u32,
    /// Context in tokens; 0 for what the plan needs.
    pub context_tokens: u32,
    /// Largest context chosen by itself where the need cannot be known beforehand (conversations that grow).
    pub context_cap_tokens: u32,
    /// Map the weights from the file instead of reading them.
    pub mmap: bool,
    /// Seconds without any progress after which the worker is given up.
    pub deadline_s: u64,
    /// CPU level of the worker: `auto`, or the name of one.
    pub cpu_level: String,
}

/// What a model may take of the memory.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct MemoryChoice {
    /// `auto`, `none`, a size, or a share of the machine.
    pub budget: Budget,
    /// Budgets by machine: the first whose name is part of what the machine calls itself.
    pub devices: std::collections::BTreeMap<String, Budget>,
    /// Which memory counts against a size or a share.
    pub counts: Counts,
    /// What `auto` leaves to others, in MiB; 0 for a twentieth of the memory, from 128 to 512 MiB.
    pub reserve_mib: u64,
    /// Free memory of the system in MiB below which a worker is stopped; 0 for half of the reserve.
    pub floor_mib: u64,
    /// Run a model whose mapped weights exceed what can be kept; the run is marked.
    pub allow_overcommit: bool,
    /// What may be done beyond the steps that keep results.
    pub allow: Vec<Allow>,
    /// Who keeps the budget beside the watch.
    pub enforce: Enforce,
}

/// How the log is kept.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct LogChoice {
    /// When results are forced to the disk: `group`, `entry` or `never`.
    pub sync: SyncChoice,
}

/// When results are forced to the disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SyncChoice {
    /// At the end of every group.
    Group,
    /// After every entry.
    Entry,
    /// When the system likes.
    Never,
}

impl Config {
    /// Reads a configuration text; what it leaves out has its default. `name` is what errors call it.
    pub fn parse(text: &str, name: &str) -> Result<Config, ConfigError> {
        let config: Config = toml::from_str(text)
            .map_err(|error| ConfigError::at(name, text, error.span(), error.message()))?;
        config.validate(name, text)?;
        Ok(config)
    }

    /// The choices that make a run this run, as JSON: where the log lies, how it is kept, what reports warn of, and how
    /// long to wait for a worker make no other run.
    pub fn identity_json(&self) -> String {
        let tasks: Vec<_> = self
            .tasks
            .iter()
            .map(|task| {
                serde_json::json!({
                    "name": task.name.as_ref(),
                    "label": task.label,
                    "limit": task.limit,
                    "interfaces": task.interfaces,
                    "cue": task.cue,
                    "params": task.params,
                })
            })
            .collect();
        let mut engine = serde_json::json!(self.engine);
        if let Some(engine) = engine.as_object_mut() {
            engine.remove("deadline-s");
            // The header says which one it came to.
            engine.remove("cpu-level");
        }
        let mut choices = serde_json::json!({
            "seed": self.seed,
            "limit": self.limit,
            "interfaces": self.interfaces,
            "model": self.models,
            "task": tasks,
            "asking": self.asking,
            "engine": engine,
            "memory": { "allow": self.memory.allow },
        });
        // A name stands for a text: another text under it is another run.
        let endings = self.asking.swept_endings();
        if !endings.is_empty() {
            let texts = endings.iter().map(|ending| (ending.name.clone(), ending.pattern().into()));
            choices["endings"] = serde_json::Value::Object(texts.collect());
        }
        choices.to_string()
    }

    fn validate(&self, name: &str, text: &str) -> Result<(), ConfigError> {
        match ranges::fault(self) {
            None => Ok(()),
            Some((path, message)) => {
                let path: Vec<&str> = path.split('.').collect();
                Err(ConfigError::on_key(name, text, &path, message))
            }
        }
    }
}

impl Default for Config {
    fn default() -> Self {
        Config {
            seed: 1,
            limit: None,
            interfaces: ["direct", "cot-prefix", "free-cot"].map(String::from).to_vec(),
            picture_control: PictureControl::default(),
            out: PathBuf::from("runs"),
            models: Vec::new(),
            tasks: Vec::new(),
            asking: Settings::default(),
            report: ReportChoice::default(),
            engine: EngineChoice::default(),
            memory: MemoryChoice::default(),
            log: LogChoice::default(),
            telemetry: TelemetryChoice::default(),
            latency: LatencyChoice::default(),
            sweep: SweepChoice::default(),
        }
    }
}

impl Default for ReportChoice {
    fn default() -> Self {
        ReportChoice { mass_floor: 0.05 }
    }
}

impl Default for EngineChoice {
    fn default() -> Self {
        EngineChoice {
            mode: Mode::Packed,
            sequences: 128,
            parallel: 16,
            group_items: 0,
            parity: 12,
            cells: 0,
            threads: 0,
            threads_batch: 0,
            batch_tokens: 512,
            context_tokens: 0,
            context_cap_tokens: 8192,
            mmap: true,
            deadline_s: 900,
            cpu_level: crate::levels::AUTO.into(),
        }
    }
}

impl Default for LogChoice {
    fn default() -> Self {
        LogChoice { sync: SyncChoice::Group }
    }
}
