//! Frames over blocking streams: the worker's side of its pipes, and log files.

use std::io::{self, BufRead, BufReader, ErrorKind, Read, Write};
use std::ops::Range;

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::splitter::{Chunk, Splitter};
use super::{FrameError, encode, parse, unstuff};

/// Bytes of a damaged stretch that its error quotes.
const EXCERPT_BYTES: usize = 60;

/// What can go wrong on a stream of frames.
#[derive(Debug, thiserror::Error)]
pub enum StreamError {
    /// The stream itself failed.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// The value to be sent does not fit a frame.
    #[error(transparent)]
    Unsendable(FrameError),
    /// A stretch of the stream is no frame of the expected type. It has been skipped; reading goes on behind it.
    #[error("bytes {} to {} of the stream were skipped: {reason}; they begin with \"{excerpt}\"", bytes.start, bytes.end)]
    Damaged {
        /// The stretch, delimiters excluded.
        bytes: Range<u64>,
        /// What is wrong.
        reason: FrameError,
        /// How it begins, escaped: a library that prints into the pipe shows its own words here.
        excerpt: String,
    },
}

/// Reads frames from a blocking stream.
#[derive(Debug)]
pub struct FrameReader<R> {
    input: BufReader<R>,
    splitter: Splitter,
}

impl<R: Read> FrameReader<R> {
    /// Reads from the stream's start.
    pub fn new(input: R) -> Self {
        Self::behind(BufReader::with_capacity(64 << 10, input), 0)
    }

    /// Reads on in a stream of which `position` bytes have been read.
    pub fn behind(input: BufReader<R>, position: u64) -> Self {
        FrameReader { input, splitter: Splitter::new(position) }
    }

    /// The next value; `None` at the end of the stream. After [`StreamError::Damaged`] the next call goes on with
    /// the next frame.
    pub fn read<T: DeserializeOwned>(&mut self) -> Result<Option<T>, StreamError> {
        match self.next_chunk()? {
            Some(chunk) => value_of(chunk).map(Some),
            None => Ok(None),
        }
    }

    /// What stands before the next delimiter that has something before it.
    pub fn next_chunk(&mut self) -> io::Result<Option<Chunk<'_>>> {
        loop {
            let available = match self.input.fill_buf() {
                Ok(available) => available,
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            if available.is_empty() {
                return Ok(self.splitter.finish());
            }
            let (used, whole) = self.splitter.take(available);
            self.input.consume(used);
            if whole {
                return Ok(Some(self.splitter.chunk()));
            }
        }
    }

    /// Bytes of the stream read so far.
    pub fn position(&self) -> u64 {
        self.splitter.position()
    }
}

pub(super) fn value_of<T: DeserializeOwned>(chunk: Chunk<'_>) -> Result<T, StreamError> {
    let Chunk { range, body } = chunk;
    let mut excerpt = [0; EXCERPT_BYTES];
    let mut excerpt_bytes = 0;
    let value = body.and_then(|stuffed| {
        // Unstuffing overwrites the bytes, so that the excerpt is taken first.
        excerpt_bytes = stuffed.len().min(EXCERPT_BYTES);
        excerpt[..excerpt_bytes].copy_from_slice(&stuffed[..excerpt_bytes]);
        parse(unstuff(stuffed)?)
    });
    value.map_err(|reason| StreamError::Damaged {
        bytes: range,
        reason,
        excerpt: excerpt[..excerpt_bytes].escape_ascii().to_string(),
    })
}

/// Writes frames to a blocking stream, each with one write call and flushed at once: the other side waits for it.
#[derive(Debug)]
pub struct FrameWriter<W> {
    output: W,
}

impl<W: Write> FrameWriter<W> {
    /// Writes to `output`.
    pub fn new(output: W) -> Self {
        FrameWriter { output }
    }

    /// Sends one value.
    pub fn write<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), StreamError> {
        let frame = encode(value).map_err(StreamError::Unsendable)?;
        self.output.write_all(&frame)?;
        self.output.flush()?;
        Ok(())
    }

    /// The stream.
    pub fn into_inner(self) -> W {
        self.output
    }
}
