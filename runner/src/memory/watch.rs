//! The watch over a running worker: what it takes, what the system has left, whether it swaps.
//!
//! Ten readings a second of four small files of `/proc`; a worker that exceeds its budget, or takes the last of the
//! system's memory, is killed here before the kernel chooses whom to kill.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use tokio::task::JoinHandle;

use super::budget::Counts;
use super::system::{counter_line, kib_line};
use super::{Cgroup, Limit, System};

/// Time between two readings.
const EVERY: Duration = Duration::from_millis(100);
/// Readings in a row below the floor that are no blip.
const PATIENCE: u32 = 3;

/// One look at a process and its system.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reading {
    /// Memory that cannot be dropped: heap, copies, shared memory.
    pub private_bytes: u64,
    /// Mapped file pages that are resident.
    pub file_bytes: u64,
    /// What of it lies in the swap.
    pub swap_bytes: u64,
    /// The most that was ever resident.
    pub high_water_bytes: u64,
    /// Pages that had to be fetched from a disk.
    pub major_faults: u64,
    /// Memory that the system can still give; 0 when it does not tell.
    pub available_bytes: u64,
    /// Pages that the system has fetched from the swap since it started.
    pub swapped_in_pages: u64,
    /// File pages that it dropped and had to fetch again.
    pub refaulted_pages: u64,
}

impl Reading {
    /// Looks at a process; `None` when it is gone.
    pub fn of(system: &System, pid: u32) -> Option<Reading> {
        let status = system.read(&format!("proc/{pid}/status"))?;
        let figure = |key| kib_line(&status, key).unwrap_or(0);
        let stat = system.read(&format!("proc/{pid}/stat")).unwrap_or_default();
        // The name in parentheses may hold anything; the tenth field after it is the count of major faults.
        let faults = stat.rsplit(')').next().and_then(|rest| rest.split_whitespace().nth(9)?.parse().ok());
        let vmstat = system.read("proc/vmstat").unwrap_or_default();
        Some(Reading {
            private_bytes: figure("RssAnon") + figure("RssShmem"),
            file_bytes: figure("RssFile"),
            swap_bytes: figure("VmSwap"),
            high_water_bytes: figure("VmHWM"),
            major_faults: faults.unwrap_or(0),
            available_bytes: system.meminfo("MemAvailable").unwrap_or(0),
            swapped_in_pages: counter_line(&vmstat, "pswpin").unwrap_or(0),
            refaulted_pages: counter_line(&vmstat, "workingset_refault_file").unwrap_or(0),
        })
    }

    /// What counts against a budget; what lies in the swap counts as if it were resident.
    pub fn counted(&self, counts: Counts) -> u64 {
        match counts {
            Counts::Resident => self.private_bytes + self.file_bytes + self.swap_bytes,
            Counts::Private => self.private_bytes + self.swap_bytes,
        }
    }
}

/// Why the watch killed a worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Breach {
    /// It took more than its budget.
    Budget {
        /// What it took.
        observed_bytes: u64,
        /// What it might.
        budget_bytes: u64,
    },
    /// The system had hardly any memory left.
    Floor {
        /// What it had.
        available_bytes: u64,
    },
}

/// What a worker took at most, and what it cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Peaks {
    /// The most private memory.
    pub private_bytes: u64,
    /// The most mapped file memory.
    pub file_bytes: u64,
    /// The most in the swap.
    pub swap_bytes: u64,
    /// The most that was resident at one time, as the kernel noted it.
    pub high_water_bytes: u64,
    /// The least that the system had left; 0 when unknown.
    pub available_bytes: u64,
    /// Pages fetched from a disk since the last account.
    pub major_faults: u64,
    /// Pages fetched from the swap since the last account, whole system.
    pub swapped_in_pages: u64,
    /// Pages dropped and fetched again since the last account, whole system.
    pub refaulted_pages: u64,
    /// The most that the worker's own memory group used, where it has one.
    pub group_bytes: Option<u64>,
}

impl Peaks {
    fn see(&mut self, reading: &Reading) {
        self.private_bytes = self.private_bytes.max(reading.private_bytes);
        self.file_bytes = self.file_bytes.max(reading.file_bytes);
        self.swap_bytes = self.swap_bytes.max(reading.swap_bytes);
        self.high_water_bytes = self.high_water_bytes.max(reading.high_water_bytes);
        let least = if self.available_bytes == 0 { u64::MAX } else { self.available_bytes };
        self.available_bytes = least.min(reading.available_bytes);
    }

    /// Whether so much was fetched again from disk or swap in this time that durations say little of the model: more
    /// than 1 MiB, and more than 100 pages a second.
    pub fn is_storm(&self, wall_us: u64) -> bool {
        let pages = self.major_faults + self.swapped_in_pages;
        pages > 256 && pages.saturating_mul(10_000) > wall_us
    }
}

#[derive(Debug, Default)]
struct Seen {
    latest: Reading,
    /// Counters at the last account.
    since: Option<Reading>,
    peaks: Peaks,
    breach: Option<Breach>,
    below: u32,
}

impl Seen {
    fn see(&mut self, reading: Reading, limit: Option<&Limit>, floor_bytes: u64) -> Option<Breach> {
        self.since.get_or_insert(reading);
        self.latest = reading;
        self.peaks.see(&reading);
        if let Some(limit) = limit {
            let observed_bytes = reading.counted(limit.counts);
            if observed_bytes > limit.bytes {
                return Some(Breach::Budget { observed_bytes, budget_bytes: limit.bytes });
            }
        }
        let below = reading.available_bytes > 0 && reading.available_bytes < floor_bytes;
        self.below = if below { self.below + 1 } else { 0 };
        (self.below >= PATIENCE).then_some(Breach::Floor { available_bytes: reading.available_bytes })
    }
}

