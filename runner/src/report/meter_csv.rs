//! Readings of a meter that wrote a file of its own while the run went on, joined with the run afterwards.
//!
//! The meter's clock is brought to the run's by a stated offset, or by the run's own load: where the program worked the
//! machine drew more. An alignment that the data do not support is refused.

use std::io::Read;

use super::load::RunLog;
use crate::clock::Moment;
use crate::telemetry::energy::{Energy, between};
use crate::telemetry::integrate::{Edge, Integrator};
use crate::telemetry::missing::Missing;
use crate::telemetry::record::Began;
use crate::telemetry::source::{Channel, Domain, Kind, SourceInfo, Value};

/// Correlation of power and own load below which an alignment is refused.
const FEWEST_CORRELATION: f64 = 0.5;
/// How far the meter's clock is looked for on both sides, in microseconds.
const SEARCHED_US: i64 = 120_000_000;
/// Step of the search for an alignment, in microseconds.
const STEP_US: i64 = 100_000;

/// A file of a meter.
#[derive(Clone, Debug, PartialEq)]
pub struct Trace {
    /// Wall time in microseconds since 1970 by the meter's clock, and watts; rising times.
    pub samples: Vec<(i64, f64)>,
    /// Rows that were no samples.
    pub rejected: u64,
}

/// Joins a meter's file with a run: every stretch gets the meter's energy, and that is the one to quote. `offset_us`: by how
/// much the meter's clock is ahead; found by the program's own load where it is not given. Gives the note to show.
pub fn join(
    run: &mut RunLog,
    trace: &Trace,
    offset_us: Option<i64>,
    domain: Domain,
) -> Result<String, String> {
    let measured = &mut run.measured;
    if measured.began.is_empty() {
        return Err(
            "the run was not measured (telemetry.power = \"off\"): nothing tells when its groups ran"
                .to_owned(),
        );
    }
    // The wall clock may have jumped in the run: from its beginning on the monotonic one tells the time.
    let wall = |began: &Began, at: Moment| began.at.wall_us + at.mono_us as i64 - began.at.mono_us as i64;
    let session = |session: usize| session.checked_sub(1);
    let began = measured.began.clone();
    let (offset, how) = match offset_us {
        Some(offset) => (offset, "as stated".to_owned()),
        None => {
            let row = |(of, row): &(usize, crate::telemetry::record::Row)| {
                let began = began.get(session(*of)?)?;
                Some((wall(began, row.at), row.own_permille? as f64))
            };
            let load: Vec<(i64, f64)> = measured.timeline.iter().filter_map(row).collect();
            let (offset, fit) = trace.align(&load, SEARCHED_US)?;
            (offset, format!("found by the program's own load, correlation {fit:.2}"))
        }
    };
    let mut channels = Vec::new();
    for own in &mut measured.began {
        let index: usize = own.sources.iter().map(|source| source.channels.len()).sum();
        channels.push(index);
        own.sources.push(SourceInfo {
            id: "csv".to_owned(),
            place: String::new(),
            every_us: trace.every_us(),
            channels: vec![Channel::new("csv", domain, Kind::Measured, 0)],
            total: Some(0),
            notes: Vec::new(),
        });
        own.every_us.resize(index, own.period_us);
        own.every_us.push(trace.every_us());
        (own.headline, own.missing) = (u16::try_from(index).ok(), None);
    }
    for (of, window) in &mut measured.windows {
        let Some(place) = session(*of).filter(|place| *place < began.len()) else { continue };
        let (from, to) = (wall(&began[place], window.begin), wall(&began[place], window.end));
        window.energy.resize(channels[place], Energy::none(Missing::NotLogged));
        window.energy.push(trace.energy(from, to, offset, domain));
    }
    Ok(format!("energy from the meter's file: its clock is {:.1} s ahead, {how}", offset as f64 / 1e6))
}

