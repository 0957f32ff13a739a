//! The log against crashes, broken devices and second writers.

mod crash;
mod damage;
mod device;
mod format;
mod names;
mod processes;

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::*;

/// The vocabulary of these tests, and of the golden log.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
enum Note {
    Header { build: String, seed: u64 },
    Item { id: String, reply: Vec<u8>, logprobs: Vec<f32>, wall_us: i64 },
    GroupEnd(u32),
}

fn header() -> Note {
    Note::Header { build: "test".to_owned(), seed: 7 }
}

/// Entry number `seq` of every log that these tests write; lengths and bytes differ from entry to entry.
fn note(seq: u64) -> Note {
    match seq {
        0 => header(),
        _ if seq.is_multiple_of(10) => Note::GroupEnd(seq as u32),
        _ => Note::Item {
            id: format!("g{seq:03}"),
            reply: (0..seq % 13).map(|place| (seq * 37 + place * 101) as u8).collect(),
            logprobs: vec![-(seq as f32) / 8.0],
            wall_us: -(seq as i64) * 1000,
        },
    }
}

/// A log of `entries` entries in memory, and where each frame ends.
fn log_bytes(entries: u64) -> (Vec<u8>, Vec<usize>) {
    let mut bytes = format!("{MAGIC}{FORMAT}\n").into_bytes();
    let mut ends = Vec::new();
    for seq in 0..entries {
        bytes.extend(crate::frame::encode(&(seq, note(seq))).unwrap());
        ends.push(bytes.len());
    }
    (bytes, ends)
}

/// Reads bytes as a log; every record must be the one that was written under its number.
fn read(bytes: &[u8]) -> (Vec<u64>, Vec<Damage>) {
    let mut seqs = Vec::new();
    let mut damages = Vec::new();
    for item in Reader::<Note, _>::over(bytes, Path::new("memory")).unwrap() {
        match item {
            Ok(record) => {
                assert_eq!(record.entry, note(record.seq), "a wrong record");
                seqs.push(record.seq);
            }
            Err(damage) => damages.push(damage),
        }
    }
    (seqs, damages)
}

fn folder_with(bytes: &[u8]) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join(LOG_FILE), bytes).unwrap();
    dir
}

fn resume(dir: &Path) -> (Log<Note>, Recovery) {
    Log::open_append(dir, Fsync::Never).unwrap()
}
