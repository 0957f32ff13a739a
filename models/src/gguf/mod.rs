//! Reads GGUF headers: what a model file is, whether it is whole, and what to do when it is not.
//!
//! llama.cpp aborts or answers nonsense on many damaged files, so every file is read here first. The reader
//! trusts no length in the file, allocates nothing that the file does not justify, and reads front to back once.

mod architectures;
mod bytes;
mod error;
mod facts;
mod hash;
mod inspect;
mod kinds;
mod sniff;
mod split;
mod tensor;
mod trailing;
mod value;
mod vocabulary;

use std::collections::BTreeMap;
use std::fs::File;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

use bytes::{Bytes, Source};

pub use architectures::ARCHITECTURES;
pub use error::{Fault, GgufError};
pub use hash::{hex, sha256_file};
pub use inspect::Inspection;
pub use kinds::{TensorType, file_type_name};
pub use tensor::Tensor;
pub use value::{Array, Value};
pub use vocabulary::{NamedToken, Vocabulary};

/// Format versions that are read.
pub const VERSIONS: RangeInclusive<u32> = 2..=3;

/// A model file's header: everything but the weights.
#[derive(Clone, Debug)]
pub struct Header {
    /// The file to load; the first part of a split model.
    pub path: PathBuf,
    /// Format version.
    pub version: u32,
    /// Bytes of the file, all parts together.
    pub file_bytes: u64,
    /// Key-value pairs of the first part.
    pub values: BTreeMap<String, Value>,
    /// Tensors of all parts.
    pub tensors: Vec<Tensor>,
    /// What the header says of the vocabulary, with the texts that matter here.
    pub vocabulary: Vocabulary,
    /// Oddities that do not stop a run, one line each.
    pub notes: Vec<String>,
    parts: Vec<PathBuf>,
    /// Where the tensors' data begin in each part, in bytes from its start.
    data_starts: Vec<u64>,
}

impl Header {
    /// Reads the header of a model file and checks that the file is whole.
    ///
    /// A split model is opened by any of its parts: the header's own path is then that of the first.
    pub fn open(path: &Path) -> Result<Header, GgufError> {
        let fail = |fault| GgufError { path: path.to_owned(), fault };
        let Some(place) = split::place(path) else {
            let header = one_file(path).map_err(fail)?;
            return split::unnamed(&header).map_or(Ok(header), |fault| Err(fail(fault)));
        };
        let parts = place.parts();
        let missing = parts.iter().filter(|part| !part.exists());
        let missing: Vec<String> = missing.map(|part| split::file_name(part)).collect();
        if !missing.is_empty() {
            return Err(fail(Fault::MissingShards { count: place.count, missing }));
        }
        let mut whole: Option<Header> = None;
        for part in &parts {
            let header = one_file(part).map_err(|fault| GgufError { path: part.clone(), fault })?;
            match &mut whole {
                None => whole = Some(header),
                Some(first) => split::join(first, header),
            }
        }
        let Some(mut whole) = whole else { return Err(fail(Fault::NotFound)) };
        if place.number != 1 {
            let note = format!("part {} of {} was given; part 1 is opened", place.number, place.count);
            whole.notes.insert(0, note);
        }
        whole.parts = parts;
        Ok(whole)
    }

    /// Reads a header from bytes in memory, for tests and fuzzers; `path` is for messages and names.
    #[doc(hidden)]
    pub fn from_bytes(bytes: &[u8], path: &str) -> Result<Header, GgufError> {
        let path = PathBuf::from(path);
        read(std::io::Cursor::new(bytes), &path).map_err(|fault| GgufError { path, fault })
    }

    /// All files of the model, in order.
    pub fn files(&self) -> &[PathBuf] {
        &self.parts
    }

    /// The file that holds a tensor of this header, and the byte of it where the tensor's data begin.
    pub fn place(&self, tensor: &Tensor) -> Option<(&Path, u64)> {
        let part = tensor.part as usize;
        let start = self.data_starts.get(part)?.checked_add(tensor.offset)?;
        Some((self.parts.get(part)?, start))
    }
}

fn one_file(path: &Path) -> Result<Header, Fault> {
    let meta = std::fs::metadata(path).map_err(bytes::io)?;
    if meta.is_dir() {
        return Err(Fault::Directory);
    }
    if !meta.is_file() {
        return Err(Fault::Io("it is not a regular file".to_owned()));
    }
    read(File::open(path).map_err(bytes::io)?, path)
}

fn read<R: Source>(source: R, path: &Path) -> Result<Header, Fault> {
    let mut bytes = Bytes::new(source)?;
    sniff::check(&mut bytes)?;
    bytes.seek(4)?;
    let version = bytes.u32("the format version")?;
    if version & 0xffff == 0 && version != 0 {
        return Err(Fault::BigEndian);
    }
    if !VERSIONS.contains(&version) {
        return Err(Fault::Version { found: version });
    }
    let tensor_count = bytes.u64("the tensor count")?;
    let key_count = bytes.u64("the key count")?;
    let values = value::read(&mut bytes, key_count)?;
    let tensors = tensor::read(&mut bytes, tensor_count)?;
    let table_end = bytes.at();
    let alignment = alignment(&values)?;
    let extent = tensor::extent(&tensors, alignment)?;
    let start = tensor::padded(table_end, alignment);
    let Some((data_start, end)) = start.and_then(|start| Some((start, start.checked_add(extent)?))) else {
        return Err(Fault::Absurd("its data are said to end beyond any file".to_owned()));
    };
    if !tensors.is_empty() && end > bytes.len() {
        let what = format!("tensor data end at byte {end}, the file at {}", bytes.len());
        return Err(Fault::Truncated { missing_bytes: end - bytes.len(), what });
    }
    let content_end = if tensors.is_empty() { table_end } else { end };
    let notes = trailing::check(&mut bytes, content_end, alignment)?;
    let vocabulary = vocabulary::read(&mut bytes, &values)?;
    let file_bytes = bytes.len();
    let path = path.to_owned();
    let (parts, data_starts) = (vec![path.clone()], vec![data_start]);
    Ok(Header { path, version, file_bytes, values, tensors, vocabulary, notes, parts, data_starts })
}

fn alignment(values: &BTreeMap<String, Value>) -> Result<u64, Fault> {
    match values.get("general.alignment").map(Value::count) {
        None => Ok(32),
        Some(Some(n)) if n.is_power_of_two() && n <= 1 << 20 => Ok(n),
        Some(found) => Err(Fault::Damaged(format!("its alignment is {found:?}"))),
    }
}

#[cfg(test)]
pub(crate) mod tests;
#[cfg(test)]
pub(crate) mod writer;
