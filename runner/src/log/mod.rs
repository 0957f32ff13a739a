//! The append-only log of a run: the only input of every report.
//!
//! A run folder holds `log` (a format line, then one [frame](crate::frame) per entry) and `lock`. A torn tail is cut
//! and kept aside, a damaged stretch is skipped and counted, and no reader ever gives a record that was not
//! written. Entries are ordered by their sequence number, never by time. The byte format is in `docs/log-format.md`.

mod error;
mod lock;
mod manifest;
mod name;
mod reader;
mod recovery;
mod sink;
mod space;
mod summary;
#[cfg(test)]
mod tests;
mod writer;

pub use error::LogError;
pub use lock::Lock;
pub(crate) use manifest::beside;
pub use manifest::{Copied, read_manifest, write_manifest};
pub(crate) use name::stamp;
pub use name::{NameSet, run_id, sanitise};
pub use reader::{Damage, DamageKind, Reader, Record};
pub(crate) use recovery::set_aside;
pub use recovery::{Cut, Recovery};
pub(crate) use sink::sync_dir;
pub use sink::{Fsync, Sink};
pub use space::free_bytes;
pub use summary::{Summary, verify};
pub use writer::Log;

/// Name of the log in a run folder.
pub const LOG_FILE: &str = "log";

/// The log that a path means: a file is one itself, a run folder holds one.
pub fn file_of(path: &std::path::Path) -> std::path::PathBuf {
    if path.is_file() { path.to_owned() } else { path.join(LOG_FILE) }
}
/// Name of the lock file in a run folder.
pub const LOCK_FILE: &str = "lock";
/// The newest format that this build reads, and the one it writes.
pub const FORMAT: u32 = 1;
/// What a log begins with; the format number and a newline follow.
const MAGIC: &str = "edge-eval log ";
