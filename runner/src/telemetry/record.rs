//! What a log holds of measurements. Raw facts per stretch of time; shares and quotients are made by reports.

use serde::{Deserialize, Serialize};

use super::conditions::Conditions;
use super::energy::Energy;
use super::missing::Missing;
use super::phases::PhaseWindow;
use super::sample::{Sample, State, known};
use super::sampler::Cost;
use super::source::SourceInfo;
use super::sources::Absent;
use crate::clock::{ClockStep, Moment};
use crate::entry::GroupRef;

/// Measuring began: what there is to measure with.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Began {
    /// When, on both clocks.
    pub at: Moment,
    /// Time between two samples as planned, in microseconds.
    pub period_us: u64,
    /// Sources with their channels; energies of stretches are in the order of all channels.
    pub sources: Vec<SourceInfo>,
    /// Sources that give nothing, and why.
    pub absent: Vec<Absent>,
    /// The channel to quote.
    pub headline: Option<u16>,
    /// Why there is none.
    pub missing: Option<Missing>,
    /// Time between two readings of each channel, in microseconds.
    pub every_us: Vec<u64>,
    /// Names of the temperatures in the time line.
    pub temperatures: Vec<String>,
    /// Names of the clocks in the time line.
    pub clocks: Vec<String>,
    /// The conditions.
    pub conditions: Conditions,
    /// What people should know.
    pub notes: Vec<String>,
}

/// What happened in a stretch of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Stretch {
    /// Nothing, before the model was loaded.
    IdleUnloaded,
    /// The model was loaded.
    Load,
    /// Nothing, with the model loaded.
    IdleLoaded,
    /// A group was worked on.
    Group,
    /// One item was asked alone, for latency.
    Timed,
    /// Nothing, after the model was done.
    IdleAfter,
}

/// A stretch of time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Window {
    /// What happened in it.
    pub stretch: Stretch,
    /// Index of the model.
    pub model: u16,
    /// The group.
    pub group: Option<GroupRef>,
    /// Its beginning on both clocks.
    pub begin: Moment,
    /// Its end on both clocks.
    pub end: Moment,
    /// Energy of each channel.
    pub energy: Vec<Energy>,
    /// The state of the machine.
    pub state: Summary,
    /// Whether the machine was suspended in it; then no figure of it holds.
    pub suspended: bool,
    /// What the phases of the engine took of it on the channel to quote, where they were told.
    pub phases: Vec<PhaseWindow>,
}

/// The state of the machine over a stretch of time. What was not read is `None`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// Samples that it was made of.
    pub samples: u32,
    /// Highest temperature of each sensor, in thousandths of a degree.
    pub hottest_mc: Vec<Option<i64>>,
    /// Mean of each clock, in kilohertz.
    pub clock_khz: Vec<Option<i64>>,
    /// Bits of the Pi's throttle word that held at some moment.
    pub pi_flags: Option<u32>,
    /// Whether the supply was too low at some moment.
    pub undervoltage: Option<bool>,
    /// Throttle and over-current events that were counted in it.
    pub events: Option<i64>,
    /// Whether a cooling device slowed the machine down at some moment.
    pub slowed: Option<bool>,
    /// Least available memory, in bytes.
    pub available_bytes: Option<i64>,
    /// Mean load of other processes, in thousandths of all processors.
    pub others_permille: Option<i64>,
    /// Mean load of this program and its worker, the same way.
    pub own_permille: Option<i64>,
    /// Charge of the battery at the end, in per cent.
    pub battery_percent: Option<i64>,
    /// Whether the supply changed between mains and battery.
    pub supply_changed: Option<bool>,
    /// The most private memory of the worker, in bytes.
    pub worker_private_bytes: Option<i64>,
    /// The most mapped file memory of the worker, in bytes.
    pub worker_file_bytes: Option<i64>,
}

