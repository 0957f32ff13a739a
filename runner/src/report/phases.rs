//! What prompts and replies cost, told apart: time, energy and power of an engine's phases, per model and task.
//!
//! Phases belong to an engine at work, not to an interface: a group's prompts are evaluated together. Groups and items
//! asked alone are never added.

use std::collections::BTreeMap;

use models::PhaseKind;
use serde::Serialize;

use super::costs::{Sensor, headline, never};
use super::load::RunLog;
use crate::telemetry::energy::{MANY_INTERVALS, Mark};
use crate::telemetry::missing::Missing;
use crate::telemetry::phases::{DOUBT_FATAL, PhaseWindow, shortest_us};
use crate::telemetry::record::{Stretch, Window};

/// How items were asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Asked {
    /// Side by side, in groups.
    Together,
    /// One by one, each from an empty cache.
    Alone,
}

/// One phase of a model's work on a task.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PhaseCost {
    /// Name of the model.
    pub model: String,
    /// Name of the task.
    pub task: String,
    /// How items were asked.
    pub asked: Asked,
    /// `prefill` (prompts), `decode` (replies) or `mixed` (both in the same calls).
    pub phase: &'static str,
    /// Uninterrupted spans of it.
    pub spans: u64,
    /// Its time in seconds: of all spans, with or without a figure.
    pub time_s: f64,
    /// Tokens evaluated or written in it.
    pub tokens: u64,
    /// What its energy was measured with.
    pub sensor: Option<Sensor>,
    /// Gross energy in joules; `None` with a reason.
    pub energy_j: Option<f64>,
    /// Why there is none.
    pub missing: Option<Missing>,
    /// Half the width of the interval that sampling leaves, in joules.
    pub doubt_j: Option<f64>,
    /// Mean power in watts.
    pub mean_w: Option<f64>,
    /// Joules per token.
    pub per_token_j: Option<f64>,
    /// Why it needs care.
    pub marks: Vec<Mark>,
}

/// The name of a phase that is told apart; tokenising is none.
fn word(kind: PhaseKind) -> Option<&'static str> {
    match kind {
        PhaseKind::Tokenize => None,
        PhaseKind::Prefill => Some("prefill"),
        PhaseKind::Mixed => Some("mixed"),
        PhaseKind::Decode => Some("decode"),
    }
}

