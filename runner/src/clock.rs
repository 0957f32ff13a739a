//! Two clocks, never mixed.
//!
//! Durations come from the monotonic clock alone. Boards without a battery-backed clock start in 1970 or at their
//! last shutdown and jump by hours at the first network sync, so wall time is an annotation, and a jump of it is an
//! event of its own.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

/// A change of the wall clock against the monotonic one that counts as a step, in microseconds.
pub const STEP_US: u64 = 1_000_000;

/// Where Linux tells one boot from the next, below the root of the file system.
const BOOT_ID_PATH: &str = "proc/sys/kernel/random/boot_id";

/// One reading of both clocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Moment {
    /// Monotonic time in microseconds since this process began to count.
    pub mono_us: u64,
    /// Wall time in microseconds since 1970-01-01 UTC; may be wrong, may jump, may be negative.
    pub wall_us: i64,
}

impl Moment {
    /// Microseconds from an earlier moment of the same process to this one, on the monotonic clock.
    pub fn since_us(self, earlier: Moment) -> u64 {
        self.mono_us.saturating_sub(earlier.mono_us)
    }
}

/// What tells the time.
pub trait Clock: Send + Sync {
    /// Both clocks now.
    fn now(&self) -> Moment;
}

/// The clocks of the machine.
#[derive(Clone, Copy, Debug)]
pub struct SystemClock {
    origin: Instant,
}

impl SystemClock {
    /// Begins to count.
    #[expect(clippy::new_without_default, reason = "a default that differs each time would surprise")]
    pub fn new() -> Self {
        SystemClock { origin: Instant::now() }
    }
}

impl Clock for SystemClock {
    fn now(&self) -> Moment {
        // Both clocks should be read at one instant; a pause in between would look like a step.
        let mut before = self.origin.elapsed();
        let mut wall = SystemTime::now();
        let mut after = self.origin.elapsed();
        for _ in 0..3 {
            if after - before < Duration::from_millis(1) {
                break;
            }
            before = self.origin.elapsed();
            wall = SystemTime::now();
            after = self.origin.elapsed();
        }
        Moment { mono_us: micros(before), wall_us: unix_us(wall) }
    }
}

fn micros(duration: Duration) -> u64 {
    u64::try_from(duration.as_micros()).unwrap_or(u64::MAX)
}

fn unix_us(wall: SystemTime) -> i64 {
    let clamp = |duration: Duration| i64::try_from(duration.as_micros()).unwrap_or(i64::MAX);
    match wall.duration_since(UNIX_EPOCH) {
        Ok(after) => clamp(after),
        Err(before) => -clamp(before.duration()),
    }
}

/// Clocks that are set by hand, for rehearsals and tests.
#[derive(Debug, Default)]
pub struct ManualClock {
    mono_us: AtomicU64,
    wall_us: AtomicI64,
}

impl ManualClock {
    /// Clocks that show this moment until they are moved.
    pub fn at(moment: Moment) -> Self {
        ManualClock { mono_us: AtomicU64::new(moment.mono_us), wall_us: AtomicI64::new(moment.wall_us) }
    }

    /// Lets time pass on both clocks.
    pub fn pass(&self, duration: Duration) {
        self.mono_us.fetch_add(micros(duration), Ordering::SeqCst);
        self.step(i64::try_from(duration.as_micros()).unwrap_or(i64::MAX));
    }

    /// Moves the wall clock alone, forwards or backwards.
    pub fn step(&self, change_us: i64) {
        self.wall_us.fetch_add(change_us, Ordering::SeqCst);
    }
}

impl Clock for ManualClock {
    fn now(&self) -> Moment {
        Moment { mono_us: self.mono_us.load(Ordering::SeqCst), wall_us: self.wall_us.load(Ordering::SeqCst) }
    }
}

/// The wall clock jumped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClockStep {
    /// The last moment before the jump was noticed.
    pub before: Moment,
    /// The moment when it was noticed.
    pub after: Moment,
    /// By how much, in microseconds; negative when it went back. A suspended machine shows here too: its
    /// monotonic clock stood still.
    pub change_us: i64,
}

/// Notices jumps of the wall clock. Asked once per item, so that a step carries the item's id and a clock that is
/// slewed slowly is not reported.
#[derive(Clone, Copy, Debug)]
pub struct StepWatch {
    last: Moment,
}

impl StepWatch {
    /// Watches from this moment on.
    pub fn new(start: Moment) -> Self {
        StepWatch { last: start }
    }

