//! `edge-eval run`.

use std::path::{Path, PathBuf};

use clap::Args;

use super::progress::Teller;
use super::{Choice, talk};
use crate::exit::{Exit, Failure};
use crate::log::LOG_FILE;
use crate::plan::Shard;
use crate::report::{RunLog, cells, notes, table};
use crate::session::Session;
use crate::supervisor::{self, Interrupt};

/// Help beside the arguments.
pub(super) const HELP: &str =
    "Ctrl-C ends the run after the group at hand; the same command goes on with it. \
    A second Ctrl-C ends it at once.

Examples:
  edge-eval run configs/quickstart.toml
  edge-eval run configs/quickstart.toml --model fake --limit 5
  edge-eval run configs/papers.toml --model a.gguf --model b.gguf --out runs/ladder";

/// Arguments of `run`.
#[derive(Debug, Args)]
pub(super) struct Run {
    #[command(flatten)]
    choice: Choice,
    /// Folder of the run; a name made from configuration and plan when absent, so that the same command resumes
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Run one part of the groups only: 2/4, or `auto` for this task of a Slurm array or an indexed Kubernetes job. The
    /// parts make one run with `merge`
    #[arg(long, value_name = "I/N")]
    shard: Option<String>,
    /// No talk on standard error, and no table
    #[arg(short, long)]
    quiet: bool,
}

impl Run {
    pub(super) fn run(self) -> Result<Exit, Failure> {
        let mut plan = self.choice.plan()?;
        plan.shard = self.shard.as_deref().map(shard).transpose()?;
        for model in &mut plan.models {
            model.hash()?;
        }
        let say = |line: &str| {
            if !self.quiet {
                talk(line);
            }
        };
        plan.notes.iter().for_each(|note| say(note));
        let mut session = Session::open(&plan, self.out.as_deref(), &self.choice.stem())?;
        for line in session.notes() {
            say(line);
        }
        let mut teller = Teller::new(self.quiet);
        let program = program()?;
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(|error| Failure::new(Exit::Failed, format!("cannot start the runtime: {error}")))?;
        let outcome = runtime.block_on(async {
            let interrupt = Interrupt::on_signals()
                .map_err(|error| Failure::new(Exit::Failed, format!("cannot listen to signals: {error}")))?;
            let dir = session.dir.clone();
            match session.log.take() {
                Some(mut log) => {
                    let report =
                        supervisor::run(&plan, &mut log, &session.done, program, interrupt, &mut teller)
                            .await;
                    log.close().map_err(|error| Failure::disk(error.to_string()))?;
                    // An unmounted disk takes what is written to it, and gives it to nobody.
                    if !dir.join(LOG_FILE).exists() {
                        return Err(Failure::disk(format!(
                            "{}: the folder is gone (unmounted, or deleted): the run's log went with it",
                            dir.display()
                        )));
                    }
                    report
                }
                // Nothing is left to do.
                None => Ok(supervisor::Report { complete: true, ..supervisor::Report::default() }),
            }
            .inspect_err(|_| say(&format!("what is done is kept in {}", dir.display())))
        });
        teller.finish();
        let report = outcome?;
        self.conclude(&session.dir, plan.config.report.mass_floor)?;
        if report.interrupted {
            say("stopped; the same command goes on with the run");
            return Ok(Exit::Interrupted);
        }
        if let Some(failure) = report.failures.into_iter().next() {
            let exit = if report.refused { Exit::Budget } else { Exit::Input };
            return Err(Failure::new(exit, failure));
        }
        Ok(if report.lost > 0 { Exit::Lost } else { Exit::Done })
    }

    fn conclude(&self, dir: &Path, mass_floor: f64) -> Result<(), Failure> {
        if self.quiet {
            return super::print(&format!("{}\n", dir.display())).map(drop);
        }
        let run = RunLog::read(dir)?;
        let cells = cells(&run);
        let mut text = String::new();
        for note in notes(&run, &cells, mass_floor) {
            text.push_str(&format!("! {note}\n"));
        }
        text.push_str(&table(&cells, super::report::terminal_width()));
        text.push_str(&format!("\n\nrun folder: {}\n", dir.display()));
        super::print(&text).map(drop)
    }
}

/// The part that was asked for.
fn shard(text: &str) -> Result<Shard, Failure> {
    Shard::find(text, &|name| std::env::var(name).ok()).map_err(Failure::usage)
}

/// This program: what workers are started from.
pub(super) fn program() -> Result<PathBuf, Failure> {
    // The link survives that the file is replaced while the run goes on.
    let own = Path::new("/proc/self/exe");
    if own.exists() {
        return Ok(own.to_owned());
    }
    std::env::current_exe().map_err(|error| {
        Failure::new(Exit::Failed, format!("cannot find this program to start workers: {error}"))
    })
}
