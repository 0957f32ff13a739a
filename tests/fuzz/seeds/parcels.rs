//! Parcels: stored, compressed, and with indices that lie.

use sha2::{Digest, Sha256};

use crate::property::{CUT, PROGRAM_BYTES};

/// Zstandard frame of the text `hello`, as one raw block.
const HELLO: &[u8] = b"\x28\xb5\x2f\xfd\x20\x05\x29\x00\x00hello";

/// Name, form (0 stored, 1 Zstandard), kept bytes, bytes, hash.
type Row = (&'static str, u32, u64, u64, [u8; 32]);

pub(crate) fn all() -> Vec<Vec<u8>> {
    let hash = |bytes: &[u8]| <[u8; 32]>::from(Sha256::digest(bytes));
    let mut program = b"\x7fELF\x02\x01\x01".to_vec();
    program.resize(PROGRAM_BYTES as usize, 0);
    let seed = |contents: &[u8], base_bytes: u64, rows: Vec<Row>| {
        let index = postcard::to_stdvec(&(base_bytes, hash(&program), rows)).expect("plain data");
        [&[0], contents, CUT, &index].concat()
    };
    let packed = HELLO.len() as u64;
    let both = [b"hello", HELLO].concat();
    vec![
        seed(b"", PROGRAM_BYTES, vec![]),
        seed(b"hello", PROGRAM_BYTES, vec![("level/a", 0, 5, 5, hash(b"hello"))]),
        seed(HELLO, PROGRAM_BYTES, vec![("bundle/b", 1, packed, 5, hash(b"hello"))]),
        seed(&both, PROGRAM_BYTES, vec![("a", 0, 5, 5, hash(b"hello")), ("b", 1, packed, 5, hash(b"hello"))]),
        seed(HELLO, PROGRAM_BYTES, vec![("../b", 1, packed, 1 << 60, [0; 32])]),
        seed(b"hello", 3, vec![("a", 0, u64::MAX, u64::MAX, [0; 32])]),
        [&[1], &program[..]].concat(),
        [&[1], &program[..], b"more"].concat(),
    ]
}
