//! One writer per run folder.
//!
//! The lock is the operating system's, held by an open file: it ends with the process however that ends, so a lock
//! file that a crash left behind never blocks. The file's text only names the holder.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::Path;

use super::{LOCK_FILE, LogError};

/// A held lock; dropping it lets go.
#[derive(Debug)]
pub struct Lock {
    file: File,
}

impl Drop for Lock {
    /// Closing the file is not enough: a worker that is just being started shares it between fork and exec, and would
    /// hold the lock for that moment.
    fn drop(&mut self) {
        let _ = self.file.unlock();
    }
}

impl Lock {
    /// Takes the lock of a run folder, or says who has it.
    pub fn acquire(dir: &Path) -> Result<Self, LogError> {
        let path = dir.join(LOCK_FILE);
        let failed = |action: &str, error| LogError::io(&path, action, error);
        let mut file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(&path)
            .map_err(|error| failed("open the lock file", error))?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                return Err(LogError::Locked { holder: holder(&mut file), path });
            }
            Err(TryLockError::Error(error)) => return Err(failed("lock the run folder", error)),
        }
        let name = format!("pid {}{}\n", std::process::id(), host());
        file.set_len(0)
            .and_then(|()| file.seek(SeekFrom::Start(0)))
            .and_then(|_| file.write_all(name.as_bytes()))
            .map_err(|error| failed("write this process's number to the lock file", error))?;
        Ok(Lock { file })
    }
}

#[cfg(test)]
impl Lock {
    /// The open file, as a process that is being started shares it.
    pub(super) fn shared(&self) -> File {
        self.file.try_clone().unwrap()
    }
}

fn holder(file: &mut File) -> String {
    let mut text = Vec::new();
    // The holder writes its name just after it took the lock, and some systems forbid reading a locked file.
    let read = file.take(200).read_to_end(&mut text);
    let line = text.split(|&byte| byte == b'\n').next().unwrap_or_default();
    if read.is_err() || line.is_empty() {
        return "a process that has not written its number to the lock file".to_owned();
    }
    line.escape_ascii().to_string()
}

/// The machine's name: on a network share the number alone would mislead.
fn host() -> String {
    match std::fs::read_to_string("/proc/sys/kernel/hostname") {
        Ok(name) if !name.trim().is_empty() => format!(" on {}", name.trim()),
        _ => String::new(),
    }
}
