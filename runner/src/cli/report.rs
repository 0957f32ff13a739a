//! `edge-eval report`.

use std::io::IsTerminal;
use std::path::PathBuf;

use clap::Args;

use super::{output, print, state};
use crate::config::ReportChoice;
use crate::exit::{Exit, Failure};
use crate::probes::{self, ProbeResult};
use crate::report::{
    Cell, Control, Controls, Cost, Decoding, Extent, FigureRow, ItemChoice, Note, Parity, PhaseCost,
    Published, Repeat, RunLog, Stratum, Views, beside, cells, costs, costs_table, decoding, decoding_tables,
    figures, figures_table, gathered, has_costs, has_decoding, html, join_repeats, memory, memory_table,
    meter_csv, notes, papers_table, parity, phases, phases_table, published, rounds_table, strata,
    strata_table, table, to_json, write_baselines_csv, write_costs_csv, write_decoding_csv,
    write_figures_csv, write_items_csv, write_papers_csv, write_phases_csv, write_strata_csv,
    write_timeline_csv,
};
use crate::telemetry::source::Domain;

/// Help beside the arguments.
pub(super) const HELP: &str =
    "Tags are those of the items (`tasks export` shows them), `gold` (the right label) and \
    `said` (the label that was given).

Examples:
  edge-eval report runs/x --by depth --baselines
  edge-eval report runs/x --by source --by conflict --csv strata.csv
  edge-eval report runs/x --figures
  edge-eval report runs/x --papers
  edge-eval report runs/x --again runs/x-2 --again runs/x-3   # costs over the rounds of all three
  edge-eval report runs/x --decoding --csv decoding.csv
  edge-eval report runs/x --html x.html";

/// Arguments of `report`.
#[derive(Debug, Args)]
pub(super) struct ReportCommand {
    /// Folder of the run
    dir: PathBuf,
    /// Break the results down by this tag of the items; several tags are crossed
    #[arg(long = "by", value_name = "TAG")]
    by: Vec<String>,
    /// Show what controls without a model get on the same items
    #[arg(long)]
    baselines: bool,
    /// Show the tasks' own figures: means of scores, by the strata of their papers
    #[arg(long)]
    figures: bool,
    /// Show latency and energy per model, task and interface, and why they are missing where they are
    #[arg(long)]
    costs: bool,
    /// Write time and energy of prompts and replies, per model and task, as CSV to this file (`-`: standard output)
    #[arg(long, value_name = "FILE")]
    phases: Option<PathBuf>,
    /// Write the time line of power, temperatures, clocks and memory as CSV to this file (`-`: standard output)
    #[arg(long, value_name = "FILE")]
    timeline: Option<PathBuf>,
    /// Join the file of an external meter: CSV with a heading, times since 1970 and watts
    #[arg(long, value_name = "FILE")]
    meter_csv: Option<PathBuf>,
    /// Its column of times
    #[arg(long, value_name = "COLUMN", default_value = "time")]
    meter_time: String,
    /// Its column of watts
    #[arg(long, value_name = "COLUMN", default_value = "w")]
    meter_watts: String,
    /// What that meter covers
    #[arg(long, value_name = "DOMAIN", default_value = "wall")]
    meter_domain: String,
    /// Milliseconds by which its clock is ahead; found by the program's own load when absent
    #[arg(long, value_name = "MS", allow_negative_numbers = true)]
    meter_clock_ms: Option<i64>,
    /// Count the rounds of this repetition of the run too, in costs over rounds (may be repeated)
    #[arg(long, value_name = "DIR")]
    again: Vec<PathBuf>,
    /// Put published figures beside the measured ones
    #[arg(long)]
    papers: bool,
    /// Show the decoding laboratory: accuracy, first slot and label mass by condition, orders of the options, whole texts, and
    /// what writing costs and gains
    #[arg(long)]
    decoding: bool,
    /// Show every row of tables that multiply with conditions: places of the label, pairs of conditions, layers. Without it,
    /// where a task has more than four conditions, those that vary nothing
    #[arg(long)]
    all_rows: bool,
    /// Show predicted and measured memory
    #[arg(long)]
    memory: bool,
    /// Write CSV to this file (`-`: standard output): one row per item and interface, or the rows of the one view that
    /// --by, --baselines, --figures, --papers, --costs or --decoding asks for
    #[arg(long, value_name = "FILE")]
    csv: Option<PathBuf>,
    /// Write the whole report as one self-contained page to this file (`-`: standard output)
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Items per model, task and interface that the page shows with prompt and reply
    #[arg(long, value_name = "N", default_value_t = 3, requires = "html")]
    items: usize,
    /// Show this item on the page (may be repeated)
    #[arg(long = "item", value_name = "ID", requires = "html")]
    named: Vec<String>,
    /// Print JSON instead of tables
    #[arg(long)]
    json: bool,
    /// Median label mass below which the report warns
    #[arg(long, value_name = "P", default_value_t = ReportChoice::default().mass_floor)]
    mass_floor: f64,
}

