//! From readings to energy: pure arithmetic over times and values.
//!
//! Power is integrated by trapezoids over its time stamps, counters by difference. A stretch of time is the difference of
//! two edges, each found by interpolation between the readings around it.

use super::missing::Missing;
use super::source::{Channel, Kind, Value};

/// Silence, in expected intervals, from which on a stretch counts as not covered.
const GAP_INTERVALS: u64 = 3;

/// Sums from the beginning of the measurement up to some time.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Sums {
    /// Energy in microjoules.
    pub energy_uj: f64,
    /// Sum of the squared doubts about single intervals, in square microjoules.
    pub doubt: f64,
    /// Time between readings that follow each other without a gap, in microseconds.
    pub covered_us: f64,
    /// Readings with a value.
    pub readings: u64,
    /// Readings without one.
    pub failed: u64,
    /// Readings whose value differs from the one before.
    pub changes: u64,
}

/// The sums at a time, and by how much the energy may be misplaced there.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Edge {
    /// The time in microseconds.
    pub at_us: u64,
    /// The sums.
    pub sums: Sums,
    /// The energy that may belong to the other side, in microjoules.
    pub doubt_uj: f64,
}

#[derive(Clone, Copy, Debug)]
struct Point {
    at_us: u64,
    /// Power there, or in the interval before it for counters.
    power_uw: f64,
    counted_uj: u64,
}

/// Integrates one channel.
#[derive(Clone, Copy, Debug)]
pub struct Integrator {
    counter: bool,
    /// Time between two readings as planned, in microseconds.
    every_us: u64,
    last: Option<Point>,
    sums: Sums,
    before: Sums,
    before_power_uw: f64,
    before_us: u64,
    /// Why the last reading had no value.
    pub missing: Option<Missing>,
}

impl Integrator {
    /// Begins; `every_us` is the time between two readings as planned.
    pub fn new(channel: &Channel, every_us: u64) -> Self {
        Integrator {
            counter: channel.kind == Kind::Counter,
            every_us: every_us.max(1),
            last: None,
            sums: Sums::default(),
            before: Sums::default(),
            before_power_uw: 0.0,
            before_us: 0,
            missing: None,
        }
    }

    /// The sums up to the last reading.
    pub fn sums(&self) -> Sums {
        self.sums
    }

    /// The time of the last reading with a value.
    pub fn last_us(&self) -> Option<u64> {
        self.last.map(|point| point.at_us)
    }

    /// Power at the last reading, in microwatts; that of the interval before it for counters.
    pub fn power_uw(&self) -> Option<f64> {
        let point = self.last?;
        (self.missing.is_none() && (!self.counter || self.sums.readings > 1)).then_some(point.power_uw)
    }

    /// The same as a reader sees it at a time: nothing where the last reading lies too far back to stand for now.
    pub fn power_at_uw(&self, now_us: u64) -> Option<f64> {
        let silent_us = now_us.saturating_sub(self.last?.at_us);
        self.power_uw().filter(|_| silent_us <= GAP_INTERVALS * self.every_us)
    }

