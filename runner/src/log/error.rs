//! What can go wrong with a log, said so that a person knows what to do.

use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use crate::frame::FrameError;

/// A log cannot be written, opened or trusted.
#[derive(Debug, thiserror::Error)]
pub enum LogError {
    /// The file system failed.
    #[error("{}: cannot {action}: {source}; {}", path.display(), advice(source))]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// What was tried.
        action: String,
        /// What the system said.
        source: io::Error,
    },
    /// An entry does not fit a frame.
    #[error("{}: entry {seq} is not written: {source}", path.display())]
    Entry {
        /// The log.
        path: PathBuf,
        /// The number that the entry would have had.
        seq: u64,
        /// Why.
        source: FrameError,
    },
    /// An earlier error closed the log.
    #[error("{}: nothing is written any more after an earlier error: {first}", path.display())]
    Closed {
        /// The log.
        path: PathBuf,
        /// The earlier error.
        first: String,
    },
    /// The folder has a log already.
    #[error("{}: there is a log already; resume it, or choose a new run folder", path.display())]
    Exists {
        /// The log.
        path: PathBuf,
    },
    /// Nothing was recorded: an empty file, zeros, or a first frame that never became whole.
    #[error("{}: no entry is recorded in it ({found}); start the run anew, the file will be kept aside", path.display())]
    Headerless {
        /// The log.
        path: PathBuf,
        /// What is there instead.
        found: String,
    },
    /// Not a log of ours.
    #[error("{}: this is not an edge-eval log, it begins with \"{found}\"; name the `log` file of a run folder", path.display())]
    NotALog {
        /// The file.
        path: PathBuf,
        /// Its first bytes, escaped.
        found: String,
    },
    /// Written by a newer build.
    #[error(
        "{}: the log has format {found} (\"edge-eval log {found}\"), this build reads formats 1 to {known}; use the \
         edge-eval build that wrote it or a newer one", path.display()
    )]
    NewerFormat {
        /// The log.
        path: PathBuf,
        /// Its format.
        found: u32,
        /// The newest known one.
        known: u32,
    },
    /// An intact entry that this build does not understand.
    #[error(
        "{}: the entry at byte {offset} is intact, but this build cannot read it ({reason}); resume with the build that \
         wrote it", path.display()
    )]
    Foreign {
        /// The log.
        path: PathBuf,
        /// Where the entry begins.
        offset: u64,
        /// What is wrong.
        reason: String,
    },
    /// Another process writes here.
    #[error("{}: another process writes to this run: {holder}; wait for it, end it, or choose another run folder", path.display())]
    Locked {
        /// The lock file.
        path: PathBuf,
        /// Who holds it: `pid 4711 on board-3`.
        holder: String,
    },
}

impl LogError {
    pub(super) fn io(path: &Path, action: impl Into<String>, source: io::Error) -> Self {
        LogError::Io { path: path.to_owned(), action: action.into(), source }
    }
}

/// What to do about an error of the file system.
fn advice(error: &io::Error) -> &'static str {
    // EIO has no kind of its own in the standard library.
    if cfg!(unix) && error.raw_os_error() == Some(5) {
        return "the storage device fails: look at the kernel messages, copy the run folder to another device and \
                resume there";
    }
    match error.kind() {
        ErrorKind::StorageFull => {
            "the disk has no space or no inodes left: free some and run again, the run resumes where it stopped"
        }
        ErrorKind::QuotaExceeded => {
            "the user's disk quota is used up: free some of it and run again, the run resumes"
        }
        ErrorKind::ReadOnlyFilesystem => {
            "the file system is read-only, which the kernel also does after errors of the device: look at the kernel \
             messages, check the file system, mount it writable and run again, the run resumes"
        }
        ErrorKind::FileTooLarge => {
            "the file system or a limit of the shell allows no larger file (FAT: 4 GiB): choose another one"
        }
        ErrorKind::PermissionDenied => "allow this user to write there, or choose another folder",
        ErrorKind::InvalidData => "restore the file from a copy, or start a new run folder",
        ErrorKind::NotFound => "check the path",
        ErrorKind::Unsupported => "the file system does not support this: choose a folder on another one",
        _ => "nothing more is written; once the cause is removed, run again and the run resumes",
    }
}
