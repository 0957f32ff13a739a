//! An external meter: a command of the user's that prints one line per sample, JSON or a bare number of watts.
//!
//! `{"w": 6.42}`, with `wh_total` where the meter counts energy, and `t_unix_ns` where it stamps its samples.

use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use serde::Deserialize;

use crate::clock::Clock;
use crate::telemetry::counter::{Counter, Step};
use crate::telemetry::missing::Missing;
use crate::telemetry::source::{Channel, Domain, Kind, PowerSource, SourceInfo, Take, Value};

use super::Found;
use super::lines::Lines;

const ID: &str = "meter";
/// How long the first sample may take.
const FIRST: Duration = Duration::from_secs(10);

/// What the user says of the meter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Meter {
    /// The command, for the shell.
    pub command: String,
    /// What it covers.
    pub domain: Domain,
    /// Description for results.
    pub description: String,
    /// Time between two samples, in microseconds.
    pub every_us: u64,
    /// How long a sample is on its way, in microseconds.
    pub latency_us: u64,
    /// Clock of the meter against the wall clock of this machine, in nanoseconds, where it stamps its samples and the
    /// difference is known.
    pub clock_offset_ns: Option<i64>,
}

/// A line of a meter.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
pub struct Line {
    /// Watts.
    w: Option<f64>,
    /// Watt-hours since some beginning.
    wh_total: Option<f64>,
    /// The meter's own time.
    t_unix_ns: Option<i64>,
}

struct External {
    info: SourceInfo,
    lines: Lines<Line>,
    clock: Arc<dyn Clock>,
    meter: Meter,
    counter: Counter,
    last_at: u64,
    told_end: bool,
}

/// Starts it. A meter that the user names and that gives nothing is a reason, not an end.
pub fn find(meter: &Meter, clock: &Arc<dyn Clock>) -> Found {
    let mut command = Command::new("/bin/sh");
    command.arg("-c").arg(&meter.command);
    let lines = match Lines::start(command, Arc::clone(clock), parse) {
        Ok(lines) => lines,
        Err(error) => return Found::absent(ID, Missing::of(&error), format!("/bin/sh: {error}")),
    };
    let Some(first) = lines.first(FIRST) else {
        let what = match lines.has_ended() {
            true => "ended without a sample",
            false => "printed no sample in 10 s",
        };
        let garbage = match lines.garbage() {
            0 => String::new(),
            count => format!(" ({count} lines were none)"),
        };
        return Found::barred(
            ID,
            Missing::ReadError,
            format!("{}: {what}{garbage}", meter.command),
            "let it print a line such as {\"w\": 6.42} for each sample, and flush it",
        );
    };
    let mut channel = Channel::new("meter", meter.domain, Kind::Measured, 20 * meter.every_us);
    channel.note.clone_from(&meter.description);
    let mut channels = vec![channel.clone()];
    let mut total = 0;
    if first.wh_total.is_some() {
        // The meter's own sum misses nothing between its lines.
        channels.push(Channel { name: "meter-counter".into(), kind: Kind::Counter, ..channel });
        total = 1;
    }
    let info = SourceInfo {
        id: ID.to_owned(),
        place: meter.command.clone(),
        every_us: meter.every_us,
        channels,
        total: Some(total),
        notes: Vec::new(),
    };
    let (meter, clock) = (meter.clone(), Arc::clone(clock));
    let counter = Counter::new(None);
    Found::Source(Box::new(External { info, lines, clock, meter, counter, last_at: 0, told_end: false }))
}

/// A sample of a line; `None` for what is none.
pub fn parse(line: &str) -> Option<Line> {
    let line = line.trim();
    let parsed = match line.parse::<f64>() {
        Ok(watts) => Line { w: Some(watts), wh_total: None, t_unix_ns: None },
        Err(_) => serde_json::from_str::<Line>(line).ok()?,
    };
    let sane = |value: Option<f64>| value.is_none_or(|value| value.is_finite() && value.abs() < 1e9);
    ((parsed.w.is_some() || parsed.wh_total.is_some()) && sane(parsed.w) && sane(parsed.wh_total))
        .then_some(parsed)
}

impl External {
    /// The monotonic time of a sample.
    fn at(&self, arrived_us: u64, line: &Line) -> u64 {
        let stamped = line.t_unix_ns.zip(self.meter.clock_offset_ns).map(|(stamp, offset)| {
            let now = self.clock.now();
            let age_us = i128::from(now.wall_us) - i128::from(stamp - offset) / 1000;
            i128::from(now.mono_us) - age_us
        });
        let at = stamped.and_then(|at| u64::try_from(at).ok()).unwrap_or(arrived_us);
        at.saturating_sub(self.meter.latency_us)
    }
}

impl PowerSource for External {
    fn info(&self) -> &SourceInfo {
        &self.info
    }

    fn read(&mut self, now: &dyn Fn() -> u64, take: Take<'_>) {
        let mut latest = [None::<(u64, Line)>; 64];
        let mut count = 0;
        self.lines.take(&mut |at, line| {
            // A burst longer than that keeps its newest samples.
            latest[count % latest.len()] = Some((at, line));
            count += 1;
        });
        for index in count.saturating_sub(latest.len())..count {
            let Some((arrived, line)) = latest[index % latest.len()] else { continue };
            // Samples of one burst that carry no time of their own arrive at one time: only the last is known.
            let at = self.at(arrived, &line);
            if at <= self.last_at {
                continue;
            }
            self.last_at = at;
            if let Some(watts) = line.w {
                take(0, at, Ok(Value::Power((watts * 1e6) as i64)));
            }
            let counts = self.info.channels.len() > 1;
            if let Some(hours) = line.wh_total.filter(|hours| counts && *hours >= 0.0) {
                let value = match self.counter.read(at, (hours * 3.6e9) as u64) {
                    Step::Total(uj) => Value::Energy(uj),
                    Step::Lost(uj) => Value::Restart(uj),
                };
                take(1, at, Ok(value));
            }
        }
        if count == 0 && self.lines.has_ended() && !self.told_end {
            self.told_end = true;
            take(0, now(), Err(Missing::ReadError));
        }
    }

    fn stop(&mut self) {
        self.lines.stop();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_json_or_a_number_of_watts() {
        let watts = |line: &str| parse(line).and_then(|line| line.w);
        assert_eq!(
            (watts("{\"w\": 6.42}"), watts(" 6.5 "), watts("{\"w\": -0.169, \"v\": 4.2}")),
            (Some(6.42), Some(6.5), Some(-0.169))
        );
        assert_eq!(parse("{\"wh_total\": 1.25}").unwrap().wh_total, Some(1.25));
        for garbage in ["", "watts", "{}", "{\"w\": null}", "NaN", "inf", "1e30", "{\"w\": 1", "[1]"] {
            assert_eq!(parse(garbage), None, "{garbage}");
        }
    }
}
