//! What memory the machine has and has left: `/proc/meminfo` and the limits of the groups that this process is in.

use std::path::{Path, PathBuf};

use super::Cgroup;

/// A system, seen through its `/proc` and `/sys` below a root that tests replace.
#[derive(Clone, Debug)]
pub struct System {
    root: PathBuf,
}

impl Default for System {
    fn default() -> Self {
        System { root: PathBuf::from("/") }
    }
}

impl System {
    /// A system whose files lie below `root`.
    pub fn below(root: &Path) -> Self {
        System { root: root.to_owned() }
    }

    /// A file of the system, `None` when it cannot be read.
    pub fn read(&self, path: &str) -> Option<String> {
        std::fs::read_to_string(self.root.join(path)).ok()
    }

    /// Where the root lies.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// A figure of `/proc/meminfo` in bytes.
    pub fn meminfo(&self, key: &str) -> Option<u64> {
        kib_line(&self.read("proc/meminfo")?, key)
    }

    /// A counter of `/proc/vmstat`.
    pub fn vmstat(&self, key: &str) -> Option<u64> {
        counter_line(&self.read("proc/vmstat")?, key)
    }

    /// The memory groups that this process is in.
    pub fn cgroup(&self) -> Option<Cgroup> {
        Cgroup::of(self, "self")
    }

    /// The memory that there is: physical, or the smallest limit of a group; with words for which.
    pub fn capacity(&self) -> Option<(u64, String)> {
        let physical = self.meminfo("MemTotal").map(|bytes| (bytes, "physical memory".to_owned()));
        let groups = self.cgroup().into_iter().flat_map(|group| group.limits());
        let groups = groups.map(|limit| (limit.limit_bytes, format!("limit of {}", limit.name)));
        physical.into_iter().chain(groups).min_by_key(|(bytes, _)| *bytes)
    }

    /// The memory that can be taken now: available, or what a group's limit leaves; with words for which.
    ///
    /// Cached file pages of a group count as free, since they are dropped when the group needs room.
    pub fn available(&self) -> Option<(u64, String)> {
        let free = self.meminfo("MemAvailable").or_else(|| self.meminfo("MemFree"));
        let free = free.map(|bytes| (bytes, "available memory".to_owned()));
        let groups = self.cgroup().into_iter().flat_map(|group| group.limits());
        let groups = groups.map(|limit| (limit.room_bytes(), format!("room in {}", limit.name)));
        free.into_iter().chain(groups).min_by_key(|(bytes, _)| *bytes)
    }

    /// What `auto` leaves to others: a twentieth of the memory, at most 512 MiB, at least 128 MiB or an eighth where
    /// there is less than 1 GiB.
    pub fn reserve_bytes(&self) -> u64 {
        const LEAST: u64 = 128 << 20;
        const MOST: u64 = 512 << 20;
        let capacity = self.capacity().map(|(bytes, _)| bytes);
        capacity.map_or(LEAST, |bytes| (bytes / 20).clamp(LEAST.min(bytes / 8), MOST))
    }
}

/// `Key:   123 kB` in bytes.
pub(super) fn kib_line(text: &str, key: &str) -> Option<u64> {
    let rest = text.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(':'))?;
    rest.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1024)
}

/// `key 123`.
pub(super) fn counter_line(text: &str, key: &str) -> Option<u64> {
    text.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(' ')?.trim().parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn system(files: &[(&str, &str)]) -> (tempfile::TempDir, System) {
        let dir = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = dir.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        let system = System::below(dir.path());
        (dir, system)
    }

    const MEMINFO: &str =
        "MemTotal:        8000000 kB\nMemFree:          100000 kB\nMemAvailable:    4000000 kB\n";
    const V2_MOUNT: &str = "30 24 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n";

    #[test]
    fn sys_08_cached_pages_of_a_group_are_free_and_max_is_no_limit() {
        let files = [
            ("proc/meminfo", MEMINFO),
            ("proc/self/cgroup", "0::/box\n"),
            ("proc/self/mountinfo", V2_MOUNT),
            ("sys/fs/cgroup/box/memory.max", "2147483648\n"),
            ("sys/fs/cgroup/box/memory.current", "2040109465\n"),
            ("sys/fs/cgroup/box/memory.stat", "anon 5\ninactive_file 1717986918\n"),
        ];
        let (_dir, limited) = system(&files);
        assert_eq!(limited.available().unwrap().0, 1_825_361_101);
        assert_eq!(limited.capacity().unwrap().0, 2_147_483_648);
        let mut files = files;
        files[3].1 = "max\n";
        let (_dir, free) = system(&files);
        assert_eq!(free.available(), Some((4_096_000_000, "available memory".into())));
        assert_eq!(free.capacity().unwrap().0, 8_192_000_000);
    }

    #[test]
    fn the_smallest_limit_of_all_groups_above_counts() {
        let (_dir, nested) = system(&[
            ("proc/meminfo", MEMINFO),
            ("proc/self/cgroup", "0::/a/b\n"),
            ("proc/self/mountinfo", V2_MOUNT),
            ("sys/fs/cgroup/a/memory.max", "1000000000\n"),
            ("sys/fs/cgroup/a/memory.current", "400000000\n"),
            ("sys/fs/cgroup/a/memory.stat", "inactive_file 0\n"),
            ("sys/fs/cgroup/a/b/memory.max", "max\n"),
            ("sys/fs/cgroup/a/b/memory.current", "1\n"),
        ]);
        let (bytes, what) = nested.available().unwrap();
        assert_eq!(bytes, 600_000_000);
        assert!(what.contains("/a"), "{what}");
    }

    #[test]
    fn version_1_groups_count_too_and_their_huge_number_is_no_limit() {
        let mounts = "31 24 0:27 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n";
        let files = [
            ("proc/meminfo", MEMINFO),
            ("proc/self/cgroup", "4:memory:/box\n0::/\n"),
            ("proc/self/mountinfo", mounts),
            ("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n"),
            ("sys/fs/cgroup/memory/memory.usage_in_bytes", "10\n"),
            ("sys/fs/cgroup/memory/box/memory.limit_in_bytes", "1000000\n"),
            ("sys/fs/cgroup/memory/box/memory.usage_in_bytes", "700000\n"),
            ("sys/fs/cgroup/memory/box/memory.stat", "inactive_file 9\ntotal_inactive_file 100000\n"),
        ];
        let (_dir, system) = system(&files);
        assert_eq!(system.available().unwrap().0, 400_000);
    }

    #[test]
    fn a_bare_system_tells_nothing_and_reserves_the_least() {
        let (_dir, bare) = system(&[]);
        assert_eq!((bare.capacity(), bare.available()), (None, None));
        assert_eq!(bare.reserve_bytes(), 128 << 20);
        for (total_kib, reserve_mib) in [(524_288, 64), (2 << 20, 128), (8 << 20, 409), (64 << 20, 512)] {
            let meminfo = format!("MemTotal: {total_kib} kB\n");
            let (_dir, system) = system(&[("proc/meminfo", &meminfo)]);
            assert_eq!(system.reserve_bytes() >> 20, reserve_mib, "{total_kib}");
        }
    }
}
