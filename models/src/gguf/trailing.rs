//! What stands after the last tensor.

use super::bytes::{Bytes, Source};
use super::error::Fault;

/// How far trailing bytes are looked at for the start of a second model.
const LOOKED_AT: u64 = 1 << 20;

/// Accepts padding, refuses a second model, and reports anything else.
pub(crate) fn check<R: Source>(bytes: &mut Bytes<R>, end: u64, alignment: u64) -> Result<Vec<String>, Fault> {
    let extra = bytes.len().saturating_sub(end);
    if extra == 0 {
        return Ok(Vec::new());
    }
    bytes.seek(end)?;
    let tail = bytes.take(extra.min(LOOKED_AT), "its last bytes")?;
    let second = tail.windows(8).position(|eight| {
        let version = u32::from_le_bytes([eight[4], eight[5], eight[6], eight[7]]);
        eight.starts_with(b"GGUF") && (1..=16).contains(&version)
    });
    if let Some(offset) = second {
        return Err(Fault::SecondHeader { at: end + offset as u64 });
    }
    let zeros = tail.iter().all(|&byte| byte == 0);
    Ok(match zeros {
        true if extra < alignment => Vec::new(),
        true if extra <= LOOKED_AT => vec![format!("{extra} zero bytes follow the last tensor")],
        _ => vec![format!("{extra} bytes that belong to no tensor follow the last one")],
    })
}