    /// Takes a reading. Whether edges up to its time can now be told.
    pub fn read(&mut self, at_us: u64, value: Result<Value, Missing>) -> bool {
        let value = match value {
            Ok(value) => value,
            Err(reason) => {
                self.sums.failed += 1;
                self.missing = Some(reason);
                // On the mains a battery's numbers mean something else: nothing leads over such a stretch.
                if reason == Missing::OnMains {
                    self.last = None;
                }
                return false;
            }
        };
        self.missing = None;
        let (power, counted, restart) = match value {
            Value::Power(uw) => (uw as f64, 0, false),
            Value::Energy(uj) => (0.0, uj, false),
            Value::Restart(uj) => (0.0, uj, true),
        };
        self.sums.readings += 1;
        let Some(last) = self.last.filter(|last| at_us > last.at_us) else {
            // A second reading at one time replaces the first; time that runs backwards is none.
            if self.last.is_none_or(|last| at_us == last.at_us) {
                self.before = self.sums;
                self.before_us = at_us;
                self.before_power_uw = power;
                self.last = Some(Point { at_us, power_uw: power, counted_uj: counted });
            }
            return true;
        };
        self.before = self.sums;
        self.before_us = last.at_us;
        self.before_power_uw = last.power_uw;
        let span = (at_us - last.at_us) as f64 / 1e6;
        let silent = at_us - last.at_us > GAP_INTERVALS * self.every_us;
        let mut power_uw = power;
        if self.counter {
            let energy = counted.saturating_sub(last.counted_uj) as f64;
            self.sums.energy_uj += energy;
            self.sums.changes += u64::from(counted != last.counted_uj);
            power_uw = energy / span;
            // A counter misses nothing in a silence, unless it lost itself.
            if !restart {
                self.sums.covered_us += (at_us - last.at_us) as f64;
            }
        } else {
            self.sums.energy_uj += (last.power_uw + power) / 2.0 * span;
            // Somewhere in the interval the power changed: a step is misplaced by half of it at the most, and evenly
            // likely anywhere.
            self.sums.doubt += (span * (power - last.power_uw)).powi(2) / 12.0;
            self.sums.changes += u64::from(power != last.power_uw);
            if !silent {
                self.sums.covered_us += (at_us - last.at_us) as f64;
            }
        }
        self.last = Some(Point { at_us, power_uw, counted_uj: counted });
        true
    }

