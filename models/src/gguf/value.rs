//! The key-value part of a header.

use std::collections::BTreeMap;

use super::bytes::{Bytes, Source};
use super::error::Fault;

/// Longest key; llama.cpp has the same limit.
const KEY_BYTES: u64 = 65_535;
/// Longest string value. Chat templates, the longest real ones, stay under 100 KB.
const TEXT_BYTES: u64 = 16 << 20;
/// All string values together.
const ALL_TEXT_BYTES: u64 = 64 << 20;
/// Most keys; real models have under 100.
const KEYS: u64 = 65_536;
/// Most elements of an array; the largest real ones are vocabularies of under 300 000 tokens and their merges.
const ELEMENTS: u64 = 1 << 26;
/// Numeric arrays up to this length are kept (per-layer figures); longer ones are only located.
const KEPT_ELEMENTS: u64 = 4096;

/// A value of a header.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// Any unsigned integer.
    Unsigned(u64),
    /// Any signed integer.
    Signed(i64),
    /// Any float.
    Float(f64),
    /// A truth value.
    Bool(bool),
    /// Text; bytes that are not UTF-8 are replaced.
    Text(String),
    /// A short array of integers or truth values.
    Integers(Vec<i64>),
    /// Any other array, left in the file.
    Array(Array),
}

/// An array that was left in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Array {
    /// Type number of the elements.
    pub element: u32,
    /// Number of elements.
    pub count: u64,
    /// Where the first element begins in the file.
    pub at: u64,
}

impl Value {
    /// The value as a count, where it is one.
    pub fn count(&self) -> Option<u64> {
        match *self {
            Value::Unsigned(n) => Some(n),
            Value::Signed(n) => u64::try_from(n).ok(),
            _ => None,
        }
    }

    /// The value as text, where it is one.
    pub fn text(&self) -> Option<&str> {
        match self {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The value as a truth value, where it is one.
    pub fn bool(&self) -> Option<bool> {
        match *self {
            Value::Bool(value) => Some(value),
            _ => None,
        }
    }
}

pub(crate) const STRING: u32 = 8;
const ARRAY: u32 = 9;

/// Bytes of a scalar type; `None` for strings, arrays and unknown types.
pub(crate) fn scalar_bytes(kind: u32) -> Option<u64> {
    match kind {
        0 | 1 | 7 => Some(1),
        2 | 3 => Some(2),
        4..=6 => Some(4),
        10..=12 => Some(8),
        _ => None,
    }
}

/// Reads `count` keys with their values.
pub(crate) fn read<R: Source>(bytes: &mut Bytes<R>, count: u64) -> Result<BTreeMap<String, Value>, Fault> {
    if count > KEYS {
        return Err(Fault::Absurd(format!("the header is said to have {count} keys")));
    }
    let mut values = BTreeMap::new();
    let mut text_bytes = 0;
    for number in 1..=count {
        let key = bytes.text(KEY_BYTES, &format!("key {number} of {count}"))?;
        let key = String::from_utf8(key).map_err(|_| Fault::Damaged(format!("key {number} is not text")))?;
        let kind = bytes.u32(&key)?;
        let value = one(bytes, &key, kind)?;
        if let Value::Text(text) = &value {
            text_bytes += text.len() as u64;
            if text_bytes > ALL_TEXT_BYTES {
                return Err(Fault::Absurd(format!("its text values exceed {ALL_TEXT_BYTES} bytes")));
            }
        }
        if values.insert(key.clone(), value).is_some() {
            return Err(Fault::Damaged(format!("the key {key} stands twice")));
        }
    }
    Ok(values)
}

fn one<R: Source>(bytes: &mut Bytes<R>, key: &str, kind: u32) -> Result<Value, Fault> {
    match kind {
        STRING => {
            let text = bytes.text(TEXT_BYTES, key)?;
            Ok(Value::Text(String::from_utf8_lossy(&text).into_owned()))
        }
        ARRAY => array(bytes, key),
        _ => match scalar_bytes(kind) {
            Some(size) => Ok(scalar(kind, &bytes.take(size, key)?)),
            None => Err(Fault::Damaged(format!("{key} has the unknown type {kind}"))),
        },
    }
}

/// Arrays of arrays are refused, as llama.cpp does; so nothing here recurses.
fn array<R: Source>(bytes: &mut Bytes<R>, key: &str) -> Result<Value, Fault> {
    let element = bytes.u32(key)?;
    let count = bytes.u64(key)?;
    if count > ELEMENTS {
        return Err(Fault::Absurd(format!("{key} is said to have {count} elements")));
    }
    let here = Array { element, count, at: bytes.at() };
    if element == STRING {
        bytes.need(count * 8, key)?;
        for _ in 0..count {
            let length = bytes.u64(key)?;
            bytes.skip(length, key)?;
        }
        return Ok(Value::Array(here));
    }
    let Some(size) = scalar_bytes(element) else {
        return Err(Fault::Damaged(format!("{key} is an array of the unusable type {element}")));
    };
    let float = matches!(element, 6 | 12);
    if float || count > KEPT_ELEMENTS {
        bytes.skip(count * size, key)?;
        return Ok(Value::Array(here));
    }
    let all = bytes.take(count * size, key)?;
    let integers = all.chunks_exact(size as usize).map(|chunk| match scalar(element, chunk) {
        Value::Signed(n) => n,
        Value::Bool(b) => i64::from(b),
        other => other.count().and_then(|n| i64::try_from(n).ok()).unwrap_or(i64::MAX),
    });
    Ok(Value::Integers(integers.collect()))
}

/// A scalar of a known type from exactly its bytes.
fn scalar(kind: u32, bytes: &[u8]) -> Value {
    let mut wide = [0; 8];
    wide[..bytes.len()].copy_from_slice(bytes);
    let unsigned = u64::from_le_bytes(wide);
    let unused = 64 - 8 * bytes.len() as u32;
    match kind {
        1 | 3 | 5 | 11 => Value::Signed(((unsigned << unused) as i64) >> unused),
        6 => Value::Float(f64::from(f32::from_bits(unsigned as u32))),
        12 => Value::Float(f64::from_bits(unsigned)),
        7 => Value::Bool(unsigned != 0),
        _ => Value::Unsigned(unsigned),
    }
}
