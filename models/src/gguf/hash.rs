//! The identity of a file: its SHA-256.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use sha2::{Digest, Sha256};

use super::bytes;
use super::error::GgufError;

/// SHA-256 of a file in hexadecimal, read in pieces. `progress` hears how many bytes are done.
pub fn sha256_file(path: &Path, progress: &mut dyn FnMut(u64)) -> Result<String, GgufError> {
    let fail = |error| GgufError { path: path.to_owned(), fault: bytes::io(error) };
    let mut file = File::open(path).map_err(fail)?;
    let mut hash = Sha256::new();
    let mut piece = vec![0; 1 << 20];
    let mut done = 0;
    loop {
        let count = file.read(&mut piece).map_err(fail)?;
        if count == 0 {
            return Ok(hex(&hash.finalize()));
        }
        hash.update(&piece[..count]);
        done += count as u64;
        progress(done);
    }
}

/// Bytes in hexadecimal.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
