//! Where the system's files are read from: `/` in life, a folder with a captured machine, a made-up tree in tests.
//!
//! Sensors are found and read through this, so that every board can be examined without owning it.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use super::missing::Missing;
use super::sources::mailbox::Firmware;

/// A file that stays open and is read again and again from its beginning.
pub trait Attribute: Send {
    /// Reads as much as fits; allocates nothing.
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize>;
}

/// A system's files.
pub trait Root: Send + Sync {
    /// Opens a file; the path has no leading slash.
    fn open(&self, path: &str) -> io::Result<Box<dyn Attribute>>;
    /// Names in a folder, numbers in their order; empty where there is no such folder.
    fn list(&self, path: &str) -> Vec<String>;
    /// The Raspberry Pi's firmware, where it can be asked.
    fn firmware(&self) -> io::Result<Box<dyn Firmware>>;
    /// Whether this is the machine that the program runs on, so that programs may be started for it.
    fn is_own(&self) -> bool;
}

/// Longest text that is taken of an attribute.
const TEXT_BYTES: usize = 4096;

/// Reads a text without its padding of blanks and zeros.
pub fn text(root: &dyn Root, path: &str) -> io::Result<String> {
    let mut buffer = [0; TEXT_BYTES];
    let length = root.open(path)?.read(&mut buffer)?;
    Ok(String::from_utf8_lossy(&buffer[..length]).trim_matches(['\0', '\n', ' ', '\t']).to_owned())
}

/// Reads a number once.
pub fn number(root: &dyn Root, path: &str) -> Result<i64, Missing> {
    Gauge::open(root, path).read()
}

/// The number at the beginning of a text; boards write units behind some of them.
pub fn parse(bytes: &[u8]) -> Result<i64, Missing> {
    let text = std::str::from_utf8(bytes).map_err(|_| Missing::ReadError)?;
    let text = text.trim_matches(['\0', '\n', ' ', '\t']);
    let word = text.split_ascii_whitespace().next().unwrap_or_default();
    word.parse().map_err(|_| Missing::ReadError)
}

/// A file that holds a number.
pub struct Gauge {
    attribute: Result<Box<dyn Attribute>, Missing>,
}

impl Gauge {
    /// Opens it; what is wrong is told at every reading.
    pub fn open(root: &dyn Root, path: &str) -> Self {
        Gauge { attribute: root.open(path).map_err(|error| Missing::of(&error)) }
    }

    /// The number now.
    pub fn read(&mut self) -> Result<i64, Missing> {
        let mut buffer = [0; 64];
        let attribute = self.attribute.as_mut().map_err(|missing| *missing)?;
        let length = attribute.read(&mut buffer).map_err(|error| Missing::of(&error))?;
        parse(&buffer[..length])
    }

    /// Whether the file exists.
    pub fn exists(&self) -> bool {
        !matches!(self.attribute, Err(Missing::NoSensor))
    }
}

/// A folder that stands for the root of a system; `/` in life.
#[derive(Clone, Debug)]
pub struct Folder(PathBuf);

impl Folder {
    /// The system below this folder.
    pub fn at(path: impl Into<PathBuf>) -> Self {
        Folder(path.into())
    }
}

impl Root for Folder {
    fn open(&self, path: &str) -> io::Result<Box<dyn Attribute>> {
        let path = self.0.join(path);
        Ok(Box::new(Opened { file: File::open(&path)?, path }))
    }

    fn list(&self, path: &str) -> Vec<String> {
        let entries = std::fs::read_dir(self.0.join(path)).into_iter().flatten().flatten();
        in_order(entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect())
    }

    fn firmware(&self) -> io::Result<Box<dyn Firmware>> {
        super::sources::mailbox::open(&self.0)
    }

    fn is_own(&self) -> bool {
        self.0 == Path::new("/")
    }
}

/// `hwmon10` comes behind `hwmon2`.
pub(super) fn in_order(mut names: Vec<String>) -> Vec<String> {
    let key = |name: &String| {
        let digits = name.len() - name.trim_end_matches(|c: char| c.is_ascii_digit()).len();
        let (word, number) = name.split_at(name.len() - digits);
        (word.to_owned(), number.parse::<u64>().unwrap_or(0), name.clone())
    };
    names.sort_by_key(key);
    names
}

struct Opened {
    file: File,
    path: PathBuf,
}

impl Attribute for Opened {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match read_at_start(&self.file, buffer) {
            // The device was taken away; it may have come back under the same name.
            Err(error) if matches!(error.raw_os_error(), Some(ENODEV | ESTALE)) => {
                self.file = File::open(&self.path).map_err(|_| error)?;
                read_at_start(&self.file, buffer)
            }
            read => read,
        }
    }
}

const ENODEV: i32 = 19;
const ESTALE: i32 = 116;

#[cfg(unix)]
fn read_at_start(file: &File, buffer: &mut [u8]) -> io::Result<usize> {
    let mut length = 0;
    // Files of /proc give what they have in pieces.
    while length < buffer.len() {
        match std::os::unix::fs::FileExt::read_at(file, &mut buffer[length..], length as u64)? {
            0 => break,
            more => length += more,
        }
        // A line is whole; asking again would only cost another call.
        if buffer[..length].last() == Some(&b'\n') {
            break;
        }
    }
    Ok(length)
}
