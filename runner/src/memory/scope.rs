//! A delegated memory group from systemd, for a program whose own group lets it make none: it starts itself anew in a scope.

use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};

use super::{Enforce, OwnGroup, System};

/// Set for the program that was started anew, so that it does not try again.
const STARTED_ANEW: &str = "EDGE_EVAL_IN_SCOPE";
/// Any limit will do to see whether a group can be made.
const TRIED_BYTES: u64 = 1 << 30;

/// Starts this program anew in a scope of systemd, where the configuration wants a memory group, none can be made here and
/// a systemd of the session is there. Returns where it stays as it is: what cannot be had is then said when the first
/// worker starts.
pub fn enter(enforce: Enforce) {
    if enforce != Enforce::Cgroup
        || std::env::var_os(STARTED_ANEW).is_some()
        || OwnGroup::make(&System::default(), TRIED_BYTES).is_ok()
    {
        return;
    }
    let Ok(program) = std::env::current_exe() else { return };
    // A session without systemd's bus fails here, and not in the place of the run.
    let there = scope().arg("true").stdout(Stdio::null()).stderr(Stdio::null()).status();
    if there.is_ok_and(|status| status.success()) {
        let _ = scope().arg(program).args(std::env::args_os().skip(1)).env(STARTED_ANEW, "1").exec();
    }
}

fn scope() -> Command {
    let mut command = Command::new("systemd-run");
    command.args(["--user", "--scope", "--quiet", "--collect", "--property=Delegate=yes", "--"]);
    command
}