/// Everything that was asked for.
struct Read {
    run: RunLog,
    cells: Vec<Cell>,
    strata: Vec<Stratum>,
    controls: Vec<Control>,
    figures: Vec<FigureRow>,
    papers: Vec<Published>,
    notes: Vec<Note>,
    costs: Vec<Cost>,
    probes: Option<ProbeResult>,
    decoding: Option<Decoding>,
    parity: Vec<Parity>,
    phases: Vec<PhaseCost>,
}

impl ReportCommand {
    pub(super) fn run(self) -> Result<Exit, Failure> {
        self.check()?;
        if let Some(path) = &self.html {
            return self.write_page(path);
        }
        let read = self.read()?;
        if self.csv.is_some() || self.phases.is_some() || self.timeline.is_some() {
            state::tell(&self.dir, &read.run);
        }
        if let Some(path) = &self.csv {
            self.write_csv(&read, path)?;
            if path.as_os_str() == "-" {
                return Ok(Exit::Done);
            }
        }
        if let Some(path) = &self.phases {
            written(write_phases_csv(&read.phases, output(path)?), path)?;
            if path.as_os_str() == "-" {
                return Ok(Exit::Done);
            }
        }
        if let Some(path) = &self.timeline {
            written(write_timeline_csv(&read.run, output(path)?), path)?;
            if path.as_os_str() == "-" {
                return Ok(Exit::Done);
            }
        }
        if self.json {
            let views = Views {
                strata: (!self.by.is_empty()).then_some(&read.strata),
                baselines: &read.controls,
                figures: &read.figures,
                costs: &read.costs,
                phases: &read.phases,
                parity: &read.parity,
                papers: self.papers.then_some(&read.papers),
                decoding: read.decoding.as_ref(),
            };
            return print(&format!("{:#}\n", to_json(&read.run, &read.cells, &read.notes, views)));
        }
        print(&self.text(&read))
    }

    fn write_page(&self, path: &PathBuf) -> Result<Exit, Failure> {
        let choice = ItemChoice { per_place: self.items, named: self.named.clone() };
        let probes = ProbeResult::of_run(&self.dir)?;
        let run = RunLog::read(&self.dir)?;
        let page = html(&run, self.mass_floor, choice, probes, &self.repeats(&run)?)?;
        if path.as_os_str() == "-" {
            return print(&page);
        }
        std::fs::write(path, page).map_err(|error| Failure::disk(format!("{}: {error}", path.display())))?;
        Ok(Exit::Done)
    }

