//! `edge-eval merge`.

use std::path::PathBuf;

use clap::Args;

use super::{print, state, talk};
use crate::count::counted;
use crate::exit::{Exit, Failure};
use crate::merge::merge;
use crate::report::RunLog;

/// Arguments of `merge`.
#[derive(Debug, Args)]
pub(super) struct MergeCommand {
    /// Folders of runs of one plan: shards, or the same run on several machines
    #[arg(required = true, value_name = "RUN")]
    runs: Vec<PathBuf>,
    /// Folder of the merged run; must not hold a run yet
    #[arg(short, long, value_name = "DIR")]
    out: PathBuf,
}

impl MergeCommand {
    pub(super) fn run(self) -> Result<Exit, Failure> {
        for dir in &self.runs {
            state::tell(dir, &RunLog::read(dir)?);
        }
        let merged = merge(&self.runs, &self.out)?;
        if !merged.missing.is_empty() {
            let few: Vec<String> = merged.missing.iter().take(10).map(u32::to_string).collect();
            let more = if merged.missing.len() > 10 { ", ..." } else { "" };
            talk(&format!(
                "{} in none of the logs: {}{more}",
                counted(merged.missing.len(), "group"),
                few.join(", ")
            ));
        }
        merged.notes.iter().for_each(|note| talk(note));
        let states =
            merged.states.map_or(String::new(), |states| format!("; {states} answers have hidden states"));
        print(&format!(
            "{}: {}, {} of them in more than one log; {} missing{states}\n",
            self.out.display(),
            counted(merged.groups, "group"),
            merged.duplicates,
            merged.missing.len()
        ))
    }
}
