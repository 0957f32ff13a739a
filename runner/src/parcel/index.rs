//! The index of a parcel and the trailer that finds it.

use std::collections::HashSet;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::frame;

/// Most members of a parcel.
pub const MAX_MEMBERS: usize = 100_000;

/// Longest name of a member.
pub const MAX_NAME_BYTES: usize = 512;

/// Largest index: read into memory before anything in it is believed.
pub const MAX_INDEX_BYTES: u64 = 16 << 20;

/// Length of the trailer.
pub(super) const TRAILER_BYTES: usize = 72;

pub(super) const FORMAT: u32 = 1;

const MAGIC: &[u8; 16] = b"edge-eval parcel";

/// How the content of a member lies in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Kind {
    /// As it is.
    Stored,
    /// As one Zstandard frame.
    Zstd,
}

/// A member.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Member {
    /// Its name: relative, parts divided by `/`.
    pub name: String,
    /// How it is kept.
    pub kind: Kind,
    /// Bytes that it takes in the file.
    pub kept_bytes: u64,
    /// Bytes of its content.
    pub bytes: u64,
    /// SHA-256 of its content.
    pub sha256: [u8; 32],
}

/// What lies in the file, from its beginning.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Index {
    pub(super) base_bytes: u64,
    pub(super) base_sha256: [u8; 32],
    /// In the order in which they lie, without gaps.
    pub(super) members: Vec<Member>,
}

impl Index {
    /// Where the last member ends; `None` where lengths do not add up to a number.
    pub(super) fn end_bytes(&self) -> Option<u64> {
        self.members.iter().try_fold(self.base_bytes, |end, member| end.checked_add(member.kept_bytes))
    }

    pub(super) fn encode(&self) -> Result<Vec<u8>, String> {
        let frame = frame::encode(self).map_err(|error| error.to_string())?;
        match frame.len() as u64 > MAX_INDEX_BYTES {
            true => Err(format!("an index of {} bytes is over the limit", frame.len())),
            false => Ok(frame),
        }
    }

    pub(super) fn decode(bytes: &[u8]) -> Result<Index, String> {
        let index: Index = frame::decode(bytes).map_err(|error| format!("its index: {error}"))?;
        if index.members.len() > MAX_MEMBERS {
            return Err(format!("its index has {} members", index.members.len()));
        }
        let mut names = HashSet::new();
        for member in &index.members {
            check_name(&member.name).map_err(|reason| format!("its index: a name {reason}"))?;
            if !names.insert(member.name.as_str()) {
                return Err(format!("its index has {} twice", member.name));
            }
            if member.kind == Kind::Stored && member.kept_bytes != member.bytes {
                return Err(format!("its index contradicts itself about {}", member.name));
            }
        }
        Ok(index)
    }
}

/// Whether a name may stand in an index: it must never lead out of a folder that members are unpacked to.
pub fn check_name(name: &str) -> Result<(), String> {
    if name.is_empty() || name.len() > MAX_NAME_BYTES {
        return Err(format!("has {} bytes, where 1 to {MAX_NAME_BYTES} are allowed", name.len()));
    }
    if name.chars().any(|character| character.is_control() || character == '\\') {
        return Err(format!("{name:?} has control characters or backslashes"));
    }
    match name.split('/').any(|part| matches!(part, "" | "." | "..")) {
        true => Err(format!("{name:?} has empty parts, `.` or `..`")),
        false => Ok(()),
    }
}

/// The last bytes of a file with a parcel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Trailer {
    pub(super) format: u32,
    pub(super) index_at: u64,
    pub(super) index_bytes: u64,
    pub(super) index_sha256: [u8; 32],
}

impl Trailer {
    pub(super) fn of(index_at: u64, index: &[u8]) -> Trailer {
        let index_sha256 = Sha256::digest(index).into();
        Trailer { format: FORMAT, index_at, index_bytes: index.len() as u64, index_sha256 }
    }

    pub(super) fn encode(&self) -> [u8; TRAILER_BYTES] {
        let mut bytes = [0; TRAILER_BYTES];
        bytes[..16].copy_from_slice(MAGIC);
        bytes[16..20].copy_from_slice(&self.format.to_le_bytes());
        // 20..24 is kept free, and zero.
        bytes[24..32].copy_from_slice(&self.index_at.to_le_bytes());
        bytes[32..40].copy_from_slice(&self.index_bytes.to_le_bytes());
        bytes[40..].copy_from_slice(&self.index_sha256);
        bytes
    }

    /// `None` where the bytes are no trailer.
    pub(super) fn decode(bytes: &[u8; TRAILER_BYTES]) -> Option<Trailer> {
        let word = |at: usize| bytes[at..at + 8].try_into().map_or(0, u64::from_le_bytes);
        let format = bytes[16..20].try_into().map_or(0, u32::from_le_bytes);
        let index_sha256 = bytes[40..].try_into().ok()?;
        let whole = bytes.starts_with(MAGIC) && bytes[20..24] == [0; 4];
        whole.then_some(Trailer { format, index_at: word(24), index_bytes: word(32), index_sha256 })
    }
}
