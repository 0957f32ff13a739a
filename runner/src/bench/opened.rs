//! A model that is measured: its plan of items, and workers for it.

use std::path::PathBuf;
use std::time::Duration;

use models::template::Thinking;
use models::{EngineFacts, LoadSpec};

use super::{Choice, Row, Trouble};
use crate::config::{Config, ModelChoice, TaskChoice};
use crate::device;
use crate::exit::Failure;
use crate::levels::Program;
use crate::plan::{Plan, PlannedModel};
use crate::supervisor::{Interrupt, Link, load_spec};

/// Tasks of the scoring workload: items that share rules, and items of one episode at many depths.
pub(super) const TASKS: [&str; 2] = ["grammar", "linear-world"];
/// Interfaces of the scoring workload.
pub(super) const INTERFACES: [&str; 2] = ["direct", "cot-prefix"];

/// A model that is measured.
pub(super) struct Opened {
    pub(super) plan: Plan,
    program: Program,
    deadline: Duration,
    row: Row,
}

impl Opened {
    pub(super) fn new(
        model: &str,
        choice: &Choice,
        program: Program,
        say: &mut dyn FnMut(&str),
    ) -> Result<Opened, Failure> {
        let mut model_choice = ModelChoice {
            path: PathBuf::from(model),
            name: None,
            template: choice.template.clone(),
            thinking: Thinking::Default,
            // How texts are cut changes what a model says, hardly how fast.
            guess_pre_tokenizer: true,
            memory_budget: None,
            mmproj: None,
        };
        if model_choice.template.is_none() && PlannedModel::open(&model_choice).is_err() {
            let raw = ModelChoice { template: Some("raw".into()), ..model_choice.clone() };
            if PlannedModel::open(&raw).is_ok() {
                say(&format!("{model}: no usable chat template: prompts are raw"));
                model_choice = raw;
            }
        }
        let config = Config {
            models: vec![model_choice],
            tasks: TASKS.iter().map(|name| TaskChoice::named(name)).collect(),
            interfaces: INTERFACES.map(String::from).to_vec(),
            limit: Some(choice.items),
            ..Config::default()
        };
        let plan = Plan::make(config, "bench", "")?;
        let row = describe(model, &plan.models[0]);
        Ok(Opened { plan, program, deadline: choice.deadline, row })
    }

    /// How the model is loaded.
    pub(super) fn spec(&self, threads: Option<u32>) -> LoadSpec {
        let spec = load_spec(&self.plan, 0);
        LoadSpec {
            threads: threads.unwrap_or(spec.threads),
            threads_batch: threads.unwrap_or(spec.threads_batch),
            ..spec
        }
    }

    /// How it is loaded for probes, which open contexts of their own.
    pub(super) fn spec_for_probes(&self, threads: Option<u32>) -> LoadSpec {
        LoadSpec { cells: 256, context_tokens: 256, sequences: 1, ..self.spec(threads) }
    }

    /// A worker with the model loaded.
    pub(super) async fn link(&self, spec: LoadSpec) -> Result<(Link, EngineFacts), Trouble> {
        let mut link = Link::start(&self.program, self.deadline, Interrupt::never())?;
        let facts = link.open(spec).await?;
        Ok((link, facts))
    }

    /// A row with what is known of model and machine.
    pub(super) fn row(&self) -> Row {
        self.row.clone()
    }
}

fn describe(named: &str, model: &PlannedModel) -> Row {
    let record = &model.record;
    let size = match record.parameters {
        0 => String::new(),
        n if n < 1_000_000_000 => format!(" {:.0}M", n as f64 / 1e6),
        n => format!(" {:.2}B", n as f64 / 1e9),
    };
    Row {
        cpu_info: device::facts().cpu,
        backends: "CPU",
        model_filename: named.to_owned(),
        model_type: format!("{}{size} {}", record.architecture, record.quantisation).trim().to_owned(),
        model_size: model.header.as_ref().map_or(0, |header| header.weight_bytes()),
        model_n_params: record.parameters,
        type_k: "f16",
        type_v: "f16",
        ..Row::default()
    }
}
