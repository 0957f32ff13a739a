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
pub(super) const GAPS_MARKED: f64 = 0.05;
pub(super) const GAPS_FATAL: f64 = 0.5;

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
    } else if (readings < 2 && !counter) || gaps > GAPS_FATAL {
        Some(last.unwrap_or(Missing::TooFewReadings))
    } else if energy.changes == 0 && (slow || counter) {
        // A counter that stands still counts nothing.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::telemetry::integrate::Integrator;
    use crate::telemetry::source::Value;

    const SECOND: u64 = 1_000_000;

    /// What a channel tells of seconds 1 to `until`, read each second.
    fn told(channel: &Channel, until: u64, value: impl Fn(u64) -> Value) -> Energy {
        let mut integrator = Integrator::new(channel, SECOND);
        let mut edges = [None; 2];
        for at in 0..=until + 1 {
            integrator.read(at * SECOND, Ok(value(at)));
            for (edge, time) in edges.iter_mut().zip([1, until]) {
                *edge = edge.or(integrator.edge(time * SECOND));
            }
        }
        between(channel, SECOND, edges[0], edges[1], (until - 1) * SECOND, None)
    }

    fn channel(domain: Domain, kind: Kind, shortest_us: u64) -> Channel {
        Channel::new("x", domain, kind, shortest_us)
    }

    #[test]
    fn a_battery_that_changes_too_rarely_is_marked_and_one_that_never_does_is_no_measurement() {
        let battery = channel(Domain::BatteryDischarge, Kind::Measured, 60 * SECOND);
        let slow = told(&battery, 200, |at| Value::Power(10_000_000 + (at / 30) as i64));
        assert!(slow.marks.contains(&Mark::FewValues), "{slow:?}");
        let lively = told(&battery, 200, |at| Value::Power(10_000_000 + (at / 2) as i64));
        assert!(lively.marks.is_empty(), "{lively:?}");
        let dead = told(&battery, 200, |_| Value::Power(10_000_000));
        assert_eq!((dead.energy_uj, dead.missing), (None, Some(Missing::Stale)));
    }

    #[test]
    fn a_counter_that_stands_still_measures_no_zero() {
        let counter = channel(Domain::CpuPackage, Kind::Counter, SECOND / 10);
        let still = told(&counter, 10, |_| Value::Energy(77));
        assert_eq!((still.energy_uj, still.short_uj, still.missing), (None, None, Some(Missing::Stale)));
        let moves = told(&counter, 10, |at| Value::Energy(5_000_000 * at));
        assert_eq!((moves.energy_uj, moves.doubt_uj), (Some(45e6), Some(0.0)));
    }

    #[test]
    fn the_step_of_a_sensor_is_part_of_the_doubt() {
        let mut rail = channel(Domain::ModuleTotal, Kind::Product, 2 * SECOND);
        rail.step_uw = 40_000;
        let energy = told(&rail, 101, |_| Value::Power(4_000_000));
        // Half of 40 mW over 100 s.
        assert_eq!((energy.energy_uj, energy.doubt_uj), (Some(400e6), Some(2e6)));
    }

    #[test]
    fn estimates_and_partial_sums_say_so() {
        let marks = |domain, kind| told(&channel(domain, kind, 0), 150, |at| Value::Power(at as i64)).marks;
        assert_eq!(marks(Domain::SocPartial, Kind::Product), [Mark::Partial]);
        assert_eq!(marks(Domain::DcInputBoard, Kind::Estimate), [Mark::Estimate]);
    }
}
