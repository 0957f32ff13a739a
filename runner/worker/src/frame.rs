//! One form for everything that crosses a pipe or a disk.
//!
//! A frame is `00 COBS(postcard(value) ++ CRC-32) 00`. COBS leaves no zero byte inside, so a reader that lost its
//! place finds the next frame at the next zero, and the zero in front keeps bytes that somebody else wrote from
//! being glued to the frame that follows them. Nothing is decoded before its length and its checksum are right.

mod pipe;
#[cfg(feature = "tokio")]
mod pipe_async;
mod splitter;
#[cfg(test)]
mod tests;

use serde::Serialize;
use serde::de::DeserializeOwned;

pub use pipe::{FrameReader, FrameWriter, StreamError};
#[cfg(feature = "tokio")]
pub use pipe_async::AsyncFrameReader;
pub use splitter::Chunk;

/// Largest encoded value in bytes, checksum and stuffing not counted. Nothing of this size is set aside in
/// advance: a reader holds what has arrived.
pub const MAX_PAYLOAD_BYTES: usize = 64 << 20;

const CHECKSUM_BYTES: usize = 4;

/// Largest stuffed frame between its delimiters.
const MAX_STUFFED_BYTES: usize = cobs::max_encoding_length(MAX_PAYLOAD_BYTES + CHECKSUM_BYTES);

/// Why bytes are not a frame, or a value cannot become one.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FrameError {
    /// Over the size limit.
    #[error("a frame of {bytes} bytes is over the limit of {limit_bytes} bytes")]
    TooLong {
        /// Its size.
        bytes: u64,
        /// The limit.
        limit_bytes: u64,
    },
    /// Too few bytes for a value and its checksum.
    #[error("{bytes} bytes are too few for a frame")]
    TooShort {
        /// How many there are.
        bytes: usize,
    },
    /// The byte stuffing is broken.
    #[error("the byte stuffing (COBS) is broken")]
    Stuffing,
    /// The content is not what was written.
    #[error("the checksum is {computed:08x}, the frame says {stored:08x}")]
    Checksum {
        /// As the frame says.
        stored: u32,
        /// As the content gives.
        computed: u32,
    },
    /// The input ended before the frame did.
    #[error("the input ends inside a frame, {bytes} bytes after its start")]
    Unfinished {
        /// Bytes of the frame that are there.
        bytes: u64,
    },
    /// The checksum is right, but the content is no value of the type asked for: somebody else's vocabulary.
    #[error("the frame is intact, but its content is not of the expected type: {0}")]
    Undecodable(String),
    /// The value has no encoding.
    #[error("the value cannot be encoded: {0}")]
    Unencodable(String),
}

/// The frame of a value, delimiters included: what one write call hands over.
pub fn encode<T: Serialize + ?Sized>(value: &T) -> Result<Vec<u8>, FrameError> {
    let mut payload =
        postcard::to_stdvec(value).map_err(|error| FrameError::Unencodable(error.to_string()))?;
    if payload.is_empty() {
        return Err(FrameError::Unencodable("it has no content, as () has".to_owned()));
    }
    if payload.len() > MAX_PAYLOAD_BYTES {
        return Err(FrameError::TooLong {
            bytes: payload.len() as u64,
            limit_bytes: MAX_PAYLOAD_BYTES as u64,
        });
    }
    payload.extend(crc32fast::hash(&payload).to_le_bytes());
    Ok(stuff(&payload))
}

/// Stuffs bytes and sets delimiters around them. (The library's own function for that leaves zeros behind the frame.)
fn stuff(bytes: &[u8]) -> Vec<u8> {
    let mut frame = vec![0; cobs::max_encoding_length(bytes.len()) + 2];
    let stuffed = cobs::encode(bytes, &mut frame[1..]);
    // Behind a full block of 254 bytes the library leaves its next code byte where the delimiter belongs.
    frame.truncate(stuffed + 1);
    frame.push(0);
    frame
}

/// The value of one frame, given with or without its delimiters.
///
/// Sequence lengths are taken from the frame, so they are claims. Texts and byte strings are checked against what is
/// left of the frame before anything is allocated, and a sequence is given no room in advance unless the frame is
/// at least as long as it claims. What is sent in frames must hold no sequence of values that take no bytes
/// (`Vec<()>`): its length could not be checked against anything.
pub fn decode<T: DeserializeOwned>(frame: &[u8]) -> Result<T, FrameError> {
    let stuffed = frame.strip_prefix(&[0]).unwrap_or(frame);
    let stuffed = stuffed.strip_suffix(&[0]).unwrap_or(stuffed);
    if stuffed.len() > MAX_STUFFED_BYTES {
        return Err(FrameError::TooLong {
            bytes: stuffed.len() as u64,
            limit_bytes: MAX_STUFFED_BYTES as u64,
        });
    }
    parse(unstuff(&mut stuffed.to_vec())?)
}

/// Undoes the stuffing in place and checks the checksum; gives the payload.
pub fn unstuff(stuffed: &mut [u8]) -> Result<&[u8], FrameError> {
    if stuffed.contains(&0) {
        return Err(FrameError::Stuffing); // the decoder would stop there and call the rest fine
    }
    if stuffed.len() < CHECKSUM_BYTES + 2 {
        return Err(FrameError::TooShort { bytes: stuffed.len() });
    }
    let bytes = cobs::decode_in_place(stuffed).map_err(|_| FrameError::Stuffing)?;
    let Some((payload, stored)) = stuffed[..bytes].split_last_chunk::<CHECKSUM_BYTES>() else {
        return Err(FrameError::TooShort { bytes });
    };
    if payload.is_empty() {
        return Err(FrameError::TooShort { bytes });
    }
    let (stored, computed) = (u32::from_le_bytes(*stored), crc32fast::hash(payload));
    if stored != computed {
        return Err(FrameError::Checksum { stored, computed });
    }
    Ok(payload)
}

/// The value that a payload is, all of it.
pub fn parse<T: DeserializeOwned>(payload: &[u8]) -> Result<T, FrameError> {
    let (value, rest) = split(payload)?;
    if rest.is_empty() {
        Ok(value)
    } else {
        Err(FrameError::Undecodable(format!("{} of its bytes are left over", rest.len())))
    }
}

/// The value that a payload begins with, whatever follows.
pub fn parse_head<T: DeserializeOwned>(payload: &[u8]) -> Result<T, FrameError> {
    split(payload).map(|(value, _)| value)
}

fn split<T: DeserializeOwned>(payload: &[u8]) -> Result<(T, &[u8]), FrameError> {
    postcard::take_from_bytes(payload).map_err(|error| FrameError::Undecodable(error.to_string()))
}
