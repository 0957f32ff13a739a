//! Measuring beside a run: stretches of time with their energy and the state of the machine, ready for the log.

mod fold;
mod suspension;
mod trace;

use std::sync::Arc;

use super::conditions;
use super::phases::PhaseSpan;
use super::probe::{Wanted, probe};
use super::record::{Began, Ended, Row, Stepped, Stretch, Timed, Timeline, Window};
use super::root::Root;
use super::sample::{CLOCKS, Sample, State, TEMPERATURES};
use super::sampler::{Handle, Setup, assemble};
use super::state::StateReader;
use crate::clock::{Clock, Moment, StepWatch};
use crate::entry::{Entry, GroupRef};
use fold::Fold;
use suspension::suspended_us;
use trace::Trace;

/// Rows of the time line that are written at once.
const ROWS: usize = 60;
/// Stretches that wait for a reading behind their end; more are written without it.
const WAITING: usize = 6;
/// A difference of the clocks with and without suspended time that tells of a suspension, in microseconds.
const SUSPENDED_US: u64 = 100_000;
/// Rates by itself: on a Raspberry Pi the sampler competes with the model for few cores.
const PERIOD_US: u64 = 100_000;
const PI_PERIOD_US: u64 = 200_000;

/// How to measure.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// Which sources.
    pub wanted: Wanted,
    /// Time between two samples in microseconds; `None` for what suits the board.
    pub period_us: Option<u64>,
    /// Time between two rows of the time line in microseconds; 0 for no time line.
    pub timeline_us: u64,
}

/// A stretch that has begun.
#[derive(Debug)]
#[must_use = "a stretch that is not ended is lost"]
pub struct Open {
    number: u64,
}

struct Running {
    number: u64,
    stretch: Stretch,
    model: u16,
    group: Option<GroupRef>,
    mark: u64,
    begin: Moment,
    end: Option<(u64, Moment)>,
    fold: Fold,
    suspended_us: Option<u64>,
    suspended: bool,
    timed: Option<Box<Timed>>,
    phases: Vec<PhaseSpan>,
}

/// Measures beside a run.
pub struct Measuring {
    root: Arc<dyn Root>,
    clock: Arc<dyn Clock>,
    sampler: Option<Handle>,
    trace: Option<Trace>,
    power: bool,
    names: (usize, usize),
    running: Vec<Running>,
    next: u64,
    timeline_us: u64,
    row_after_us: u64,
    timeline: Timeline,
    last: State,
    latest: Option<Sample>,
    first: Option<State>,
    steps: StepWatch,
    ready: Vec<Entry>,
}

impl Measuring {
    /// Looks for sources and begins to sample.
    pub fn start(root: Arc<dyn Root>, clock: Arc<dyn Clock>, options: &Options) -> std::io::Result<Self> {
        let conditions = conditions::read(root.as_ref());
        let pi = conditions.board.as_ref().is_some_and(|board| board.starts_with("Raspberry Pi"));
        let period_us = options.period_us.unwrap_or(if pi { PI_PERIOD_US } else { PERIOD_US }).max(1_000);
        let probed = probe(root.as_ref(), &clock, &options.wanted);
        let missing = probed.headline.is_none().then(|| probed.reason());
        let power = !probed.sources.is_empty();
        let sources: Vec<_> = probed.sources.iter().map(|source| source.info().clone()).collect();
        let state = StateReader::find(root.as_ref());
        let (temperatures, clocks) = (state.temperature_names.clone(), state.clock_names.clone());
        let names = (temperatures.len().min(TEMPERATURES), clocks.len().min(CLOCKS));
        let (core, handle) = assemble(Setup {
            sources: probed.sources,
            state,
            root: Arc::clone(&root),
            period_us,
            clock: Arc::clone(&clock),
        });
        let mut notes = conditions.warnings();
        notes.extend(handle.notes.iter().cloned());
        // Before the first reading, so that a stretch has one before its beginning.
        let trace = probed.headline.and_then(|index| Trace::of(&handle, usize::from(index)));
        let handle = Handle::start(core, handle, period_us)?;
        // A stretch needs a reading before its beginning.
        handle.wait_for_all();
        let at = clock.now();
        let began = Began {
            at,
            period_us,
            sources,
            absent: probed.absent,
            headline: probed.headline,
            missing,
            every_us: handle.every_us().to_vec(),
            temperatures,
            clocks,
            conditions,
            notes,
        };
        Ok(Measuring {
            sampler: Some(handle),
            trace,
            power,
            names,
            timeline_us: options.timeline_us,
            ready: vec![Entry::Began(Box::new(began))],
            ..Measuring::off(root, clock)
        })
    }

