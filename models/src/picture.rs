//! Pictures as an engine gets them, and what it tells of them afterwards.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A picture that prompts name by its address.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shown {
    /// The hash that names its content.
    pub address: String,
    /// Width in pixels.
    pub width: u32,
    /// Height in pixels.
    pub height: u32,
    /// Rows from the top, red, green and blue of each pixel. Empty where only the size is told: enough to measure
    /// prompts, never to answer jobs.
    #[serde(with = "bytes")]
    pub rgb: Vec<u8>,
}

impl Shown {
    /// Whether the pixels are there and are as many as the size says.
    pub fn has_pixels(&self) -> bool {
        !self.rgb.is_empty() && self.rgb.len() as u64 == 3 * u64::from(self.width) * u64::from(self.height)
    }
}

impl fmt::Debug for Shown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({} x {}, {} bytes)", self.address, self.width, self.height, self.rgb.len())
    }
}

/// What an engine did with a picture in one round.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Encoded {
    /// The hash that names its content.
    pub address: String,
    /// Width and height as given.
    pub size: (u32, u32),
    /// Width and height of every tile that the encoder saw, after resizing.
    pub tiles: Vec<(u32, u32)>,
    /// Tokens that it takes in a prompt, those around it included.
    pub tokens: u32,
    /// How often it was encoded; once, unless memory was short.
    pub times: u32,
    /// Time that this took, in microseconds.
    pub encode_us: u64,
}

/// Bytes at once: as a sequence of numbers they would be sent one by one.
mod bytes {
    use std::fmt;

    use serde::de::{Error, SeqAccess, Visitor};
    use serde::{Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(bytes: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(bytes)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<u8>, D::Error> {
        struct Bytes;
        impl<'de> Visitor<'de> for Bytes {
            type Value = Vec<u8>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("bytes")
            }

            fn visit_bytes<E: Error>(self, bytes: &[u8]) -> Result<Vec<u8>, E> {
                Ok(bytes.to_vec())
            }

            fn visit_byte_buf<E: Error>(self, bytes: Vec<u8>) -> Result<Vec<u8>, E> {
                Ok(bytes)
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut numbers: A) -> Result<Vec<u8>, A::Error> {
                let mut bytes = Vec::new();
                while let Some(byte) = numbers.next_element()? {
                    bytes.push(byte);
                }
                Ok(bytes)
            }
        }
        deserializer.deserialize_byte_buf(Bytes)
    }
}
