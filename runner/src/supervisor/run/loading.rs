//! How a model comes to be loaded: its context, what fits the memory, a worker that holds it.

use std::time::Duration;

use datasets::Settings;
use models::{LoadSpec, Mode};

use super::super::link::{Link, LinkError};
use super::super::load::{Need, load_spec};
use super::super::tuning;
use super::{ASK_TRIES, LOAD_TRIES, Runner, Stop, failed, failure, is_over_budget};
use crate::entry::{Death, Entry, GroupRef, Loaded, MemoryPlan, ModelFailed, Tuned};
use crate::exit::{Exit, Failure};
use crate::memory::{self, Fitted, Ground, Guard, Kind, Rung, System};

impl Runner<'_> {
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
            let mut need = Need::default();
            for group in self.plan.groups().filter(|group| usize::from(group.at.model) == model) {
                need.see(self.spec(group, settings).pictures());
            }
            return Ok((spec, need));
        }
        let mut need = Need::default();
        let plan = self.plan;
        for group in plan.groups().filter(|group| usize::from(group.at.model) == model) {
            let group = self.spec(group, settings);
            let jobs = group.first_jobs().map_err(|error| failed(model, error.to_string()))?;
            let vocabulary = LoadSpec { vocab_only: true, ..spec.clone() };
            let measure = async |link: &mut Link| {
                link.show(&jobs, group.pictures()).await?;
                link.measure(jobs.clone()).await
            };
            let sizes =
                self.asked(link, &vocabulary, group.at, "while prompts were measured", measure).await?;
            need.add(&sizes, group.grows());
            need.see(group.pictures());
        }
        spec.context_tokens = need.context_tokens(self.plan, model);
        Ok((spec, need))
    }

    /// Decides how a model is loaded: as the plan needs it, with less where the memory budget wants that, and as before
    /// where the run goes on. Sets the guard for its workers.
    pub(super) async fn fitted(&mut self, model: usize, settings: &[Settings]) -> Result<LoadSpec, Stop> {
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
        if let Some(tuned) = self.tuned.iter().find(|tuned| usize::from(tuned.model) == model)
            && wanted.parallel == 0
        {
            wanted.parallel = tuned.parallel;
        }
        // What is still to be tuned is fitted again with the number that was found.
        let is_final = wanted.parallel != 0 || wanted.mode == Mode::Exact;
        let before = self.chosen.get(&(model as u16)).cloned();
        if let Some(before) = &before {
            wanted = LoadSpec {
                threads: wanted.threads,
                threads_batch: wanted.threads_batch,
                mmap: before.mmap && planned.unmappable.is_none(),
                ..before.clone()
            };
        }
        let wanted = Rung::planned(plan, planned, wanted);
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
        let Fitted { spec, steps, prediction } = fitted;
        if !is_final {
            return Ok(spec);
        }
        for step in steps.iter().filter(|step| !wanted.steps.contains(step)) {
            self.progress.say(&format!("model {}: to fit the memory budget, {step}", planned.record.name));
        }
        for step in &wanted.steps {
            self.progress.say(&format!("model {}: {step}", planned.record.name));
        }
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
    pub(super) async fn parallel(&mut self, model: usize, spec: &LoadSpec) -> Result<u32, Stop> {
        if let Some(tuned) = self.tuned.iter().find(|tuned| usize::from(tuned.model) == model) {
            return Ok(tuned.parallel);
        }
        if spec.mode == Mode::Exact {
            return Ok(tuning::UNUSED);
        }
        let small = tuning::load_spec(spec);
        let mut link = self.start()?;
        self.opened(&mut link, &small, model).await?;
        let most = tuning::most(spec, self.plan.config.asking.max_tokens);
        let mut groups = self.plan.groups().filter(|group| usize::from(group.at.model) == model);
        let Some(at) = groups.next().map(|first| first.at) else { return Ok(tuning::UNUSED) };
        let measure = async |link: &mut Link| tuning::measure(link, most).await;
        let steps = self.asked(&mut link, &small, at, "while it was tuned", measure).await?;
        let tuned = Tuned { model: model as u16, parallel: tuning::choose(&steps), steps };
        self.progress.say(&tuning::in_words(&tuned));
        self.log.append(&Entry::Tuned(tuned.clone()))?;
        self.tuned.push(tuned.clone());
        Ok(tuned.parallel)
    }

    /// Asks a worker for what is wanted before its first group. One that dies is replaced once, for it may have been killed
    /// from outside; a question that kills does it again.
    async fn asked<T>(
        &mut self,
        link: &mut Link,
        spec: &LoadSpec,
        at: GroupRef,
        doing: &str,
        ask: impl AsyncFn(&mut Link) -> Result<T, LinkError>,
    ) -> Result<T, Stop> {
        let model = usize::from(at.model);
        for attempt in 1.. {
            match ask(link).await {
                Ok(answer) => return Ok(answer),
                Err(LinkError::Died { cause, last_words })
                    if attempt < ASK_TRIES && !is_over_budget(cause) =>
                {
                    self.progress.say(&format!("the worker {} {doing}; starting another", cause.in_words()));
                    self.log.append(&Entry::Death(Death { at, culprit: None, cause, last_words }))?;
                    *link = self.start()?;
                    self.opened(link, spec, model).await?;
                }
                Err(error) => return Err(self.hopeless(error, model, doing)),
            }
        }
        unreachable!("the loop ends by returning")
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
    pub(super) async fn open(&mut self, model: usize, spec: &LoadSpec) -> Result<Link, Stop> {
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
    pub(super) fn hopeless(&self, error: LinkError, model: usize, doing: &str) -> Stop {
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
}
