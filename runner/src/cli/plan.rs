//! `edge-eval plan`.

use std::time::Duration;

use clap::Args;

use super::measure::Measure;
use super::{Choice, print, talk};
use crate::estimate::{Estimate, estimate};
use crate::exit::{Exit, Failure};
use crate::forecast::{Forecast, duration_in_words, forecast};
use crate::levels::Program;
use crate::plan::{Plan, design};

/// Help beside the arguments.
pub(super) const HELP: &str = "Examples:
  edge-eval plan configs/quickstart.toml --model my.gguf
  edge-eval plan configs/ladder.toml --probe             # time and energy from a trial of two minutes
  edge-eval plan configs/ladder.toml --difference 3      # how many items it takes to see 3 points";

/// Arguments of `plan`.
#[derive(Debug, Args)]
pub(super) struct PlanCommand {
    #[command(flatten)]
    choice: Choice,
    #[command(flatten)]
    measure: Measure,
    /// Try every model on its own items for so many seconds in all, and tell time, memory and energy of the whole run
    #[arg(long, value_name = "S", num_args = 0..=1, default_missing_value = "120")]
    probe: Option<u64>,
    /// Tell how many items it takes to see a difference of so many points of per cent
    #[arg(long, value_name = "POINTS")]
    difference: Option<f64>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl PlanCommand {
    pub(super) fn run(self) -> Result<Exit, Failure> {
        if let Some(points) = self.difference.filter(|points| !(*points > 0.0 && *points <= 100.0)) {
            return Err(Failure::usage(format!(
                "--difference is {points}: give points of per cent, above 0"
            )));
        }
        if self.probe == Some(0) {
            return Err(Failure::usage("--probe is 0: give seconds, 120 are usual"));
        }
        let mut plan = self.choice.plan()?;
        plan.notes.iter().for_each(|note| talk(note));
        self.measure.apply(&mut plan.config.telemetry)?;
        let program = Program::find(&plan.config.engine.cpu_level)?;
        let estimates = estimate(&plan, program.clone())?;
        let design = self.difference.map(|points| design(&plan, points / 100.0));
        let forecasts = match self.probe {
            None => Vec::new(),
            Some(seconds) => {
                let measuring = self.measure.start(&plan.config.telemetry)?;
                let probe = Duration::from_secs(seconds);
                forecast(&plan, &estimates, program, measuring, probe)?
            }
        };
        if self.json {
            let turns: Vec<String> =
                plan.visits().iter().map(|visit| plan.models[visit.model].record.name.clone()).collect();
            print(&format!(
                "{:#}\n",
                serde_json::json!({
                    "models": estimates,
                    "order": turns,
                    "notes": plan.notes,
                    "forecasts": forecasts,
                    "design": design,
                })
            ))?;
        } else {
            let mut text: String =
                plan.order_in_words().map(|order| format!("{order}\n")).unwrap_or_default();
            text.extend(estimates.iter().map(Estimate::to_string));
            text.extend(forecasts.iter().map(Forecast::to_string));
            text.extend(sum(&plan, &forecasts));
            text.extend(design.map(|design| design.to_string()));
            print(&text)?;
        }
        match estimates.iter().find_map(|estimate| estimate.memory.refusal.as_ref()) {
            Some(refusal) => Err(Failure::new(Exit::Budget, refusal.line())),
            None => Ok(Exit::Done),
        }
    }
}

/// All models together, where there are several and all have a time.
fn sum(plan: &Plan, forecasts: &[Forecast]) -> Option<String> {
    let seconds: f64 = forecasts.iter().map(|forecast| forecast.total_s).sum::<Option<f64>>()?;
    let choice = &plan.config.telemetry;
    let turns = plan.visits().len() as u64;
    let waits = choice.settle_s * turns + choice.cool_down_s * turns.saturating_sub(1);
    let mut line = format!("all models: {}", duration_in_words(seconds));
    if waits > 0 {
        line.push_str(&format!(
            ", and up to {} of waiting for a calm machine",
            duration_in_words(waits as f64)
        ));
    }
    let joules: Option<f64> = forecasts.iter().map(|forecast| forecast.energy_j).sum();
    line.extend(joules.map(|joules| format!("; {joules:.0} J ({:.2} Wh)", joules / 3600.0)));
    (forecasts.len() > 1).then(|| format!("{line}\n"))
}