/// Reads a CSV file with a heading: `time` in seconds, milliseconds, microseconds or nanoseconds since 1970, and a column
/// of watts. The unit of the time is known by its size.
pub fn read(input: impl Read, time: &str, watts: &str) -> Result<Trace, String> {
    let mut reader = csv::ReaderBuilder::new().trim(csv::Trim::All).flexible(true).from_reader(input);
    let headings = reader.headers().map_err(|error| error.to_string())?.clone();
    let column = |name: &str| {
        headings.iter().position(|heading| heading == name).ok_or_else(|| {
            let known: Vec<&str> = headings.iter().collect();
            format!("there is no column `{name}`; there are: {}", known.join(", "))
        })
    };
    let (time, watts) = (column(time)?, column(watts)?);
    let mut trace = Trace { samples: Vec::new(), rejected: 0 };
    for row in reader.records() {
        let number = |row: &csv::StringRecord, column: usize| {
            row.get(column)?.parse::<f64>().ok().filter(|n| n.is_finite())
        };
        let sample = row.ok().and_then(|row| {
            Some((unix_us(number(&row, time)?)?, number(&row, watts).filter(|watts| watts.abs() < 1e6)?))
        });
        match sample {
            Some(sample) if trace.samples.last().is_none_or(|last| last.0 < sample.0) => {
                trace.samples.push(sample)
            }
            _ => trace.rejected += 1,
        }
    }
    match trace.samples.len() {
        0 | 1 => {
            Err(format!("no samples: {} rows hold no time and watts, or go back in time", trace.rejected))
        }
        _ => Ok(trace),
    }
}

/// Microseconds of a time since 1970 in any unit: from 2001 to 2286 the sizes do not overlap.
fn unix_us(value: f64) -> Option<i64> {
    let scale = match value {
        1e9..1e10 => 1e6,
        1e12..1e13 => 1e3,
        1e15..1e16 => 1.0,
        1e18..1e19 => 1e-3,
        _ => return None,
    };
    Some((value * scale).round() as i64)
}

impl Trace {
    /// The median time between two samples, in microseconds.
    pub fn every_us(&self) -> u64 {
        let mut steps: Vec<i64> = self.samples.windows(2).map(|pair| pair[1].0 - pair[0].0).collect();
        steps.sort_unstable();
        steps.get(steps.len() / 2).map_or(1, |step| step.unsigned_abs().max(1))
    }

    /// Energy between two wall times of the run. `offset_us`: by how much the meter's clock is ahead.
    pub fn energy(&self, from_us: i64, to_us: i64, offset_us: i64, domain: Domain) -> Energy {
        let every = self.every_us();
        let channel = Channel::new("csv", domain, Kind::Measured, 0);
        let Some(span) = to_us.checked_sub(from_us).and_then(|span| u64::try_from(span).ok()) else {
            return Energy::none(Missing::NotLogged);
        };
        let mut integrator = Integrator::new(&channel, every);
        let mut edges: [Option<Edge>; 2] = [None; 2];
        // Times are counted from a little before, so that they fit without a sign.
        let origin = from_us - 10 * every as i64;
        let first = self.samples.partition_point(|sample| sample.0 - offset_us < origin);
        let wanted = [from_us - origin, to_us - origin];
        for (at, watts) in &self.samples[first..] {
            let at = at - offset_us - origin;
            integrator.read(at as u64, Ok(Value::Power((watts * 1e6) as i64)));
            for (edge, time) in edges.iter_mut().zip(wanted) {
                *edge = edge.or_else(|| integrator.edge(time as u64));
            }
            if at > wanted[1] {
                break;
            }
        }
        between(&channel, every, edges[0], edges[1], span, None)
    }

    /// By how much the meter's clock is ahead, found where its power goes best with the program's own load: rows of wall
    /// time in microseconds and load. With the correlation; refused where that is low, or where every offset fits alike.
    fn align(&self, load: &[(i64, f64)], range_us: i64) -> Result<(i64, f64), String> {
        let mut best: Option<(i64, f64)> = None;
        for step in -(range_us / STEP_US)..=(range_us / STEP_US) {
            let offset = step * STEP_US;
            let pairs: Vec<(f64, f64)> =
                load.iter().filter_map(|(at, load)| Some((*load, self.at(at + offset)?))).collect();
            // An offset that leaves out half of the run fits the other half by luck.
            if pairs.len() * 2 < load.len() || pairs.len() < 10 {
                continue;
            }
            if let Some(fit) = correlation(&pairs)
                && best.is_none_or(|best| fit > best.1)
            {
                best = Some((offset, fit));
            }
        }
        match best {
            Some((offset, fit)) if fit >= FEWEST_CORRELATION => Ok((offset, fit)),
            Some((_, fit)) => Err(format!(
                "power and load go together with a correlation of {fit:.2} at best: give the offset of the clocks instead"
            )),
            None => Err(
                "power and run do not overlap, or one of them never changes: give the offset of the clocks"
                    .to_owned(),
            ),
        }
    }

