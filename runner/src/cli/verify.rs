//! `edge-eval verify`.

use std::path::PathBuf;

use clap::Args;

use super::print;
use crate::doctor::Level;
use crate::exit::{Exit, Failure};
use crate::verify::verify;

/// Arguments of `verify`.
#[derive(Debug, Args)]
pub(super) struct VerifyCommand {
    /// Folders of runs
    #[arg(required = true, value_name = "DIR")]
    dirs: Vec<PathBuf>,
    /// Hash the model files too, where they are
    #[arg(long)]
    models: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl VerifyCommand {
    pub(super) fn run(self) -> Result<Exit, Failure> {
        let mut text = String::new();
        let mut values = Vec::new();
        let mut exit = Exit::Done;
        for dir in &self.dirs {
            let checks = verify(dir, self.models)?;
            if checks.iter().any(|check| check.level == Level::Fail) {
                exit = Exit::Damaged;
            }
            text.push_str(&format!("{}\n", dir.display()));
            for check in &checks {
                let level = match check.level {
                    Level::Ok => "ok",
                    Level::Skip => "skipped",
                    Level::Warn => "note",
                    Level::Fail => "FAILED",
                };
                text.push_str(&format!("  {level:<8} {}: {}\n", check.name, check.finding));
            }
            values.push(serde_json::json!({ "dir": dir.display().to_string(), "checks": checks }));
        }
        if self.json {
            text = format!("{:#}\n", serde_json::Value::Array(values));
        }
        print(&text)?;
        Ok(exit)
    }
}
