//! The arguments that choose what is run; shared by `run`, `plan` and `tasks`.

use std::path::PathBuf;

use clap::Args;
use clap::builder::{OsStringValueParser, TypedValueParser};

use crate::config::{Config, Overrides};
use crate::exit::Failure;
use crate::memory::Budget;
use crate::plan::Plan;

/// What to run.
#[derive(Debug, Args)]
pub(super) struct Choice {
    /// Configuration file (TOML); `default` for the built-in defaults
    pub(super) config: PathBuf,
    /// Model to evaluate instead of those of the configuration (may be repeated): a GGUF file, a name of `list models`, or `fake`
    #[arg(long = "model", value_name = "PATH|NAME", value_parser = in_utf8())]
    models: Vec<String>,
    /// Chat template of every model instead of its own: `raw` for none, or a file
    #[arg(long, alias = "template-file", value_name = "raw|FILE")]
    template: Option<String>,
    /// File that turns pictures into what the model reads (mmproj); without it the model is asked in text alone
    #[arg(long, value_name = "FILE")]
    mmproj: Option<PathBuf>,
    /// Run only this task (may be repeated); one that the configuration lacks gets its default parameters
    #[arg(long = "task", value_name = "NAME")]
    tasks: Vec<String>,
    /// Ask through this interface instead of those of the configuration (may be repeated)
    #[arg(long = "interface", value_name = "NAME")]
    interfaces: Vec<String>,
    /// Items per task, a seeded sample
    #[arg(long, value_name = "N")]
    limit: Option<usize>,
    /// Seed of everything that is drawn
    #[arg(long)]
    seed: Option<u64>,
    /// What a model may take of the memory, instead of what the configuration says
    #[arg(long, value_name = "auto|none|1.5GiB|60%")]
    memory_budget: Option<Budget>,
    /// Load models whose mapped weights exceed the budget; the run is marked
    #[arg(long)]
    allow_overcommit: bool,
    /// Rounds over several models, there and back, so that heat and drift fall on all alike; an even number balances
    #[arg(long, value_name = "N")]
    rounds: Option<u32>,
    /// CPU level of the worker instead of the best that runs here
    #[arg(long, value_name = "LEVEL")]
    cpu_level: Option<String>,
}

/// Paths that stand in configurations and logs are texts.
fn in_utf8() -> impl TypedValueParser<Value = String> {
    OsStringValueParser::new().try_map(|path| {
        path.into_string()
            .map_err(|path| format!("{}: the path is not UTF-8: rename the file", path.display()))
    })
}

impl Choice {
    /// The plan that was meant.
    pub(super) fn plan(&self) -> Result<Plan, Failure> {
        let (name, text) = self.text()?;
        let usage = |error: crate::config::ConfigError| Failure::usage(error.to_string());
        let mut config = Config::parse(&text, &name).map_err(usage)?;
        self.overrides().apply(&mut config).map_err(usage)?;
        Plan::make(config, &name, &text)
    }

    /// Name and text of the configuration.
    pub(super) fn text(&self) -> Result<(String, String), Failure> {
        Ok(match self.config.to_str() {
            Some("default") => ("default".to_owned(), crate::config::REFERENCE.to_owned()),
            _ => {
                let name = self.config.display().to_string();
                let text = std::fs::read_to_string(&self.config).map_err(|error| {
                    Failure::usage(format!("{name}: {error}: give a configuration file, or `default`"))
                })?;
                (name, text)
            }
        })
    }

    /// What the arguments change in it.
    pub(super) fn overrides(&self) -> Overrides {
        Overrides {
            models: self.models.clone(),
            template: self.template.clone(),
            mmproj: self.mmproj.clone(),
            tasks: self.tasks.clone(),
            interfaces: self.interfaces.clone(),
            limit: self.limit,
            seed: self.seed,
            memory_budget: self.memory_budget,
            allow_overcommit: self.allow_overcommit,
            rounds: self.rounds,
            cpu_level: self.cpu_level.clone(),
        }
    }

    /// A short name for folders: the configuration file's stem.
    pub(super) fn stem(&self) -> String {
        self.config.file_stem().unwrap_or_default().to_string_lossy().into_owned()
    }
}
