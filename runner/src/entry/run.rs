//! What a run is: models, tasks, machine, and the logs that a merged one comes from.

use serde::{Deserialize, Serialize};

use crate::plan::Shard;

/// What a run is. Two runs with equal headers (but for `run_id` and `device`) ask the same.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Header {
    /// Identity of the run.
    pub run_id: String,
    /// Version of the program.
    pub program: String,
    /// Version of the log's vocabulary.
    pub format: u32,
    /// Version of the extraction policy.
    pub reading_version: u32,
    /// The effective configuration as JSON: defaults and command line included.
    pub config_json: String,
    /// The models, in order.
    pub models: Vec<ModelRecord>,
    /// The tasks, in order.
    pub tasks: Vec<TaskRecord>,
    /// Groups of the whole run.
    pub groups: u32,
    /// The machine.
    pub device: Device,
    /// The part of the groups that is run here; all when absent.
    pub shard: Option<Shard>,
    /// CPU level of the worker; `own-build` where the program is its own.
    pub level: String,
}

impl Header {
    /// Groups that make this log complete.
    pub fn own_groups(&self) -> u32 {
        self.shard.map_or(self.groups, |shard| shard.share(self.groups))
    }
}

/// A model of the run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModelRecord {
    /// How results call it.
    pub name: String,
    /// The file as named.
    pub path: String,
    /// Its size.
    pub file_bytes: u64,
    /// Hex SHA-256 of the file; empty for the fake engine.
    pub sha256: String,
    /// `general.architecture`.
    pub architecture: String,
    /// Quantisation, as the file type or the tensors say.
    pub quantisation: String,
    /// Number of parameters, where the file tells.
    pub parameters: u64,
    /// `gguf`, `raw` or the template file's name.
    pub template_source: String,
    /// The chat template's text; empty for raw prompts.
    pub template: String,
    /// Hex SHA-256 of that text.
    pub template_sha256: String,
    /// The picture projector, where the model is asked with pictures.
    pub mmproj: Option<ProjectorRecord>,
}

/// What turns pictures into what a model reads.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProjectorRecord {
    /// The file as named.
    pub path: String,
    /// Its size.
    pub file_bytes: u64,
    /// Hex SHA-256 of the file; empty for the fake engine.
    pub sha256: String,
    /// `clip.projector_type`.
    pub kind: String,
    /// Quantisation, as the file type or the tensors say.
    pub quantisation: String,
    /// Number of parameters.
    pub parameters: u64,
}

/// A task of the run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TaskRecord {
    /// How results call it.
    pub name: String,
    /// The task's own name.
    pub task: String,
    /// The task's version.
    pub version: u32,
    /// Its parameters as JSON.
    pub params_json: String,
    /// Conditions that its items are asked under: interfaces, with what was varied about them.
    pub interfaces: Vec<String>,
    /// Items.
    pub items: u32,
    /// Hex SHA-256 of the items.
    pub items_sha256: String,
}

/// The machine that a process ran on.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Device {
    /// Host name is left out on purpose: logs are handed around.
    pub model: String,
    /// Operating system and kernel.
    pub system: String,
    /// Processor name.
    pub cpu: String,
    /// Physical cores, 0 when unknown.
    pub physical_cores: u32,
    /// Logical processors.
    pub logical_cores: u32,
    /// Physical memory.
    pub memory_bytes: u64,
}

/// A log that a merged one comes from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Source {
    /// Identity of its run.
    pub run_id: String,
    /// The machine.
    pub device: Device,
    /// Groups that were taken from it.
    pub groups: Vec<u32>,
}
