//! `edge-eval regrade`.

use std::path::PathBuf;

use clap::Args;

use super::{print, state};
use crate::exit::{Exit, Failure};
use crate::regrade::{Judging, Outcome, open, regrade, rewrite};
use crate::report::changes_table;

/// Changed items that are listed for people; `--json` lists all.
const LISTED: usize = 100;

/// Arguments of `regrade`.
#[derive(Debug, Args)]
pub(super) struct RegradeCommand {
    /// Folder of the run
    dir: PathBuf,
    /// Write the result as a run of its own, DIR-regraded
    #[arg(long)]
    write: bool,
    /// Judge scored labels anew: sum, per-token or per-byte
    #[arg(long, value_name = "HOW")]
    normalisation: Option<String>,
    /// Judge the options' texts anew: sum, per-token, per-byte or unconditional
    #[arg(long, value_name = "HOW")]
    full_string: Option<String>,
    /// Print JSON instead of tables
    #[arg(long)]
    json: bool,
}

/// A word of the configuration.
fn word<T: serde::de::DeserializeOwned>(
    option: &str,
    word: Option<&String>,
    known: &str,
) -> Result<Option<T>, Failure> {
    let read = |word: &String| {
        serde_json::from_value(serde_json::json!(word))
            .map_err(|_| Failure::usage(format!("{option} {word}: give {known}")))
    };
    word.map(read).transpose()
}

impl RegradeCommand {
    pub(super) fn run(self) -> Result<Exit, Failure> {
        let texts = "sum, per-token, per-byte or unconditional";
        let judging = Judging {
            labels: word("--normalisation", self.normalisation.as_ref(), "sum, per-token or per-byte")?,
            texts: word("--full-string", self.full_string.as_ref(), texts)?,
        };
        let (run, regrader) = open(&self.dir, judging)?;
        state::tell(&self.dir, &run);
        let outcome = regrade(&run, &regrader)?;
        let written = match self.write {
            true => Some(rewrite(&self.dir, &run.header, &regrader)?.display().to_string()),
            false => None,
        };
        if self.json {
            let mut value = serde_json::json!(outcome);
            value["written"] = serde_json::json!(written);
            return print(&format!("{value:#}\n"));
        }
        let mut text = summary(&outcome);
        if let Some(dir) = written {
            text.push_str(&format!("\nrun folder: {dir}\n"));
        }
        print(&text)
    }
}

fn summary(outcome: &Outcome) -> String {
    let mut text = format!(
        "reading version {} in the log, {} now: {} answers read again, {} changed\n",
        outcome.reading_before,
        outcome.reading_now,
        outcome.read,
        outcome.changes.len()
    );
    for (n, words) in [
        (outcome.lost, "lost by the engine, kept as they are"),
        (outcome.other_course, "conversations that would have gone another way, kept as they are"),
        (outcome.unasked, "would now be rescued, which only a run can do; unanswered here"),
    ] {
        if n > 0 {
            text.push_str(&format!("{n} {words}\n"));
        }
    }
    for (transition, n) in &outcome.transitions {
        text.push_str(&format!("{n:>6}  {transition}\n"));
    }
    if !outcome.changes.is_empty() {
        let listed = &outcome.changes[..outcome.changes.len().min(LISTED)];
        text.push_str(&format!("\n{}\n", changes_table(listed, super::report::terminal_width())));
        let rest = outcome.changes.len() - listed.len();
        if rest > 0 {
            text.push_str(&format!("and {rest} more; --json lists all\n"));
        }
    }
    text
}
