//! Reads a log record by record in bounded memory.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::marker::PhantomData;
use std::ops::Range;
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;

use super::{FORMAT, LOG_FILE, LogError, MAGIC};
use crate::frame::{Chunk, FrameError, FrameReader, parse, parse_head, unstuff};

/// Longest format line; more is not one.
const MAX_LINE_BYTES: u64 = 40;

/// One entry with its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record<T> {
    /// Its number in the run; the first entry has 0, and numbers only rise.
    pub seq: u64,
    /// Where its frame stands in the file, delimiters excluded.
    pub bytes: Range<u64>,
    /// The entry.
    pub entry: T,
}

/// A stretch that is no record.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("bytes {} to {}: {kind}", bytes.start, bytes.end)]
pub struct Damage {
    /// Where it stands in the file.
    pub bytes: Range<u64>,
    /// What is wrong.
    pub kind: DamageKind,
}

/// What is wrong with a stretch of a log.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DamageKind {
    /// It is no whole frame.
    #[error("{0}")]
    Frame(FrameError),
    /// It is a frame, but not in its place: its number is not above the one before.
    #[error("entry {seq} stands behind entry {after}")]
    OutOfOrder {
        /// Its number.
        seq: u64,
        /// The number before.
        after: u64,
    },
    /// It is a frame in its place, but this build does not understand the entry.
    #[error("entry {seq} is intact, but this build cannot read it: {reason}")]
    Foreign {
        /// Its number.
        seq: u64,
        /// What the decoder says.
        reason: String,
    },
    /// It is zeros, as a power cut leaves them.
    #[error("zeros")]
    Zeros,
    /// It cannot be read from the device; nothing behind it is read either.
    #[error("cannot be read: {0}")]
    Unreadable(String),
}

/// Iterates over a log: records, and the stretches that are none.
#[derive(Debug)]
pub struct Reader<T, R = File> {
    frames: FrameReader<R>,
    path: PathBuf,
    format: u32,
    /// End of the last chunk, its closing delimiter included.
    covered: u64,
    last_seq: Option<u64>,
    waiting: Option<Result<Record<T>, Damage>>,
    ended: bool,
    entry: PhantomData<fn() -> T>,
}

impl<T: DeserializeOwned> Reader<T> {
    /// Opens a log, or the log of a run folder.
    pub fn open(path: &Path) -> Result<Self, LogError> {
        let path = if path.is_dir() { path.join(LOG_FILE) } else { path.to_owned() };
        let file = File::open(&path).map_err(|error| LogError::io(&path, "open the log", error))?;
        let about = file.metadata().map_err(|error| LogError::io(&path, "examine the log", error))?;
        if !about.is_file() {
            return Err(LogError::NotALog { path, found: "something that is not a file".to_owned() });
        }
        Self::over(file, &path)
    }
}

impl<T: DeserializeOwned, R: Read> Reader<T, R> {
    /// Reads a log from any stream; `path` is for messages.
    pub fn over(input: R, path: &Path) -> Result<Self, LogError> {
        let mut input = BufReader::with_capacity(64 << 10, input);
        let mut line = Vec::new();
        (&mut input)
            .take(MAX_LINE_BYTES)
            .read_until(b'\n', &mut line)
            .map_err(|error| LogError::io(path, "read the log", error))?;
        let format = format_of(&line, path)?;
        let covered = line.len() as u64;
        Ok(Reader {
            frames: FrameReader::behind(input, covered),
            path: path.to_owned(),
            format,
            covered,
            last_seq: None,
            waiting: None,
            ended: false,
            entry: PhantomData,
        })
    }

    /// The format that the log is written in.
    pub fn format(&self) -> u32 {
        self.format
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Bytes of the file read so far.
    pub fn position(&self) -> u64 {
        self.frames.position()
    }

    fn end(&mut self) -> Option<Damage> {
        self.ended = true;
        let bytes = self.covered..self.frames.position();
        (!bytes.is_empty()).then_some(Damage { bytes, kind: DamageKind::Zeros })
    }
}

impl<T: DeserializeOwned, R: Read> Iterator for Reader<T, R> {
    type Item = Result<Record<T>, Damage>;

