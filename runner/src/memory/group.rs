//! A memory group of a worker's own, where the system lets this process make one.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use super::{Cgroup, System};

/// A group that was made here and is removed with this value.
#[derive(Debug)]
pub struct OwnGroup {
    group: Cgroup,
}

impl OwnGroup {
    /// Makes a group below this process's own, with a limit that the kernel keeps. `Err` says why it cannot be had.
    pub fn make(system: &System, limit_bytes: u64) -> Result<OwnGroup, String> {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let mut own = system.cgroup().ok_or("this system has no memory controller")?;
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let name = format!("edge-eval-worker-{}-{number}", std::process::id());
        if own.version == 2 {
            own.dir = above_aside(&own.dir).to_owned();
            delegate(&own.dir)?;
        }
        let dir = own.dir.join(name);
        std::fs::create_dir(&dir).map_err(|error| format!("{}: {error}", dir.display()))?;
        let made = OwnGroup { group: Cgroup { dir, ..own } };
        match made.group.version {
            1 => made.write("memory.limit_in_bytes", limit_bytes)?,
            _ => {
                made.write("memory.max", limit_bytes)?;
                // Where there is a swap, it must not hide what exceeds the budget; without the file there is none.
                let _ = made.write("memory.swap.max", 0);
            }
        }
        Ok(made)
    }

    /// Moves a process into the group; what it takes from now on counts.
    pub fn add(&self, pid: u32) -> Result<(), String> {
        self.write("cgroup.procs", u64::from(pid))
    }

    /// The group.
    pub fn cgroup(&self) -> &Cgroup {
        &self.group
    }

    fn write(&self, file: &str, figure: u64) -> Result<(), String> {
        let path = self.group.dir.join(file);
        std::fs::write(&path, figure.to_string()).map_err(|error| format!("{}: {error}", path.display()))
    }
}

impl Drop for OwnGroup {
    fn drop(&mut self) {
        // A process that is being reaped may hold it for a moment longer.
        for _ in 0..20 {
            if std::fs::remove_dir(&self.group.dir).is_ok() || !self.group.dir.exists() {
                return;
            }
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
    }
}

/// Where a process goes that must leave its group to groups below.
const ASIDE: &str = "edge-eval-supervisor";

/// The group that a process had before it stepped aside, itself or the one that started it.
fn above_aside(dir: &Path) -> &Path {
    match dir.file_name() {
        Some(name) if name == ASIDE => dir.parent().unwrap_or(dir),
        _ => dir,
    }
}

/// Lets groups below `dir` have limits. A group with processes of its own may not: then this process steps aside into a
/// group of its own below.
fn delegate(dir: &Path) -> Result<(), String> {
    let control = dir.join("cgroup.subtree_control");
    let wrong = |path: &PathBuf, error: std::io::Error| format!("{}: {error}", path.display());
    let enabled = std::fs::read_to_string(&control).map_err(|error| wrong(&control, error))?;
    if enabled.split_whitespace().any(|name| name == "memory") {
        return Ok(());
    }
    let enable = || std::fs::write(&control, "+memory");
    if enable().is_ok() {
        return Ok(());
    }
    let aside = dir.join(ASIDE);
    if !aside.is_dir() {
        std::fs::create_dir(&aside).map_err(|error| wrong(&aside, error))?;
    }
    let procs = aside.join("cgroup.procs");
    std::fs::write(&procs, std::process::id().to_string()).map_err(|error| wrong(&procs, error))?;
    enable().map_err(|error| wrong(&control, error))
}
