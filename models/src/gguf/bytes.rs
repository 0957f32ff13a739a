//! Reads a file front to back and never trusts a length in it.
//!
//! Every read is checked against what the file still has, so nothing is allocated that the file does not justify.

use std::io::{BufReader, ErrorKind, Read, Seek, SeekFrom};

use super::error::Fault;

/// Something that can be read and sought: a file, or bytes in tests.
pub(crate) trait Source: Read + Seek {}

impl<T: Read + Seek> Source for T {}

/// A place in a file.
pub(crate) struct Bytes<R> {
    inner: BufReader<R>,
    at: u64,
    len: u64,
}

impl<R: Source> Bytes<R> {
    pub(crate) fn new(mut source: R) -> Result<Self, Fault> {
        let len = source.seek(SeekFrom::End(0)).map_err(io)?;
        source.seek(SeekFrom::Start(0)).map_err(io)?;
        Ok(Bytes { inner: BufReader::with_capacity(1 << 16, source), at: 0, len })
    }

    pub(crate) fn at(&self) -> u64 {
        self.at
    }

    pub(crate) fn len(&self) -> u64 {
        self.len
    }

    pub(crate) fn left(&self) -> u64 {
        self.len.saturating_sub(self.at)
    }

    /// Fails unless the file has `count` more bytes.
    pub(crate) fn need(&self, count: u64, what: &str) -> Result<(), Fault> {
        if count > self.left() {
            let missing_bytes = count - self.left();
            return Err(Fault::Truncated { missing_bytes, what: format!("cut off in {what}") });
        }
        Ok(())
    }

    pub(crate) fn array<const N: usize>(&mut self, what: &str) -> Result<[u8; N], Fault> {
        self.need(N as u64, what)?;
        let mut buffer = [0; N];
        self.inner.read_exact(&mut buffer).map_err(io)?;
        self.at += N as u64;
        Ok(buffer)
    }

    pub(crate) fn u32(&mut self, what: &str) -> Result<u32, Fault> {
        self.array(what).map(u32::from_le_bytes)
    }

    pub(crate) fn u64(&mut self, what: &str) -> Result<u64, Fault> {
        self.array(what).map(u64::from_le_bytes)
    }

    /// The next `count` bytes; the caller has bounded `count`.
    pub(crate) fn take(&mut self, count: u64, what: &str) -> Result<Vec<u8>, Fault> {
        self.need(count, what)?;
        let size = usize::try_from(count).map_err(|_| Fault::Absurd(format!("{what} has {count} bytes")))?;
        let mut buffer = vec![0; size];
        self.inner.read_exact(&mut buffer).map_err(io)?;
        self.at += count;
        Ok(buffer)
    }

    /// A length-prefixed string of at most `limit` bytes.
    pub(crate) fn text(&mut self, limit: u64, what: &str) -> Result<Vec<u8>, Fault> {
        let length = self.u64(what)?;
        if length > limit {
            return Err(Fault::Absurd(format!("{what} is said to have {length} bytes (limit {limit})")));
        }
        self.take(length, what)
    }

    pub(crate) fn skip(&mut self, count: u64, what: &str) -> Result<(), Fault> {
        self.need(count, what)?;
        let step = i64::try_from(count).map_err(|_| Fault::Absurd(format!("{what} has {count} bytes")))?;
        self.inner.seek_relative(step).map_err(io)?;
        self.at += count;
        Ok(())
    }

    pub(crate) fn seek(&mut self, at: u64) -> Result<(), Fault> {
        self.inner.seek(SeekFrom::Start(at)).map_err(io)?;
        self.at = at;
        Ok(())
    }
}

/// An error of the system as a fault of the file.
pub(crate) fn io(error: std::io::Error) -> Fault {
    match error.kind() {
        ErrorKind::NotFound => Fault::NotFound,
        ErrorKind::IsADirectory => Fault::Directory,
        _ => Fault::Io(error.to_string()),
    }
}