    /// What stands in the place of measuring that has ended.
    pub fn none() -> Self {
        Measuring::off(Arc::new(super::root::Folder::at("/")), Arc::new(crate::clock::SystemClock::new()))
    }

    /// Measures nothing but durations.
    pub fn off(root: Arc<dyn Root>, clock: Arc<dyn Clock>) -> Self {
        let steps = StepWatch::new(clock.now());
        Measuring {
            root,
            clock,
            sampler: None,
            trace: None,
            power: false,
            names: (0, 0),
            running: Vec::new(),
            next: 0,
            timeline_us: 0,
            row_after_us: 0,
            timeline: Timeline::default(),
            last: State::NONE,
            latest: None,
            first: None,
            steps,
            ready: Vec::new(),
        }
    }

    /// Whether any source of power was found.
    pub fn has_power(&self) -> bool {
        self.power
    }

    /// What tells the time.
    pub fn clock(&self) -> Arc<dyn Clock> {
        Arc::clone(&self.clock)
    }

    /// Both clocks.
    pub fn now(&self) -> Moment {
        self.clock.now()
    }

    /// What was said when it began.
    pub fn began(&self) -> Option<&Began> {
        self.ready
            .iter()
            .find_map(|entry| if let Entry::Began(began) = entry { Some(&**began) } else { None })
    }

    /// The state of the machine as it was read last, and as it was at the beginning.
    pub fn state(&mut self) -> (State, Option<State>) {
        self.drain();
        (self.last, self.first)
    }

    /// The last sample.
    pub fn latest(&mut self) -> Option<Sample> {
        self.drain();
        self.latest
    }

    /// Says which process is the worker.
    pub fn set_worker(&self, pid: Option<u32>) {
        if let Some(sampler) = &self.sampler {
            sampler.set_worker(pid);
        }
    }

    /// Begins a stretch of time.
    pub fn begin(&mut self, stretch: Stretch, model: u16, group: Option<GroupRef>) -> Open {
        self.drain();
        let (mark, begin) = self.mark();
        let number = self.next;
        self.next += 1;
        self.running.push(Running {
            number,
            stretch,
            model,
            group,
            mark,
            begin,
            end: None,
            fold: Fold::begin(&self.last),
            suspended_us: suspended_us(),
            suspended: false,
            timed: None,
            phases: Vec::new(),
        });
        Open { number }
    }

    /// Says when which phase of an engine's work was at hand in a stretch; spans in order, behind those told before.
    pub fn add_phases(&mut self, open: &Open, spans: Vec<PhaseSpan>) {
        if let Some(running) = self.running.iter_mut().find(|running| running.number == open.number) {
            running.phases.extend(spans);
        }
    }

    /// Ends it.
    pub fn end(&mut self, open: Open) {
        self.finish(open, None);
    }

    /// Ends one in which an item was asked alone.
    pub fn end_timed(&mut self, open: Open, timed: Timed) {
        self.finish(open, Some(Box::new(timed)));
    }

    /// Gives it up.
    pub fn drop(&mut self, open: Open) {
        self.running.retain(|running| running.number != open.number);
    }

    fn finish(&mut self, open: Open, timed: Option<Box<Timed>>) {
        let end = self.mark();
        self.drain();
        let Some(running) = self.running.iter_mut().find(|running| running.number == open.number) else {
            return;
        };
        running.end = Some(end);
        running.timed = timed;
        let gone = suspended_us().zip(running.suspended_us).map(|(now, then)| now.abs_diff(then));
        running.suspended = gone.is_some_and(|gone| gone > SUSPENDED_US);
        if let (Some(step), Some(group)) = (self.steps.see(end.1), running.group) {
            self.ready.push(Entry::Stepped(Stepped { group, step }));
        }
    }

