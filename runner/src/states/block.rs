//! One block: a mark, lengths of head and body, a checksum of those, head, body, a checksum of both.

use std::io::{self, BufRead, ErrorKind, Read};

use super::Head;

/// What a block begins with. Its first byte does not come again in it, so that it is found in one pass.
pub(super) const MARK: [u8; 4] = *b"\x93EES";
/// Bytes before the head: mark, two lengths, their checksum.
pub(super) const FRONT_BYTES: usize = 16;
/// Longest head.
const HEAD_BYTES: usize = 1 << 20;
/// Longest body.
const BODY_BYTES: usize = 1 << 28;
/// Bytes of a body that are held at once while it is checked.
const PIECE_BYTES: usize = 1 << 16;

/// The bytes of a block.
pub(super) fn encode(head: &Head, body: &[u8]) -> io::Result<Vec<u8>> {
    let head = serde_json::to_vec(head).map_err(io::Error::other)?;
    if head.len() > HEAD_BYTES || body.len() > BODY_BYTES {
        return Err(io::Error::other(format!("{} bytes of states are too many for one block", body.len())));
    }
    let mut bytes = Vec::with_capacity(FRONT_BYTES + head.len() + body.len() + 4);
    bytes.extend(MARK);
    bytes.extend((head.len() as u32).to_le_bytes());
    bytes.extend((body.len() as u32).to_le_bytes());
    bytes.extend(crc32fast::hash(&bytes).to_le_bytes());
    bytes.extend(&head);
    bytes.extend(body);
    let check = crc32fast::hash(&bytes[FRONT_BYTES..]);
    bytes.extend(check.to_le_bytes());
    Ok(bytes)
}

/// Lengths of head and body, where these bytes are the front of a block.
pub(super) fn lengths(front: &[u8; FRONT_BYTES]) -> Option<(usize, usize)> {
    let number = |at: usize| u32::from_le_bytes([front[at], front[at + 1], front[at + 2], front[at + 3]]);
    let (head, body) = (number(4) as usize, number(8) as usize);
    let is_front = front[..4] == MARK && crc32fast::hash(&front[..12]) == number(12);
    (is_front && head <= HEAD_BYTES && body <= BODY_BYTES).then_some((head, body))
}

/// What stands behind a front.
pub(super) enum Rest {
    /// A block with a body that may be kept.
    Whole(Box<Head>, Vec<u8>),
    /// The checksum is wrong, or the head is no head of this format.
    Damaged,
    /// The file ends inside it.
    Torn,
}

/// Reads the rest of a block. The body of an item is checked and passed over, others are kept: they are few and small.
pub(super) fn rest(input: &mut impl BufRead, head_bytes: usize, body_bytes: usize) -> io::Result<Rest> {
    let mut head = vec![0; head_bytes];
    if !filled(input, &mut head)? {
        return Ok(Rest::Torn);
    }
    let mut check = crc32fast::Hasher::new();
    check.update(&head);
    let parsed: Option<Head> = serde_json::from_slice(&head).ok();
    let keep = !matches!(parsed, None | Some(Head::Item(_)));
    let mut body = Vec::new();
    let mut piece = vec![0; body_bytes.min(PIECE_BYTES)];
    let mut left = body_bytes;
    while left > 0 {
        let part = &mut piece[..left.min(PIECE_BYTES)];
        if !filled(input, part)? {
            return Ok(Rest::Torn);
        }
        check.update(part);
        if keep {
            body.extend_from_slice(part);
        }
        left -= part.len();
    }
    let mut stored = [0; 4];
    if !filled(input, &mut stored)? {
        return Ok(Rest::Torn);
    }
    match parsed {
        Some(head) if u32::from_le_bytes(stored) == check.finalize() => Ok(Rest::Whole(Box::new(head), body)),
        _ => Ok(Rest::Damaged),
    }
}

/// Fills the buffer; `false` where the input ends before.
pub(super) fn filled(input: &mut impl Read, buffer: &mut [u8]) -> io::Result<bool> {
    match input.read_exact(buffer) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == ErrorKind::UnexpectedEof => Ok(false),
        Err(error) => Err(error),
    }
}
