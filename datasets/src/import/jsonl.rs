//! One JSON object a line.

use std::io::{BufRead, BufReader, Read};

use serde_json::{Map, Value};

use super::images::{Kind, kind};
use super::record::{Field, Record};
use super::text::{Checked, Quotes};
use super::{ImageCells, ImportError, Passed, held};
use crate::picture::Place;

/// Reads all rows.
pub(super) fn read(
    reader: impl Read,
    keep_damaged_end: bool,
    images: &ImageCells,
) -> Result<Passed, ImportError> {
    let mut lines = BufReader::new(Checked::new(reader, Quotes::None));
    let mut records = Vec::new();
    let mut line = 0;
    let mut at = 0u64;
    let mut text = Vec::new();
    let mut damaged = 0;
    loop {
        text.clear();
        let count = lines.read_until(b'\n', &mut text).map_err(ImportError::of_io)?;
        if count == 0 {
            break;
        }
        line += 1;
        let ended = text.ends_with(b"\n");
        let start = at + lines.get_ref().seen().mark_bytes;
        at += count as u64;
        let row = text.trim_ascii();
        if row.is_empty() {
            continue;
        }
        match serde_json::from_slice::<Map<String, Value>>(row) {
            Ok(object) => {
                let mut fields = Vec::with_capacity(object.len());
                for (name, value) in object {
                    let name = name.trim().to_lowercase();
                    let field = match &value {
                        Value::String(text) if images.names.contains(&name) && kind(text) == Kind::Base64 => {
                            let place = Place {
                                offset: start,
                                bytes: count as u64,
                                format: images.format,
                                column: name.clone(),
                            };
                            // A picture that is not shown is noted as present and not kept.
                            match images.shown {
                                true => held(text, place)
                                    .map_err(|reason| ImportError::row(line, None, reason))?,
                                false => Field::Text(String::new()),
                            }
                        }
                        _ => Field::of_json(value),
                    };
                    fields.push((name, field));
                }
                records.push(Record { line, fields });
            }
            Err(error) if error.is_eof() && !ended => {
                if !keep_damaged_end {
                    return Err(ImportError::DamagedEnd { line, byte: start, good: records.len() });
                }
                damaged = 1;
            }
            Err(_) if line == 1 && row.starts_with(b"[") => {
                let reason = "the file is one JSON list; write one object a line (JSONL)".to_owned();
                return Err(ImportError::row(line, None, reason));
            }
            Err(error) => return Err(ImportError::row(line, None, plain(&error))),
        }
    }
    let checked = lines.get_ref();
    Ok(Passed { records, crlf: checked.seen().crlf, damaged_end: damaged, file_sha256: checked.sha256() })
}

/// The parser's words with the place in the row alone: its own line number is always 1.
fn plain(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let place = format!(" at line {} column {}", error.line(), error.column());
    format!("no JSON object: {}, column {}", text.trim_end_matches(&place), error.column())
}

/// A text field of one row.
pub(super) fn cell(row: &[u8], name: &str) -> Result<String, String> {
    let object: Map<String, Value> =
        serde_json::from_slice(row.trim_ascii()).map_err(|error| error.to_string())?;
    let field = object.into_iter().find(|(known, _)| known.trim().to_lowercase() == name);
    match field {
        Some((_, Value::String(text))) => Ok(text),
        _ => Err(format!("no text `{name}` in the row; the file has changed")),
    }
}
