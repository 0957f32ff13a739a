//! `edge-eval log`.

use std::io::Write;
use std::path::PathBuf;

use clap::Subcommand;

use super::{output, print};
use crate::entry::Entry;
use crate::exit::{Exit, Failure};
use crate::log::{Reader, file_of, verify};

/// What can be done with a log.
#[derive(Debug, Subcommand)]
pub(super) enum LogCommand {
    /// Print every entry as a line of JSON
    Dump {
        /// Folder of the run
        dir: PathBuf,
    },
    /// Check every frame
    Verify {
        /// Folder of the run
        dir: PathBuf,
    },
}

impl LogCommand {
    pub(super) fn run(self) -> Result<Exit, Failure> {
        match self {
            LogCommand::Dump { dir } => dump(&file_of(&dir)),
            LogCommand::Verify { dir } => {
                let path = file_of(&dir);
                let summary = verify::<Entry>(&path).map_err(|error| Failure::disk(error.to_string()))?;
                print(&format!("{summary}\n"))?;
                Ok(if summary.is_whole() { Exit::Done } else { Exit::Damaged })
            }
        }
    }
}

fn dump(path: &std::path::Path) -> Result<Exit, Failure> {
    let mut reader = Reader::<Entry>::open(path).map_err(|error| Failure::disk(error.to_string()))?;
    let mut out = output(&PathBuf::from("-"))?;
    let mut whole = true;
    for item in &mut reader {
        let line = match item {
            Ok(record) => serde_json::json!({ "seq": record.seq, "entry": record.entry }),
            Err(damage) => {
                whole = false;
                serde_json::json!({ "damage": damage.to_string() })
            }
        };
        match writeln!(out, "{line}") {
            Ok(()) => {}
            Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => return Ok(Exit::Done),
            Err(error) => return Err(Failure::disk(format!("standard output: {error}"))),
        }
    }
    Ok(if whole { Exit::Done } else { Exit::Damaged })
}
