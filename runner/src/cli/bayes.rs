//! `edge-eval bayes`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use datasets::bayes::fit::{Free, Held};

use super::{output, print};
use crate::bayes::{Fitted, choosers};
use crate::exit::{Exit, Failure};
use crate::report::{RunLog, fits_table, write_predictions_csv, write_surfaces_csv};

/// What can be done with the recursive Bayesian model.
#[derive(Debug, Subcommand)]
pub(super) enum Bayes {
    /// Fit the model to the routes that were chosen in a run's `iip` items, by maximum likelihood
    Fit(Fit),
}

/// Arguments of `bayes fit`.
#[derive(Debug, Args)]
pub(super) struct Fit {
    /// Folder of the run
    dir: PathBuf,
    /// Fit only this task, as the run calls it
    #[arg(long, value_name = "NAME")]
    task: Option<String>,
    /// Order of the actor: even; 2 signals to an observer who infers, 0 to nobody
    #[arg(long, value_name = "N", default_value_t = Held::default().order)]
    order: usize,
    /// What a signal keeps of its worth per level of colour, exp(-theta)
    #[arg(long, value_name = "P", default_value_t = Held::default().fading)]
    fading: f64,
    /// What leaving the other restaurant is worth, delta
    #[arg(long, value_name = "X", default_value_t = Held::default().leaving)]
    leaving: f64,
    /// Fit this parameter too, beside cost and urgency (may be repeated)
    #[arg(long, value_name = "PARAMETER")]
    free: Vec<Parameter>,
    /// Write the likelihood surface over cost and urgency as CSV (`-`: standard output)
    #[arg(long, value_name = "FILE")]
    surface: Option<PathBuf>,
    /// Points of the surface along each side
    #[arg(long, value_name = "N", default_value_t = 100)]
    resolution: usize,
    /// Write what the fitted model predicts for each item as CSV (`-`: standard output)
    #[arg(long, value_name = "FILE")]
    predictions: Option<PathBuf>,
    /// Print JSON instead of a table
    #[arg(long)]
    json: bool,
}

/// A parameter that may be held or fitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Parameter {
    Fading,
    Leaving,
}

impl Bayes {
    pub(super) fn run(self) -> Result<Exit, Failure> {
        let Bayes::Fit(fit) = self;
        fit.run()
    }
}

impl Fit {
    fn run(self) -> Result<Exit, Failure> {
        let held = self.held()?;
        let free = Free {
            fading: self.free.contains(&Parameter::Fading),
            leaving: self.free.contains(&Parameter::Leaving),
        };
        let run = RunLog::read(&self.dir)?;
        let choosers = choosers(&run, self.task.as_deref())
            .map_err(|failure| Failure::new(failure.exit, format!("{}: {failure}", self.dir.display())))?;
        let fitted: Vec<Fitted> = choosers.iter().map(|chooser| chooser.fit(&held, free)).collect();
        let mut shown = true;
        if let Some(path) = &self.surface {
            shown &= path.as_os_str() != "-";
            write(path, write_surfaces_csv(&choosers, &held, self.resolution, output(path)?))?;
        }
        if let Some(path) = &self.predictions {
            shown &= path.as_os_str() != "-";
            write(path, write_predictions_csv(&choosers, &fitted, output(path)?))?;
        }
        match (shown, self.json) {
            (false, _) => Ok(Exit::Done),
            (true, true) => print(&format!("{:#}\n", serde_json::json!({ "fits": fitted }))),
            (true, false) => print(&format!("{}\n", fits_table(&fitted, super::report::terminal_width()))),
        }
    }

    fn held(&self) -> Result<Held, Failure> {
        let usage = |line: String| Err(Failure::usage(line));
        if self.order % 2 == 1 || self.order > 100 {
            return usage(format!(
                "--order {}: an actor chooses at even orders, 0 to 100; odd ones are an observer's",
                self.order
            ));
        }
        if !(0.0..=1.0).contains(&self.fading) {
            return usage(format!("--fading {}: must be 0 to 1", self.fading));
        }
        if !(self.leaving >= 0.0 && self.leaving.is_finite()) {
            return usage(format!("--leaving {}: must be 0 or more", self.leaving));
        }
        if !(1..=1000).contains(&self.resolution) {
            return usage(format!("--resolution {}: must be 1 to 1000", self.resolution));
        }
        let on_output = |path: &Option<PathBuf>| path.as_ref().is_some_and(|path| path.as_os_str() == "-");
        if on_output(&self.surface) && on_output(&self.predictions) {
            return usage("--surface and --predictions: only one can be `-`".to_owned());
        }
        Ok(Held { fading: self.fading, leaving: self.leaving, order: self.order })
    }
}

fn write(path: &std::path::Path, written: csv::Result<()>) -> Result<(), Failure> {
    match written {
        Ok(()) => Ok(()),
        Err(error) if super::report::is_broken_pipe(&error) => Ok(()),
        Err(error) => Err(Failure::disk(format!("{}: {error}", path.display()))),
    }
}
