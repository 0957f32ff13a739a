//! Where frames go: a file in life, a failing one in rehearsals.

use std::fs::File;
use std::io::{self, ErrorKind, Write};
use std::path::Path;

use serde::{Deserialize, Serialize};

/// When the log is forced to the device. What was not forced survives a crash of the program, not one of the
/// machine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Fsync {
    /// When a group ends: a power cut costs one group, which the next run repeats.
    #[default]
    EveryGroup,
    /// After every entry: for long generations; costs a flash write per entry.
    EveryEntry,
    /// Never: for memory-backed folders and tests.
    Never,
}

/// What a log writes to.
pub trait Sink: Send + std::fmt::Debug {
    /// Appends one whole frame.
    fn append(&mut self, frame: &[u8]) -> io::Result<()>;
    /// Forces what was appended to the device.
    fn sync(&mut self) -> io::Result<()>;
    /// Cuts the file to a length, to take half a frame away.
    fn cut(&mut self, length_bytes: u64) -> io::Result<()>;
}

impl Sink for File {
    fn append(&mut self, frame: &[u8]) -> io::Result<()> {
        self.write_all(frame)
    }

    fn sync(&mut self) -> io::Result<()> {
        self.sync_data()
    }

    fn cut(&mut self, length_bytes: u64) -> io::Result<()> {
        self.set_len(length_bytes)
    }
}

/// Forces a folder's entries (a file's creation or renaming) to the device.
pub(crate) fn sync_dir(dir: &Path) -> io::Result<()> {
    if cfg!(not(unix)) {
        return Ok(()); // folders cannot be opened there
    }
    // A path of one name lies in the working directory.
    let dir = if dir.as_os_str().is_empty() { Path::new(".") } else { dir };
    match File::open(dir)?.sync_all() {
        // Some file systems (FUSE, network shares) know no such call; their own policy holds then.
        Err(error) if matches!(error.kind(), ErrorKind::InvalidInput | ErrorKind::Unsupported) => Ok(()),
        result => result,
    }
}
