//! `edge-eval doctor`.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use models::template::Thinking;

use super::print;
use crate::config::{Config, ModelChoice, REFERENCE};
use crate::doctor::{Findings, Level, Subject, examine, levels};
use crate::exit::{Exit, Failure};
use crate::levels::Program;

/// Arguments of `doctor`.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub(super) struct Doctor {
    #[command(subcommand)]
    part: Option<Part>,
    /// A GGUF file, a name of `list models`, or `fake`
    #[arg(required = true)]
    model: Option<String>,
    /// Chat template: `raw` for none, or a file; the model's own when absent
    #[arg(long, alias = "template-file", value_name = "raw|FILE")]
    template: Option<String>,
    /// File that turns pictures into what the model reads (mmproj); without it the model is asked in text alone
    #[arg(long, value_name = "FILE")]
    mmproj: Option<PathBuf>,
    /// Configuration whose tasks and settings the model is meant for; every task with its defaults when absent
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// CPU level of the worker; the best that runs here when absent
    #[arg(long, value_name = "LEVEL")]
    cpu_level: Option<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// What is examined instead of a model.
#[derive(Debug, Subcommand)]
enum Part {
    /// Examine the power sensors: what is found, what is missing and why, a reading, and what sampling costs
    Power(super::power::Power),
    /// Hold the worker of every CPU level that runs here against known answers of tiny built-in models
    Levels {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
}

impl Doctor {
    pub(super) fn run(self) -> Result<Exit, Failure> {
        match self.part {
            Some(Part::Power(power)) => return power.run(),
            Some(Part::Levels { json }) => return tell(&levels()?, json),
            None => {}
        }
        let model_name = self.model.clone().unwrap_or_default();
        let (name, text) = match &self.config {
            None => ("default".to_owned(), REFERENCE.to_owned()),
            Some(path) => {
                let name = path.display().to_string();
                let text = std::fs::read_to_string(path)
                    .map_err(|error| Failure::usage(format!("{name}: {error}: give a configuration file")))?;
                (name, text)
            }
        };
        let config = Config::parse(&text, &name).map_err(|error| Failure::usage(error.to_string()))?;
        let config_level = config.engine.cpu_level.clone();
        let model = ModelChoice {
            path: PathBuf::from(&model_name),
            name: None,
            template: self.template.clone(),
            thinking: Thinking::Default,
            guess_pre_tokenizer: false,
            memory_budget: None,
            mmproj: self.mmproj.clone(),
        };
        let subject = Subject {
            model,
            config,
            config_name: name,
            program: Program::find(&self.cpu_level.unwrap_or(config_level))?,
        };
        let findings = examine(subject)?;
        tell(&findings, self.json)
    }
}

fn tell(findings: &Findings, json: bool) -> Result<Exit, Failure> {
    if json {
        let value = serde_json::to_value(findings)
            .map_err(|error| Failure::new(Exit::Failed, format!("JSON: {error}")))?;
        print(&format!("{value:#}\n"))?;
    } else {
        print(&findings.to_string())?;
    }
    match findings.count(Level::Fail) {
        0 => Ok(Exit::Done),
        failed => Err(Failure::input(format!(
            "{}: {failed} of {} checks failed",
            findings.model,
            findings.checks.len()
        ))),
    }
}
