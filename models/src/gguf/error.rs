//! What can be wrong with a model file, each in one line: what, where, what to do.

use std::path::PathBuf;

/// A model file that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", one_line(&format!("{}: {fault}", path.display())))]
pub struct GgufError {
    /// The file.
    pub path: PathBuf,
    /// What is wrong with it.
    pub fault: Fault,
}

/// What is wrong with a model file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// There is no such file.
    #[error("no such file")]
    NotFound,
    /// The system refused to read it.
    #[error("cannot be read: {0}")]
    Io(String),
    /// It is a directory.
    #[error("is a directory; give the .gguf file in it")]
    Directory,
    /// It has no bytes.
    #[error("is empty (0 bytes); the download did not finish, fetch it again")]
    Empty,
    /// A web page was saved in place of the model.
    #[error("is a web page, not a model; the download link led to a page, fetch the file itself")]
    WebPage,
    /// A stand-in that git-lfs left.
    #[error("is a git-lfs pointer, not the model; run `git lfs pull` or fetch the file itself")]
    LfsPointer,
    /// Some other text.
    #[error("is a text file, not a model")]
    Text,
    /// A format from before GGUF.
    #[error("is in the old format {0}, which nothing reads any more; get the model as GGUF")]
    OldFormat(&'static str),
    /// Another known format.
    #[error("is a {0} file, not GGUF; get the model as GGUF or convert it")]
    OtherFormat(&'static str),
    /// Nothing known.
    #[error("is not a GGUF file (it begins with bytes {0})")]
    NotGguf(String),
    /// Wrong byte order.
    #[error("is a big-endian model, this machine is little-endian; get the little-endian file")]
    BigEndian,
    /// Too old or too new a format.
    #[error("has GGUF format version {found}; versions {} to {} are supported, {}", super::VERSIONS.start(), super::VERSIONS.end(),
        if *found < 2 { "convert the model again" } else { "a newer edge-eval may read it" })]
    Version {
        /// The version in the file.
        found: u32,
    },
    /// The file ends before its content does.
    #[error("is incomplete: at least {missing_bytes} bytes are missing ({what}); fetch it again")]
    Truncated {
        /// Bytes that are missing, at the least.
        missing_bytes: u64,
        /// What is cut off.
        what: String,
    },
    /// A count or a length that no real model has.
    #[error("is damaged: {0}; fetch it again")]
    Absurd(String),
    /// The content contradicts itself.
    #[error("is damaged: {0}; fetch it again")]
    Damaged(String),
    /// A quantisation that llama.cpp dropped.
    #[error(
        "uses the removed type {name} (tensor {tensor}); get or make the file as {remedy}: it is repacked for the processor when it is loaded"
    )]
    RemovedType {
        /// Name of the type.
        name: &'static str,
        /// First tensor that has it.
        tensor: String,
        /// What to take in its place.
        remedy: &'static str,
    },
    /// A quantisation that is not known here.
    #[error("uses an unknown tensor type {id} (tensor {tensor}); the file is newer than this edge-eval")]
    UnknownType {
        /// Number of the type.
        id: u32,
        /// First tensor that has it.
        tensor: String,
    },
    /// Two models in one file.
    #[error(
        "has a second GGUF header at byte {at}: parts of a split model were joined; keep the parts as separate files"
    )]
    SecondHeader {
        /// Where it begins.
        at: u64,
    },
    /// Parts of a split model are not there.
    #[error("is a model in {count} parts, and these are missing: {}", missing.join(", "))]
    MissingShards {
        /// Parts in all.
        count: u32,
        /// File names that are not there.
        missing: Vec<String>,
    },
    /// A part of a split model that lost its name.
    #[error(
        "is part {number} of {count} of a split model, but is not named so; call it NAME-{number:05}-of-{count:05}.gguf beside the others"
    )]
    RenamedShard {
        /// Which part it is, from 1.
        number: u32,
        /// Parts in all.
        count: u32,
    },
}

/// Names in a message may come from a damaged file: no control characters, no endless text.
fn one_line(text: &str) -> String {
    let plain = |c: char| if c.is_control() { '\u{fffd}' } else { c };
    let mut line: String = text.chars().map(plain).take(LONGEST).collect();
    if text.chars().nth(LONGEST).is_some() {
        line.push('…');
    }
    line
}

/// Characters of the longest message.
const LONGEST: usize = 600;
