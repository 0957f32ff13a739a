//! The part of the sampler that is asked.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread::JoinHandle;
use std::time::Duration;

use super::shared::{Mark, Reading, Shared};
use super::{Core, Cost};
use crate::clock::{Clock, Moment};
use crate::telemetry::energy::{Energy, between};
use crate::telemetry::integrate::Integrator;
use crate::telemetry::missing::Missing;
use crate::telemetry::sample::Sample;
use crate::telemetry::source::{CHANNELS, Channel};

/// Longest wait for a reading, in microseconds.
const LONGEST_WAIT_US: u64 = 5_000_000;

/// What asks the sampler.
pub struct Handle {
    pub(super) shared: Arc<Shared>,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) channels: Vec<Channel>,
    pub(super) every_us: Vec<u64>,
    pub(super) thread: Option<JoinHandle<Cost>>,
    /// What people should know of the rates.
    pub notes: Vec<String>,
}

impl Handle {
    /// Starts the thread.
    pub fn start(core: Core, mut handle: Handle, period_us: u64) -> std::io::Result<Handle> {
        let period_us = period_us.max(1000);
        let thread = std::thread::Builder::new().name("sampler".into()).stack_size(512 << 10);
        handle.thread = Some(thread.spawn(move || core.run(period_us))?);
        Ok(handle)
    }

    /// The channels of all sources.
    pub fn channels(&self) -> &[Channel] {
        &self.channels
    }

    /// Marks this moment, and asks for a reading right behind it.
    pub fn mark(&self) -> (u64, Moment) {
        let inner = &mut *self.shared.lock();
        // Inside the lock: no reading of a later time is taken in before the mark.
        let at = self.clock.now();
        let id = inner.next_mark;
        inner.next_mark += 1;
        if inner.marks.is_full() {
            inner.marks.remove(0);
        }
        let open = ((1u64 << self.channels.len()) - 1) as u32;
        let _ = inner.marks.push(Mark { id, at, edges: [None; CHANNELS], open });
        self.shared.wake.store(true, Ordering::Release);
        if let Some(thread) = &self.thread {
            thread.thread().unpark();
        }
        (id, at)
    }

    /// Whether every channel was read since a mark.
    pub fn is_settled(&self, id: u64) -> bool {
        self.shared.lock().marks.iter().find(|mark| mark.id == id).is_none_or(Mark::is_settled)
    }

    /// Waits until every channel was read since a mark, for three intervals of the slowest channel at the most.
    pub fn wait_for(&self, id: u64) {
        self.wait(&|| self.is_settled(id));
    }

    /// Waits until every channel was read, with the same limit.
    pub fn wait_for_all(&self) {
        let read = |integrator: &Integrator| integrator.last_us().is_some() || integrator.missing.is_some();
        self.wait(&|| self.shared.lock().integrators.iter().all(read));
    }

    fn wait(&self, until: &dyn Fn() -> bool) {
        let slowest = self.every_us.iter().max().copied().unwrap_or(0);
        let limit = self.clock.now().mono_us + (3 * slowest).min(LONGEST_WAIT_US);
        while !until() && self.clock.now().mono_us < limit {
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// Takes a mark out; `None` when it gave way to newer ones.
    pub fn collect(&self, id: u64) -> Option<Mark> {
        let inner = &mut *self.shared.lock();
        let place = inner.marks.iter().position(|mark| mark.id == id)?;
        Some(inner.marks.remove(place))
    }

    /// The energy of each channel between two marks.
    pub fn energy(&self, from: Option<&Mark>, to: Option<&Mark>, span_us: u64) -> Vec<Energy> {
        let missing: Vec<Option<Missing>> =
            self.shared.lock().integrators.iter().map(|integrator| integrator.missing).collect();
        let edge = |mark: Option<&Mark>, index: usize| mark.and_then(|mark| mark.edges[index]);
        let of = |(index, channel): (usize, &Channel)| {
            between(
                channel,
                self.every_us[index],
                edge(from, index),
                edge(to, index),
                span_us,
                missing[index],
            )
        };
        self.channels.iter().enumerate().map(of).collect()
    }

    /// The time between two readings of each channel, in microseconds.
    pub fn every_us(&self) -> &[u64] {
        &self.every_us
    }

    /// Takes the samples that have come since the last time, oldest first.
    pub fn drain(&self, each: &mut dyn FnMut(&Sample)) {
        loop {
            let next = self.shared.lock().ring.pop_front();
            match next {
                Some(sample) => each(&sample),
                None => return,
            }
        }
    }

    /// Keeps single readings of a channel from now on; see [`Handle::drain_trace`].
    pub fn trace(&self, channel: usize) {
        self.shared.lock().traced = Some(channel);
    }

    /// Takes the readings of the traced channel that have come since the last time, oldest first.
    pub fn drain_trace(&self, each: &mut dyn FnMut(Reading)) {
        loop {
            let next = self.shared.lock().trace.pop_front();
            match next {
                Some(reading) => each(reading),
                None => return,
            }
        }
    }

    /// Says which process is the worker, whose load is not that of others.
    pub fn set_worker(&self, pid: Option<u32>) {
        self.shared.lock().worker = Some(pid);
    }

    /// Ends it; what waits in the ring can still be taken.
    pub fn stop(&mut self) -> Cost {
        self.shared.stop.store(true, Ordering::Release);
        let Some(thread) = self.thread.take() else { return Cost::default() };
        thread.thread().unpark();
        let cost = thread.join().unwrap_or_default();
        Cost { overwritten: self.shared.lock().overwritten, ..cost }
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        self.stop();
    }
}
