//! The sampler: reads every source and the state of the machine at fixed times, in a thread of its own.
//!
//! Totals are integrated beside the ring, so that an overwritten sample costs a point of the curve and never energy.
//! Nothing is allocated once it runs.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use super::energy::{Energy, between};
use super::integrate::{Edge, Integrator};
use super::missing::Missing;
use super::root::Root;
use super::sample::{NONE, Sample, State};
use super::source::{CHANNELS, Channel, PowerSource, Value};
use super::state::StateReader;
use crate::clock::{Clock, Moment};

/// Samples that wait to be taken: 100 seconds at ten a second.
pub const RING: usize = 1024;
/// Marks that may wait for a reading behind them.
const MARKS: usize = 16;
/// Readings of one source at once; a meter may hand over a burst.
const BURST: usize = 256;
/// Longest wait for a reading, in microseconds.
const LONGEST_WAIT_US: u64 = 5_000_000;
/// Temperatures and clocks change slowly, and reading them costs more than a counter.
pub const STATE_EVERY_US: u64 = 1_000_000;

/// What is sampled.
pub struct Setup {
    /// The sources.
    pub sources: Vec<Box<dyn PowerSource>>,
    /// The state of the machine.
    pub state: StateReader,
    /// Where it is read.
    pub root: Arc<dyn Root>,
    /// Time between two samples, in microseconds.
    pub period_us: u64,
    /// Tells the time.
    pub clock: Arc<dyn Clock>,
}

/// What sampling cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Cost {
    /// Processor time of the thread in microseconds, where the system tells.
    pub cpu_us: Option<u64>,
    /// Time that it ran.
    pub wall_us: u64,
    /// Samples taken.
    pub samples: u64,
    /// Times for a sample that passed unused.
    pub missed: u64,
    /// Samples that were overwritten before they were taken.
    pub overwritten: u64,
    /// Longest reading of all sources, in microseconds.
    pub longest_us: u64,
}

impl Cost {
    /// Share of one processor core.
    pub fn share(&self) -> Option<f64> {
        (self.wall_us > 0).then(|| self.cpu_us.map(|cpu| cpu as f64 / self.wall_us as f64)).flatten()
    }
}

/// A moment at which the sums of all channels are wanted.
#[derive(Clone, Copy, Debug)]
pub struct Mark {
    id: u64,
    /// The moment.
    pub at: Moment,
    /// The edges, channel by channel; `None` where a channel had no reading before.
    pub edges: [Option<Edge>; CHANNELS],
    /// Channels that had no reading since.
    open: u32,
}

impl Mark {
    /// Whether every channel has been read since.
    pub fn is_settled(&self) -> bool {
        self.open == 0
    }
}

struct Inner {
    integrators: Vec<Integrator>,
    marks: heapless::Vec<Mark, MARKS>,
    ring: Box<heapless::Deque<Sample, RING>>,
    overwritten: u64,
    next_mark: u64,
    worker: Option<Option<u32>>,
}

struct Shared {
    inner: Mutex<Inner>,
    wake: AtomicBool,
    stop: AtomicBool,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Channel, time, value.
type Reading = (usize, u64, Result<Value, Missing>);

struct Slot {
    source: Box<dyn PowerSource>,
    first: usize,
    every_us: u64,
    next_us: u64,
}

/// The part that reads; driven by its thread, or by hand in rehearsals.
pub struct Core {
    slots: Vec<Slot>,
    state: StateReader,
    root: Arc<dyn Root>,
    state_next_us: u64,
    sample: Sample,
    buffer: Box<heapless::Vec<Reading, BURST>>,
    clock: Arc<dyn Clock>,
    shared: Arc<Shared>,
    /// What it cost so far; the processor time is only known at the end.
    pub cost: Cost,
}

/// What asks the sampler.
pub struct Handle {
    shared: Arc<Shared>,
    clock: Arc<dyn Clock>,
    channels: Vec<Channel>,
    every_us: Vec<u64>,
    thread: Option<JoinHandle<Cost>>,
    /// What people should know of the rates.
    pub notes: Vec<String>,
}

/// Makes both halves.
pub fn assemble(setup: Setup) -> (Core, Handle) {
    let Setup { sources, state, root, period_us, clock } = setup;
    let mut slots: Vec<Slot> = Vec::new();
    let mut channels: Vec<Channel> = Vec::new();
    let mut every: Vec<u64> = Vec::new();
    let mut notes = Vec::new();
    for mut source in sources {
        let info = source.info();
        let count = info.channels.len();
        if channels.len() + count > CHANNELS {
            notes.push(format!("{}: left out: more than {CHANNELS} channels", info.id));
            continue;
        }
        let id = info.id.clone();
        let planned = period_us.max(info.every_us);
        let took = cost_us(source.as_mut(), clock.as_ref());
        // A sensor that is slow to read must not fill the time.
        let every_us = if took > planned / 2 { 4 * took } else { planned };
        if every_us > planned {
            notes.push(format!(
                "{id}: one reading takes {:.0} ms: sampled every {:.0} ms instead of every {:.0}",
                took as f64 / 1e3,
                every_us as f64 / 1e3,
                planned as f64 / 1e3
            ));
        }
        channels.extend(source.info().channels.iter().cloned());
        every.extend(std::iter::repeat_n(every_us, count));
        slots.push(Slot { source, first: channels.len() - count, every_us, next_us: 0 });
    }
    let integrators = channels.iter().zip(&every).map(|(channel, every)| Integrator::new(channel, *every));
    let inner = Inner {
        integrators: integrators.collect(),
        marks: heapless::Vec::new(),
        ring: Box::new(heapless::Deque::new()),
        overwritten: 0,
        next_mark: 0,
        worker: None,
    };
    let shared = Arc::new(Shared {
        inner: Mutex::new(inner),
        wake: AtomicBool::new(false),
        stop: AtomicBool::new(false),
    });
    let sample =
        Sample { mono_us: 0, wall_us: 0, took_us: 0, power_uw: [NONE; CHANNELS], state: State::NONE };
    let core = Core {
        slots,
        state,
        root,
        state_next_us: 0,
        sample,
        buffer: Box::new(heapless::Vec::new()),
        clock: Arc::clone(&clock),
        shared: Arc::clone(&shared),
        cost: Cost::default(),
    };
    let handle = Handle { shared, clock, channels, every_us: every, thread: None, notes };
    (core, handle)
}

/// How long a reading takes: the shortest of three, since the first one may wait for something.
fn cost_us(source: &mut dyn PowerSource, clock: &dyn Clock) -> u64 {
    let mut least = u64::MAX;
    for _ in 0..3 {
        let before = clock.now().mono_us;
        source.read(&|| clock.now().mono_us, &mut |_, _, _| ());
        least = least.min(clock.now().mono_us.saturating_sub(before));
    }
    least
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
            *place = integrator.power_uw().map_or(NONE, |uw| uw as i64);
        }
        if inner.ring.is_full() {
            inner.ring.pop_front();
            inner.overwritten += 1;
        }
        let _ = inner.ring.push_back(*sample);
        self.cost.samples += 1;
    }

    fn run(mut self, period_us: u64) -> Cost {
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

impl Inner {
    fn take(&mut self, channel: usize, at_us: u64, value: Result<Value, Missing>) {
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
