//! Single readings of the quoted channel, kept while a stretch may want its phases told apart.

use crate::telemetry::phases::{PhaseSpan, PhaseWindow, split};
use crate::telemetry::sampler::{Handle, Reading};
use crate::telemetry::source::Channel;

/// Readings that are kept for the stretches at hand: more than a day at ten a second. Older ones give way.
const MOST: usize = 1 << 20;

/// The readings.
pub(super) struct Trace {
    channel: Channel,
    every_us: u64,
    readings: Vec<Reading>,
}

impl Trace {
    /// Begins to keep the readings of a channel.
    pub(super) fn of(sampler: &Handle, index: usize) -> Option<Trace> {
        let (channel, every_us) = (sampler.channels().get(index)?.clone(), *sampler.every_us().get(index)?);
        sampler.trace(index);
        Some(Trace { channel, every_us, readings: Vec::new() })
    }

    /// Takes what has come. `since_us`: the beginning of the oldest stretch that is not written down yet.
    pub(super) fn drain(&mut self, sampler: &Handle, since_us: Option<u64>) {
        sampler.drain_trace(&mut |reading| self.readings.push(reading));
        // An edge needs the two readings before it.
        let kept = match since_us {
            Some(since_us) => self.readings.partition_point(|reading| reading.at_us < since_us),
            None => self.readings.len(),
        };
        let over = self.readings.len().saturating_sub(MOST);
        self.readings.drain(..kept.saturating_sub(2).max(over));
    }

    /// The energy of each phase of a stretch.
    pub(super) fn split(&self, spans: &[PhaseSpan]) -> Vec<PhaseWindow> {
        split(&self.channel, self.every_us, &self.readings, spans)
    }
}
