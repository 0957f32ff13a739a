//! Counters of energy that wrap.

/// Power above which a counter's step cannot be true, in watts: no package or board of this kind draws it.
const BOUND_W: u64 = 1000;

/// A counter made whole: wraps are taken out, each with the range of its own.
#[derive(Clone, Copy, Debug)]
pub struct Counter {
    range_uj: Option<u64>,
    last: Option<(u64, u64)>,
    total_uj: u64,
}

/// What came of a reading.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Energy since the beginning, in microjoules.
    Total(u64),
    /// The interval before this reading cannot be known; the energy since the beginning lacks it.
    Lost(u64),
}

impl Counter {
    /// A counter that begins again at 0 behind `range_uj`, where that is known.
    pub fn new(range_uj: Option<u64>) -> Self {
        Counter { range_uj: range_uj.filter(|range| *range > 0), last: None, total_uj: 0 }
    }

    /// Takes what the counter shows at a time.
    pub fn read(&mut self, at_us: u64, shown_uj: u64) -> Step {
        let Some((last_us, last_uj)) = self.last.replace((at_us, shown_uj)) else {
            return Step::Total(self.total_uj);
        };
        let span_us = at_us.saturating_sub(last_us);
        let bound_uj = span_us.saturating_mul(BOUND_W).saturating_add(1_000_000);
        // In a long silence it may have wrapped more than once.
        let ambiguous = self.range_uj.is_some_and(|range| span_us.saturating_mul(BOUND_W) >= range);
        let delta = match shown_uj.checked_sub(last_uj) {
            Some(delta) => Some(delta),
            None => self.range_uj.and_then(|range| (shown_uj + range).checked_sub(last_uj)),
        };
        match delta {
            Some(delta) if delta <= bound_uj && !ambiguous => {
                self.total_uj += delta;
                Step::Total(self.total_uj)
            }
            _ => Step::Lost(self.total_uj),
        }
    }

    /// The readings stopped for a reason that makes the next interval meaningless.
    pub fn forget(&mut self) {
        self.last = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: u64 = 1_000_000;

    #[test]
    fn pwr_02_a_wrap_adds_the_range_of_that_zone_once() {
        let mut counter = Counter::new(Some(262_143_328_850));
        counter.read(0, 262_143_000_000);
        assert_eq!(counter.read(SECOND, 500_000), Step::Total(828_850));
        let mut counter = Counter::new(Some(262_143_328_850));
        counter.read(0, 262_143_000_000);
        assert_eq!(counter.read(SECOND, 700_000), Step::Total(1_028_850));
        assert_eq!(counter.read(2 * SECOND, 900_000), Step::Total(1_228_850));
    }

    #[test]
    fn pwr_02_a_wrap_with_an_unknown_range_loses_its_interval_and_no_other() {
        let mut counter = Counter::new(None);
        counter.read(0, 1_000);
        assert_eq!(counter.read(SECOND, 5_001_000), Step::Total(5_000_000));
        assert_eq!(counter.read(2 * SECOND, 7), Step::Lost(5_000_000));
        assert_eq!(counter.read(3 * SECOND, 1_000_007), Step::Total(6_000_000));
    }

    #[test]
    fn pwr_02_a_step_that_no_machine_draws_and_a_long_silence_are_lost() {
        let mut counter = Counter::new(Some(65_532_610_987));
        counter.read(0, 0);
        // The range of another zone would make such a step: 60 kJ in a second.
        assert_eq!(counter.read(SECOND, 60_000_000_000), Step::Lost(0));
        // At 1 kW this range passes in 65.5 s: after that there may have been two wraps.
        let mut counter = Counter::new(Some(65_532_610_987));
        counter.read(0, 10);
        assert_eq!(counter.read(65 * SECOND, 20), Step::Total(10));
        assert_eq!(counter.read(65 * SECOND + 66 * SECOND, 30), Step::Lost(10));
    }
}