    fn check(&self) -> Result<(), Failure> {
        if !(0.0..=1.0).contains(&self.mass_floor) {
            return Err(Failure::usage(format!("--mass-floor is {}: give a probability", self.mass_floor)));
        }
        if let Some(twice) = self.by.iter().enumerate().find(|(at, tag)| self.by[..*at].contains(tag)) {
            return Err(Failure::usage(format!("--by {}: the tag is named twice", twice.1)));
        }
        let views = [
            !self.by.is_empty() && !self.baselines && !self.figures,
            self.baselines,
            self.figures,
            self.papers,
            self.costs,
            self.decoding,
        ];
        if self.html.is_some() && (self.csv.is_some() || self.json || views.contains(&true)) {
            return Err(Failure::usage("--html: the page has every view; leave the other options out"));
        }
        if self.csv.is_some() && views.iter().filter(|asked| **asked).count() > 1 {
            return Err(Failure::usage(
                "--csv: a file holds one table: ask for one of --baselines, --figures, --papers, --costs and --decoding",
            ));
        }
        Ok(())
    }

    fn read(&self) -> Result<Read, Failure> {
        let mut run = RunLog::read(&self.dir)?;
        let joined = self.join_meter(&mut run)?;
        let cells = cells(&run);
        let parity = parity(&run);
        let mut notes = notes(&run, &cells, &parity, self.mass_floor);
        notes.extend(joined.map(Note::from));
        let strata = match &self.by[..] {
            [] => Vec::new(),
            tags => strata(&run, tags)
                .map_err(|message| Failure::usage(format!("{}: --by: {message}", self.dir.display())))?,
        };
        let mut controls = Vec::new();
        let mut papers = Vec::new();
        if self.baselines || self.papers || self.json {
            let all = Controls::of(&run);
            controls = all.overall();
            if !self.by.is_empty() {
                controls.extend(all.by(&self.by));
            }
            if self.papers {
                papers =
                    published(&run, &all).map_err(|error| Failure::new(Exit::Failed, error.to_string()))?;
                if papers.is_empty() {
                    notes.push(Note::from("no paper has figures for the tasks of this run".to_owned()));
                }
            }
            notes.extend(all.notes.into_iter().map(Note::from));
        }
        let figures = if self.figures || self.json { figures(&run, &self.by) } else { Vec::new() };
        let mut costs = costs(&run, &cells);
        join_repeats(&mut costs, &self.repeats(&run)?);
        let decoding = (self.decoding || self.json).then(|| decoding(&run, &cells));
        let decoding = decoding.filter(|decoding| self.decoding || has_decoding(decoding));
        let phases = phases(&run);
        let probes = ProbeResult::of_run(&self.dir)?;
        Ok(Read {
            run,
            cells,
            strata,
            controls,
            figures,
            papers,
            notes,
            costs,
            decoding,
            parity,
            phases,
            probes,
        })
    }

    /// Repetitions of the run, each a run of its own.
    fn repeats(&self, run: &RunLog) -> Result<Vec<Repeat>, Failure> {
        let repeats: Vec<Repeat> =
            self.again.iter().map(|dir| Repeat::read(run, dir)).collect::<Result<_, _>>()?;
        let ids: Vec<&str> = repeats.iter().map(Repeat::run_id).collect();
        match ids.iter().enumerate().find(|(at, id)| ids[..*at].contains(id)) {
            Some((at, _)) => Err(Failure::usage(format!(
                "--again {}: this run is there already",
                self.again[at].display()
            ))),
            None => Ok(repeats),
        }
    }

    /// Joins the file of a meter, if there is one; gives a note.
    fn join_meter(&self, run: &mut RunLog) -> Result<Option<String>, Failure> {
        let Some(path) = &self.meter_csv else { return Ok(None) };
        let wrong = |message: String| Failure::input(format!("{}: {message}", path.display()));
        let domain = Domain::named(&self.meter_domain).ok_or_else(|| {
            Failure::usage(format!("--meter-domain {}: give wall, dc-input-board, ...", self.meter_domain))
        })?;
        let file = std::fs::File::open(path).map_err(|error| wrong(error.to_string()))?;
        let trace = meter_csv::read(file, &self.meter_time, &self.meter_watts).map_err(wrong)?;
        let offset = self.meter_clock_ms.map(|ms| ms.saturating_mul(1000));
        meter_csv::join(run, &trace, offset, domain).map(Some).map_err(wrong)
    }

