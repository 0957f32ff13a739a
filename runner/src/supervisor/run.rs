//! The run: model by model, group by group, whatever happens to the workers.

mod calm;
mod groups;
mod loading;
mod timed;

use std::collections::{BTreeMap, BTreeSet};
use std::time::Instant;

use datasets::Settings;
use models::{Advance, LoadSpec, Mode};

use super::group::GroupSpec;
use super::interrupt::Interrupt;
use super::parity::{self, Sampled};
use crate::entry::{Complete, DeathCause, Entry, ModelFailed, Tuned};
use crate::exit::Failure;
use crate::levels::Program;
use crate::log::{Log, LogError};
use crate::memory::Guard;
use crate::plan::{Group, Plan, Visit};
use crate::report::Done;
use crate::states::StatesWriter;
use crate::telemetry::measuring::Measuring;
use crate::telemetry::record::Stretch;

pub use timed::TimedKey;

/// Hears how a run goes.
pub trait Progress {
    /// Work on a model begins; `items` item-interface pairs are still to do.
    fn model(&mut self, name: &str, items: u64);
    /// Work on a group begins.
    fn group(&mut self, task: &str);
    /// The group at hand is that far.
    fn advance(&mut self, advance: Advance);
    /// That many item-interface pairs are in the log.
    fn done(&mut self, items: u64);
    /// Something that people should know.
    fn say(&mut self, line: &str);
}

/// How a run went.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// Whether every group is in the log.
    pub complete: bool,
    /// Whether it was stopped on request.
    pub interrupted: bool,
    /// Item-interface pairs that were lost in this session.
    pub lost: u64,
    /// Models that could not be run, one line each.
    pub failures: Vec<String>,
    /// Whether one of them does not fit the memory budget.
    pub refused: bool,
}

/// Deaths of a worker over one question before any group runs after which a model is given up.
const ASK_TRIES: u32 = 2;

/// Deaths of a worker while loading after which a model is given up.
const LOAD_TRIES: u32 = 2;

pub(super) struct Runner<'a> {
    pub(super) plan: &'a Plan,
    pub(super) log: &'a mut Log<Entry>,
    program: Program,
    pub(super) interrupt: Interrupt,
    progress: &'a mut dyn Progress,
    measuring: Measuring,
    pub(super) library_us: u64,
    worker_peak_bytes: Option<u64>,
    /// Tokens whose text is in the log already, with the model's index.
    known_pieces: BTreeSet<(u16, i32)>,
    /// Whether the engine at hand evaluates jobs together.
    packs: bool,
    /// What probes chose, in this session or an earlier one.
    tuned: Vec<Tuned>,
    /// How models were loaded before, in this session or an earlier one.
    chosen: BTreeMap<u16, LoadSpec>,
    /// How workers of the model at hand are guarded.
    guard: Guard,
    report: Report,
    /// Where hidden states are kept, if they are.
    states: Option<StatesWriter>,
}

/// What is still to be done with a model.
struct Left {
    groups: Vec<Group>,
    sample: Vec<Sampled>,
    timed: Vec<TimedKey>,
}

/// Why work on a model ends early.
pub(super) enum Stop {
    /// The user asked.
    Interrupted,
    /// This model cannot be run; others can.
    Model(Box<ModelFailed>),
    /// Nothing can go on.
    Fatal(Failure),
}

fn failure(model: usize, reason: String) -> ModelFailed {
    ModelFailed { model: model as u16, reason, cause: None, last_words: Vec::new(), refused: false }
}

pub(super) fn failed(model: usize, reason: String) -> Stop {
    Stop::Model(Box::new(failure(model, reason)))
}

/// What exceeds its budget once exceeds it again.
fn is_over_budget(cause: DeathCause) -> bool {
    matches!(cause, DeathCause::OverBudget { .. })
}

impl From<LogError> for Stop {
    fn from(error: LogError) -> Self {
        Stop::Fatal(Failure::disk(error.to_string()))
    }
}

/// Runs what of the plan is not in `done`.
#[allow(clippy::too_many_arguments)]
pub async fn run(
    plan: &Plan,
    log: &mut Log<Entry>,
    done: &Done,
    program: Program,
    interrupt: Interrupt,
    progress: &mut dyn Progress,
    measuring: Measuring,
    states: Option<StatesWriter>,
) -> Result<Report, Failure> {
    let started = Instant::now();
    let mut runner = Runner {
        plan,
        log,
        program,
        interrupt,
        progress,
        measuring,
        library_us: 0,
        worker_peak_bytes: None,
        known_pieces: BTreeSet::new(),
        packs: false,
        tuned: done.tuned.clone(),
        chosen: done.chosen.clone(),
        guard: Guard::default(),
        report: Report::default(),
        states,
    };
    let ended = runner.models(done, started).await;
    // What was measured is written whatever became of the run; only a log that cannot be written keeps it back.
    let rest = std::mem::replace(&mut runner.measuring, Measuring::none()).stop();
    if !matches!(ended, Err(Stop::Fatal(_))) {
        runner.write_measured(rest).map_err(|error| Failure::disk(error.to_string()))?;
    }
    match ended {
        Ok(()) => {}
        Err(Stop::Interrupted) => runner.report.interrupted = true,
        Err(Stop::Model(failed)) => runner.report.failures.push(failed.reason),
        Err(Stop::Fatal(failure)) => return Err(failure),
    }
    Ok(runner.report)
}

