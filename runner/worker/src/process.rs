//! The worker as a process: what it arranges with the system before it serves.

use std::fs::File;
use std::io::{BufReader, stdin};
use std::process::ExitCode;

use super::{open_engine, serve};

/// Runs the worker on this process's standard input and output.
pub fn main() -> ExitCode {
    let output = match arrange() {
        Ok(output) => output,
        Err(error) => return complain(&format!("worker: cannot set up its pipes: {error}")),
    };
    match serve(BufReader::new(stdin()), output, open_engine) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => complain(&format!("worker: {error}")),
    }
}

/// Moves the frame pipe away from the standard output, so that nothing printed by C++ can reach it, ties the worker's
/// life to its parent's, and offers it to the kernel first when memory runs out.
#[cfg(unix)]
fn arrange() -> std::io::Result<File> {
    #[cfg(target_os = "linux")]
    {
        use rustix::process::{Signal, set_parent_process_death_signal};
        set_parent_process_death_signal(Some(Signal::KILL))?;
        // Raising one's own score needs no right; where /proc is missing the worker works without.
        let _ = std::fs::write("/proc/self/oom_score_adj", "800");
    }
    let pipe = rustix::io::fcntl_dupfd_cloexec(rustix::stdio::stdout(), 3)?;
    rustix::stdio::dup2_stdout(rustix::stdio::stderr())?;
    Ok(File::from(pipe))
}

fn complain(message: &str) -> ExitCode {
    // The supervisor collects this stream and shows it when the worker dies.
    #[allow(clippy::print_stderr)]
    {
        eprintln!("{message}");
    }
    ExitCode::FAILURE
}

/// Peak resident memory of this process; the kernel's high-water mark, which survives what was freed.
pub fn peak_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1024)
}
