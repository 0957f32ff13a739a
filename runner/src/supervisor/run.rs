//! The run: model by model, group by group, whatever happens to the workers.

mod calm;
mod timed;

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use datasets::Settings;
use models::{Advance, LoadSpec, Mode};

use super::group::{Account, GroupError, GroupSpec, converse, loss, records};
use super::interrupt::Interrupt;
use super::link::{Link, LinkError};
use super::load::{Need, load_spec};
use super::parity::{self, Sampled};
use super::tuning;
use crate::entry::{
    Complete, Death, DeathCause, Entry, GroupEnd, GroupRef, ItemRecord, Loaded, MemoryPlan, MemoryUse,
    ModelFailed, Pieces, Tuned,
};
use crate::exit::{Exit, Failure};
use crate::log::{Log, LogError};
use crate::memory::{self, Fitted, Ground, Guard, Kind, Peaks, System};
use crate::plan::{Group, Plan};
use crate::report::Done;
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

/// Deaths of a worker while it measures the prompts of one group after which a model is given up.
const MEASURE_TRIES: u32 = 2;

/// Deaths of a worker while loading after which a model is given up.
const LOAD_TRIES: u32 = 2;

pub(super) struct Runner<'a> {
    pub(super) plan: &'a Plan,
    pub(super) log: &'a mut Log<Entry>,
    program: PathBuf,
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
    /// How models were loaded by earlier sessions.
    chosen: &'a BTreeMap<u16, LoadSpec>,
    /// How workers of the model at hand are guarded.
    guard: Guard,
    report: Report,
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
pub async fn run(
    plan: &Plan,
    log: &mut Log<Entry>,
    done: &Done,
    program: PathBuf,
    interrupt: Interrupt,
    progress: &mut dyn Progress,
    measuring: Measuring,
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
        chosen: &done.chosen,
        guard: Guard::default(),
        report: Report::default(),
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
        for model in 0..plan.models.len() {
            let groups: Vec<Group> =
                plan.own_groups(model).filter(|group| !done.groups.contains(&group.at.group)).collect();
            let left = Left {
                groups,
                sample: parity::left(plan, model, done),
                timed: timed::left(plan, model, &done.timed),
            };
            if left.groups.is_empty() && left.sample.is_empty() && left.timed.is_empty() {
                continue;
            }
            self.calm(first).await?;
            first = false;
            match self.model(model, &left).await {
                Ok(()) => {}
                Err(Stop::Model(failed)) => {
                    self.progress.say(&failed.reason);
                    self.report.failures.push(failed.reason.clone());
                    self.report.refused |= failed.refused;
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
            spec.parallel = self.parallel(model, &spec).await?;
        }
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
            interfaces: &plan.task(group).interfaces,
            settings: &settings[usize::from(group.at.task)],
            renderer: &plan.model(group).renderer,
        }
    }

    /// Decides the context: what the longest prompt needs, measured with the vocabulary alone. Over all groups of the
    /// model, also those that are done: what a group answers may not depend on where a run was resumed.
    async fn load_spec(
        &mut self,
        model: usize,
        settings: &[Settings],
        link: &mut Link,
    ) -> Result<(LoadSpec, Need), Stop> {
        let mut spec = load_spec(self.plan, model);
        if self.plan.config.engine.context_tokens != 0 {
            return Ok((spec, Need::default()));
        }
        let mut need = Need::default();
        let plan = self.plan;
        for group in plan.groups().filter(|group| usize::from(group.at.model) == model) {
            let group = self.spec(group, settings);
            let jobs = group.first_jobs().map_err(|error| failed(model, error.to_string()))?;
            let mut attempt = 1;
            let sizes = loop {
                match link.measure(jobs.clone()).await {
                    Ok(sizes) => break sizes,
                    // Killed from outside? Once more; prompts that kill their measurer do it again.
                    Err(LinkError::Died { cause, last_words }) if attempt < MEASURE_TRIES => {
                        attempt += 1;
                        let cause_in_words = cause.in_words();
                        self.progress.say(&format!(
                            "the worker {cause_in_words} while prompts were measured; starting another"
                        ));
                        self.log.append(&Entry::Death(Death {
                            at: group.at,
                            culprit: None,
                            cause,
                            last_words,
                        }))?;
                        *link = self.start()?;
                        let vocabulary = LoadSpec { vocab_only: true, ..spec.clone() };
                        self.opened(link, &vocabulary, model).await?;
                    }
                    Err(error) => return Err(self.hopeless(error, model, "while prompts were measured")),
                }
            };
            need.add(&sizes, group.grows());
        }
        spec.context_tokens = need.context_tokens(self.plan, model);
        Ok((spec, need))
    }

    /// Decides how a model is loaded: as the plan needs it, with less where the memory budget wants that, and as before
    /// where the run goes on. Sets the guard for its workers.
    async fn fitted(&mut self, model: usize, settings: &[Settings]) -> Result<LoadSpec, Stop> {
        let (plan, system) = (self.plan, System::default());
        let planned = &plan.models[model];
        let choice = &plan.config.memory;
        let limit = choice.limit(planned.memory_budget, &crate::device::facts().model, &system);
        self.guard = Guard::default();
        let mut link = self.start()?;
        let vocabulary = LoadSpec { vocab_only: true, ..load_spec(plan, model) };
        let facts = self.opened(&mut link, &vocabulary, model).await?;
        let ground = Ground::of(&link, &facts);
        let (mut wanted, need) = self.load_spec(model, settings, &mut link).await?;
        let before = self.chosen.get(&(model as u16));
        if let Some(before) = before {
            wanted =
                LoadSpec { threads: wanted.threads, threads_batch: wanted.threads_batch, ..before.clone() };
        }
        let allow = before.is_none().then_some(choice.allow.as_slice());
        let outcome =
            memory::fitted(&mut link, planned, &ground, &wanted, &need, limit.as_ref(), allow).await;
        let fitted = match outcome
            .map_err(|error| self.hopeless(error, model, "while its memory was planned"))?
        {
            Ok(fitted) => fitted,
            Err(refusal) => {
                self.progress.say(&refusal.table());
                let reason = refusal.line();
                return Err(Stop::Model(Box::new(ModelFailed { refused: true, ..failure(model, reason) })));
            }
        };
        for step in &fitted.steps {
            self.progress.say(&format!("model {}: to fit the memory budget, {step}", planned.record.name));
        }
        let Fitted { spec, steps, prediction } = fitted;
        let overcommitted = limit.as_ref().is_some_and(|limit| prediction.resident_bytes() > limit.bytes);
        if overcommitted {
            self.progress.say(&format!(
                "model {}: its mapped weights ({}) do not fit beside the rest and will be read again and again: expect it \
                 to be slow",
                planned.record.name,
                memory::in_words(prediction.of(Kind::File))
            ));
        }
        self.guard = choice.guard(limit.clone(), &system);
        let entry = MemoryPlan { model: model as u16, limit, steps, prediction, overcommitted };
        self.log.append(&Entry::MemoryPlan(Box::new(entry)))?;
        Ok(spec)
    }

    /// How many replies are written side by side where the configuration leaves it to a probe: what the log says, or
    /// what is measured now.
    async fn parallel(&mut self, model: usize, spec: &LoadSpec) -> Result<u32, Stop> {
        if let Some(tuned) = self.tuned.iter().find(|tuned| usize::from(tuned.model) == model) {
            return Ok(tuned.parallel);
        }
        let mut interfaces = self.plan.tasks.iter().flat_map(|task| &task.interfaces);
        if spec.mode == Mode::Exact || !interfaces.any(|interface| interface.generates) {
            return Ok(tuning::UNUSED);
        }
        let mut link = self.start()?;
        self.opened(&mut link, &tuning::load_spec(spec), model).await?;
        let most = tuning::most(spec, self.plan.config.asking.max_tokens);
        let steps = match tuning::measure(&mut link, most).await {
            Ok(steps) => steps,
            Err(error) => return Err(self.hopeless(error, model, "while it was tuned")),
        };
        let tuned = Tuned { model: model as u16, parallel: tuning::choose(&steps), steps };
        self.progress.say(&tuning::in_words(&tuned));
        self.log.append(&Entry::Tuned(tuned.clone()))?;
        self.tuned.push(tuned.clone());
        Ok(tuned.parallel)
    }

    fn start(&self) -> Result<Link, Stop> {
        let deadline = Duration::from_secs(self.plan.config.engine.deadline_s);
        Link::guarded(&self.program, deadline, self.interrupt.clone(), &self.guard).map_err(|error| {
            match error {
                LinkError::Start(message) => Stop::Fatal(Failure::new(Exit::Failed, message)),
                other => Stop::Fatal(Failure::new(Exit::Failed, format!("{other:?}"))),
            }
        })
    }

    /// Starts a worker with a loaded model, and logs what it says of it.
    async fn open(&mut self, model: usize, spec: &LoadSpec) -> Result<Link, Stop> {
        let mut link = self.start()?;
        let facts = self.opened(&mut link, spec, model).await?;
        self.measuring.set_worker(link.pid());
        self.packs = facts.packs;
        self.log.append(&Entry::Loaded(Loaded { model: model as u16, spec: spec.clone(), facts }))?;
        Ok(link)
    }

    async fn opened(
        &mut self,
        link: &mut Link,
        spec: &LoadSpec,
        model: usize,
    ) -> Result<models::EngineFacts, Stop> {
        for attempt in 1.. {
            match link.open(spec.clone()).await {
                Ok(facts) => return Ok(facts),
                // Killed from outside while loading? Once more; a model that kills its worker does it again.
                Err(LinkError::Died { cause, .. }) if attempt < LOAD_TRIES && !is_over_budget(cause) => {
                    *link = self.start()?;
                }
                Err(error) => return Err(self.hopeless(error, model, "while loading")),
            }
        }
        unreachable!("the loop ends by returning")
    }

    /// A failure that no retry mends. `doing` ends what is said of a worker that died: `while loading`.
    fn hopeless(&self, error: LinkError, model: usize, doing: &str) -> Stop {
        let name = &self.plan.models[model].record.name;
        match error {
            LinkError::Interrupted => Stop::Interrupted,
            LinkError::Start(message) => Stop::Fatal(Failure::new(Exit::Failed, message)),
            error => {
                let reason = format!("model {name}: {}", error.in_words(doing));
                let (cause, last_words) = match error {
                    LinkError::Died { cause, last_words } => (Some(cause), last_words),
                    _ => (None, Vec::new()),
                };
                Stop::Model(Box::new(ModelFailed { cause, last_words, ..failure(model, reason) }))
            }
        }
    }

    /// Runs a group, writes it down. A worker that dies is replaced; the group is then tried once more as a whole, since
    /// the cause may have come from outside, and at last item by item, to lose only what kills.
    async fn group(&mut self, spec: GroupSpec<'_>, load: &LoadSpec, link: &mut Link) -> Result<(), Stop> {
        let started = Instant::now();
        self.log.append(&Entry::GroupStart(spec.at))?;
        let window = self.measuring.begin(Stretch::Group, spec.at.model, Some(spec.at));
        let mut account = Account::default();
        let mut items = None;
        for attempt in 1..=2 {
            account.phases.clear();
            let mut tracks = spec.tracks();
            let (progress, measuring) = (&mut *self.progress, &mut self.measuring);
            let mut hear = |at| {
                progress.advance(at);
                measuring.drain();
            };
            match converse(link, spec.renderer, &mut tracks, &mut account, &mut hear).await {
                Ok(()) => {
                    items = Some(records(tracks, spec.at, attempt));
                    break;
                }
                Err(error) => self.replace(error, &spec, None, load, link).await.map(drop)?,
            }
        }
        let items = match items {
            Some(items) => items,
            None => self.one_by_one(&spec, load, link, &mut account).await?,
        };
        self.measuring.end(window);
        match link.end_group().await {
            Ok(peak) => self.worker_peak_bytes = self.worker_peak_bytes.max(peak),
            // Everything is answered; a worker that dies now costs a restart only.
            Err(error) => self.replace(error.into(), &spec, None, load, link).await.map(drop)?,
        }
        let memory = link.memory();
        self.write(spec.at, items, started, account, memory)
    }

    async fn one_by_one(
        &mut self,
        spec: &GroupSpec<'_>,
        load: &LoadSpec,
        link: &mut Link,
        account: &mut Account,
    ) -> Result<Vec<ItemRecord>, Stop> {
        const TRY: u8 = 3;
        account.phases.clear();
        let mut items = Vec::new();
        let mut done = Advance::default();
        for mut track in spec.tracks() {
            let progress = &mut *self.progress;
            let mut own = Advance::default();
            let one = std::slice::from_mut(&mut track);
            let mut hear = |at: Advance| {
                own = at;
                progress.advance(Advance { jobs: done.jobs + at.jobs, tokens: done.tokens + at.tokens });
            };
            match converse(link, spec.renderer, one, account, &mut hear).await {
                Ok(()) => {}
                Err(error) => {
                    let (item, interface) = track.name();
                    let culprit = Some((item.to_owned(), interface.to_owned()));
                    let cause = self.replace(error, spec, culprit, load, link).await?;
                    track.lose(loss(cause));
                }
            }
            done = Advance { jobs: done.jobs + own.jobs.max(1), tokens: done.tokens + own.tokens };
            items.extend(track.record(spec.at, TRY));
        }
        Ok(items)
    }

    /// Logs a death and starts the next worker. Failures that are none are passed on.
    pub(super) async fn replace(
        &mut self,
        error: GroupError,
        spec: &GroupSpec<'_>,
        culprit: Option<(String, String)>,
        load: &LoadSpec,
        link: &mut Link,
    ) -> Result<DeathCause, Stop> {
        let model = usize::from(spec.at.model);
        match error {
            GroupError::Link(LinkError::Died { cause, last_words }) => {
                let place = match &culprit {
                    Some((item, interface)) => format!("on {item} ({interface})"),
                    None => format!("in group {}", spec.at.group),
                };
                self.progress.say(&format!("the worker {} {place}; starting another", cause.in_words()));
                self.log.append(&Entry::Death(Death { at: spec.at, culprit, cause, last_words }))?;
                *link = self.open(model, load).await?;
                Ok(cause)
            }
            GroupError::Link(error) => Err(self.hopeless(error, model, "at work")),
            GroupError::Template(error) => Err(failed(model, error.to_string())),
        }
    }

    fn write(
        &mut self,
        at: GroupRef,
        items: Vec<ItemRecord>,
        started: Instant,
        account: Account,
        memory: Option<Peaks>,
    ) -> Result<(), Stop> {
        let count = items.len() as u32;
        for item in items {
            self.report.lost += u64::from(matches!(item.verdict, datasets::Verdict::Lost(_)));
            self.log.append(&Entry::Item(Box::new(item)))?;
        }
        let known = &mut self.known_pieces;
        let fresh = account.pieces.into_iter().filter(|(token, _)| known.insert((at.model, *token)));
        let fresh: Vec<(i32, String)> = fresh.collect();
        if !fresh.is_empty() {
            self.log.append(&Entry::Pieces(Pieces { model: at.model, pieces: fresh }))?;
        }
        let phases = account.phases;
        self.library_us += phases.iter().map(|phase| phase.library_us).sum::<u64>();
        let wall_us = started.elapsed().as_micros() as u64;
        if let Some(peaks) = memory {
            let storm = peaks.is_storm(wall_us);
            self.log.append(&Entry::MemoryUse(MemoryUse { at, peaks, storm }))?;
        }
        self.log.append(&Entry::GroupEnd(GroupEnd { at, items: count, wall_us, phases }))?;
        self.write_ready(false)?;
        self.log.end_group()?;
        self.progress.done(u64::from(count));
        Ok(())
    }
}
