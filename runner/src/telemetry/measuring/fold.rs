//! The state of the machine over a stretch, made of its samples.

use crate::telemetry::record::Summary;
use crate::telemetry::sample::{CLOCKS, NONE, State, TEMPERATURES, known};

/// The state of the machine over a stretch in the making.
pub(super) struct Fold {
    samples: u32,
    hottest: [i64; TEMPERATURES],
    clocks: [(i64, i64); CLOCKS],
    flags: i64,
    flags_before: i64,
    flags_after: i64,
    undervoltage: i64,
    events_before: i64,
    events_after: i64,
    cooling: i64,
    available: i64,
    worker: [i64; 2],
    others: (i64, i64),
    own: (i64, i64),
    battery: i64,
    supply_before: i64,
    supply_changed: bool,
}

impl Fold {
    pub(super) fn begin(before: &State) -> Self {
        Fold {
            samples: 0,
            hottest: [NONE; TEMPERATURES],
            clocks: [(0, 0); CLOCKS],
            flags: NONE,
            flags_before: before.pi_flags,
            flags_after: before.pi_flags,
            undervoltage: NONE,
            events_before: before.events,
            events_after: before.events,
            cooling: NONE,
            available: NONE,
            worker: [NONE; 2],
            others: (0, 0),
            own: (0, 0),
            battery: before.battery_percent,
            supply_before: before.on_battery,
            supply_changed: false,
        }
    }

    pub(super) fn add(&mut self, state: &State) {
        self.samples += 1;
        for (most, now) in self.hottest.iter_mut().zip(state.temperature_mc) {
            *most = (*most).max(now);
        }
        let mean = |sum: &mut (i64, i64), now: i64| {
            if now != NONE {
                *sum = (sum.0 + now, sum.1 + 1);
            }
        };
        for (sum, now) in self.clocks.iter_mut().zip(state.clock_khz) {
            mean(sum, now);
        }
        mean(&mut self.others, state.others_permille);
        mean(&mut self.own, state.own_permille);
        if state.pi_flags != NONE {
            self.flags = if self.flags == NONE { state.pi_flags } else { self.flags | state.pi_flags };
            self.flags_before = if self.flags_before == NONE { state.pi_flags } else { self.flags_before };
            self.flags_after = state.pi_flags;
        }
        self.undervoltage = self.undervoltage.max(state.undervoltage);
        self.cooling = self.cooling.max(state.cooling);
        if self.events_before == NONE {
            self.events_before = state.events;
        }
        self.events_after = if state.events == NONE { self.events_after } else { state.events };
        if state.available_bytes != NONE {
            let least = if self.available == NONE { i64::MAX } else { self.available };
            self.available = least.min(state.available_bytes);
        }
        let [private, file] = &mut self.worker;
        *private = (*private).max(state.worker_private_bytes);
        *file = (*file).max(state.worker_file_bytes);
        self.battery = if state.battery_percent == NONE { self.battery } else { state.battery_percent };
        if self.supply_before == NONE {
            self.supply_before = state.on_battery;
        }
        self.supply_changed |= state.on_battery != NONE && state.on_battery != self.supply_before;
    }

    /// What held at some moment, and what the firmware saw between two moments; bits since boot that were set before are
    /// older than the stretch.
    fn pi_bits(&self) -> Option<u32> {
        let word = |value: i64| known(value).and_then(|value| u32::try_from(value).ok());
        let (begin, end, held) = (word(self.flags_before)?, word(self.flags_after)?, word(self.flags)?);
        Some((end >> 16 & !(begin >> 16) | held) & 0xf)
    }

    pub(super) fn summary(&self, (temperatures, clocks): (usize, usize)) -> Summary {
        let mean = |(sum, count): (i64, i64)| (count > 0).then(|| sum / count);
        let events = known(self.events_before).zip(known(self.events_after));
        Summary {
            samples: self.samples,
            hottest_mc: self.hottest.iter().take(temperatures).map(|mc| known(*mc)).collect(),
            clock_khz: self.clocks.iter().take(clocks).map(|sum| mean(*sum)).collect(),
            pi_flags: self.pi_bits(),
            undervoltage: known(self.undervoltage).map(|low| low != 0),
            events: events.map(|(before, after)| (after - before).max(0)),
            slowed: known(self.cooling).map(|state| state > 0),
            available_bytes: known(self.available),
            others_permille: mean(self.others),
            own_permille: mean(self.own),
            battery_percent: known(self.battery),
            supply_changed: known(self.supply_before).map(|_| self.supply_changed),
            worker_private_bytes: known(self.worker[0]),
            worker_file_bytes: known(self.worker[1]),
        }
    }
}
