//! Says what a file is when it is not GGUF.

use super::bytes::{Bytes, Source};
use super::error::Fault;

/// Accepts files that begin as GGUF does, and names the others.
pub(crate) fn check<R: Source>(bytes: &mut Bytes<R>) -> Result<(), Fault> {
    if bytes.len() == 0 {
        return Err(Fault::Empty);
    }
    let head = bytes.take(bytes.len().min(512), "its first bytes")?;
    let magic = &head[..head.len().min(4)];
    match magic {
        b"GGUF" => Ok(()),
        b"FUGG" => Err(Fault::BigEndian),
        b"lmgg" => Err(Fault::OldFormat("ggml")),
        b"fmgg" => Err(Fault::OldFormat("ggmf")),
        b"tjgg" => Err(Fault::OldFormat("ggjt")),
        b"algg" => Err(Fault::OldFormat("ggla")),
        b"PK\x03\x04" => Err(Fault::OtherFormat("ZIP or PyTorch")),
        b"\x1f\x8b\x08\x00" | b"\x1f\x8b\x08\x08" => Err(Fault::OtherFormat("gzip")),
        _ => Err(other(&head, bytes.len())),
    }
}

fn other(head: &[u8], len: u64) -> Fault {
    if b"GGUF".starts_with(head) {
        let missing_bytes = 24 - head.len() as u64;
        return Fault::Truncated { missing_bytes, what: "cut off in the format mark".to_owned() };
    }
    // A safetensors file is a little-endian length and then a JSON object of that length.
    if let Some((size, json)) = head.split_first_chunk::<8>() {
        let size = u64::from_le_bytes(*size);
        if size > 1 && size.checked_add(8).is_some_and(|end| end <= len) && json.starts_with(b"{\"") {
            return Fault::OtherFormat("safetensors");
        }
    }
    let Some(text) = as_text(head) else {
        let shown: Vec<String> = head.iter().take(4).map(|byte| format!("{byte:02x}")).collect();
        return Fault::NotGguf(shown.join(" "));
    };
    let lower = text.trim_start_matches('\u{feff}').trim_start().to_ascii_lowercase();
    if lower.starts_with("version https://git-lfs") {
        return Fault::LfsPointer;
    }
    let page = ["<!doctype", "<html", "<head", "<?xml"].iter().any(|start| lower.starts_with(start));
    if page { Fault::WebPage } else { Fault::Text }
}

/// The bytes as text, a character cut at the end aside; `None` where they hold control bytes.
fn as_text(head: &[u8]) -> Option<&str> {
    let text = match std::str::from_utf8(head) {
        Ok(text) => text,
        Err(error) if error.error_len().is_none() => {
            std::str::from_utf8(&head[..error.valid_up_to()]).unwrap_or_default()
        }
        Err(_) => return None,
    };
    let plain = |c: char| !c.is_control() || matches!(c, '\n' | '\r' | '\t');
    (!text.is_empty() && text.chars().all(plain)).then_some(text)
}
