//! Cuts a byte stream at its delimiters, holding one frame at the most.

use std::ops::Range;

use super::{FrameError, MAX_STUFFED_BYTES};

/// Room that is kept between frames; one long frame must not cost its memory for ever.
const KEPT_BYTES: usize = 1 << 20;

/// Collects what arrives until a frame is whole. The blocking reader, the asynchronous one and the log share it.
#[derive(Debug)]
pub(super) struct Splitter {
    held: Vec<u8>,
    /// Bytes since the last delimiter; more than are held when the frame is over the limit.
    length_bytes: u64,
    start: u64,
    position: u64,
    limit_bytes: usize,
    handed_out: bool,
}

/// What stood between two delimiters; never empty.
#[derive(Debug)]
pub struct Chunk<'a> {
    /// Where it stands in the stream, delimiters excluded.
    pub range: Range<u64>,
    /// Its bytes.
    pub body: Result<&'a mut [u8], FrameError>,
}

impl Splitter {
    pub(super) fn new(position: u64) -> Self {
        Splitter {
            held: Vec::new(),
            length_bytes: 0,
            start: position,
            position,
            limit_bytes: MAX_STUFFED_BYTES,
            handed_out: false,
        }
    }

    #[cfg(test)]
    pub(super) fn limited(limit_bytes: usize) -> Self {
        Splitter { limit_bytes, ..Splitter::new(0) }
    }

    #[cfg(test)]
    pub(super) fn held_bytes(&self) -> usize {
        self.held.capacity()
    }

    /// Bytes of the stream taken so far.
    pub(super) fn position(&self) -> u64 {
        self.position
    }

    /// Takes bytes up to and with the next delimiter; says how many, and whether a chunk is whole.
    pub(super) fn take(&mut self, input: &[u8]) -> (usize, bool) {
        self.start_over();
        let delimiter = input.iter().position(|&byte| byte == 0);
        let body = &input[..delimiter.unwrap_or(input.len())];
        if self.length_bytes == 0 {
            self.start = self.position;
        }
        self.length_bytes += body.len() as u64;
        if self.length_bytes <= self.limit_bytes as u64 {
            self.held.extend_from_slice(body);
        } else {
            self.held.clear();
        }
        let used = body.len() + usize::from(delimiter.is_some());
        self.position += used as u64;
        (used, delimiter.is_some() && self.length_bytes > 0)
    }

    /// The whole chunk.
    pub(super) fn chunk(&mut self) -> Chunk<'_> {
        self.handed_out = true;
        let range = self.start..self.start + self.length_bytes;
        let body = if self.length_bytes > self.limit_bytes as u64 {
            Err(FrameError::TooLong { bytes: self.length_bytes, limit_bytes: self.limit_bytes as u64 })
        } else {
            Ok(self.held.as_mut_slice())
        };
        Chunk { range, body }
    }

    /// What is left when the input has ended.
    pub(super) fn finish(&mut self) -> Option<Chunk<'_>> {
        self.start_over();
        if self.length_bytes == 0 {
            return None;
        }
        self.handed_out = true;
        let range = self.start..self.start + self.length_bytes;
        Some(Chunk { range, body: Err(FrameError::Unfinished { bytes: self.length_bytes }) })
    }

    fn start_over(&mut self) {
        if self.handed_out {
            self.handed_out = false;
            self.length_bytes = 0;
            self.held.clear();
            self.held.shrink_to(KEPT_BYTES);
        }
    }
}
