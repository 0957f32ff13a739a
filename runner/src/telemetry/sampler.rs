//! The sampler: reads every source and the state of the machine at fixed times, in a thread of its own.
//!
//! Totals are integrated beside the ring, so that an overwritten sample costs a point of the curve and never energy.
//! Nothing is allocated once it runs.

mod handle;
mod shared;
mod thread;

use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};

use super::integrate::Integrator;
use super::root::Root;
use super::sample::{NONE, Sample, State};
use super::source::{CHANNELS, Channel, PowerSource};
use super::state::StateReader;
use crate::clock::Clock;
use shared::{Inner, Shared};

pub use handle::Handle;
pub use shared::{Mark, Reading};
pub use thread::Core;

/// Samples that wait to be taken: 100 seconds at ten a second.
pub const RING: usize = 1024;
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

/// Makes both halves.
pub fn assemble(setup: Setup) -> (Core, Handle) {
    let Setup { sources, state, root, period_us, clock } = setup;
    let mut slots: Vec<thread::Slot> = Vec::new();
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
        slots.push(thread::Slot { source, first: channels.len() - count, every_us, next_us: 0 });
    }
    let integrators = channels.iter().zip(&every).map(|(channel, every)| Integrator::new(channel, *every));
    let inner = Inner {
        integrators: integrators.collect(),
        marks: heapless::Vec::new(),
        ring: Box::new(heapless::Deque::new()),
        overwritten: 0,
        next_mark: 0,
        worker: None,
        traced: None,
        trace: Box::new(heapless::Deque::new()),
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
