//! Frames from asynchronous streams: the supervisor's side of a worker's pipes.

use std::io::ErrorKind;

use serde::de::DeserializeOwned;
use tokio::io::{AsyncBufReadExt, AsyncRead, BufReader};

use super::pipe::{StreamError, value_of};
use super::splitter::Splitter;

/// Reads frames from an asynchronous stream.
#[derive(Debug)]
pub struct AsyncFrameReader<R> {
    input: BufReader<R>,
    splitter: Splitter,
}

impl<R: AsyncRead + Unpin> AsyncFrameReader<R> {
    /// Reads from the stream's start.
    pub fn new(input: R) -> Self {
        AsyncFrameReader { input: BufReader::with_capacity(64 << 10, input), splitter: Splitter::new(0) }
    }

    /// The next value; `None` at the end of the stream. After [`StreamError::Damaged`] the next call goes on with
    /// the next frame.
    ///
    /// Safe to cancel: a read that is dropped half way loses nothing, what had arrived is kept for the next one.
    pub async fn read<T: DeserializeOwned>(&mut self) -> Result<Option<T>, StreamError> {
        loop {
            let available = match self.input.fill_buf().await {
                Ok(available) => available,
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) => return Err(error.into()),
            };
            if available.is_empty() {
                return self.splitter.finish().map(value_of).transpose();
            }
            let (used, whole) = self.splitter.take(available);
            self.input.consume(used);
            if whole {
                return value_of(self.splitter.chunk()).map(Some);
            }
        }
    }
}
