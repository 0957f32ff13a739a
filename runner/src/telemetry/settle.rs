//! Waiting for a machine that is neither warming up nor cooling down: what runs on a hot board is slower.

use std::collections::VecDeque;

use super::sample::{State, known};

/// How long temperature and clocks have to stay where they are, in microseconds.
const CALM_US: u64 = 10_000_000;
/// By how much a temperature may move in that time, in thousandths of a degree.
const CALM_MC: i64 = 1_000;
/// By how much the mean clock may move, as a share of its mean.
const CALM_CLOCK: f64 = 0.05;
/// How far above its temperature at the beginning a machine counts as cooled down.
const COOL_MC: i64 = 3_000;

/// Whether the machine is calm.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Calm {
    /// It has been for long enough.
    Yes,
    /// Not yet.
    No,
    /// It has neither thermometer nor clock to tell by.
    Unknown,
}

/// Watches temperature and clocks.
#[derive(Debug, Default)]
pub struct Settle {
    seen: VecDeque<(u64, Option<i64>, Option<f64>)>,
    first_us: Option<u64>,
}

impl Settle {
    /// Takes the state at a time.
    pub fn see(&mut self, at_us: u64, state: &State) -> Calm {
        let temperature = hottest(state);
        let clock = mean_clock(state);
        if temperature.is_none() && clock.is_none() {
            return Calm::Unknown;
        }
        let first = *self.first_us.get_or_insert(at_us);
        self.seen.push_back((at_us, temperature, clock));
        while self.seen.front().is_some_and(|seen| seen.0 + CALM_US < at_us) {
            self.seen.pop_front();
        }
        let temperatures = self.seen.iter().filter_map(|seen| seen.1);
        let moved = range(temperatures.map(|mc| mc as f64)).unwrap_or(0.0);
        let clocks: Vec<f64> = self.seen.iter().filter_map(|seen| seen.2).collect();
        let mean = clocks.iter().sum::<f64>() / clocks.len().max(1) as f64;
        let wavers = range(clocks.iter().copied()).unwrap_or(0.0) > CALM_CLOCK * mean;
        match at_us.saturating_sub(first) >= CALM_US && moved <= CALM_MC as f64 && !wavers {
            true => Calm::Yes,
            false => Calm::No,
        }
    }
}

/// Whether a machine has come near the temperature that it had at the beginning.
pub fn has_cooled(begin: &State, now: &State) -> Calm {
    match (hottest(begin), hottest(now)) {
        (Some(begin), Some(now)) if now <= begin + COOL_MC => Calm::Yes,
        (Some(_), Some(_)) => Calm::No,
        _ => Calm::Unknown,
    }
}

fn hottest(state: &State) -> Option<i64> {
    state.temperature_mc.iter().filter_map(|mc| known(*mc)).max()
}

fn mean_clock(state: &State) -> Option<f64> {
    let clocks: Vec<f64> =
        state.clock_khz.iter().filter_map(|khz| known(*khz)).map(|khz| khz as f64).collect();
    (!clocks.is_empty()).then(|| clocks.iter().sum::<f64>() / clocks.len() as f64)
}

fn range(values: impl Iterator<Item = f64>) -> Option<f64> {
    let ends = values.fold(None, |ends: Option<(f64, f64)>, value| {
        Some(ends.map_or((value, value), |(low, high)| (low.min(value), high.max(value))))
    })?;
    Some(ends.1 - ends.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn state(mc: i64, khz: i64) -> State {
        let mut state = State::NONE;
        (state.temperature_mc[0], state.clock_khz[0]) = (mc, khz);
        state
    }

    #[test]
    fn a_machine_is_calm_after_ten_seconds_without_change() {
        let mut settle = Settle::default();
        let second = 1_000_000;
        for at in 0..10 {
            assert_eq!(settle.see(at * second, &state(60_000 - 900 * at as i64, 2_400_000)), Calm::No);
        }
        // It cools by 0.9 degrees a second until second 9: of that one step is left in sight at second 18.
        for at in 10..18 {
            assert_eq!(settle.see(at * second, &state(51_900, 2_400_000)), Calm::No, "{at}");
        }
        assert_eq!(settle.see(18 * second, &state(51_900, 2_400_000)), Calm::Yes);
        // The clock falls.
        assert_eq!(settle.see(20 * second, &state(51_900, 1_500_000)), Calm::No);
    }

    #[test]
    fn without_sensors_nothing_is_waited_for() {
        assert_eq!(Settle::default().see(0, &State::NONE), Calm::Unknown);
        assert_eq!(has_cooled(&State::NONE, &state(40_000, 0)), Calm::Unknown);
    }

    #[test]
    fn cooled_down_is_three_degrees_above_the_beginning() {
        assert_eq!(has_cooled(&state(45_000, 0), &state(48_000, 0)), Calm::Yes);
        assert_eq!(has_cooled(&state(45_000, 0), &state(48_001, 0)), Calm::No);
    }
}
