//! The part of the sampler that reads, in its thread.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use super::shared::Shared;
use super::{Cost, STATE_EVERY_US};
use crate::clock::Clock;
use crate::telemetry::missing::Missing;
use crate::telemetry::root::Root;
use crate::telemetry::sample::{NONE, Sample};
use crate::telemetry::source::{PowerSource, Value};
use crate::telemetry::state::StateReader;

/// Readings of one source at once; a meter may hand over a burst.
const BURST: usize = 256;

/// Channel, time, value.
pub(super) type Taken = (usize, u64, Result<Value, Missing>);

pub(super) struct Slot {
    pub(super) source: Box<dyn PowerSource>,
    pub(super) first: usize,
    pub(super) every_us: u64,
    pub(super) next_us: u64,
}

/// The part that reads; driven by its thread, or by hand in rehearsals.
pub struct Core {
    pub(super) slots: Vec<Slot>,
    pub(super) state: StateReader,
    pub(super) root: Arc<dyn Root>,
    pub(super) state_next_us: u64,
    pub(super) sample: Sample,
    pub(super) buffer: Box<heapless::Vec<Taken, BURST>>,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) shared: Arc<Shared>,
    /// What it cost so far; the processor time is only known at the end.
    pub cost: Cost,
}

impl Core {
    /// Takes one sample. `all`: also of sources that are not due.
    pub fn tick(&mut self, all: bool) {
        let now = self.clock.now();
        let clock = &self.clock;
        let tell = || clock.now().mono_us;
        for slot in &mut self.slots {
            // A sample may come a little early: what is due within half an interval is read now.
            let due = slot.next_us <= now.mono_us + slot.every_us / 8;
            let early = all && slot.next_us <= now.mono_us + slot.every_us * 3 / 4;
            if !due && !early {
                continue;
            }
            slot.next_us = now.mono_us + slot.every_us;
            let buffer = &mut self.buffer;
            let first = slot.first;
            buffer.clear();
            let before = tell();
            slot.source.read(&tell, &mut |channel, at, value| {
                let _ = buffer.push((first + channel, at, value));
            });
            let took = tell().saturating_sub(before);
            self.cost.longest_us = self.cost.longest_us.max(took);
            // What was read so slowly has no time: it is counted as failed.
            let too_slow = took > 2 * slot.every_us;
            let inner = &mut *self.shared.lock();
            for (channel, at, value) in buffer.iter() {
                inner.take(*channel, *at, if too_slow { Err(Missing::TooSlow) } else { *value });
            }
        }
        if self.state_next_us <= now.mono_us {
            self.state_next_us = now.mono_us + STATE_EVERY_US;
            let worker = self.shared.lock().worker.take();
            if let Some(pid) = worker {
                self.state.set_worker(self.root.as_ref(), pid);
            }
            self.state.read(&mut self.sample.state);
        }
        let sample = &mut self.sample;
        (sample.mono_us, sample.wall_us) = (now.mono_us, now.wall_us);
        sample.took_us = u32::try_from(tell().saturating_sub(now.mono_us)).unwrap_or(u32::MAX);
        let inner = &mut *self.shared.lock();
        for (place, integrator) in sample.power_uw.iter_mut().zip(&inner.integrators) {
            *place = integrator.power_at_uw(now.mono_us).map_or(NONE, |uw| uw as i64);
        }
        if inner.ring.is_full() {
            inner.ring.pop_front();
            inner.overwritten += 1;
        }
        let _ = inner.ring.push_back(*sample);
        self.cost.samples += 1;
    }

    pub(super) fn run(mut self, period_us: u64) -> Cost {
        let begun = self.clock.now().mono_us;
        let mut deadline = begun;
        while !self.shared.stop.load(Ordering::Acquire) {
            let woken = self.shared.wake.swap(false, Ordering::AcqRel);
            self.tick(woken);
            let now = self.clock.now().mono_us;
            if now >= deadline {
                // Absolute times: a late sample does not shift those behind it.
                let passed = (now - deadline) / period_us;
                self.cost.missed += passed;
                deadline += (passed + 1) * period_us;
            }
            self.wait_until(deadline);
        }
        // What the last stretch still lacks behind its end.
        self.slots.iter_mut().for_each(|slot| slot.next_us = 0);
        self.tick(true);
        for slot in &mut self.slots {
            slot.source.stop();
        }
        self.cost.wall_us = self.clock.now().mono_us.saturating_sub(begun);
        self.cost.cpu_us = thread_cpu_us();
        self.cost
    }

    fn wait_until(&self, deadline_us: u64) {
        loop {
            let waits =
                !self.shared.stop.load(Ordering::Acquire) && !self.shared.wake.load(Ordering::Acquire);
            match deadline_us.checked_sub(self.clock.now().mono_us) {
                Some(left @ 1..) if waits => std::thread::park_timeout(Duration::from_micros(left)),
                _ => return,
            }
        }
    }
}

/// Processor time of this thread.
fn thread_cpu_us() -> Option<u64> {
    #[cfg(target_os = "linux")]
    {
        let spent = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
        u64::try_from(spent.tv_sec * 1_000_000 + spent.tv_nsec / 1000).ok()
    }
    #[cfg(not(target_os = "linux"))]
    None
}
