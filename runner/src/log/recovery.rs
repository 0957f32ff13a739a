//! Makes a log fit to be continued: finds the last intact frame, cuts what follows and keeps it aside.

use std::fmt;
use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;

use super::manifest::beside;
use super::sink::sync_dir;
use super::{LOG_FILE, LogError, Reader, Summary};

/// What opening an existing log found and did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recovery {
    /// The log as it was found.
    pub found: Summary,
    /// The torn tail, if there was one.
    pub cut: Option<Cut>,
}

/// A torn tail that was cut.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cut {
    /// The file that keeps it.
    pub kept_in: PathBuf,
    /// Its length.
    pub bytes: u64,
}

impl fmt::Display for Recovery {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.found.fmt(f)?;
        if let Some(cut) = &self.cut {
            write!(f, " (cut, and kept in {})", cut.kept_in.display())?;
        }
        Ok(())
    }
}

/// Checks a log and cuts its torn tail. The folder's lock is held.
pub(super) fn recover<T: DeserializeOwned>(dir: &Path, synced: bool) -> Result<Recovery, LogError> {
    let path = dir.join(LOG_FILE);
    let mut reader = Reader::<T>::open(&path)?;
    let found = Summary::of(&mut reader);
    drop(reader);
    if let Some(error) = &found.unreadable {
        return Err(LogError::io(&path, "read the log to its end", io::Error::other(error.clone())));
    }
    if let Some(foreign) = &found.first_foreign {
        let (offset, reason) = (foreign.bytes.start, foreign.kind.to_string());
        return Err(LogError::Foreign { path, offset, reason });
    }
    if found.good_frames == 0 {
        let found = format!("{} bytes behind the first line are no entry", found.torn_tail_bytes);
        return Err(LogError::Headerless { path, found });
    }
    let cut = if found.torn_tail_bytes > 0 {
        Some(cut_tail(dir, &path, found.end_of_good_bytes, synced)?)
    } else {
        None
    };
    Ok(Recovery { found, cut })
}

fn cut_tail(dir: &Path, path: &Path, keep_bytes: u64, synced: bool) -> Result<Cut, LogError> {
    let mut log = OpenOptions::new()
        .read(true)
        .write(true)
        .open(path)
        .map_err(|error| LogError::io(path, "open the log to cut its torn tail", error))?;
    let (mut side, kept_in) = side_file(path)?;
    let bytes = log
        .seek(SeekFrom::Start(keep_bytes))
        .and_then(|_| io::copy(&mut log, &mut side))
        .map_err(|error| LogError::io(&kept_in, "copy the log's torn tail to it", error))?;
    if synced {
        side.sync_all().map_err(|error| LogError::io(&kept_in, "force it to the device", error))?;
        sync_dir(dir).map_err(|error| LogError::io(dir, "force the folder to the device", error))?;
    }
    // Only now that a copy is safe.
    log.set_len(keep_bytes).map_err(|error| LogError::io(path, "cut the torn tail of", error))?;
    if synced {
        log.sync_all().map_err(|error| LogError::io(path, "force the cut log to the device", error))?;
    }
    Ok(Cut { kept_in, bytes })
}

/// Puts a log in which nothing is recorded out of the way; what it holds is kept.
pub(crate) fn set_aside(path: &Path) -> Result<PathBuf, LogError> {
    let (_, kept_in) = side_file(path)?; // claims the name; the renaming replaces the empty file
    std::fs::rename(path, &kept_in).map_err(|error| LogError::io(path, "set aside", error))?;
    Ok(kept_in)
}

fn side_file(log: &Path) -> Result<(File, PathBuf), LogError> {
    let mut number = 1u32;
    loop {
        let path = beside(log, &format!("torn-{number}"));
        match OpenOptions::new().write(true).create_new(true).open(&path) {
            Ok(file) => return Ok((file, path)),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => number += 1,
            Err(error) => return Err(LogError::io(&path, "make a file for the log's torn tail", error)),
        }
    }
}
