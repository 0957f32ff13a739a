//! When two runs are the same run.

use datasets::Item;
use models::gguf::hex;
use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::entry::Header;

/// Hex SHA-256 over the JSON of all items.
pub fn items_sha256(items: &[Item]) -> String {
    let mut hash = Sha256::new();
    for item in items {
        // Items are plain data; they always have a JSON form.
        hash.update(serde_json::to_vec(item).unwrap_or_default());
        hash.update(b"\n");
    }
    hex(&hash.finalize())
}

/// The first field in which two runs differ, in words; `None` when one can go on with the other's log.
///
/// Where the log lies, how it is kept, what reports warn of and on which machine it ran make no other run.
pub fn difference(logged: &Header, planned: &Header) -> Option<String> {
    let plain = |header: &Header| {
        let mut value = serde_json::to_value(header).unwrap_or_default();
        if let Some(object) = value.as_object_mut() {
            object.remove("run_id");
            object.remove("device");
            let config = object.remove("config_json");
            let config = config.as_ref().and_then(Value::as_str).map(serde_json::from_str::<Value>);
            object.insert("config".into(), config.and_then(Result::ok).unwrap_or_default());
        }
        value
    };
    // Coarse facts first: a changed seed shows as the seed and not as the hash of every item.
    let (logged, planned) = (plain(logged), plain(planned));
    let order = ["program", "format", "reading_version", "config", "models", "tasks", "groups"];
    order.iter().find_map(|key| differ(key, &logged[key], &planned[key]))
}

fn differ(path: &str, logged: &Value, planned: &Value) -> Option<String> {
    match (logged, planned) {
        (Value::Object(a), Value::Object(b)) => {
            let keys: std::collections::BTreeSet<&String> = a.keys().chain(b.keys()).collect();
            keys.into_iter().find_map(|key| {
                let side =
                    |object: &serde_json::Map<String, Value>| object.get(key).cloned().unwrap_or_default();
                differ(&format!("{path}.{key}"), &side(a), &side(b))
            })
        }
        (Value::Array(a), Value::Array(b)) if a.len() == b.len() => {
            (0..a.len()).find_map(|index| differ(&format!("{path}[{index}]"), &a[index], &b[index]))
        }
        _ if logged == planned => None,
        _ => Some(format!("{path} is {} in the log and {} now", short(logged), short(planned))),
    }
}

fn short(value: &Value) -> String {
    let text = value.to_string();
    match text.char_indices().nth(60) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text,
    }
}
