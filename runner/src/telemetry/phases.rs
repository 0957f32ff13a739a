//! The energy of an engine's phases: prompts and replies told apart inside a stretch, where the sensor is fast enough.
//!
//! An engine changes between its phases many times in a group. Each change is an edge that may be misplaced by half an
//! interval of the sensor times the change of power, so that what a phase spent is known only when its single spans are
//! longer than the interval: a span shorter than [`RESOLVED`] intervals is doubted as a whole.

use models::PhaseKind;
use serde::{Deserialize, Serialize};

use super::energy::{Energy, FEWEST_INTERVALS, GAPS_FATAL, GAPS_MARKED, MANY_INTERVALS, Mark};
use super::integrate::{Edge, Integrator};
use super::missing::Missing;
use super::sampler::Reading;
use super::source::{Channel, Domain, Kind};

/// Intervals of the sensor from which on a span is seen by a reading of its own.
const RESOLVED: u64 = 2;
/// Share of the energy that may be in doubt; above it the phases cannot be told apart.
pub const DOUBT_FATAL: f64 = 0.5;

/// A span of one phase on the clock of the samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PhaseSpan {
    /// What was done.
    pub kind: PhaseKind,
    /// Its beginning in microseconds.
    pub begin_us: u64,
    /// Its end.
    pub end_us: u64,
}

/// What one phase took of a stretch.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PhaseWindow {
    /// The phase.
    pub kind: PhaseKind,
    /// Uninterrupted spans.
    pub spans: u32,
    /// Their time together, in microseconds.
    pub time_us: u64,
    /// Energy on the channel to quote.
    pub energy: Energy,
}

/// Brings the spans of a round to the clock of whoever asked for it: the worker's time lies in the middle of the time
/// between question and answer, since both pipes take a little.
pub fn placed(spans: &[models::Span], took_us: u64, sent_us: u64, received_us: u64) -> Vec<PhaseSpan> {
    let slack = received_us.saturating_sub(sent_us).saturating_sub(took_us);
    let begin = sent_us + slack / 2;
    let place = |us: u64| (begin + us).min(received_us.max(begin));
    spans
        .iter()
        .map(|span| PhaseSpan { kind: span.kind, begin_us: place(span.begin_us), end_us: place(span.end_us) })
        .collect()
}

/// The energy of each phase, from readings that reach beyond the spans on both sides. Spans are in order.
pub fn split(
    channel: &Channel,
    every_us: u64,
    readings: &[Reading],
    spans: &[PhaseSpan],
) -> Vec<PhaseWindow> {
    let (edges, last) = edges(channel, every_us, readings, spans);
    let mut sums: Vec<(PhaseKind, Sum)> = Vec::new();
    for (span, [from, to]) in spans.iter().zip(edges) {
        let place = sums.iter().position(|(kind, _)| *kind == span.kind).unwrap_or_else(|| {
            sums.push((span.kind, Sum::default()));
            sums.len() - 1
        });
        sums[place].1.add(span.end_us.saturating_sub(span.begin_us), every_us, from, to);
    }
    let window = |(kind, sum): (PhaseKind, Sum)| PhaseWindow {
        kind,
        spans: sum.spans,
        time_us: sum.time_us,
        energy: sum.energy(channel, every_us, last),
    };
    sums.into_iter().map(window).collect()
}

/// Both edges of every span, and why the last reading failed, if it did.
fn edges(
    channel: &Channel,
    every_us: u64,
    readings: &[Reading],
    spans: &[PhaseSpan],
) -> (Vec<[Option<Edge>; 2]>, Option<Missing>) {
    let mut times: Vec<(u64, usize, usize)> = Vec::with_capacity(2 * spans.len());
    for (index, span) in spans.iter().enumerate() {
        times.extend([(span.begin_us, index, 0), (span.end_us, index, 1)]);
    }
    times.sort_unstable();
    let mut edges = vec![[None; 2]; spans.len()];
    let mut integrator = Integrator::new(channel, every_us);
    let mut next = 0;
    for reading in readings {
        if !integrator.read(reading.at_us, reading.value) {
            continue;
        }
        while let Some(&(at, span, side)) = times.get(next).filter(|(at, ..)| *at <= reading.at_us) {
            edges[span][side] = integrator.edge(at);
            next += 1;
        }
    }
    (edges, integrator.missing)
}

