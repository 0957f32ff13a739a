//! `edge-eval plan`.

use clap::Args;

use super::{Choice, print};
use crate::estimate::{Estimate, estimate};
use crate::exit::{Exit, Failure};
use crate::levels::Program;

/// Arguments of `plan`.
#[derive(Debug, Args)]
pub(super) struct PlanCommand {
    #[command(flatten)]
    choice: Choice,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl PlanCommand {
    pub(super) fn run(self) -> Result<Exit, Failure> {
        let plan = self.choice.plan()?;
        let estimates = estimate(&plan, Program::find(&plan.config.engine.cpu_level)?)?;
        if self.json {
            print(&format!("{:#}\n", serde_json::json!({ "models": estimates })))?;
        } else {
            print(&estimates.iter().map(Estimate::to_string).collect::<String>())?;
        }
        match estimates.iter().find_map(|estimate| estimate.memory.refusal.as_ref()) {
            Some(refusal) => Err(Failure::new(Exit::Budget, refusal.line())),
            None => Ok(Exit::Done),
        }
    }
}