    /// Compares with the moment seen last: a step when the clocks parted by more than [`STEP_US`].
    pub fn see(&mut self, now: Moment) -> Option<ClockStep> {
        let before = std::mem::replace(&mut self.last, now);
        let wall_us = i128::from(now.wall_us) - i128::from(before.wall_us);
        let mono_us = i128::from(now.mono_us) - i128::from(before.mono_us);
        let change_us = wall_us - mono_us;
        (change_us.unsigned_abs() > u128::from(STEP_US)).then(|| ClockStep {
            before,
            after: now,
            change_us: change_us.clamp(i64::MIN.into(), i64::MAX.into()) as i64,
        })
    }
}

/// The boot cannot be told from others.
#[derive(Debug, thiserror::Error)]
#[error("{}: {reason}; runs on this machine cannot be told apart by boot", path.display())]
pub struct BootIdError {
    /// Where it was looked for.
    pub path: PathBuf,
    /// What was found instead.
    pub reason: String,
}

/// The kernel's name for this boot; `root` is `/` in life.
pub fn boot_id(root: &Path) -> Result<String, BootIdError> {
    let path = root.join(BOOT_ID_PATH);
    let text = match std::fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) => return Err(BootIdError { path, reason: error.to_string() }),
    };
    let id = text.trim();
    if id.len() == 36 && id.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-') {
        Ok(id.to_ascii_lowercase())
    } else {
        let reason = format!("\"{}\" is no boot id", id.escape_default().take(60).collect::<String>());
        Err(BootIdError { path, reason })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOON: Moment = Moment { mono_us: 5_000_000, wall_us: 1_772_366_400_000_000 };

    #[test]
    fn clk_01_a_wall_step_of_six_hours_leaves_the_latency_and_is_one_event() {
        let clock = ManualClock::at(NOON);
        let mut watch = StepWatch::new(clock.now());
        let start = clock.now();
        clock.pass(Duration::from_secs(2));
        clock.step(21_600_000_000);
        let end = clock.now();
        assert_eq!(end.since_us(start), 2_000_000);
        let step = watch.see(end).expect("the step is noticed");
        assert_eq!(step.change_us, 21_600_000_000);
        assert_eq!((step.before, step.after), (start, end));
        clock.pass(Duration::from_secs(60));
        assert_eq!(watch.see(clock.now()), None, "one step is one event");
    }

    #[test]
    fn clk_01_a_step_backwards_is_noticed_and_one_second_is_not_a_step() {
        let clock = ManualClock::at(NOON);
        let mut watch = StepWatch::new(clock.now());
        clock.step(-1_000_001);
        assert_eq!(watch.see(clock.now()).map(|step| step.change_us), Some(-1_000_001));
        clock.step(1_000_000);
        assert_eq!(watch.see(clock.now()), None);
    }

    #[test]
    fn clk_01_slow_slewing_is_no_step() {
        // 500 parts per million is the most that Linux slews by: 1.8 s in an hour, seen item by item.
        let clock = ManualClock::at(NOON);
        let mut watch = StepWatch::new(clock.now());
        for _ in 0..60 {
            clock.pass(Duration::from_secs(60));
            clock.step(30_000);
            assert_eq!(watch.see(clock.now()), None);
        }
    }

    #[test]
    fn clk_02_a_clock_before_1970_is_an_annotation_like_any_other() {
        assert_eq!(unix_us(UNIX_EPOCH - Duration::from_secs(3)), -3_000_000);
        assert_eq!(unix_us(UNIX_EPOCH + Duration::from_micros(7)), 7);
        let clock = ManualClock::at(Moment { mono_us: 0, wall_us: i64::MIN });
        let mut watch = StepWatch::new(NOON);
        assert!(watch.see(clock.now()).is_some(), "and its distance does not overflow");
    }

    #[test]
    fn clk_02_the_boot_id_comes_from_the_given_root() {
        let root = tempfile::tempdir().unwrap();
        let error = boot_id(root.path()).unwrap_err().to_string();
        assert!(error.contains("boot_id") && error.contains("cannot be told apart"), "{error}");
        let path = root.path().join(BOOT_ID_PATH);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, "9F1C6B0E-0b7a-4c58-9d38-3f6a2b1c4d5e\n").unwrap();
        assert_eq!(boot_id(root.path()).unwrap(), "9f1c6b0e-0b7a-4c58-9d38-3f6a2b1c4d5e");
        std::fs::write(&path, "").unwrap();
        assert!(boot_id(root.path()).is_err(), "an empty file is no boot id");
    }

    #[test]
    fn the_system_clock_runs_forward() {
        let clock = SystemClock::new();
        let first = clock.now();
        std::thread::sleep(Duration::from_millis(20));
        let second = clock.now();
        assert!(second.since_us(first) >= 20_000);
        // Any clock set after 2020 will do; the wall clock is only an annotation.
        assert_eq!(first.since_us(second), 0);
    }
}
