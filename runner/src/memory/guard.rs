//! What a supervisor arranges around a worker: the watch, the limits of the system, and the evidence when it dies.

use serde::{Deserialize, Serialize};

use super::{Breach, Cgroup, Counts, Evidence, Limit, OwnGroup, Peaks, System, Watch};

/// Who keeps a budget beside the watch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Enforce {
    /// Nobody: the watch reads ten times a second.
    #[default]
    Watch,
    /// The kernel, by a memory group of the worker's own; refused where none can be made.
    Cgroup,
    /// The kernel, by a limit of the process's private memory.
    Rlimit,
}

impl Enforce {
    /// As a log calls it.
    pub fn as_str(self) -> &'static str {
        match self {
            Enforce::Watch => "watch",
            Enforce::Cgroup => "cgroup",
            Enforce::Rlimit => "rlimit",
        }
    }
}

/// How a worker is guarded.
#[derive(Clone, Debug, Default)]
pub struct Guard {
    /// What it may take.
    pub limit: Option<Limit>,
    /// Memory that the system must keep; below it the worker is killed.
    pub floor_bytes: u64,
    /// Who keeps the limit beside the watch.
    pub enforce: Enforce,
    /// Watched at all; a worker that only reads a vocabulary need not be.
    pub watched: bool,
}

impl Guard {
    /// Memory that the system must keep, unless the configuration says otherwise: half of what `auto` reserves.
    pub fn floor_of(system: &System) -> u64 {
        system.reserve_bytes() / 2
    }

    /// Begins to guard a process that has just been started.
    pub fn begin(&self, pid: u32) -> Result<Guarding, String> {
        let system = System::default();
        let mut own = None;
        if let Some(limit) = &self.limit {
            match self.enforce {
                Enforce::Watch => {}
                Enforce::Cgroup => {
                    let group = OwnGroup::make(&system, limit.bytes).map_err(|why| {
                        format!("no memory group can be made ({why}): use enforce = \"watch\"")
                    })?;
                    group.add(pid)?;
                    own = Some(group);
                }
                Enforce::Rlimit => limit_private(pid, limit)?,
            }
        }
        let group = Cgroup::of(&system, &pid.to_string());
        let kills = Kills::now(&system, group.as_ref());
        // In a group that others share, the peak tells of all of them.
        let measured = own.as_ref().map(|own| own.cgroup().clone());
        let watch = self
            .watched
            .then(|| Watch::begin(system.clone(), pid, self.limit.clone(), self.floor_bytes, measured));
        Ok(Guarding { watch, group, kills, system, own })
    }
}

/// Private memory that a process may have beyond the budget before its allocations fail: stacks and small things.
const RLIMIT_SLACK_BYTES: u64 = 16 << 20;

fn limit_private(pid: u32, limit: &Limit) -> Result<(), String> {
    use rustix::process::{Pid, Resource, Rlimit, prlimit};
    if limit.counts != Counts::Private {
        return Err("enforce = \"rlimit\" limits private memory alone: set counts = \"private\"".into());
    }
    let bytes = limit.bytes + RLIMIT_SLACK_BYTES;
    let pid = i32::try_from(pid).ok().and_then(Pid::from_raw);
    prlimit(pid, Resource::Data, Rlimit { current: Some(bytes), maximum: Some(bytes) })
        .map(drop)
        .map_err(|error| format!("the worker's memory cannot be limited: {error}"))
}

/// Counters of kills for want of memory.
#[derive(Clone, Copy, Debug, Default)]
struct Kills {
    group: u64,
    limit_hits: u64,
    system: u64,
}

impl Kills {
    fn now(system: &System, group: Option<&Cgroup>) -> Self {
        Kills {
            group: group.map_or(0, Cgroup::kills),
            limit_hits: group.map_or(0, Cgroup::limit_hits),
            system: system.vmstat("oom_kill").unwrap_or(0),
        }
    }
}

/// A process that is guarded.
#[derive(Debug)]
pub struct Guarding {
    watch: Option<Watch>,
    group: Option<Cgroup>,
    kills: Kills,
    system: System,
    /// Dropped last: a group can be removed when nobody is in it.
    own: Option<OwnGroup>,
}

impl Guarding {
    /// What the process took so far, and what the counters rose by since the last account.
    pub fn account(&self) -> Option<Peaks> {
        self.watch.as_ref().map(Watch::account)
    }

    /// Why the watch killed it.
    pub fn breach(&self) -> Option<Breach> {
        self.watch.as_ref().and_then(Watch::breach)
    }

    /// No more kills from here on.
    pub fn end(&self) {
        if let Some(watch) = &self.watch {
            watch.end();
        }
    }

    /// Whether the process has a group of its own.
    pub fn has_group(&self) -> bool {
        self.own.is_some()
    }

    /// What is known of its death.
    pub fn evidence(&self, last_words: Vec<String>) -> Evidence {
        let now = Kills::now(&self.system, self.group.as_ref());
        // A system without memory kills in groups too, but no limit stands in the way then.
        let group_kills = match now.limit_hits > self.kills.limit_hits {
            true => now.group.saturating_sub(self.kills.group),
            false => 0,
        };
        Evidence {
            breach: self.breach(),
            group_kills,
            system_kills: now.system.saturating_sub(self.kills.system),
            last_words,
        }
    }
}
