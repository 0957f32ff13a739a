//! The last lines that a worker wrote on its standard error: its last words.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::io::{AsyncBufReadExt, AsyncRead, BufReader};

/// Lines kept: more than a backtrace of Rust has, since the line that tells the cause stands above it.
const LINES: usize = 400;
/// Bytes kept of a line.
const LINE_BYTES: usize = 400;

/// Collects the end of a stream.
#[derive(Clone, Debug, Default)]
pub(super) struct Tail(Arc<Mutex<VecDeque<String>>>);

impl Tail {
    /// Reads the stream to its end; spawned beside the worker.
    pub(super) async fn follow(self, stream: impl AsyncRead + Unpin) {
        let mut reader = BufReader::new(stream);
        let mut line = Vec::new();
        // A line without an end must not fill the memory: what is too long is kept in pieces.
        loop {
            line.clear();
            let mut limited = tokio::io::AsyncReadExt::take(&mut reader, LINE_BYTES as u64);
            match limited.read_until(b'\n', &mut line).await {
                Ok(0) | Err(_) => return,
                Ok(_) => self.push(String::from_utf8_lossy(&line).trim_end().to_owned()),
            }
        }
    }

    fn push(&self, line: String) {
        let mut lines = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if lines.len() == LINES {
            lines.pop_front();
        }
        lines.push_back(line);
    }

    /// The last `count` lines, oldest first.
    pub(super) fn last(&self, count: usize) -> Vec<String> {
        let lines = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        lines.iter().skip(lines.len().saturating_sub(count)).cloned().collect()
    }
}
