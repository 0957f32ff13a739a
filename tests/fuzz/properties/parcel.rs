//! Any file carries nothing, or members whose hashes are right, or is refused in one line.
//!
//! A fuzzer does not find hashes. The input may therefore be contents and an index, which get an executable in front, a
//! checksum and a trailer here.

use std::io::{Cursor, Read};
use std::path::PathBuf;

use runner::parcel::{Executable, Parcel, check_name};
use sha2::{Digest, Sha256};

/// Stands between contents and index.
pub(crate) const CUT: &[u8] = b"\xff\xfe\xfd\xfc";
/// Most bytes that are read of a member.
const MOST_BYTES: u64 = 1 << 20;
/// Length of the executable in front.
pub(crate) const PROGRAM_BYTES: u64 = 64;

/// The first byte says whether the rest is the file itself, or contents and index.
pub(crate) fn check(bytes: &[u8]) {
    let Some((first, rest)) = bytes.split_first() else { return };
    let file = if first & 1 == 0 { sealed(rest) } else { rest.to_vec() };
    let found = Executable::read(&mut Cursor::new(&file)).expect("memory can be read");
    let path = place();
    std::fs::write(&path, &file).expect("the file can be written");
    match Parcel::of(&path) {
        Ok(None) => assert!(found.is_none_or(|found| found.end_bytes == file.len() as u64)),
        Ok(Some(parcel)) => sound(&parcel, file.len() as u64),
        Err(error) => one_line(&error.to_string()),
    }
}

fn place() -> PathBuf {
    let folder = ["/dev/shm", "/tmp"].map(PathBuf::from).into_iter().find(|folder| folder.is_dir());
    folder.unwrap_or_default().join(format!("edge-eval-parcel-{}", std::process::id()))
}

fn sound(parcel: &Parcel, file_bytes: u64) {
    let kept: u64 = parcel.members().iter().map(|member| member.kept_bytes).sum();
    assert!(parcel.base_bytes() + kept < file_bytes);
    for member in parcel.members().iter().take(8) {
        assert!(check_name(&member.name).is_ok());
        let mut read = Vec::new();
        let content = parcel.open(&member.name).expect("the member is there");
        let ended = content.take(MOST_BYTES).read_to_end(&mut read);
        assert!(read.len() as u64 <= member.bytes);
        if ended.is_ok() && member.bytes < MOST_BYTES {
            assert_eq!(read.len() as u64, member.bytes);
            assert_eq!(Sha256::digest(&read)[..], member.sha256);
        }
    }
    if let Err(error) = parcel.check_base() {
        one_line(&error.to_string());
    }
}

/// A file as the documentation of the format says, made without the code under test.
fn sealed(rest: &[u8]) -> Vec<u8> {
    let cut = rest.windows(CUT.len()).position(|four| four == CUT);
    let (contents, payload) = cut.map_or((rest, &[][..]), |at| (&rest[..at], &rest[at + CUT.len()..]));
    let mut file = b"\x7fELF\x02\x01\x01".to_vec();
    file.resize(PROGRAM_BYTES as usize, 0);
    file.extend(contents);
    let index_at = file.len() as u64;
    let mut content = payload.to_vec();
    content.extend(crc32fast::hash(payload).to_le_bytes());
    let mut frame = vec![0];
    frame.extend(cobs::encode_vec(&content));
    frame.push(0);
    file.extend(&frame);
    file.extend(b"edge-eval parcel\x01\0\0\0\0\0\0\0");
    file.extend(index_at.to_le_bytes());
    file.extend((frame.len() as u64).to_le_bytes());
    file.extend(Sha256::digest(&frame));
    file
}

fn one_line(text: &str) {
    assert!(!text.is_empty() && !text.contains(char::is_control), "{text:?}");
}