impl Summary {
    /// Whether the machine held itself back.
    pub fn throttled(&self) -> bool {
        // Under-voltage alone slows a Pi down too.
        self.pi_flags.is_some_and(|flags| flags & 0xf != 0)
            || self.undervoltage == Some(true)
            || self.events.is_some_and(|events| events > 0)
            || self.slowed == Some(true)
    }
}

/// Samples in the order of their times, thinned.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Timeline {
    /// The samples.
    pub rows: Vec<Row>,
}

/// One sample.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// When, on both clocks.
    pub at: Moment,
    /// Power of each channel in microwatts.
    pub power_uw: Vec<Option<i64>>,
    /// Temperatures in thousandths of a degree.
    pub temperature_mc: Vec<Option<i64>>,
    /// Clocks in kilohertz.
    pub clock_khz: Vec<Option<i64>>,
    /// The Pi's throttle word.
    pub pi_flags: Option<i64>,
    /// Throttle and over-current events since boot.
    pub events: Option<i64>,
    /// Available memory in bytes.
    pub available_bytes: Option<i64>,
    /// Load of other processes in thousandths.
    pub others_permille: Option<i64>,
    /// Load of this program and its worker in thousandths.
    pub own_permille: Option<i64>,
    /// Charge of the battery in per cent.
    pub battery_percent: Option<i64>,
    /// Private memory of the worker in bytes: heap, copies, shared memory.
    pub worker_private_bytes: Option<i64>,
    /// Mapped file pages of the worker that are resident, in bytes.
    pub worker_file_bytes: Option<i64>,
}

impl Row {
    /// A sample for the log.
    pub fn of(sample: &Sample, channels: usize, temperatures: usize, clocks: usize) -> Row {
        let State { temperature_mc, clock_khz, .. } = &sample.state;
        let all =
            |values: &[i64], count: usize| values.iter().take(count).map(|value| known(*value)).collect();
        Row {
            at: Moment { mono_us: sample.mono_us, wall_us: sample.wall_us },
            power_uw: all(&sample.power_uw, channels),
            temperature_mc: all(temperature_mc, temperatures),
            clock_khz: all(clock_khz, clocks),
            pi_flags: known(sample.state.pi_flags),
            events: known(sample.state.events),
            available_bytes: known(sample.state.available_bytes),
            others_permille: known(sample.state.others_permille),
            own_permille: known(sample.state.own_permille),
            battery_percent: known(sample.state.battery_percent),
            worker_private_bytes: known(sample.state.worker_private_bytes),
            worker_file_bytes: known(sample.state.worker_file_bytes),
        }
    }
}

/// Measuring ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Ended {
    /// When, on both clocks.
    pub at: Moment,
    /// The conditions then.
    pub conditions: Conditions,
    /// What sampling cost.
    pub cost: Cost,
}

/// The wall clock jumped. Durations do not depend on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stepped {
    /// The group that was worked on.
    pub group: GroupRef,
    /// The jump.
    pub step: ClockStep,
}

/// One item through one interface, alone and from an empty cache.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Timed {
    /// Index of the model.
    pub model: u16,
    /// Index of the task.
    pub task: u16,
    /// Name of the interface.
    pub interface: String,
    /// Id of the item.
    pub item: String,
    /// Which repetition, from 0.
    pub repetition: u16,
    /// Whether it only warmed the machine up, and is no part of a figure.
    pub warm_up: bool,
    /// From sending the question to having the answer, in microseconds.
    pub end_to_end_us: u64,
    /// Until the first token of the answer, or the score, was known, in microseconds.
    pub first_token_us: u64,
    /// Times between tokens of the answer, in microseconds.
    pub between_us: Vec<u32>,
    /// Tokens of the prompt.
    pub prompt_tokens: u32,
    /// Tokens that were evaluated for it.
    pub evaluated_tokens: u32,
    /// Tokens of the answer.
    pub output_tokens: u32,
    /// Page faults of the worker that went to the disk, where the system tells.
    pub major_faults: Option<u64>,
    /// Its time and energy.
    pub window: Window,
}
