//! Items asked alone, one after the other, each from an empty cache: what their latency is taken from.

use std::collections::BTreeSet;
use std::time::Instant;

use datasets::Settings;
use models::{LoadSpec, Reply};

use super::super::group::{GroupError, GroupSpec};
use super::super::link::Link;
use super::{Runner, Stop};
use crate::entry::GroupRef;
use crate::plan::{Plan, Visit};
use crate::prompting;
use crate::telemetry::latency::{sample, timing};
use crate::telemetry::phases::placed;
use crate::telemetry::record::{Stretch, Timed, Window};
use crate::track::Track;

/// One question that is asked alone.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct TimedKey {
    /// Index of the model.
    pub model: u16,
    /// Which repetition.
    pub repetition: u16,
    /// Index of the task.
    pub task: u16,
    /// Id of the item.
    pub item: String,
    /// Name of the condition.
    pub interface: String,
    /// Whether it only warms up.
    pub warm_up: bool,
}

impl From<&Timed> for TimedKey {
    fn from(timed: &Timed) -> Self {
        TimedKey {
            model: timed.model,
            repetition: timed.repetition,
            task: timed.task,
            item: timed.item.clone(),
            interface: timed.interface.clone(),
            warm_up: timed.warm_up,
        }
    }
}

/// What of a model is still to be asked on its own, in its order; before it, as many of the same to warm up.
/// Repetitions are dealt to the rounds of a sweep in turn.
pub(super) fn left(plan: &Plan, visit: &Visit, asked: &BTreeSet<TimedKey>) -> Vec<TimedKey> {
    let (choice, model) = (&plan.config.latency, visit.model);
    let rounds = plan.config.sweep.rounds;
    let mut left = Vec::new();
    let of_turn = |repetition: &u16| visit.rounds.contains(&(u32::from(*repetition) % rounds));
    for repetition in (0..choice.repetitions).filter(of_turn) {
        for (task, planned) in plan.tasks.iter().enumerate() {
            let name = &planned.record.name;
            for index in sample(planned.items.len(), choice.items, plan.config.seed, name) {
                let item = &planned.items[index];
                let fitting = planned.conditions.iter().filter(|condition| condition.fits(item));
                left.extend(fitting.map(|condition| TimedKey {
                    model: model as u16,
                    repetition,
                    task: task as u16,
                    item: item.id.clone(),
                    interface: condition.name().to_owned(),
                    warm_up: false,
                }));
            }
        }
    }
    left.retain(|key| !asked.contains(key));
    let warm_up = left.iter().cycle().take(if left.is_empty() { 0 } else { usize::from(choice.warm_up) });
    let warm_up: Vec<TimedKey> = warm_up.map(|key| TimedKey { warm_up: true, ..key.clone() }).collect();
    warm_up.into_iter().chain(left).collect()
}

impl Runner<'_> {
    /// Asks them.
    pub(super) async fn timed(
        &mut self,
        keys: &[TimedKey],
        settings: &[Settings],
        load: &LoadSpec,
        link: &mut Link,
    ) -> Result<(), Stop> {
        let plan = self.plan;
        for key in keys {
            if self.interrupt.is_asked() {
                return Err(Stop::Interrupted);
            }
            let task = &plan.tasks[usize::from(key.task)];
            self.progress.group(&format!("{} (latency)", task.record.name));
            let found = task.items.iter().find(|item| item.id == key.item);
            let condition = task.conditions.iter().find(|condition| condition.name() == key.interface);
            let (Some(item), Some(condition)) = (found, condition) else { continue };
            let spec = GroupSpec {
                at: GroupRef { group: u32::MAX, model: key.model, task: key.task },
                items: std::slice::from_ref(item),
                conditions: std::slice::from_ref(condition),
                settings: &settings[usize::from(key.task)],
                renderer: &plan.models[usize::from(key.model)].renderer,
            };
            self.one(key, &Track::start(item, condition, spec.settings), spec, load, link).await?;
            self.write_ready(false)?;
            self.progress.done(1);
        }
        self.log.end_group()?;
        Ok(())
    }

    /// Asks the first questions of one track.
    async fn one(
        &mut self,
        key: &TimedKey,
        track: &Track<'_>,
        spec: GroupSpec<'_>,
        load: &LoadSpec,
        link: &mut Link,
    ) -> Result<(), Stop> {
        let mut jobs = Vec::new();
        for (prompt, request) in track.asks() {
            let job = prompting::job(spec.renderer, jobs.len() as u32, prompt, request)
                .map_err(|error| super::failed(usize::from(key.model), error.to_string()))?;
            jobs.push(prompting::without_states(job.job));
        }
        if let Err(error) = link.show(&jobs, track.pictures()).await {
            let culprit = Some((key.item.clone(), key.interface.clone()));
            return self.replace(GroupError::Link(error), &spec, culprit, load, link).await.map(drop);
        }
        let faults = link.pid().and_then(major_faults);
        let window = self.measuring.begin(Stretch::Timed, key.model, None);
        let begin = self.measuring.now();
        let started = Instant::now();
        let measuring = &mut self.measuring;
        let reply = match link.round(jobs, &mut |_| measuring.drain()).await {
            Ok(reply) => reply,
            Err(error) => {
                self.measuring.drop(window);
                let culprit = Some((key.item.clone(), key.interface.clone()));
                return self.replace(GroupError::Link(error), &spec, culprit, load, link).await.map(drop);
            }
        };
        let end_to_end_us = started.elapsed().as_micros() as u64;
        let mut usage = models::Usage::default();
        reply.replies.iter().for_each(|reply| usage += reply.usage());
        // What was not answered has no latency.
        let answered = |reply: &Reply| matches!(reply, Reply::Scored(_) | Reply::Generated(_));
        if reply.replies.is_empty() || !reply.replies.iter().all(answered) {
            self.measuring.drop(window);
        } else {
            // Several questions side by side have one time, that of all answers.
            let timing = timing(&reply);
            let end = self.measuring.now();
            let faults_after = link.pid().and_then(major_faults);
            let timed = Timed {
                model: key.model,
                task: key.task,
                interface: key.interface.clone(),
                item: key.item.clone(),
                repetition: key.repetition,
                warm_up: key.warm_up,
                end_to_end_us,
                first_token_us: timing.as_ref().map_or(end_to_end_us, |timing| timing.first_token_us),
                between_us: timing.map(|timing| timing.between_us).unwrap_or_default(),
                prompt_tokens: usage.prompt_tokens,
                evaluated_tokens: usage.evaluated_tokens,
                output_tokens: usage.output_tokens,
                major_faults: faults.zip(faults_after).map(|(before, after)| after.saturating_sub(before)),
                window: Window {
                    stretch: Stretch::Timed,
                    model: key.model,
                    group: None,
                    begin,
                    end,
                    energy: Vec::new(),
                    state: Default::default(),
                    suspended: false,
                    phases: Vec::new(),
                },
            };
            let spans = placed(&reply.spans, reply.took_us, begin.mono_us, end.mono_us);
            self.measuring.add_phases(&window, spans);
            self.measuring.end_timed(window, timed);
        }
        // The next question finds an empty cache.
        match link.end_group().await {
            Ok(peak) => self.worker_peak_bytes = self.worker_peak_bytes.max(peak),
            Err(error) => drop(self.replace(error.into(), &spec, None, load, link).await?),
        }
        Ok(())
    }
}

/// Page faults of a process that went to the disk.
fn major_faults(pid: u32) -> Option<u64> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    stat.get(stat.rfind(')')? + 1..)?.split_ascii_whitespace().nth(9)?.parse().ok()
}