impl<'a> Runner<'a> {
    async fn models(&mut self, done: &Done, started: Instant) -> Result<(), Stop> {
        let plan = self.plan;
        self.write_ready(true)?;
        let mut first = true;
        let mut given_up = BTreeSet::new();
        for visit in plan.visits() {
            let model = visit.model;
            if given_up.contains(&model) {
                continue;
            }
            let is_left = |group: &Group| !done.groups.contains(&group.at.group);
            let left = Left {
                groups: plan.groups_of(&visit).filter(is_left).collect(),
                sample: if visit.is_last { parity::left(plan, model, done) } else { Vec::new() },
                timed: timed::left(plan, &visit, &done.timed),
            };
            if left.groups.is_empty() && left.sample.is_empty() && left.timed.is_empty() {
                continue;
            }
            self.calm(first).await?;
            first = false;
            self.say_turn(&visit)?;
            match self.model(model, &left).await {
                Ok(()) => {}
                Err(Stop::Model(failed)) => {
                    self.progress.say(&failed.reason);
                    self.report.failures.push(failed.reason.clone());
                    self.report.refused |= failed.refused;
                    given_up.insert(model);
                    self.log.append(&Entry::ModelFailed(*failed))?;
                    self.log.end_group()?;
                }
                Err(stop) => return Err(stop),
            }
            self.idle(Stretch::IdleAfter, model).await?;
        }
        if self.report.failures.is_empty() {
            // A run is complete when its measurements are in the log too.
            let rest = std::mem::replace(&mut self.measuring, Measuring::none()).stop();
            self.write_measured(rest)?;
            let complete = Complete {
                session_us: started.elapsed().as_micros() as u64,
                library_us: self.library_us,
                supervisor_peak_bytes: crate::worker::peak_bytes(),
                worker_peak_bytes: self.worker_peak_bytes,
            };
            self.log.append(&Entry::Complete(complete))?;
            self.log.end_group()?;
            self.report.complete = true;
        }
        Ok(())
    }

    /// Says and writes down that a model's turn begins, where models take several.
    fn say_turn(&mut self, visit: &Visit) -> Result<(), LogError> {
        let of = self.plan.config.sweep.rounds;
        if of < 2 {
            return Ok(());
        }
        let name = &self.plan.models[visit.model].record.name;
        let rounds: Vec<String> = visit.rounds.iter().map(|round| (round + 1).to_string()).collect();
        let which = if rounds.len() == 1 { "round" } else { "rounds" };
        self.progress.say(&format!("{name}: {which} {} of {of}", crate::count::listed(&rounds)));
        let turn = crate::entry::Visit { model: visit.model as u16, rounds: visit.rounds.clone(), of };
        self.log.append(&Entry::Visit(turn)).map(drop)
    }

    /// Writes down what was measured and is ready. `all`: also what still waits for a reading.
    fn write_ready(&mut self, all: bool) -> Result<(), LogError> {
        let entries = self.measuring.entries(all);
        self.write_measured(entries)
    }

    fn write_measured(&mut self, entries: Vec<Entry>) -> Result<(), LogError> {
        for entry in entries {
            self.log.append(&entry)?;
        }
        Ok(())
    }

    async fn model(&mut self, model: usize, left: &Left) -> Result<(), Stop> {
        let planned = &self.plan.models[model];
        let settings = self.plan.settings(planned);
        let pairs: usize = left.groups.iter().map(|group| self.spec(*group, &settings).pairs().count()).sum();
        self.progress.model(&planned.record.name, (pairs + left.timed.len()) as u64);
        let mut spec = self.fitted(model, &settings).await?;
        if spec.parallel == 0 {
            let parallel = self.parallel(model, &spec).await?;
            if spec.mode != Mode::Exact {
                spec = self.fitted(model, &settings).await?;
            }
            spec.parallel = parallel;
        }
        self.chosen.insert(model as u16, spec.clone());
        self.idle(Stretch::IdleUnloaded, model).await?;
        let loading = self.measuring.begin(Stretch::Load, model as u16, None);
        let mut link = self.open(model, &spec).await?;
        self.measuring.end(loading);
        self.idle(Stretch::IdleLoaded, model).await?;
        for group in &left.groups {
            if self.interrupt.is_asked() {
                return Err(Stop::Interrupted);
            }
            self.progress.group(&self.plan.task(*group).record.name);
            self.group(self.spec(*group, &settings), &spec, &mut link).await?;
        }
        if self.packs {
            self.score_alone(&left.sample, &settings, &spec, &mut link).await?;
        }
        self.timed(&left.timed, &settings, &spec, &mut link).await
    }

    /// `settings`: one for each task of the plan.
    pub(super) fn spec<'s>(&self, group: Group, settings: &'s [Settings]) -> GroupSpec<'s>
    where
        'a: 's,
    {
        let plan: &'a Plan = self.plan;
        GroupSpec {
            at: group.at,
            items: plan.items(group),
            conditions: &plan.task(group).conditions,
            settings: &settings[usize::from(group.at.task)],
            renderer: &plan.model(group).renderer,
        }
    }
}
