//! Says on standard error when a run that is handed on is not all that it was planned to be: what is written to a file or a
//! pipe has no place for it.

use std::path::Path;

use super::talk;
use crate::count::counted;
use crate::report::RunLog;

/// Tells what a run lacks; nothing where it lacks nothing.
pub(super) fn tell(dir: &Path, run: &RunLog) {
    if let Some(line) = line(run) {
        talk(&format!("{}: {line}", dir.display()));
    }
}

/// `4 of 5 groups are in the log; 1 damaged stretch`.
fn line(run: &RunLog) -> Option<String> {
    let (there, planned) = (run.groups.len() as u64, u64::from(run.header.own_groups()));
    let summary = &run.summary;
    let mut parts = Vec::new();
    if there < planned {
        parts.push(format!("{there} of {} are in the log", counted(planned, "group")));
    } else if run.complete.is_none() {
        parts.push("every group is in the log, but the run did not come to its end".to_owned());
    }
    for (count, what) in [
        (summary.damaged_stretches, "damaged stretch"),
        (summary.missing_frames, "missing entry"),
        (summary.foreign_frames, "unreadable entry"),
    ] {
        match count {
            0 => {}
            1 => parts.push(format!("1 {what}")),
            count => parts.push(match what.strip_suffix('y') {
                Some(stem) => format!("{count} {stem}ies"),
                None => format!("{count} {what}es"),
            }),
        }
    }
    if summary.torn_tail_bytes > 0 {
        parts.push(format!("a torn end of {}", counted(summary.torn_tail_bytes, "byte")));
    }
    parts.extend(summary.unreadable.as_ref().map(|error| format!("reading ended early ({error})")));
    (!parts.is_empty()).then(|| parts.join("; "))
}
