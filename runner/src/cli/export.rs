//! `edge-eval export`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::report::is_broken_pipe;
use super::{output, print, state};
use crate::exit::{Exit, Failure};
use crate::export::{llama_bench, write_jsonl, write_lm_eval};
use crate::probes;
use crate::report::{RunLog, write_items_csv};

/// Forms that a run can be written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    /// One row per item and interface
    Csv,
    /// One JSON object per item and interface, with all turns and replies
    Jsonl,
    /// Results and samples as lm-evaluation-harness lays them out; -o names a folder
    LmEval,
    /// Speeds under the names of llama-bench
    LlamaBench,
}

/// Arguments of `export`.
#[derive(Debug, Args)]
pub(super) struct ExportCommand {
    /// Folder of the run
    dir: PathBuf,
    /// Form of the output
    #[arg(long, value_enum, required_unless_present = "readouts")]
    format: Option<Format>,
    /// Recorded readouts: a folder (-o) with readouts.jsonl and the hidden states as NumPy arrays
    #[arg(long, conflicts_with = "format")]
    readouts: bool,
    /// Where to: a file (`-`: standard output), or a folder for lm-eval
    #[arg(short, long, value_name = "PATH", default_value = "-")]
    out: PathBuf,
}

impl ExportCommand {
    pub(super) fn run(self) -> Result<Exit, Failure> {
        let Some(format) = self.format else { return self.readouts() };
        let run = RunLog::read(&self.dir)?;
        state::tell(&self.dir, &run);
        let failed = |error: std::io::Error| Failure::disk(format!("{}: {error}", self.out.display()));
        let ended = |result: std::io::Result<()>| match result {
            // A reader that has seen enough is no failure.
            Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => Err(failed(error)),
            _ => Ok(Exit::Done),
        };
        match format {
            Format::Csv => match write_items_csv(&run, output(&self.out)?) {
                Err(error) if !is_broken_pipe(&error) => {
                    Err(Failure::disk(format!("{}: {error}", self.out.display())))
                }
                _ => Ok(Exit::Done),
            },
            Format::Jsonl => {
                let mut out = output(&self.out)?;
                ended(write_jsonl(&run, &mut *out).and_then(|()| out.flush()))
            }
            Format::LlamaBench => {
                let mut out = output(&self.out)?;
                ended(
                    out.write_all(format!("{:#}\n", llama_bench(&run)).as_bytes()).and_then(|()| out.flush()),
                )
            }
            Format::LmEval => {
                if self.out.as_os_str() == "-" {
                    return Err(Failure::usage(
                        "--format lm-eval writes several files: name a folder with -o",
                    ));
                }
                let written = write_lm_eval(&run, &self.out)?;
                print(&written.iter().map(|path| format!("{}\n", path.display())).collect::<String>())
            }
        }
    }

    fn readouts(self) -> Result<Exit, Failure> {
        if self.out.as_os_str() == "-" {
            return Err(Failure::usage("--readouts writes several files: name a folder with -o"));
        }
        state::tell(&self.dir, &RunLog::read(&self.dir)?);
        let corpora = probes::load_answers(&self.dir)?;
        let written = probes::export(&corpora, &self.out)?;
        print(&written.iter().map(|path| format!("{}\n", path.display())).collect::<String>())
    }
}
