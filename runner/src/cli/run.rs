//! `edge-eval run`.

use std::path::{Path, PathBuf};

use clap::Args;

use super::measure::Measure;
use super::progress::Teller;
use super::{Choice, talk};
use crate::exit::{Exit, Failure};
use crate::levels::Program;
use crate::log::LOG_FILE;
use crate::plan::{Plan, Shard};
use crate::report::{RunLog, cells, costs, costs_table, gathered, has_costs, notes, parity, table};
use crate::session::Session;
use crate::supervisor::{self, Interrupt};
use crate::telemetry::record::Began;

/// Help beside the arguments.
pub(super) const HELP: &str =
    "Ctrl-C ends the run after the group at hand; the same command goes on with it. \
    A second Ctrl-C ends it at once.

Examples:
  edge-eval run configs/quickstart.toml
  edge-eval run configs/quickstart.toml --model fake --limit 5
  edge-eval run configs/papers.toml --model a.gguf --model b.gguf --out runs/ladder
  edge-eval run configs/papers.toml --model a.gguf --model b.gguf --rounds 4   # they take turns: there and back, twice";

/// Arguments of `run`.
#[derive(Debug, Args)]
pub(super) struct Run {
    #[command(flatten)]
    choice: Choice,
    /// Folder of the run; a name made from configuration and plan when absent, so that the same command resumes
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    #[command(flatten)]
    measure: Measure,
    /// Items of each task and interface that are also asked alone, for their latency
    #[arg(long, value_name = "N")]
    latency: Option<usize>,
    /// Before each model, wait until temperature and clocks are stable, at most so many seconds
    #[arg(long, value_name = "S", num_args = 0..=1, default_missing_value = "300")]
    settle: Option<u64>,
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
        crate::memory::enter_scope(plan.config.memory.enforce);
        self.measure.apply(&mut plan.config.telemetry)?;
        plan.config.latency.items = self.latency.unwrap_or(plan.config.latency.items);
        plan.config.telemetry.settle_s = self.settle.unwrap_or(plan.config.telemetry.settle_s);
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
        plan.order_in_words().iter().for_each(|order| say(order));
        let program = Program::find(&plan.config.engine.cpu_level)?;
        plan.level = program.level().to_owned();
        let mut session = Session::open(&plan, self.out.as_deref(), &self.choice.stem())?;
        for line in session.notes() {
            say(line);
        }
        let report = drive(&plan, &mut session, program, &self.measure, self.quiet, listen()?)?;
        self.conclude(&session.dir, plan.config.report.mass_floor)?;
        if report.interrupted {
            say("stopped; the same command goes on with the run");
        }
        ended(report)
    }

    fn conclude(&self, dir: &Path, mass_floor: f64) -> Result<(), Failure> {
        if self.quiet {
            return super::print(&format!("{}\n", dir.display())).map(drop);
        }
        let mut text = results(&RunLog::read(dir)?, mass_floor);
        text.push_str(&format!("\n\nrun folder: {}\n", dir.display()));
        super::print(&text).map(drop)
    }
}

/// Listens to requests to stop.
pub(super) fn listen() -> Result<Interrupt, Failure> {
    Interrupt::on_signals()
        .map_err(|error| Failure::new(Exit::Failed, format!("cannot listen to signals: {error}")))
}

/// Runs what is left of a session's plan.
pub(super) fn drive(
    plan: &Plan,
    session: &mut Session,
    program: Program,
    measure: &Measure,
    quiet: bool,
    interrupt: Interrupt,
) -> Result<supervisor::Report, Failure> {
    let say = |line: &str| {
        if !quiet {
            talk(line);
        }
    };
    let mut teller = Teller::new(quiet);
    if !quiet {
        let bar = teller.bar();
        interrupt.answer(move || bar.talk("stopping after the group at hand; Ctrl-C again ends at once"));
    }
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| Failure::new(Exit::Failed, format!("cannot start the runtime: {error}")))?;
    let outcome = runtime.block_on(async {
        let dir = session.dir.clone();
        match session.log.take() {
            Some(mut log) => {
                let measuring = measure.start(&plan.config.telemetry)?;
                if let Some(began) = measuring.began() {
                    power_lines(began).iter().for_each(|line| say(line));
                }
                let done = &session.done;
                let states = session.states.take();
                let report =
                    supervisor::run(plan, &mut log, done, program, interrupt, &mut teller, measuring, states)
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
    outcome
}

/// The exit code that a run's end stands for.
pub(super) fn ended(report: supervisor::Report) -> Result<Exit, Failure> {
    if report.interrupted {
        return Ok(Exit::Interrupted);
    }
    if let Some(failure) = report.failures.into_iter().next() {
        let exit = if report.refused { Exit::Budget } else { Exit::Input };
        return Err(Failure::new(exit, failure));
    }
    Ok(if report.lost > 0 { Exit::Lost } else { Exit::Done })
}

/// Notes and tables of a run.
pub(super) fn results(run: &RunLog, mass_floor: f64) -> String {
    let cells = cells(run);
    let mut text = String::new();
    for note in gathered(&notes(run, &cells, &parity(run), mass_floor)) {
        text.push_str(&format!("! {note}\n"));
    }
    text.push_str(&table(&cells, super::report::terminal_width()));
    if has_costs(run) {
        text.push_str("\n\n");
        text.push_str(&costs_table(&costs(run, &cells), super::report::terminal_width()));
    }
    text
}

/// What is measured with, one line each.
fn power_lines(began: &Began) -> Vec<String> {
    let mut lines = Vec::new();
    match began.missing {
        None => {
            let quoted = usize::from(began.headline.unwrap_or_default());
            let mut channels = began
                .sources
                .iter()
                .flat_map(|source| source.channels.iter().map(move |channel| (source, channel)));
            if let Some((source, channel)) = channels.nth(quoted) {
                let (source, name) = (&source.id, &channel.name);
                lines.push(format!(
                    "power: {source} {name}, {}, {}",
                    channel.domain.word(),
                    channel.kind.word()
                ));
            }
        }
        Some(reason) => {
            lines.push(format!("power is not measured: {reason}; `edge-eval doctor power` tells more"))
        }
    }
    lines.extend(began.notes.iter().cloned());
    lines
}

/// The part that was asked for.
fn shard(text: &str) -> Result<Shard, Failure> {
    Shard::find(text, &|name| std::env::var(name).ok()).map_err(Failure::usage)
}
