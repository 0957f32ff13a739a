//! `edge-eval report`.

use std::io::IsTerminal;
use std::path::PathBuf;

use clap::Args;

use super::{output, print};
use crate::config::ReportChoice;
use crate::exit::{Exit, Failure};
use crate::report::{RunLog, cells, notes, table, to_json, write_items_csv};

/// Arguments of `report`.
#[derive(Debug, Args)]
pub(super) struct ReportCommand {
    /// Folder of the run
    dir: PathBuf,
    /// Write one row per item and interface to this file (`-`: standard output)
    #[arg(long, value_name = "FILE")]
    csv: Option<PathBuf>,
    /// Print JSON instead of a table
    #[arg(long)]
    json: bool,
    /// Median label mass below which the report warns
    #[arg(long, value_name = "P", default_value_t = ReportChoice::default().mass_floor)]
    mass_floor: f64,
}

impl ReportCommand {
    pub(super) fn run(self) -> Result<Exit, Failure> {
        let run = RunLog::read(&self.dir)?;
        let cells = cells(&run);
        let notes = notes(&run, &cells, self.mass_floor);
        if let Some(path) = &self.csv {
            write_items_csv(&run, output(path)?)
                .map_err(|error| Failure::disk(format!("{}: {error}", path.display())))?;
            if path.as_os_str() == "-" {
                return Ok(Exit::Done);
            }
        }
        if self.json {
            return print(&format!("{:#}\n", to_json(&run, &cells, &notes)));
        }
        let mut text: String = notes.iter().map(|note| format!("! {note}\n")).collect();
        text.push_str(&table(&cells, terminal_width()));
        text.push('\n');
        print(&text)
    }
}

/// Width of the terminal that results go to; `None` elsewhere.
pub(super) fn terminal_width() -> Option<u16> {
    let stdout = std::io::stdout();
    stdout.is_terminal().then(|| terminal_size::terminal_size().map(|(width, _)| width.0)).flatten()
}
