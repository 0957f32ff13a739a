//! Writes a log: one frame per entry, one write call per frame, every error said at once.

use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::marker::PhantomData;
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::recovery::{Recovery, recover, set_aside};
use super::sink::{Fsync, Sink, sync_dir};
use super::{FORMAT, LOG_FILE, Lock, LogError, MAGIC, verify};
use crate::frame::encode;

/// A log that is being written. It holds the lock of its run folder.
///
/// The first error closes it: half a frame is taken away where the file system still allows that, and every later
/// call fails with the same words. After a failed fsync nobody knows what is on the device, so none is tried again.
#[derive(Debug)]
pub struct Log<T> {
    path: PathBuf,
    sink: Box<dyn Sink>,
    fsync: Fsync,
    next_seq: u64,
    length_bytes: u64,
    unsynced: bool,
    closed_by: Option<String>,
    _lock: Lock,
    entry: PhantomData<fn(&T)>,
}

impl<T: Serialize + DeserializeOwned> Log<T> {
    /// Begins the log of a run folder, which is made where it is missing. `header` becomes entry 0; the log appears
    /// whole, with it, or not at all. A log in which nothing is recorded ([`LogError::Headerless`]) is set aside.
    pub fn create(dir: &Path, header: &T, fsync: Fsync) -> Result<Self, LogError> {
        std::fs::create_dir_all(dir).map_err(|error| LogError::io(dir, "make the run folder", error))?;
        let lock = Lock::acquire(dir)?;
        let path = dir.join(LOG_FILE);
        match verify::<T>(&path) {
            Err(LogError::Io { source, .. }) if source.kind() == ErrorKind::NotFound => {}
            Err(LogError::Headerless { .. }) => {
                set_aside(&path)?;
            }
            Ok(found) if found.is_empty() => {
                set_aside(&path)?;
            }
            Ok(_) => return Err(LogError::Exists { path }),
            Err(error) => return Err(error),
        }
        let mut bytes = format!("{MAGIC}{FORMAT}\n").into_bytes();
        let frame = encode(&(0u64, header)).map_err(|source| LogError::Entry {
            path: path.clone(),
            seq: 0,
            source,
        })?;
        bytes.extend(frame);
        let file = place(dir, &path, &bytes, fsync)?;
        Ok(Log {
            path,
            sink: Box::new(file),
            fsync,
            next_seq: 1,
            length_bytes: bytes.len() as u64,
            unsynced: false,
            closed_by: None,
            _lock: lock,
            entry: PhantomData,
        })
    }

    /// Goes on with the log of a run folder: cuts a torn tail, keeps what was cut in `log.torn-N`, and says what it
    /// found. Damage in the middle stays where it is; readers skip it.
    pub fn open_append(dir: &Path, fsync: Fsync) -> Result<(Self, Recovery), LogError> {
        let path = dir.join(LOG_FILE);
        if let Err(error) = std::fs::metadata(&path) {
            return Err(LogError::io(&path, "open the log", error)); // and leave no lock file behind
        }
        let lock = Lock::acquire(dir)?;
        let recovery = recover::<T>(dir, fsync != Fsync::Never)?;
        let file = OpenOptions::new()
            .append(true)
            .open(&path)
            .map_err(|error| LogError::io(&path, "open the log for appending", error))?;
        let found = &recovery.found;
        let log = Log {
            path,
            sink: Box::new(file),
            fsync,
            next_seq: found.last_seq.map_or(0, |last| last + 1),
            length_bytes: found.end_of_good_bytes,
            unsynced: false,
            closed_by: None,
            _lock: lock,
            entry: PhantomData,
        };
        Ok((log, recovery))
    }

    /// Replaces what the log writes to, to rehearse failures of the device.
    pub fn with_sink(mut self, wrap: impl FnOnce(Box<dyn Sink>) -> Box<dyn Sink>) -> Self {
        self.sink = wrap(self.sink);
        self
    }

    /// Appends an entry and gives its number.
    ///
    /// An entry that does not fit a frame is refused alone; the log stays open for others.
    pub fn append(&mut self, entry: &T) -> Result<u64, LogError> {
        self.check_open()?;
        let seq = self.next_seq;
        let frame = encode(&(seq, entry)).map_err(|source| LogError::Entry {
            path: self.path.clone(),
            seq,
            source,
        })?;
        if let Err(error) = self.sink.append(&frame) {
            // Half a frame may stand there. Where it cannot be taken away now, the next opening does it.
            let _ = self.sink.cut(self.length_bytes);
            return Err(self.close_by(format!("append entry {seq}"), error));
        }
        self.next_seq += 1;
        self.length_bytes += frame.len() as u64;
        self.unsynced = true;
        if self.fsync == Fsync::EveryEntry {
            self.sync()?;
        }
        Ok(seq)
    }

    /// A group ended: forces the log to the device unless the policy is never to.
    pub fn end_group(&mut self) -> Result<(), LogError> {
        self.check_open()?;
        if self.fsync == Fsync::Never { Ok(()) } else { self.sync() }
    }

    /// Ends the log: what was appended is forced to the device, and the lock is let go.
    pub fn close(mut self) -> Result<(), LogError> {
        self.end_group()
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The number that the next entry will have.
    pub fn next_seq(&self) -> u64 {
        self.next_seq
    }

    /// Length of the log.
    pub fn length_bytes(&self) -> u64 {
        self.length_bytes
    }

    fn sync(&mut self) -> Result<(), LogError> {
        if self.unsynced {
            if let Err(error) = self.sink.sync() {
                let action = format!("force the entries up to {} to the device", self.next_seq - 1);
                return Err(self.close_by(action, error));
            }
            self.unsynced = false;
        }
        Ok(())
    }

    fn check_open(&self) -> Result<(), LogError> {
        match &self.closed_by {
            None => Ok(()),
            Some(first) => Err(LogError::Closed { path: self.path.clone(), first: first.clone() }),
        }
    }

    fn close_by(&mut self, action: String, error: io::Error) -> LogError {
        let error = LogError::io(&self.path, action, error);
        self.closed_by = Some(error.to_string());
        error
    }
}

/// Writes the first bytes beside the log and renames the file into place.
fn place(dir: &Path, path: &Path, bytes: &[u8], fsync: Fsync) -> Result<File, LogError> {
    let new = path.with_extension("new");
    let failed = |action: &str, error| LogError::io(&new, action, error);
    // Nobody else writes here, the lock is held: a file of this name is what a crash left of an earlier attempt.
    match std::fs::remove_file(&new) {
        Err(error) if error.kind() != ErrorKind::NotFound => return Err(failed("remove", error)),
        _ => {}
    }
    let mut file = OpenOptions::new()
        .append(true)
        .create_new(true)
        .open(&new)
        .map_err(|error| failed("make the log", error))?;
    file.write_all(bytes).map_err(|error| failed("write the log's header", error))?;
    if fsync != Fsync::Never {
        file.sync_all().map_err(|error| failed("force the log's header to the device", error))?;
    }
    std::fs::rename(&new, path).map_err(|error| LogError::io(path, "put the new log in its place", error))?;
    if fsync != Fsync::Never {
        // The log's own entry, and that of the folder, which may be new too.
        for dir in [Some(dir), dir.parent()].into_iter().flatten() {
            sync_dir(dir).map_err(|error| LogError::io(dir, "force the folder to the device", error))?;
        }
    }
    Ok(file)
}
