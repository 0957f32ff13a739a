//! Small files that are replaced whole: after a crash there is the old text or the new one, never half of one.

use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Read, Write};
use std::path::{Path, PathBuf};

use super::LogError;
use super::sink::sync_dir;

/// Which copy of a manifest was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Copied {
    /// The file itself.
    Current,
    /// The copy before it, because the file was not usable.
    Previous {
        /// What was wrong with the file.
        reason: String,
    },
}

/// Replaces a small file: written beside it, forced to the device, renamed; the text before is kept as `NAME.prev`.
pub fn write_manifest(path: &Path, bytes: &[u8]) -> Result<(), LogError> {
    let new = beside(path, "new");
    let failed = |action: &str, error| LogError::io(path, action, error);
    let mut file = OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(true)
        .open(&new)
        .map_err(|error| LogError::io(&new, "make the file", error))?;
    file.write_all(bytes).map_err(|error| LogError::io(&new, "write the file", error))?;
    file.sync_all().map_err(|error| LogError::io(&new, "force the file to the device", error))?;
    // An empty or zeroed file is what a power cut left: it must not push a good previous copy out.
    if File::open(path).is_ok_and(holds_text) {
        std::fs::rename(path, beside(path, "prev"))
            .map_err(|error| failed("keep the previous copy of", error))?;
    }
    std::fs::rename(&new, path).map_err(|error| failed("put the new text in the place of", error))?;
    let dir = path.parent().unwrap_or(Path::new("."));
    sync_dir(dir).map_err(|error| LogError::io(dir, "force the folder to the device", error))
}

/// Reads such a file. `parse` says what is wrong with a text it cannot use; the previous copy is tried then, and
/// the answer says so.
pub fn read_manifest<T>(
    path: &Path,
    parse: impl Fn(&[u8]) -> Result<T, String>,
) -> Result<(T, Copied), LogError> {
    let read = |path: &Path| -> Result<T, std::io::Error> {
        let bytes = std::fs::read(path)?;
        if bytes.iter().all(|&byte| byte == 0) {
            return Err(std::io::Error::new(ErrorKind::InvalidData, "the file is empty or holds zeros"));
        }
        parse(&bytes).map_err(|reason| std::io::Error::new(ErrorKind::InvalidData, reason))
    };
    let first = match read(path) {
        Ok(value) => return Ok((value, Copied::Current)),
        Err(error) => error,
    };
    match read(&beside(path, "prev")) {
        Ok(value) => Ok((value, Copied::Previous { reason: first.to_string() })),
        Err(_) => Err(LogError::io(path, "read the file, or a previous copy of it", first)),
    }
}

fn holds_text(file: File) -> bool {
    let mut start = Vec::new();
    file.take(512).read_to_end(&mut start).is_ok() && start.iter().any(|&byte| byte != 0)
}

/// The name of a file with an ending behind all that it has.
pub(crate) fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".");
    name.push(suffix);
    name.into()
}