/// A watch over one process. It ends with this value.
#[derive(Debug)]
pub struct Watch {
    system: System,
    pid: u32,
    group: Option<Cgroup>,
    seen: Arc<Mutex<Seen>>,
    task: JoinHandle<()>,
}

impl Watch {
    /// Begins. Needs a running tokio runtime; `pid` must be a child that nobody has waited for.
    pub fn begin(
        system: System,
        pid: u32,
        limit: Option<Limit>,
        floor_bytes: u64,
        group: Option<Cgroup>,
    ) -> Self {
        let seen = Arc::new(Mutex::new(Seen::default()));
        let (shared, looked_at) = (Arc::clone(&seen), system.clone());
        let task = tokio::spawn(async move {
            let mut ticks = tokio::time::interval(EVERY);
            ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
            loop {
                ticks.tick().await;
                let Some(reading) = Reading::of(&looked_at, pid) else { return };
                let mut seen = shared.lock().unwrap_or_else(PoisonError::into_inner);
                if let Some(breach) = seen.see(reading, limit.as_ref(), floor_bytes) {
                    seen.breach = Some(breach);
                    kill(pid);
                    return;
                }
            }
        });
        Watch { system, pid, group, seen, task }
    }

    /// Why the watch killed the worker, if it did.
    pub fn breach(&self) -> Option<Breach> {
        self.seen().breach
    }

    /// Looks once more, and gives the peaks so far with what the counters rose by since the last account.
    pub fn account(&self) -> Peaks {
        let now = Reading::of(&self.system, self.pid);
        let mut seen = self.seen();
        let latest = now.unwrap_or(seen.latest);
        seen.peaks.see(&latest);
        let since = seen.since.replace(latest).unwrap_or(latest);
        Peaks {
            major_faults: latest.major_faults.saturating_sub(since.major_faults),
            swapped_in_pages: latest.swapped_in_pages.saturating_sub(since.swapped_in_pages),
            refaulted_pages: latest.refaulted_pages.saturating_sub(since.refaulted_pages),
            group_bytes: self.group.as_ref().and_then(Cgroup::peak_bytes),
            ..seen.peaks
        }
    }

    /// No more kills: the process is about to be waited for, and its number may become another's.
    pub fn end(&self) {
        self.task.abort();
    }

    fn seen(&self) -> std::sync::MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.task.abort();
    }
}

fn kill(pid: u32) {
    use rustix::process::{Pid, Signal, kill_process};
    // Gone already: then there is nothing to kill.
    let _ = i32::try_from(pid).ok().and_then(Pid::from_raw).map(|pid| kill_process(pid, Signal::KILL));
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: u64 = 1 << 20;

    fn limit(counts: Counts) -> Limit {
        Limit { bytes: 100 * MIB, counts, origin: String::new() }
    }

    fn reading(private: u64, file: u64, available: u64) -> Reading {
        Reading {
            private_bytes: private * MIB,
            file_bytes: file * MIB,
            available_bytes: available * MIB,
            ..Reading::default()
        }
    }

    #[test]
    fn mapped_pages_count_only_where_the_budget_is_for_resident_memory() {
        let much_file = reading(60, 80, 1000);
        let breach = Breach::Budget { observed_bytes: 140 * MIB, budget_bytes: 100 * MIB };
        assert_eq!(Seen::default().see(much_file, Some(&limit(Counts::Resident)), 0), Some(breach));
        assert_eq!(Seen::default().see(much_file, Some(&limit(Counts::Private)), 0), None);
    }

    #[test]
    fn the_floor_needs_three_readings_in_a_row() {
        let mut seen = Seen::default();
        let (low, high) = (reading(1, 1, 50), reading(1, 1, 500));
        let outcomes: Vec<bool> = [low, low, high, low, low, low]
            .map(|reading| seen.see(reading, None, 64 * MIB).is_some())
            .to_vec();
        assert_eq!(outcomes, [false, false, false, false, false, true]);
        assert_eq!(seen.peaks.available_bytes, 50 * MIB);
    }

    #[test]
    fn a_reading_is_taken_from_the_kernels_words() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(dir.path().join("proc/7")).unwrap();
        let write = |path: &str, text: &str| std::fs::write(dir.path().join(path), text).unwrap();
        write(
            "proc/7/status",
            "Name:\tx\nVmHWM:\t    900 kB\nRssAnon:\t 500 kB\nRssFile:\t 300 kB\nRssShmem:\t 20 kB\nVmSwap:\t 4 kB\n",
        );
        write("proc/7/stat", "7 (odd) name) S 1 7 7 0 -1 4194304 100 0 42 0 1 2\n");
        write("proc/meminfo", "MemAvailable:   1000 kB\n");
        write("proc/vmstat", "pswpin 11\npswpout 12\nworkingset_refault_file 13\n");
        let reading = Reading::of(&System::below(dir.path()), 7).unwrap();
        assert_eq!(reading.private_bytes, 520 << 10);
        assert_eq!(reading.counted(Counts::Resident), 824 << 10);
        assert_eq!((reading.high_water_bytes, reading.major_faults), (900 << 10, 42));
        assert_eq!((reading.swapped_in_pages, reading.refaulted_pages), (11, 13));
        assert_eq!(Reading::of(&System::below(dir.path()), 8), None);
    }

    #[test]
    fn storms_are_many_pages_in_little_time() {
        let storm = |pages, wall_us| Peaks { major_faults: pages, ..Peaks::default() }.is_storm(wall_us);
        assert!(storm(5000, 10_000_000));
        assert!(!storm(5000, 100_000_000));
        assert!(!storm(200, 1000));
    }
}
