//! A picture that lies in a file: as a file of its own, or as base64 text in a row of a table.

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::{MOST_BYTES, PictureError, Pixels, decode, inspect};
use crate::files::Files;
use crate::import::{cell_text, hex};

/// Where the bytes of a picture are, and which bytes they must be.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct FilePicture {
    /// The file.
    pub path: String,
    /// The row in it; `None` where the file is the picture.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<Place>,
    /// Hex SHA-256 of the encoded picture.
    pub sha256: String,
    /// Width in pixels, upright.
    pub width: u32,
    /// Height in pixels, upright.
    pub height: u32,
}

/// A cell of a table that holds a picture as base64 text.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Place {
    /// Where the row begins, in bytes.
    pub offset: u64,
    /// Length of the row in bytes.
    pub bytes: u64,
    /// How the row is written.
    pub format: crate::import::Format,
    /// Number of the column from 0; name of the field in JSON.
    pub column: String,
}

impl FilePicture {
    /// The picture of these bytes.
    pub fn of(path: &str, place: Option<Place>, encoded: &[u8]) -> Result<FilePicture, String> {
        let seen = inspect(encoded)?;
        let sha256 = hex(&Sha256::digest(encoded));
        Ok(FilePicture { path: path.to_owned(), place, sha256, width: seen.width, height: seen.height })
    }

    /// Looks at the file of a picture.
    pub fn at(path: &str, files: &mut dyn Files) -> Result<FilePicture, String> {
        let bytes = files.bytes(path, MOST_BYTES).map_err(|reason| named(path, &reason))?;
        FilePicture::of(path, None, &bytes).map_err(|reason| named(path, &reason))
    }

    /// Reads the bytes again and decodes them.
    pub(super) fn pixels(&self, files: &mut dyn Files) -> Result<Pixels, PictureError> {
        let read = |files: &mut dyn Files| {
            let Some(place) = &self.place else { return files.bytes(&self.path, MOST_BYTES) };
            let row = files.stretch(&self.path, place.offset, place.bytes)?;
            base64(&cell_text(&row, place.format, &place.column)?)
        };
        let error = |reason: String| PictureError(named(&self.path, &reason));
        let bytes = read(files).map_err(error)?;
        if hex(&Sha256::digest(&bytes)) != self.sha256 {
            return Err(error(
                "the picture is not the one that was imported; the file has changed".to_owned(),
            ));
        }
        decode(&bytes).map_err(error)
    }
}

fn named(path: &str, reason: &str) -> String {
    if reason.starts_with(path) { reason.to_owned() } else { format!("{path}: {reason}") }
}

/// Base64 text to bytes: the usual alphabet, a `data:` head before it or not, white space anywhere.
pub(crate) fn base64(text: &str) -> Result<Vec<u8>, String> {
    let text = match text.strip_prefix("data:") {
        Some(rest) => rest.split_once(";base64,").ok_or("a `data:` text that is not base64")?.1,
        None => text,
    };
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3);
    let (mut held, mut bits, mut padded, mut signs) = (0u32, 0u32, 0usize, 0usize);
    for (at, sign) in text.bytes().enumerate() {
        let value = match sign {
            b'A'..=b'Z' => sign - b'A',
            b'a'..=b'z' => sign - b'a' + 26,
            b'0'..=b'9' => sign - b'0' + 52,
            b'+' | b'-' => 62,
            b'/' | b'_' => 63,
            b'=' => {
                padded += 1;
                continue;
            }
            b' ' | b'\n' | b'\r' | b'\t' => continue,
            _ => return Err(format!("no base64: a foreign sign at place {}", at + 1)),
        };
        if padded > 0 {
            return Err("no base64: text goes on after its padding".to_owned());
        }
        signs += 1;
        held = held << 6 | u32::from(value);
        bits += 6;
        if bits >= 8 {
            bits -= 8;
            bytes.push((held >> bits) as u8);
        }
    }
    if padded > 2 || signs % 4 == 1 || (padded > 0 && (signs + padded) % 4 != 0) {
        return Err("truncated base64: its length is none that base64 has".to_owned());
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_is_that_of_rfc_4648() {
        // Section 10 of the RFC.
        for (plain, text) in [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foob", "Zm9vYg=="),
            ("foobar", "Zm9vYmFy"),
        ] {
            assert_eq!(base64(text).unwrap(), plain.as_bytes());
            assert_eq!(base64(text.trim_end_matches('=')).unwrap(), plain.as_bytes());
        }
        assert_eq!(base64("data:image/png;base64,Zm9v\n").unwrap(), b"foo");
        for (text, word) in [
            ("Zm9vY", "truncated"),
            ("Zg=", "truncated"),
            ("Zg==Zg", "padding"),
            ("Zm$v", "place 3"),
            ("data:,x", "not base64"),
        ] {
            assert!(base64(text).unwrap_err().contains(word), "{text}");
        }
    }
}
