//! `edge-eval compare`.

use std::path::PathBuf;

use clap::Args;

use super::report::{is_broken_pipe, terminal_width};
use super::{output, print};
use crate::compare::{FIELDS, Options, compare, join_repeats, read, text, write_csv};
use crate::exit::{Exit, Failure};
use crate::report::Extent;

/// Help beside the arguments.
pub(super) const HELP: &str =
    "The first one is the reference. A run is a folder: all its models, in the order of the run; \
    DIR:MODEL is one of them.

Examples:
  edge-eval compare runs/q8 runs/q4 runs/q2
  edge-eval compare runs/ladder                       # its first model against its others
  edge-eval compare runs/ladder --again runs/ladder-2         # ratios of costs over the rounds of both
  edge-eval compare runs/ladder:Q8_0 runs/ladder:Q4_K_M --margin 2";

/// Arguments of `compare`.
#[derive(Debug, Args)]
pub(super) struct CompareCommand {
    /// Runs to compare, the reference first
    #[arg(required = true, value_name = "DIR[:MODEL]")]
    sides: Vec<String>,
    /// Points of per cent that a model may lose without harm
    #[arg(long, value_name = "POINTS", default_value_t = 3.0)]
    margin: f64,
    /// Compare although this differs (may be repeated): seed, reading, asking, version, params, limit, cue, items, prompts
    #[arg(long, value_name = "FIELD")]
    allow: Vec<String>,
    /// Count the rounds of this repetition of the run too, in ratios over rounds (may be repeated)
    #[arg(long, value_name = "DIR")]
    again: Vec<PathBuf>,
    /// Seed of the bootstrap
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Write CSV to this file (`-`: standard output): one row per candidate, task and interface
    #[arg(long, value_name = "FILE")]
    csv: Option<PathBuf>,
    /// Print JSON instead of tables
    #[arg(long)]
    json: bool,
    /// Show every condition; without it, where there are more than four, those that vary nothing
    #[arg(long)]
    all_rows: bool,
}

impl CompareCommand {
    pub(super) fn run(self) -> Result<Exit, Failure> {
        if !(self.margin > 0.0 && self.margin <= 100.0) {
            return Err(Failure::usage(format!(
                "--margin is {}: give points of per cent, above 0",
                self.margin
            )));
        }
        if let Some(unknown) = self.allow.iter().find(|field| !FIELDS.contains(&field.as_str())) {
            return Err(Failure::usage(format!("--allow {unknown}: known: {}", FIELDS.join(", "))));
        }
        let options = Options { margin: self.margin / 100.0, allow: self.allow, seed: self.seed };
        let mut sides = read(&self.sides)?;
        let notes = join_repeats(&mut sides, &self.again, &options.allow)?;
        let mut comparison = compare(&sides, &options)?;
        let fresh: Vec<String> = notes.into_iter().filter(|note| !comparison.notes.contains(note)).collect();
        comparison.notes.extend(fresh);
        if let Some(path) = &self.csv {
            match write_csv(&comparison, output(path)?) {
                Err(error) if !is_broken_pipe(&error) => {
                    return Err(Failure::disk(format!("{}: {error}", path.display())));
                }
                _ => {}
            }
            if path.as_os_str() == "-" {
                return Ok(Exit::Done);
            }
        }
        if self.json {
            return print(&format!("{:#}\n", serde_json::json!(comparison)));
        }
        print(&text(&comparison, terminal_width(), Extent::of(self.all_rows)))
    }
}