    /// The edge at a time between the last two readings; `None` when the channel began after it.
    pub fn edge(&self, at_us: u64) -> Option<Edge> {
        let last = self.last?;
        if at_us < self.before_us || at_us > last.at_us {
            return None;
        }
        if self.before_us == last.at_us {
            return Some(Edge { at_us, sums: self.sums, doubt_uj: 0.0 });
        }
        let whole = (last.at_us - self.before_us) as f64;
        let part = (at_us - self.before_us) as f64 / whole;
        let (before, after) = (&self.before, &self.sums);
        let span = whole / 1e6;
        let (inside, doubt_uj) = if self.counter {
            let energy = after.energy_uj - before.energy_uj;
            // If the power changed just at the edge, the part before it went on as the interval before.
            let doubt = part * span * (last.power_uw - self.before_power_uw).abs();
            (energy * part, doubt.min(energy))
        } else {
            let change = last.power_uw - self.before_power_uw;
            let energy = span * part * (self.before_power_uw + change * part / 2.0);
            // Between two readings the power lies somewhere between their values, so that a half of the change is the most
            // that can be misplaced.
            (energy, span * change.abs() / 2.0)
        };
        if at_us == last.at_us {
            // A counter has counted all of it; a power may have changed anywhere before the reading that shows it.
            let doubt_uj = if self.counter { 0.0 } else { doubt_uj };
            return Some(Edge { at_us, sums: self.sums, doubt_uj });
        }
        let between = |a: f64, b: f64| a + (b - a) * part;
        let sums = Sums {
            energy_uj: before.energy_uj + inside,
            doubt: between(before.doubt, after.doubt),
            covered_us: between(before.covered_us, after.covered_us),
            // The reading itself lies behind the edge.
            readings: before.readings.saturating_sub(1),
            failed: before.failed,
            changes: before.changes,
        };
        Some(Edge { at_us, sums, doubt_uj })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::telemetry::source::Domain;

    fn channel(kind: Kind) -> Channel {
        Channel::new("x", Domain::Rail, kind, 0)
    }

    fn watts(watts: f64) -> Result<Value, Missing> {
        Ok(Value::Power((watts * 1e6) as i64))
    }

    /// Energy in joules between two times over samples (seconds, watts).
    fn energy(samples: &[(f64, f64)], from: f64, to: f64) -> f64 {
        let mut integrator = Integrator::new(&channel(Kind::Measured), 250_000);
        let us = |seconds: f64| (seconds * 1e6).round() as u64;
        let mut edges = [None; 2];
        for &(at, power) in samples {
            integrator.read(us(at), watts(power));
            for (edge, time) in edges.iter_mut().zip([from, to]) {
                *edge = edge.or(integrator.edge(us(time)));
            }
        }
        (edges[1].unwrap().sums.energy_uj - edges[0].unwrap().sums.energy_uj) / 1e6
    }

    #[test]
    fn pwr_03_four_samples_are_eight_joules() {
        let samples = [(0.0, 4.0), (0.5, 6.0), (1.0, 6.0), (1.5, 4.0)];
        assert!((energy(&samples, 0.0, 1.5) - 8.0).abs() < 1e-9);
        // The same cut at an instant between two samples adds up to the same.
        let parts = energy(&samples, 0.0, 0.7) + energy(&samples, 0.7, 1.5);
        assert!((parts - 8.0).abs() < 1e-9);
    }

    #[test]
    fn pwr_09_a_stretch_that_begins_where_the_power_falls_is_its_own() {
        let samples: Vec<(f64, f64)> =
            (0..=12).map(|i| f64::from(i) * 0.25).map(|t| (t, if t <= 1.0 { 10.0 } else { 5.0 })).collect();
        let got = energy(&samples, 1.0, 2.0);
        assert!((got - 5.0).abs() <= 0.7, "{got}");
    }

    #[test]
    fn constant_power_and_a_ramp_are_exact_over_uneven_steps() {
        let times = [0.0, 0.1, 0.15, 0.4, 0.41, 1.0, 1.3, 2.0];
        let constant: Vec<(f64, f64)> = times.iter().map(|&t| (t, 7.5)).collect();
        assert!((energy(&constant, 0.05, 1.95) - 7.5 * 1.9).abs() < 1e-6);
        let ramp: Vec<(f64, f64)> = times.iter().map(|&t| (t, 2.0 + 3.0 * t)).collect();
        let exact = |t: f64| 2.0 * t + 1.5 * t * t;
        assert!((energy(&ramp, 0.05, 1.95) - (exact(1.95) - exact(0.05))).abs() < 1e-5);
    }

    #[test]
    fn a_counter_is_the_difference_whatever_happened_between() {
        let mut integrator = Integrator::new(&channel(Kind::Counter), 100_000);
        integrator.read(0, Ok(Value::Energy(0)));
        assert_eq!(integrator.power_uw(), None, "one reading of a counter is no power");
        // Ten seconds of silence: the difference still holds, and so does the coverage.
        integrator.read(10_000_000, Ok(Value::Energy(55_000_000)));
        let sums = integrator.sums();
        assert_eq!((sums.energy_uj, sums.covered_us), (55e6, 10e6));
        assert_eq!(integrator.power_uw(), Some(5.5e6));
        integrator.read(20_000_000, Ok(Value::Restart(55_000_000)));
        assert_eq!(integrator.sums().covered_us, 10e6, "a lost interval is not covered");
    }

    #[test]
    fn a_silence_of_more_than_three_intervals_is_not_covered() {
        let mut integrator = Integrator::new(&channel(Kind::Measured), 100_000);
        for at in [0, 100_000, 400_000, 800_000] {
            integrator.read(at, watts(2.0));
        }
        assert_eq!(integrator.sums().covered_us, 400_000.0);
        assert_eq!(integrator.sums().energy_uj, 1.6e6, "and still bridged");
        assert_eq!(integrator.sums().changes, 0);
    }

    #[test]
    fn a_value_stands_for_three_intervals_and_then_for_nothing() {
        let mut integrator = Integrator::new(&channel(Kind::Measured), 100_000);
        assert_eq!(integrator.power_at_uw(0), None);
        integrator.read(500_000, watts(2.0));
        assert_eq!(integrator.power_at_uw(800_000), Some(2e6));
        assert_eq!(integrator.power_at_uw(800_001), None, "a meter that fell silent shows no old value");
    }

    #[test]
    fn an_edge_before_the_first_reading_is_none() {
        let mut integrator = Integrator::new(&channel(Kind::Measured), 100_000);
        integrator.read(500_000, watts(2.0));
        assert_eq!(integrator.edge(400_000), None);
        integrator.read(600_000, watts(2.0));
        assert_eq!(integrator.edge(400_000), None);
        assert!(integrator.edge(550_000).is_some());
    }
}