    fn mark(&self) -> (u64, Moment) {
        match &self.sampler {
            Some(sampler) => sampler.mark(),
            None => (0, self.clock.now()),
        }
    }

    /// Takes the samples that have come.
    pub fn drain(&mut self) {
        let Some(sampler) = &self.sampler else { return };
        if let Some(trace) = &mut self.trace {
            let since = self.running.iter().map(|running| running.begin.mono_us).min();
            trace.drain(sampler, since);
        }
        let (running, timeline, last, first) =
            (&mut self.running, &mut self.timeline, &mut self.last, &mut self.first);
        let latest = &mut self.latest;
        let (every, after) = (self.timeline_us, &mut self.row_after_us);
        let (temperatures, clocks) = self.names;
        let channels = sampler.channels().len();
        sampler.drain(&mut |sample: &Sample| {
            *last = sample.state;
            *latest = Some(*sample);
            first.get_or_insert(sample.state);
            for running in running.iter_mut() {
                let ended = running.end.is_some_and(|(_, end)| sample.mono_us > end.mono_us);
                if sample.mono_us >= running.begin.mono_us && !ended {
                    running.fold.add(&sample.state);
                }
            }
            if every > 0 && sample.mono_us >= *after {
                *after = sample.mono_us + every - every / 16;
                timeline.rows.push(Row::of(sample, channels, temperatures, clocks));
            }
        });
        if self.timeline.rows.len() >= ROWS {
            self.ready.push(Entry::Timeline(std::mem::take(&mut self.timeline)));
        }
    }

    /// What is ready for the log. `all`: also stretches that still wait for a reading.
    pub fn entries(&mut self, all: bool) -> Vec<Entry> {
        self.drain();
        let mut waiting = self.running.iter().filter(|running| running.end.is_some()).count();
        let mut index = 0;
        while index < self.running.len() {
            let running = &self.running[index];
            let settled = running.end.is_some_and(|(end, _)| {
                self.sampler
                    .as_ref()
                    .is_none_or(|sampler| sampler.is_settled(running.mark) && sampler.is_settled(end))
            });
            if running.end.is_some() && (settled || all || waiting > WAITING) {
                let running = self.running.remove(index);
                waiting -= 1;
                self.close(running);
            } else {
                index += 1;
            }
        }
        std::mem::take(&mut self.ready)
    }

    fn close(&mut self, running: Running) {
        let Some((mark, end)) = running.end else { return };
        let energy = match &self.sampler {
            Some(sampler) => {
                let (from, to) = (sampler.collect(running.mark), sampler.collect(mark));
                sampler.energy(from.as_ref(), to.as_ref(), end.since_us(running.begin))
            }
            None => Vec::new(),
        };
        let phases = match (&mut self.trace, &self.sampler) {
            (Some(trace), Some(sampler)) if !running.phases.is_empty() => {
                // The reading behind the end may have come since the last time.
                trace.drain(sampler, Some(0));
                trace.split(&running.phases)
            }
            _ => Vec::new(),
        };
        let window = Window {
            stretch: running.stretch,
            model: running.model,
            group: running.group,
            begin: running.begin,
            end,
            energy,
            state: running.fold.summary(self.names),
            suspended: running.suspended,
            phases,
        };
        self.ready.push(match running.timed {
            Some(timed) => Entry::Timed(Box::new(Timed { window, ..*timed })),
            None => Entry::Window(Box::new(window)),
        });
    }

    /// Ends measuring; gives what is left for the log.
    pub fn stop(mut self) -> Vec<Entry> {
        let Some(mut sampler) = self.sampler.take() else { return self.entries(true) };
        // And one behind its end.
        if let Some((mark, _)) = self.running.iter().filter_map(|running| running.end).next_back() {
            sampler.wait_for(mark);
        }
        let cost = sampler.stop();
        self.sampler = Some(sampler);
        let mut entries = self.entries(true);
        if !self.timeline.rows.is_empty() {
            entries.push(Entry::Timeline(std::mem::take(&mut self.timeline)));
        }
        let conditions = conditions::read(self.root.as_ref());
        entries.push(Entry::Ended(Box::new(Ended { at: self.clock.now(), conditions, cost })));
        entries
    }
}
