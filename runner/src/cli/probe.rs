//! `edge-eval probe`.

use std::path::{Path, PathBuf};

use clap::Args;

use super::report::{is_broken_pipe, terminal_width};
use super::{output, print, talk};
use crate::exit::{Exit, Failure};
use crate::probes::{Options, analyse, load, text, write_csv};
use crate::report::Extent;

/// Help beside the arguments.
pub(super) const HELP: &str =
    "A run keeps hidden states with hidden-states = \"final\" or \"layers\" under [asking]; the model is not needed here. \
    The result lies in the run folder, where `report` finds it.

Examples:
  edge-eval probe runs/x
  edge-eval probe runs/x --without type --csv probes.csv
  edge-eval probe runs/x-1of2 runs/x-2of2
  edge-eval probe elsewhere/readouts.jsonl";

/// Arguments of `probe`.
#[derive(Debug, Args)]
pub(super) struct ProbeCommand {
    /// Folders of runs that kept hidden states, or files of recorded readouts; parts of one plan are taken together
    #[arg(required = true)]
    paths: Vec<PathBuf>,
    /// Seed of splits, shuffles and starts
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Highest rank of the update of the vocabulary projection
    #[arg(long, value_name = "N", default_value_t = 32)]
    rank: usize,
    /// Leave single layers out
    #[arg(long)]
    no_layers: bool,
    /// Learn without one or two kinds of items and try on all: the tag that names the kinds
    #[arg(long, value_name = "TAG")]
    without: Option<String>,
    /// Show every row: transfer and repairs between all conditions, curves of all. Without it, where a task has more than four
    /// conditions, one row per condition and the curves of those that vary nothing
    #[arg(long)]
    all_rows: bool,
    /// Write every share as CSV to this file (`-`: standard output)
    #[arg(long, value_name = "FILE")]
    csv: Option<PathBuf>,
    /// Print JSON instead of tables
    #[arg(long)]
    json: bool,
    /// No talk on standard error
    #[arg(short, long)]
    quiet: bool,
}

impl ProbeCommand {
    pub(super) fn run(self) -> Result<Exit, Failure> {
        if self.rank == 0 {
            return Err(Failure::usage("--rank is 0: give at least 1"));
        }
        let mut say = |line: &str| {
            if !self.quiet {
                talk(line);
            }
        };
        let corpora = load(&self.paths)?;
        if corpora.all.is_empty() {
            return Err(Failure::input(format!(
                "{}: no scored answer has hidden states, and nothing else is there to read",
                self.paths[0].display()
            )));
        }
        let options = Options {
            seed: self.seed,
            rank: self.rank,
            layers: !self.no_layers,
            without: self.without.clone(),
        };
        let result = analyse(&corpora, &options, &mut say)?;
        if let Some(dir) = self.paths.iter().find(|path| path.is_dir()) {
            keep(&result, dir, &mut say);
        }
        if let Some(path) = &self.csv {
            match write_csv(&result, output(path)?) {
                Err(error) if !is_broken_pipe(&error) => {
                    return Err(Failure::disk(format!("{}: {error}", path.display())));
                }
                _ => {}
            }
            if path.as_os_str() == "-" {
                return Ok(Exit::Done);
            }
        }
        match self.json {
            true => print(&format!("{}\n", serde_json::to_string_pretty(&result).unwrap_or_default())),
            false => print(&format!("{}\n", text(&result, terminal_width(), Extent::of(self.all_rows)))),
        }
    }
}

/// Puts the result where reports find it. A folder that cannot be written to keeps nobody from reading the result.
fn keep(result: &crate::probes::ProbeResult, dir: &Path, say: &mut impl FnMut(&str)) {
    if let Err(failure) = result.save(dir) {
        say(&format!("{failure}; reports of the run will not show it"));
    }
}