    fn next(&mut self) -> Option<Self::Item> {
        if let Some(waiting) = self.waiting.take() {
            return Some(waiting);
        }
        if self.ended {
            return None;
        }
        let chunk = match self.frames.next_chunk() {
            Ok(Some(chunk)) => chunk,
            Ok(None) => return self.end().map(Err),
            Err(error) => {
                self.ended = true;
                let bytes = self.covered..self.frames.position();
                return Some(Err(Damage { bytes, kind: DamageKind::Unreadable(error.to_string()) }));
            }
        };
        let range = chunk.range.clone();
        let item = read_chunk(chunk, self.last_seq);
        match &item {
            Ok(Record { seq, .. }) | Err(Damage { kind: DamageKind::Foreign { seq, .. }, .. }) => {
                self.last_seq = Some(*seq);
            }
            Err(_) => {}
        }
        let before = std::mem::replace(&mut self.covered, self.frames.position());
        // One zero stands in front of every frame. More are a block that a power cut emptied.
        if range.start > before + 1 {
            self.waiting = Some(item);
            return Some(Err(Damage { bytes: before..range.start - 1, kind: DamageKind::Zeros }));
        }
        Some(item)
    }
}

fn read_chunk<T: DeserializeOwned>(chunk: Chunk<'_>, last: Option<u64>) -> Result<Record<T>, Damage> {
    let Chunk { range: bytes, body } = chunk;
    let kind = match body.and_then(|stuffed| unstuff(stuffed)) {
        Err(error) => DamageKind::Frame(error),
        Ok(payload) => match (parse_head::<u64>(payload), last) {
            (Err(error), _) => DamageKind::Frame(error),
            // The number after it must exist, so that counting on never overflows.
            (Ok(u64::MAX), _) => {
                DamageKind::Frame(FrameError::Undecodable("its number is out of range".to_owned()))
            }
            (Ok(seq), Some(after)) if seq <= after => DamageKind::OutOfOrder { seq, after },
            (Ok(seq), _) => match parse::<(u64, T)>(payload) {
                Ok((_, entry)) => return Ok(Record { seq, bytes, entry }),
                Err(error) => DamageKind::Foreign { seq, reason: error.to_string() },
            },
        },
    };
    Err(Damage { bytes, kind })
}

/// Reads the format line.
fn format_of(line: &[u8], path: &Path) -> Result<u32, LogError> {
    let path = path.to_owned();
    let whole = line.strip_suffix(b"\n");
    let number = whole
        .and_then(|line| line.strip_prefix(MAGIC.as_bytes()))
        .filter(|digits| !digits.is_empty() && digits.iter().all(u8::is_ascii_digit))
        .and_then(|digits| std::str::from_utf8(digits).ok())
        .and_then(|digits| digits.parse::<u32>().ok());
    match number {
        Some(format) if (1..=FORMAT).contains(&format) => Ok(format),
        Some(found) if found > FORMAT => Err(LogError::NewerFormat { path, found, known: FORMAT }),
        None if line.is_empty() => Err(LogError::Headerless { path, found: "the file is empty".to_owned() }),
        None if line.iter().all(|&byte| byte == 0) => {
            Err(LogError::Headerless { path, found: "the file holds zeros".to_owned() })
        }
        None if is_torn(line) => {
            Err(LogError::Headerless { path, found: "the file ends in its first line".to_owned() })
        }
        _ => Err(LogError::NotALog { path, found: line.escape_ascii().to_string() }),
    }
}

/// A format line that never became whole, perhaps with zeros in place of its rest.
fn is_torn(line: &[u8]) -> bool {
    let text = line.split(|&byte| byte == 0).next().unwrap_or_default();
    let zeros = line[text.len()..].iter().all(|&byte| byte == 0);
    let magic = MAGIC.as_bytes();
    let digits = text.get(magic.len()..).unwrap_or_default();
    let starts = text.len().min(magic.len());
    zeros && text[..starts] == magic[..starts] && digits.iter().all(u8::is_ascii_digit)
}
