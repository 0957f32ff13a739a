//! The energy of a stretch of time on one channel, with what it is worth.

use serde::{Deserialize, Serialize};

use super::integrate::Edge;
use super::missing::Missing;
use super::source::{Channel, Domain, Kind};

/// Intervals of a sensor below which a stretch has no figure: each edge may be misplaced by half an interval.
pub const FEWEST_INTERVALS: u64 = 20;
/// Intervals from which on a figure needs no mark for shortness.
pub const MANY_INTERVALS: u64 = 100;
/// Different values of a battery below which it is too slow for the stretch.
const FEWEST_CHANGES: u64 = 20;
/// Share of a stretch without readings that marks it, and the one that leaves no figure.
const GAPS_MARKED: f64 = 0.05;
const GAPS_FATAL: f64 = 0.5;

/// Why a figure needs care.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mark {
    /// Shorter than a hundred intervals of the sensor.
    Short,
    /// More than 5 % of it has no readings.
    Gaps,
    /// The value hardly ever changes.
    FewValues,
    /// The sensor covers a part of the machine only.
    Partial,
    /// It was computed, not measured.
    Estimate,
    /// The machine throttled in it.
    Throttled,
    /// The idle power before and after differs too much.
    BaselineDrift,
    /// Shared among tasks or interfaces that ran side by side, by engine time.
    Shared,
}

impl Mark {
    /// The mark in one word.
    pub fn word(self) -> &'static str {
        match self {
            Mark::Short => "short",
            Mark::Gaps => "gaps",
            Mark::FewValues => "few-values",
            Mark::Partial => "partial",
            Mark::Estimate => "estimate",
            Mark::Throttled => "throttled",
            Mark::BaselineDrift => "baseline-drift",
            Mark::Shared => "shared",
        }
    }
}

/// What a channel tells of a stretch of time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Energy {
    /// Energy in microjoules; `None` with a reason.
    pub energy_uj: Option<f64>,
    /// Why there is none.
    pub missing: Option<Missing>,
    /// Energy of a stretch that is too short to be quoted alone; only a sum of many such says something.
    pub short_uj: Option<f64>,
    /// Half the width of the interval that sampling leaves, in microjoules: edges, steps between readings, quantisation.
    /// It says nothing of how well the sensor is adjusted.
    pub doubt_uj: Option<f64>,
    /// Readings with a value.
    pub readings: u64,
    /// Readings without one.
    pub failed: u64,
    /// Time without readings, in microseconds.
    pub gap_us: u64,
    /// Readings whose value differs from the one before.
    pub changes: u64,
    /// Why it needs care.
    pub marks: Vec<Mark>,
}

impl Energy {
    /// Nothing, for a reason.
    pub fn none(missing: Missing) -> Self {
        Energy {
            energy_uj: None,
            missing: Some(missing),
            short_uj: None,
            doubt_uj: None,
            readings: 0,
            failed: 0,
            gap_us: 0,
            changes: 0,
            marks: Vec::new(),
        }
    }
}

/// Energy between two edges. `every_us` is the time between two readings as planned; `last` says why the latest reading
/// failed, if it did.
pub fn between(
    channel: &Channel,
    every_us: u64,
    from: Option<Edge>,
    to: Option<Edge>,
    span_us: u64,
    last: Option<Missing>,
) -> Energy {
    let (Some(from), Some(to)) = (from, to) else {
        let missing = last.unwrap_or(match span_us < FEWEST_INTERVALS * every_us {
            true => Missing::TooShort,
            false => Missing::TooFewReadings,
        });
        return Energy::none(missing);
    };
    let (begun, ended) = (&from.sums, &to.sums);
    let span = span_us as f64;
    let covered = (ended.covered_us - begun.covered_us).clamp(0.0, span);
    let readings = ended.readings.saturating_sub(begun.readings);
    let mut energy = Energy {
        readings,
        failed: ended.failed.saturating_sub(begun.failed),
        gap_us: (span - covered) as u64,
        changes: ended.changes.saturating_sub(begun.changes),
        ..Energy::none(Missing::TooShort)
    };
    let counter = channel.kind == Kind::Counter;
    let slow = channel.domain == Domain::BatteryDischarge;
    let fewest_us = channel.shortest_us.max(if counter { 0 } else { FEWEST_INTERVALS * every_us });
    let many_us = if counter { 10 * channel.shortest_us } else { MANY_INTERVALS * every_us };
    let gaps = if span > 0.0 { energy.gap_us as f64 / span } else { 1.0 };
    let missing = if span_us < fewest_us {
        Some(Missing::TooShort)
    } else if readings < 2 && !counter {
        Some(last.unwrap_or(Missing::TooFewReadings))
    } else if gaps > GAPS_FATAL {
        Some(last.unwrap_or(Missing::TooFewReadings))
    } else if energy.changes == 0 && slow {
        Some(Missing::Stale)
    } else {
        None
    };
    energy.missing = missing;
    let spent = Some(ended.energy_uj - begun.energy_uj);
    match missing {
        None => energy.energy_uj = spent,
        Some(Missing::TooShort) if gaps <= GAPS_FATAL || counter => energy.short_uj = spent,
        Some(_) => return energy,
    }
    let inside = 2.0 * (ended.doubt - begun.doubt).max(0.0).sqrt();
    let quantum = f64::from(channel.step_uw) / 2.0 * span / 1e6;
    energy.doubt_uj = Some(from.doubt_uj + to.doubt_uj + inside + quantum);
    let mark = |marks: &mut Vec<Mark>, mark: Mark, holds: bool| {
        if holds {
            marks.push(mark);
        }
    };
    mark(&mut energy.marks, Mark::Short, span_us < many_us);
    mark(&mut energy.marks, Mark::Gaps, gaps > GAPS_MARKED);
    // A battery's controller may sleep; a steady load leaves other sensors at one value now and then, but not always.
    let few = if slow { FEWEST_CHANGES } else { 1 };
    mark(&mut energy.marks, Mark::FewValues, energy.changes < few);
    mark(&mut energy.marks, Mark::Partial, channel.domain == Domain::SocPartial);
    mark(&mut energy.marks, Mark::Estimate, channel.kind == Kind::Estimate);
    energy
}