type Key = (u16, u16, Asked, &'static str);

/// The phases of a run, by model and task.
pub fn phases(run: &RunLog) -> Vec<PhaseCost> {
    let mut sums: BTreeMap<Key, Sum> = BTreeMap::new();
    // A group that was run again has its last window.
    let windows: BTreeMap<u32, &(usize, Window)> = run
        .measured
        .windows
        .iter()
        .filter(|(_, window)| window.stretch == Stretch::Group)
        .filter_map(|told| Some((told.1.group?.group, told)))
        .collect();
    for (group, end) in &run.groups {
        let mut own: BTreeMap<&'static str, (u64, u64)> = BTreeMap::new();
        for phase in end.phases.iter().filter(|phase| phase.tokens > 0) {
            let Some(word) = word(phase.kind) else { continue };
            let (time_us, tokens) = own.entry(word).or_default();
            *time_us += phase.wall_us;
            *tokens += u64::from(phase.tokens);
        }
        for (phase, (time_us, tokens)) in own {
            let key = (end.at.model, end.at.task, Asked::Together, phase);
            sums.entry(key).or_default().add(run, phase, time_us, tokens, windows.get(group).copied());
        }
    }
    for (session, timed) in run.measured.timed.iter().filter(|(_, timed)| !timed.warm_up) {
        let told = (*session, timed.window.clone());
        for (phase, tokens) in [("prefill", timed.evaluated_tokens), ("decode", timed.output_tokens)] {
            let of_phase = |window: &&PhaseWindow| word(window.kind) == Some(phase);
            let time_us: u64 = timed.window.phases.iter().filter(of_phase).map(|window| window.time_us).sum();
            // An answer of one token is written by the evaluation of its prompt.
            if tokens > 0 && time_us > 0 {
                let key = (timed.model, timed.task, Asked::Alone, phase);
                sums.entry(key).or_default().add(run, phase, time_us, u64::from(tokens), Some(&told));
            }
        }
    }
    let name = |names: &mut dyn Iterator<Item = &String>, index: u16| {
        names.nth(usize::from(index)).cloned().unwrap_or_default()
    };
    sums.into_iter()
        .map(|((model, task, asked, phase), sum)| {
            let model = name(&mut run.header.models.iter().map(|model| &model.name), model);
            let task = name(&mut run.header.tasks.iter().map(|task| &task.name), task);
            sum.cost(run, model, task, asked, phase)
        })
        .collect()
}

#[derive(Default)]
struct Sum {
    spans: u64,
    time_us: u64,
    tokens: u64,
    /// Of what has a figure.
    measured_us: u64,
    measured_tokens: u64,
    energy_uj: f64,
    doubt_uj: f64,
    shortest_us: u64,
    sensors: Vec<Sensor>,
    marks: Vec<Mark>,
    reasons: BTreeMap<Missing, u64>,
}

impl Sum {
    fn add(&mut self, run: &RunLog, phase: &str, time_us: u64, tokens: u64, told: Option<&(usize, Window)>) {
        self.time_us += time_us;
        self.tokens += tokens;
        if let Err(reason) = self.measure(run, phase, tokens, told) {
            *self.reasons.entry(reason).or_default() += time_us;
        }
    }

    fn measure(
        &mut self,
        run: &RunLog,
        phase: &str,
        tokens: u64,
        told: Option<&(usize, Window)>,
    ) -> Result<(), Missing> {
        let (session, window) = told.ok_or_else(|| never(run))?;
        let began = session.checked_sub(1).and_then(|session| run.measured.began.get(session));
        let began = began.ok_or_else(|| never(run))?;
        let (index, channel, sensor) =
            headline(began).ok_or_else(|| began.missing.unwrap_or(Missing::NoSensor))?;
        if window.suspended {
            return Err(Missing::Suspended);
        }
        let own: Vec<&PhaseWindow> =
            window.phases.iter().filter(|window| word(window.kind) == Some(phase)).collect();
        if own.is_empty() {
            return Err(Missing::NotLogged);
        }
        for phase in own {
            self.spans += u64::from(phase.spans);
            let energy = &phase.energy;
            let uj = energy
                .energy_uj
                .or(energy.short_uj)
                .ok_or_else(|| energy.missing.unwrap_or(Missing::NotLogged))?;
            self.energy_uj += uj;
            self.doubt_uj += energy.doubt_uj.unwrap_or(0.0);
            self.measured_us += phase.time_us;
            let marks = energy.marks.iter().filter(|mark| **mark != Mark::Short);
            let throttled = window.state.throttled().then_some(&Mark::Throttled);
            for mark in marks.chain(throttled) {
                if !self.marks.contains(mark) {
                    self.marks.push(*mark);
                }
            }
        }
        self.measured_tokens += tokens;
        let every_us = began.every_us.get(index).copied().unwrap_or(began.period_us);
        self.shortest_us = self.shortest_us.max(shortest_us(channel, every_us));
        if !self.sensors.contains(&sensor) {
            self.sensors.push(sensor);
        }
        Ok(())
    }

    fn cost(self, run: &RunLog, model: String, task: String, asked: Asked, phase: &'static str) -> PhaseCost {
        let most_frequent = self.reasons.iter().max_by_key(|(_, us)| **us).map(|(reason, _)| *reason);
        let missing = if self.sensors.is_empty() {
            Some(most_frequent.unwrap_or_else(|| never(run)))
        } else if self.sensors.len() > 1 {
            // Sessions with different sensors cannot be added.
            Some(Missing::Mixed)
        } else if self.measured_us < self.shortest_us {
            Some(Missing::TooShort)
        } else if self.doubt_uj > DOUBT_FATAL * self.energy_uj {
            Some(Missing::Interleaved)
        } else {
            None
        };
        let mut cost = PhaseCost {
            model,
            task,
            asked,
            phase,
            spans: self.spans,
            time_s: self.time_us as f64 / 1e6,
            tokens: self.tokens,
            sensor: self.sensors.into_iter().next(),
            energy_j: None,
            missing,
            doubt_j: None,
            mean_w: None,
            per_token_j: None,
            marks: self.marks,
        };
        if missing.is_none() {
            let joules = self.energy_uj / 1e6;
            cost.energy_j = Some(joules);
            cost.doubt_j = Some(self.doubt_uj / 1e6);
            cost.mean_w = Some(self.energy_uj / self.measured_us as f64);
            cost.per_token_j = (self.measured_tokens > 0).then(|| joules / self.measured_tokens as f64);
            // A hundred intervals need no mark: the shortest stretch has twenty.
            if self.measured_us < self.shortest_us * MANY_INTERVALS / 20 {
                cost.marks.insert(0, Mark::Short);
            }
            if !self.reasons.is_empty() && !cost.marks.contains(&Mark::Gaps) {
                cost.marks.push(Mark::Gaps);
            }
        }
        cost
    }
}
