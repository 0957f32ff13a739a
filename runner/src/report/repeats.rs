//! Repetitions of a run: the same plan, asked again, whose rounds are rounds too.

use std::path::Path;

use super::cells::cells;
use super::costs::{Cost, costs};
use super::load::RunLog;
use crate::exit::{Exit, Failure};
use crate::plan::difference;

/// A run that was asked again.
#[derive(Debug)]
pub struct Repeat {
    pub(crate) run: RunLog,
    costs: Vec<Cost>,
}

impl Repeat {
    /// Reads a repetition of a run. Refused where it is another run, or the same log.
    pub fn read(run: &RunLog, dir: &Path) -> Result<Repeat, Failure> {
        let other = RunLog::read(dir)?;
        if other.header.run_id == run.header.run_id {
            return Err(Failure::usage(format!("--again {}: this is the run itself", dir.display())));
        }
        if let Some(difference) = difference(&run.header, &other.header) {
            return Err(Failure::new(
                Exit::Mismatch,
                format!("--again {}: is no repetition of the first run: {difference}", dir.display()),
            ));
        }
        let costs = costs(&other, &cells(&other));
        Ok(Repeat { run: other, costs })
    }

    /// Identity of the repetition.
    pub fn run_id(&self) -> &str {
        &self.run.header.run_id
    }
}

/// Adds the rounds of repetitions to those of a run. Pooled figures stay the run's own.
pub fn join_repeats(costs: &mut [Cost], repeats: &[Repeat]) {
    for cost in costs {
        let same = |other: &&Cost| {
            (&other.model, &other.task, &other.interface) == (&cost.model, &cost.task, &cost.interface)
        };
        for other in repeats.iter().filter_map(|repeat| repeat.costs.iter().find(same)) {
            cost.rounds.join(&other.rounds);
        }
    }
}
