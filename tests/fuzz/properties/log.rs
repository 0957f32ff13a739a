//! Any bytes are a log with damaged stretches, and nothing is read that does not stand in it.
//!
//! A fuzzer does not find checksums. The input is therefore cut into pieces, and a piece may be a payload that gets
//! its checksum, its stuffing and its delimiters here.

use std::path::Path;

use runner::entry::Entry;
use runner::frame::{FrameReader, StreamError, decode, encode};
use runner::log::{DamageKind, Reader, Summary};

/// Stands between the pieces of an input.
pub(crate) const CUT: &[u8] = b"\xff\xfe\xfd\xfc";
/// The log's first line.
pub(crate) const LINE: &[u8] = b"edge-eval log 1\n";

/// The first byte says whether the log has its first line; each piece begins with a byte that says whether it is sealed.
pub(crate) fn check(bytes: &[u8]) {
    let Some((first, rest)) = bytes.split_first() else { return };
    let mut log = if first & 1 == 0 { LINE.to_vec() } else { Vec::new() };
    for piece in pieces(rest) {
        match piece.split_first() {
            Some((kind, payload)) if kind & 1 == 0 => {
                let frame = sealed(payload);
                one_frame(&frame);
                log.extend(frame);
            }
            Some((_, raw)) => {
                one_frame(raw);
                log.extend(raw);
            }
            None => {}
        }
    }
    whole(&log);
    stream(&log);
}

fn pieces(mut rest: &[u8]) -> impl Iterator<Item = &[u8]> {
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let end = rest.windows(CUT.len()).position(|four| four == CUT);
        let piece = &rest[..end.unwrap_or(rest.len())];
        rest = end.map_or(&[], |end| &rest[end + CUT.len()..]);
        Some(piece)
    })
}

/// A frame around a payload, made as the documentation of the format says and not by the code under test.
fn sealed(payload: &[u8]) -> Vec<u8> {
    let mut content = payload.to_vec();
    content.extend(crc32fast::hash(payload).to_le_bytes());
    let mut frame = vec![0];
    frame.extend(cobs::encode_vec(&content));
    frame.push(0);
    frame
}

/// What decodes has one encoding, which decodes to the same.
fn one_frame(frame: &[u8]) {
    if let Ok(value) = decode::<(u64, Entry)>(frame) {
        let again = encode(&value).expect("what was decoded can be encoded");
        let value = decode::<(u64, Entry)>(&again).expect("what was encoded can be decoded");
        // Compared as bytes: a number that is none is unequal to itself.
        assert_eq!(encode(&value).as_ref(), Ok(&again));
    }
    let _ = decode::<String>(frame);
    let _ = decode::<Vec<(String, f64)>>(frame);
}

/// Every stretch lies in the file and behind the one before, and numbers rise.
fn whole(log: &[u8]) {
    let path = Path::new("fuzz");
    let Ok(mut reader) = Reader::<Entry, _>::over(log, path) else { return };
    let (mut covered, mut last) = (0, None);
    for item in reader.by_ref() {
        let range = match &item {
            Ok(record) => {
                assert!(last.is_none_or(|last| last < record.seq), "{last:?} {}", record.seq);
                last = Some(record.seq);
                assert!(
                    decode::<(u64, Entry)>(&log[record.bytes.start as usize..record.bytes.end as usize])
                        .is_ok()
                );
                record.bytes.clone()
            }
            Err(damage) => {
                assert!(!damage.to_string().contains('\n'), "{damage}");
                if let DamageKind::Foreign { seq, .. } = damage.kind {
                    last = Some(seq);
                }
                damage.bytes.clone()
            }
        };
        assert!(
            covered <= range.start && range.start < range.end && range.end <= log.len() as u64,
            "{range:?}"
        );
        covered = range.end;
    }
    assert_eq!(reader.position(), log.len() as u64);
    if let Ok(mut reader) = Reader::<Entry, _>::over(log, path) {
        let summary = Summary::of(&mut reader);
        assert!(summary.end_of_good_bytes + summary.torn_tail_bytes <= log.len() as u64, "{summary:?}");
    }
}

/// The pipe between supervisor and worker ends after as many errors as there are stretches.
fn stream(bytes: &[u8]) {
    let mut reader = FrameReader::new(bytes);
    for _ in 0..=bytes.len() {
        match reader.read::<(u64, Entry)>() {
            Ok(None) => return,
            Ok(Some(_)) | Err(StreamError::Damaged { .. }) => {}
            Err(error) => panic!("{error}"),
        }
    }
    panic!("more values than bytes");
}