    /// Power at a time of the meter's clock, between its samples.
    fn at(&self, at: i64) -> Option<f64> {
        let next = self.samples.partition_point(|sample| sample.0 < at);
        let (after, before) = (self.samples.get(next)?, self.samples.get(next.checked_sub(1)?)?);
        let part = (at - before.0) as f64 / (after.0 - before.0) as f64;
        Some(before.1 + (after.1 - before.1) * part)
    }
}

fn correlation(pairs: &[(f64, f64)]) -> Option<f64> {
    let n = pairs.len() as f64;
    let mean = |of: fn(&(f64, f64)) -> f64| pairs.iter().map(of).sum::<f64>() / n;
    let (x, y) = (mean(|pair| pair.0), mean(|pair| pair.1));
    let (mut xx, mut yy, mut xy) = (0.0, 0.0, 0.0);
    for (a, b) in pairs {
        xx += (a - x) * (a - x);
        yy += (b - y) * (b - y);
        xy += (a - x) * (b - y);
    }
    (xx > 0.0 && yy > 0.0).then(|| xy / (xx * yy).sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOON_US: i64 = 1_772_366_400_000_000;

    /// Ten watts where the run works (seconds 20 to 50 and 70 to 80), four elsewhere, by a clock that is 7.3 s ahead.
    fn file(unit: f64) -> String {
        let mut text = "Time, Power [W], note\n".to_owned();
        for tick in 0..1000i64 {
            let at = tick as f64 / 10.0;
            let works = (20.0..50.0).contains(&at) || (70.0..80.0).contains(&at);
            let stamp = (NOON_US as f64 / 1e6 + at + 7.3) * unit;
            text.push_str(&format!("{stamp:.6},{},x\n", if works { 10.0 } else { 4.0 }));
        }
        text
    }

    fn load() -> Vec<(i64, f64)> {
        let works = |at: i64| (20..50).contains(&at) || (70..80).contains(&at);
        (5..95).map(|at| (NOON_US + at * 1_000_000, f64::from(u8::from(works(at))))).collect()
    }

    #[test]
    fn times_are_read_in_any_unit_and_rows_that_are_none_are_counted() {
        for unit in [1.0, 1e3, 1e6, 1e9] {
            let trace = read(file(unit).as_bytes(), "Time", "Power [W]").unwrap();
            assert_eq!((trace.samples.len(), trace.rejected), (1000, 0));
            assert!((trace.samples[0].0 - NOON_US - 7_300_000).abs() < 1000, "{unit}");
        }
        let broken = "t,w\n1772366400,5\nnonsense,5\n1772366401,\n1772366300,5\n1772366402,6\n";
        let trace = read(broken.as_bytes(), "t", "w").unwrap();
        assert_eq!((trace.samples.len(), trace.rejected), (2, 3));
        assert!(read(broken.as_bytes(), "time", "w").unwrap_err().contains("there are: t, w"));
        assert!(read("t,w\n5,5\n6,6\n".as_bytes(), "t", "w").unwrap_err().starts_with("no samples: 2 rows"));
    }

    #[test]
    fn clocks_are_aligned_by_the_program_s_own_load() {
        let trace = read(file(1.0).as_bytes(), "Time", "Power [W]").unwrap();
        let (offset, fit) = trace.align(&load(), 15_000_000).unwrap();
        assert!((offset - 7_300_000).abs() <= 1_000_000, "{offset}");
        assert!(fit > 0.95, "{fit}");
        let flat: Vec<(i64, f64)> = load().into_iter().map(|(at, _)| (at, 0.5)).collect();
        assert!(trace.align(&flat, 15_000_000).is_err());
        // A load that has nothing to do with it.
        let other: Vec<(i64, f64)> =
            load().iter().map(|(at, _)| (*at, f64::from(u8::from(at / 1_000_000 % 2 == 0)))).collect();
        assert!(trace.align(&other, 15_000_000).is_err());
    }

    #[test]
    fn energy_of_a_stretch_is_that_of_its_aligned_samples() {
        let trace = read(file(1.0).as_bytes(), "Time", "Power [W]").unwrap();
        let at = |seconds: i64| NOON_US + seconds * 1_000_000;
        let energy = trace.energy(at(25), at(45), 7_300_000, Domain::Wall);
        assert!((energy.energy_uj.unwrap() / 1e6 - 200.0).abs() < 1e-3, "{energy:?}");
        let idle = trace.energy(at(55), at(65), 7_300_000, Domain::Wall);
        assert!((idle.energy_uj.unwrap() / 1e6 - 40.0).abs() < 1e-3);
        // Outside of the file there is no energy.
        assert_eq!(trace.energy(at(200), at(220), 7_300_000, Domain::Wall).energy_uj, None);
    }
}
