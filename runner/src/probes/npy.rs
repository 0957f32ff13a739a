//! Arrays in NumPy's own file form: what any other tool reads and writes states in.

use std::fs::File;
use std::io::{self, Read, Write};
use std::path::Path;

/// What a file begins with.
const MAGIC: &[u8] = b"\x93NUMPY";
/// Longest header that is read.
const HEADER_BYTES: usize = 1 << 16;

/// An array of states: rows by states by numbers.
#[derive(Debug)]
pub(super) struct Array {
    /// The file.
    pub(super) file: File,
    /// Where the numbers begin.
    pub(super) at: u64,
    /// Bytes of one number: 2 or 4.
    pub(super) width: usize,
    /// Rows.
    pub(super) rows: usize,
    /// States per row.
    pub(super) states: usize,
    /// Numbers per state.
    pub(super) dimension: usize,
}

impl Array {
    /// Opens an array of halves or singles with two dimensions (rows, numbers) or three (rows, states, numbers).
    pub(super) fn open(path: &Path) -> Result<Array, String> {
        let said = |what: &str| format!("{}: {what}", path.display());
        let mut file = File::open(path).map_err(|error| said(&error.to_string()))?;
        let (header, at) = header(&mut file).map_err(|error| said(&format!("is no NumPy array: {error}")))?;
        let width = match value(&header, "descr") {
            Some("'<f2'") => 2,
            Some("'<f4'") => 4,
            other => {
                let found = other.unwrap_or("nothing");
                return Err(said(&format!("holds {found}: float16 or float32, little-endian, is read")));
            }
        };
        if value(&header, "fortran_order") != Some("False") {
            return Err(said("is in Fortran order: write it with numpy.ascontiguousarray"));
        }
        let shape: Option<Vec<usize>> = shape(&header)
            .map(|numbers| numbers.iter().map(|number| number.trim().parse().ok()).collect())
            .unwrap_or_default();
        let (rows, states, dimension) = match shape.as_deref() {
            Some(&[rows, dimension]) => (rows, 1, dimension),
            Some(&[rows, states, dimension]) => (rows, states, dimension),
            _ => {
                return Err(said(
                    "has neither two dimensions (rows, numbers) nor three (rows, states, numbers)",
                ));
            }
        };
        let bytes = rows
            .checked_mul(states)
            .and_then(|n| n.checked_mul(dimension))
            .and_then(|n| n.checked_mul(width));
        let length = file.metadata().map_err(|error| said(&error.to_string()))?.len();
        if states == 0 || dimension == 0 || bytes.is_none_or(|bytes| at + bytes as u64 > length) {
            return Err(said("is shorter than its header says, or empty"));
        }
        Ok(Array { file, at, width, rows, states, dimension })
    }
}

/// The header's text, and where the numbers begin.
fn header(file: &mut File) -> io::Result<(String, u64)> {
    let mut front = [0; 8];
    file.read_exact(&mut front)?;
    if front[..6] != *MAGIC {
        return Err(io::Error::other("it does not begin like one"));
    }
    let (length, front_bytes) = if front[6] == 1 {
        let mut length = [0; 2];
        file.read_exact(&mut length)?;
        (usize::from(u16::from_le_bytes(length)), 10)
    } else {
        let mut length = [0; 4];
        file.read_exact(&mut length)?;
        (u32::from_le_bytes(length) as usize, 12)
    };
    if length > HEADER_BYTES {
        return Err(io::Error::other("its header is too long"));
    }
    let mut text = vec![0; length];
    file.read_exact(&mut text)?;
    let text = String::from_utf8(text).map_err(|_| io::Error::other("its header is no text"))?;
    Ok((text, (front_bytes + length) as u64))
}

/// The value of a key of the header's dictionary.
fn value<'a>(header: &'a str, key: &str) -> Option<&'a str> {
    let behind = header.split_once(&format!("'{key}':"))?.1;
    Some(behind.split([',', '}']).next()?.trim())
}

/// The numbers of the shape.
fn shape(header: &str) -> Option<Vec<&str>> {
    let inside = header.split_once("'shape':")?.1.split_once('(')?.1.split_once(')')?.0;
    Some(inside.split(',').filter(|number| !number.trim().is_empty()).collect())
}

/// Writes the header of an array of halves (`width` 2) or singles (4); the numbers follow it.
pub(super) fn write_header(out: &mut impl Write, width: usize, shape: &[usize]) -> io::Result<()> {
    let shape: Vec<String> = shape.iter().map(usize::to_string).collect();
    let mut text =
        format!("{{'descr': '<f{width}', 'fortran_order': False, 'shape': ({}), }}", shape.join(", "));
    // Numbers begin at a multiple of 64.
    let padding = (64 - (10 + text.len() + 1) % 64) % 64;
    text.extend(std::iter::repeat_n(' ', padding));
    text.push('\n');
    out.write_all(MAGIC)?;
    out.write_all(&[1, 0])?;
    out.write_all(&(text.len() as u16).to_le_bytes())?;
    out.write_all(text.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_array_as_numpy_writes_it_is_read() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("x.npy");
        // numpy.save of numpy.zeros((2, 3), "<f2"), version 1.0: header padded with spaces to 64 bytes before the data.
        let mut bytes =
            b"\x93NUMPY\x01\x00v\x00{'descr': '<f2', 'fortran_order': False, 'shape': (2, 3), }".to_vec();
        bytes.resize(127, b' ');
        bytes.push(b'\n');
        bytes.extend([0; 12]);
        std::fs::write(&path, &bytes).unwrap();
        let array = Array::open(&path).unwrap();
        assert_eq!((array.rows, array.states, array.dimension, array.width, array.at), (2, 1, 3, 2, 128));
        for (from, to, what) in [
            ("'<f2'", "'<i2'", "float16"),
            ("False", "True ", "Fortran"),
            ("(2, 3)", "(2,  )", "dimensions"),
            ("(2, 3)", "(9, 3)", "shorter"),
        ] {
            let text: Vec<u8> = bytes.clone();
            let at = text.windows(from.len()).position(|window| window == from.as_bytes()).unwrap();
            let mut wrong = text;
            wrong[at..at + from.len()].copy_from_slice(to.as_bytes());
            std::fs::write(&path, wrong).unwrap();
            let error = Array::open(&path).unwrap_err();
            assert!(error.contains(what), "{to}: {error}");
        }
        std::fs::write(&path, b"PK").unwrap();
        assert!(Array::open(&path).unwrap_err().contains("no NumPy array"));
    }

    #[test]
    fn written_headers_are_read_back() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("x.npy");
        let mut file = File::create(&path).unwrap();
        write_header(&mut file, 4, &[5, 7, 2]).unwrap();
        file.write_all(&[0; 5 * 7 * 2 * 4]).unwrap();
        let array = Array::open(&path).unwrap();
        assert_eq!((array.rows, array.states, array.dimension, array.width, array.at % 64), (5, 7, 2, 4, 0));
    }
}
