//! Memory control groups, both versions: limits, use, kills.

use std::path::{Path, PathBuf};

use super::System;
use super::system::counter_line;

/// The memory group of a process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cgroup {
    /// 1 or 2.
    pub version: u8,
    /// Its folder.
    pub dir: PathBuf,
    /// Where the hierarchy is mounted.
    pub top: PathBuf,
}

/// A limit with what is used of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupLimit {
    /// The group as the system names it.
    pub name: String,
    /// The limit.
    pub limit_bytes: u64,
    /// What is used, cached file pages included.
    pub used_bytes: u64,
    /// Cached file pages that can be dropped.
    pub inactive_file_bytes: u64,
}

impl GroupLimit {
    /// What is left when cached pages are dropped.
    pub fn room_bytes(&self) -> u64 {
        self.limit_bytes.saturating_sub(self.used_bytes.saturating_sub(self.inactive_file_bytes))
    }
}

impl Cgroup {
    /// The group of a process, `self` or a number; `None` without a memory controller.
    pub fn of(system: &System, process: &str) -> Option<Cgroup> {
        let groups = system.read(&format!("proc/{process}/cgroup"))?;
        let mounts = system.read("proc/self/mountinfo")?;
        // A hybrid system has both; the version that has the memory controller counts.
        let v1 = groups.lines().find_map(|line| {
            let mut fields = line.splitn(3, ':').skip(1);
            let controllers = fields.next()?;
            controllers.split(',').any(|name| name == "memory").then(|| fields.next())?
        });
        let v2 = groups.lines().find_map(|line| line.strip_prefix("0::"));
        let (version, path) = match (v1, v2) {
            (Some(path), _) => (1, path),
            (None, Some(path)) => (2, path),
            (None, None) => return None,
        };
        let (mount_root, mount) = mounts.lines().find_map(|line| mount_of(line, version))?;
        let inside = path.strip_prefix(mount_root.trim_end_matches('/')).unwrap_or(path);
        let top = system.root().join(mount.trim_start_matches('/'));
        let dir = top.join(inside.trim_start_matches('/'));
        // In a container the path may name what is not mounted here: then the mount is the group.
        let dir = if dir.is_dir() { dir } else { top.clone() };
        Some(Cgroup { version, dir, top })
    }

    /// A figure of a file of the group.
    pub fn figure(&self, file: &str) -> Option<u64> {
        figure(&self.dir, file)
    }

    /// Limits of the group and of all above it.
    pub fn limits(&self) -> Vec<GroupLimit> {
        let (limit, used, cached) = match self.version {
            1 => ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"),
            _ => ("memory.max", "memory.current", "inactive_file"),
        };
        /// Version 1 writes the largest number of pages for no limit.
        const NO_LIMIT: u64 = 1 << 60;
        let inside = self.dir.ancestors().take_while(|dir| dir.starts_with(&self.top));
        let of = |dir: &Path| {
            let limit_bytes = figure(dir, limit).filter(|&bytes| bytes < NO_LIMIT)?;
            let stat = std::fs::read_to_string(dir.join("memory.stat")).unwrap_or_default();
            let below = dir.strip_prefix(&self.top).unwrap_or(dir);
            Some(GroupLimit {
                name: format!("memory group /{}", below.display()),
                limit_bytes,
                used_bytes: figure(dir, used)?,
                inactive_file_bytes: counter_line(&stat, cached).unwrap_or(0),
            })
        };
        inside.filter_map(of).collect()
    }

    /// Processes of the group that were killed for want of memory, its own or the whole system's.
    pub fn kills(&self) -> u64 {
        let file = if self.version == 1 { "memory.oom_control" } else { "memory.events" };
        std::fs::read_to_string(self.dir.join(file))
            .ok()
            .and_then(|text| counter_line(&text, "oom_kill"))
            .unwrap_or(0)
    }

    /// How often the limit of the group, or of one above it, stood in the way.
    pub fn limit_hits(&self) -> u64 {
        let inside = self.dir.ancestors().take_while(|dir| dir.starts_with(&self.top));
        let hits = |dir: &Path| match self.version {
            1 => figure(dir, "memory.failcnt"),
            _ => counter_line(&std::fs::read_to_string(dir.join("memory.events")).ok()?, "oom"),
        };
        inside.filter_map(hits).sum()
    }

    /// The most that the group ever used, cached file pages included.
    pub fn peak_bytes(&self) -> Option<u64> {
        self.figure(if self.version == 1 { "memory.max_usage_in_bytes" } else { "memory.peak" })
    }
}

fn figure(dir: &Path, file: &str) -> Option<u64> {
    std::fs::read_to_string(dir.join(file)).ok()?.trim().parse().ok()
}

/// Root and place of a mount, when the line is that of the memory hierarchy of this version.
fn mount_of(line: &str, version: u8) -> Option<(&str, &str)> {
    let (before, after) = line.split_once(" - ")?;
    let mut kind = after.split(' ');
    let is_it = match version {
        1 => kind.next() == Some("cgroup") && kind.nth(1)?.split(',').any(|option| option == "memory"),
        _ => kind.next() == Some("cgroup2"),
    };
    let mut fields = before.split(' ').skip(3);
    let found = (fields.next()?, fields.next()?);
    is_it.then_some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mounts_are_told_apart() {
        let v1 = "31 24 0:27 / /sys/fs/cgroup/memory rw,relatime shared:5 - cgroup cgroup rw,memory";
        let v2 = "30 24 0:26 /x /sys/fs/cgroup rw - cgroup2 cgroup2 rw";
        let cpu = "32 24 0:28 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu";
        assert_eq!(mount_of(v1, 1), Some(("/", "/sys/fs/cgroup/memory")));
        assert_eq!(mount_of(v2, 2), Some(("/x", "/sys/fs/cgroup")));
        assert_eq!((mount_of(cpu, 1), mount_of(v1, 2), mount_of(v2, 1)), (None, None, None));
    }

    #[test]
    fn cached_pages_larger_than_the_use_leave_the_whole_limit() {
        let limit =
            GroupLimit { name: String::new(), limit_bytes: 100, used_bytes: 30, inactive_file_bytes: 50 };
        assert_eq!(limit.room_bytes(), 100);
    }
}
