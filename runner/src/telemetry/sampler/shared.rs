//! What both halves of the sampler share: sums, marks, the ring of samples, the trace of the channel that is quoted.

use std::sync::atomic::AtomicBool;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::RING;
use crate::clock::Moment;
use crate::telemetry::integrate::{Edge, Integrator};
use crate::telemetry::missing::Missing;
use crate::telemetry::sample::Sample;
use crate::telemetry::source::{CHANNELS, Value};

/// Marks that may wait for a reading behind them.
const MARKS: usize = 16;

/// A moment at which the sums of all channels are wanted.
#[derive(Clone, Copy, Debug)]
pub struct Mark {
    pub(super) id: u64,
    /// The moment.
    pub at: Moment,
    /// The edges, channel by channel; `None` where a channel had no reading before.
    pub edges: [Option<Edge>; CHANNELS],
    /// Channels that had no reading since.
    pub(super) open: u32,
}

impl Mark {
    /// Whether every channel has been read since.
    pub fn is_settled(&self) -> bool {
        self.open == 0
    }
}

/// A reading of one channel.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reading {
    /// Monotonic time in microseconds.
    pub at_us: u64,
    /// The value, or why there is none.
    pub value: Result<Value, Missing>,
}

pub(super) struct Inner {
    pub(super) integrators: Vec<Integrator>,
    pub(super) marks: heapless::Vec<Mark, MARKS>,
    pub(super) ring: Box<heapless::Deque<Sample, RING>>,
    pub(super) overwritten: u64,
    pub(super) next_mark: u64,
    pub(super) worker: Option<Option<u32>>,
    /// The channel whose single readings are kept, and the readings.
    pub(super) traced: Option<usize>,
    pub(super) trace: Box<heapless::Deque<Reading, RING>>,
}

pub(super) struct Shared {
    pub(super) inner: Mutex<Inner>,
    pub(super) wake: AtomicBool,
    pub(super) stop: AtomicBool,
}

impl Shared {
    pub(super) fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inner {
    pub(super) fn take(&mut self, channel: usize, at_us: u64, value: Result<Value, Missing>) {
        if self.traced == Some(channel) {
            // What is overwritten leaves a gap, which is told where the trace is used.
            if self.trace.is_full() {
                self.trace.pop_front();
            }
            let _ = self.trace.push_back(Reading { at_us, value });
        }
        let Some(integrator) = self.integrators.get_mut(channel) else { return };
        if !integrator.read(at_us, value) {
            return;
        }
        for mark in self.marks.iter_mut() {
            if mark.open & 1 << channel != 0 && mark.at.mono_us <= at_us {
                mark.open &= !(1 << channel);
                mark.edges[channel] = integrator.edge(mark.at.mono_us);
            }
        }
    }
}
