//! What can be wrong with a parcel, in one line that says what to do.

use std::io;
use std::path::{Path, PathBuf};

/// A parcel cannot be read, trusted or written.
#[derive(Debug, thiserror::Error)]
pub enum ParcelError {
    /// The file system failed.
    #[error("{}: cannot {action}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What was tried.
        action: &'static str,
        /// What the system said.
        source: io::Error,
    },
    /// The file is not what was written.
    #[error("{}: the file is damaged ({reason}): copy it again from where it came", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        reason: String,
    },
    /// Made by another build.
    #[error("{}: its parcel has format {found}, this build reads format {known}: use the build that made it", path.display())]
    Format {
        /// The file.
        path: PathBuf,
        /// Its format.
        found: u32,
        /// The one that is known.
        known: u32,
    },
    /// No executable that can carry members.
    #[error("{}: {reason}", path.display())]
    NoExecutable {
        /// The file.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// No such member.
    #[error("{}: carries no {name}", path.display())]
    Absent {
        /// The file.
        path: PathBuf,
        /// Name of the member.
        name: String,
    },
    /// A member cannot be written as it was asked for.
    #[error("member {name:?}: {reason}")]
    Unwritable {
        /// Name of the member.
        name: String,
        /// Why.
        reason: String,
    },
}

impl ParcelError {
    pub(super) fn io(path: &Path, action: &'static str) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| ParcelError::Io { path, action, source }
    }

    pub(super) fn damaged(path: &Path, reason: impl Into<String>) -> Self {
        ParcelError::Damaged { path: path.to_owned(), reason: reason.into() }
    }

    /// Whether the device had no room.
    pub fn is_full(&self) -> bool {
        matches!(self, ParcelError::Io { source, .. }
            if matches!(source.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded))
    }
}
