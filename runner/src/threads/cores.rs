//! What Linux tells of processors: which are on, which this process may use, which share a core, which are fast.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// A core counts among the fastest from this share of the best rating on. Favoured cores of one kind differ by a few
/// per cent; the slow kind of a PC reaches three quarters of the fast one's clock.
const FASTEST_SHARE: (u64, u64) = (4, 5);

/// The cores that a process may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cores {
    /// Logical processors.
    pub logical: u32,
    /// Physical cores.
    pub physical: u32,
    /// Physical cores of the fastest kind.
    pub fastest: u32,
    /// What told the kinds apart.
    pub told: Told,
    /// Processors' worth of time that a container's limit leaves, where there is one.
    pub quota: Option<u32>,
}

/// What tells kinds of cores apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Told {
    /// `cpu_capacity`: the kernel's own measure of work per time.
    Capacity,
    /// `cpufreq/cpuinfo_max_freq`: the highest clock.
    Clock,
    /// Neither: all cores count as one kind.
    Nothing,
}

impl Told {
    /// For people: "told apart by {}".
    pub fn in_words(self) -> &'static str {
        match self {
            Told::Capacity => "cpu_capacity",
            Told::Clock => "cpuinfo_max_freq",
            Told::Nothing => "nothing: all count as one kind",
        }
    }
}

impl Cores {
    /// Reads the system below `root`; `None` where it does not tell which processors there are.
    pub fn read(root: &Path) -> Option<Cores> {
        let cpus = root.join("sys/devices/system/cpu");
        let mut usable = list(&text(&cpus.join("online"))?)?;
        if let Some(allowed) = allowed(root) {
            usable = usable.intersection(&allowed).copied().collect();
        }
        if usable.is_empty() {
            return None;
        }
        // One processor stands for each core: the first of those that share it.
        let mut cores: BTreeMap<u32, u32> = BTreeMap::new();
        for &cpu in &usable {
            let first = siblings(&cpus, cpu).and_then(|all| all.first().copied()).unwrap_or(cpu);
            cores.entry(first).or_insert(cpu);
        }
        let rated = |file: &str| -> Option<Vec<u64>> {
            cores.values().map(|cpu| number(&cpus.join(format!("cpu{cpu}/{file}")))).collect()
        };
        let (told, ratings) = match (rated("cpu_capacity"), rated("cpufreq/cpuinfo_max_freq")) {
            (Some(ratings), _) => (Told::Capacity, ratings),
            (None, Some(ratings)) => (Told::Clock, ratings),
            (None, None) => (Told::Nothing, vec![1; cores.len()]),
        };
        let best = ratings.iter().copied().max().unwrap_or(1);
        let (share, whole) = FASTEST_SHARE;
        let fastest = ratings
            .iter()
            .filter(|&&rating| u128::from(rating) * whole as u128 >= u128::from(best) * share as u128);
        let cores = Cores {
            logical: usable.len() as u32,
            physical: cores.len() as u32,
            fastest: fastest.count() as u32,
            told,
            quota: quota(root),
        };
        Some(cores.at_most(cores.quota.unwrap_or(u32::MAX)))
    }

    /// The same where only so many may run at a time.
    pub fn at_most(self, usable: u32) -> Cores {
        let within = |count: u32| count.min(usable).max(1);
        Cores {
            logical: within(self.logical),
            physical: within(self.physical),
            fastest: within(self.fastest),
            ..self
        }
    }
}

/// The processors that this process may run on.
fn allowed(root: &Path) -> Option<BTreeSet<u32>> {
    let status = text(&root.join("proc/self/status"))?;
    list(status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"))?)
}

/// The processors that share a core with one, itself included.
fn siblings(cpus: &Path, cpu: u32) -> Option<BTreeSet<u32>> {
    let topology = cpus.join(format!("cpu{cpu}/topology"));
    // The second is the name that older kernels know.
    ["core_cpus_list", "thread_siblings_list"].iter().find_map(|name| list(&text(&topology.join(name))?))
}

/// Whole processors' worth of time that a control group leaves: `200000 100000` is two.
fn quota(root: &Path) -> Option<u32> {
    let text = text(&root.join("sys/fs/cgroup/cpu.max"))?;
    let mut words = text.split_whitespace();
    let (quota, period) = (words.next()?.parse::<u64>().ok()?, words.next()?.parse::<u64>().ok()?);
    u32::try_from(quota.checked_div(period)?.max(1)).ok()
}

fn text(path: &Path) -> Option<String> {
    std::fs::read_to_string(path).ok().map(|text| text.trim().to_owned()).filter(|text| !text.is_empty())
}

fn number(path: &Path) -> Option<u64> {
    text(path)?.parse().ok()
}

/// `0-3,6` as numbers; `None` for what is no such list.
pub(super) fn list(text: &str) -> Option<BTreeSet<u32>> {
    /// More processors than any kernel counts.
    const MOST: u32 = 1 << 16;
    let mut all = BTreeSet::new();
    for range in text.trim().split(',') {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        let (first, last): (u32, u32) = (first.trim().parse().ok()?, last.trim().parse().ok()?);
        if first > last || last > MOST {
            return None;
        }
        all.extend(first..=last);
    }
    Some(all)
}