#[derive(Default)]
struct Sum {
    spans: u32,
    time_us: u64,
    unread_us: u64,
    energy_uj: f64,
    /// Edges and blurred spans, at their worst.
    doubt_uj: f64,
    /// Steps between readings, which are independent.
    variance: f64,
    covered_us: f64,
    readings: u64,
    failed: u64,
    changes: u64,
}

impl Sum {
    fn add(&mut self, span_us: u64, every_us: u64, from: Option<Edge>, to: Option<Edge>) {
        self.spans += 1;
        self.time_us += span_us;
        let Some((from, to)) = from.zip(to) else {
            self.unread_us += span_us;
            return;
        };
        let (begun, ended) = (&from.sums, &to.sums);
        let energy = ended.energy_uj - begun.energy_uj;
        self.energy_uj += energy;
        self.covered_us += (ended.covered_us - begun.covered_us).clamp(0.0, span_us as f64);
        self.readings += ended.readings.saturating_sub(begun.readings);
        self.failed += ended.failed.saturating_sub(begun.failed);
        self.changes += ended.changes.saturating_sub(begun.changes);
        if span_us < RESOLVED * every_us {
            self.doubt_uj += energy;
        } else {
            self.doubt_uj += (from.doubt_uj + to.doubt_uj).min(energy);
            self.variance += (ended.doubt - begun.doubt).max(0.0);
        }
    }

    fn energy(&self, channel: &Channel, every_us: u64, last: Option<Missing>) -> Energy {
        let span = (self.time_us as f64).max(1.0);
        let gaps = 1.0 - self.covered_us / span;
        let doubt = self.doubt_uj
            + 2.0 * self.variance.sqrt()
            + f64::from(channel.step_uw) / 2.0 * self.time_us as f64 / 1e6;
        let still = channel.kind == Kind::Counter || channel.domain == Domain::BatteryDischarge;
        let mut energy = Energy {
            readings: self.readings,
            failed: self.failed,
            gap_us: (gaps.max(0.0) * span) as u64,
            changes: self.changes,
            ..Energy::none(Missing::TooShort)
        };
        energy.missing = if gaps > GAPS_FATAL {
            Some(last.unwrap_or(match self.time_us < FEWEST_INTERVALS * every_us {
                true => Missing::TooShort,
                false => Missing::TooFewReadings,
            }))
        } else if self.time_us < shortest_us(channel, every_us) {
            Some(Missing::TooShort)
        } else if self.changes == 0 && still {
            Some(Missing::Stale)
        } else if doubt > DOUBT_FATAL * self.energy_uj {
            Some(Missing::Interleaved)
        } else {
            None
        };
        // What is too short or too much interleaved alone may say something together with others.
        match energy.missing {
            None => energy.energy_uj = Some(self.energy_uj),
            Some(Missing::TooShort | Missing::Interleaved) if gaps <= GAPS_FATAL => {
                energy.short_uj = Some(self.energy_uj);
            }
            Some(_) => return energy,
        }
        energy.doubt_uj = Some(doubt);
        let mut mark = |mark: Mark, holds: bool| energy.marks.extend(holds.then_some(mark));
        mark(Mark::Short, self.time_us < MANY_INTERVALS * every_us);
        mark(Mark::Gaps, gaps > GAPS_MARKED);
        mark(Mark::Partial, channel.domain == Domain::SocPartial);
        mark(Mark::Estimate, channel.kind == Kind::Estimate);
        energy
    }
}

/// Time of a phase from which on it has a figure. Counters too: their readings are as far apart as those of others, and
/// the phases' edges lie between them.
pub fn shortest_us(channel: &Channel, every_us: u64) -> u64 {
    channel.shortest_us.max(FEWEST_INTERVALS * every_us)
}
