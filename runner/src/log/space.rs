//! Space on the device, asked before a run starts: an evaluation of hours must not end at a full card.

use std::path::Path;

use super::LogError;

/// Bytes that this user may still write on the file system of a folder.
#[cfg(unix)]
pub fn free_bytes(dir: &Path) -> Result<u64, LogError> {
    let stat = rustix::fs::statvfs(dir)
        .map_err(|error| LogError::io(dir, "ask for the free space", error.into()))?;
    Ok(stat.f_bavail.saturating_mul(stat.f_frsize))
}

/// Bytes that this user may still write on the file system of a folder.
#[cfg(not(unix))]
pub fn free_bytes(dir: &Path) -> Result<u64, LogError> {
    Err(LogError::io(dir, "ask for the free space", std::io::ErrorKind::Unsupported.into()))
}