    fn write_csv(&self, read: &Read, path: &PathBuf) -> Result<(), Failure> {
        let out = output(path)?;
        let result = if self.figures {
            write_figures_csv(&read.figures, out)
        } else if let Some(decoding) = read.decoding.as_ref().filter(|_| self.decoding) {
            write_decoding_csv(decoding, out)
        } else if self.costs {
            write_costs_csv(&read.costs, out)
        } else if self.papers {
            write_papers_csv(&read.papers, out)
        } else if self.baselines {
            let wanted = |control: &&Control| control.by.is_empty() == self.by.is_empty();
            let controls: Vec<Control> = read.controls.iter().filter(wanted).cloned().collect();
            write_baselines_csv(&controls, &self.by, out)
        } else if !self.by.is_empty() {
            write_strata_csv(&read.strata, &self.by, out)
        } else {
            write_items_csv(&read.run, out)
        };
        written(result, path)
    }

    fn text(&self, read: &Read) -> String {
        let (width, extent) = (terminal_width(), Extent::of(self.all_rows));
        let notes: String = gathered(&read.notes).iter().map(|note| format!("! {note}\n")).collect();
        let mut tables = Vec::new();
        let shown = |overall: bool| -> Vec<Control> {
            let wanted = |control: &&Control| self.baselines && control.by.is_empty() == overall;
            read.controls.iter().filter(wanted).cloned().collect()
        };
        let rows: Vec<Stratum> =
            read.cells.iter().map(|cell| Stratum { by: Vec::new(), cell: cell.clone() }).collect();
        let rows: Vec<Cell> = match self.baselines {
            true => beside(&read.run, rows, &shown(true)).into_iter().map(|row| row.cell).collect(),
            false => read.cells.clone(),
        };
        tables.push(table(&rows, width));
        if self.costs || has_costs(&read.run) {
            tables.push(costs_table(&read.costs, width));
            tables.push(phases_table(&read.phases, width));
        }
        tables.extend(rounds_table(&read.costs, width));
        if !self.by.is_empty() {
            let rows = match self.baselines {
                true => beside(&read.run, read.strata.clone(), &shown(false)),
                false => read.strata.clone(),
            };
            tables.push(strata_table(&rows, &self.by, width));
        }
        if self.figures {
            tables.push(figures_table(&read.figures, width));
        }
        if !read.papers.is_empty() {
            tables.push(papers_table(&read.papers, width));
        }
        if let Some(decoding) = &read.decoding {
            tables.push(decoding_tables(decoding, width, extent));
        }
        if self.memory {
            tables.push(memory_table(&memory(&read.run)));
        }
        tables.extend(read.probes.as_ref().map(|found| probes::text(found, width, extent)));
        format!("{notes}{}\n", tables.join("\n\n"))
    }
}

/// How writing a table ended. A reader that has seen enough is no failure.
fn written(result: csv::Result<()>, path: &std::path::Path) -> Result<(), Failure> {
    match result {
        Err(error) if !is_broken_pipe(&error) => Err(Failure::disk(format!("{}: {error}", path.display()))),
        _ => Ok(()),
    }
}

pub(super) fn is_broken_pipe(error: &csv::Error) -> bool {
    matches!(error.kind(), csv::ErrorKind::Io(error) if error.kind() == std::io::ErrorKind::BrokenPipe)
}

/// Width of the terminal that results go to; `None` elsewhere.
pub(super) fn terminal_width() -> Option<u16> {
    let stdout = std::io::stdout();
    stdout.is_terminal().then(|| terminal_size::terminal_size().map(|(width, _)| width.0)).flatten()
}
