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
    let order =
        ["program", "format", "reading_version", "config", "models", "tasks", "groups", "level", "shard"];
    order.iter().find_map(|key| differ(key, &logged[key], &planned[key]))
}

fn differ(path: &str, logged: &Value, planned: &Value) -> Option<String> {
    if path == "config.model" && called(logged) != called(planned) {
        let (logged, planned) = (called(logged).join(", "), called(planned).join(", "));
        return Some(format!("the models are {logged} in the log and {planned} now"));
    }
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

/// How results call the models of a configuration.
fn called(models: &Value) -> Vec<&str> {
    let models = models.as_array().map(Vec::as_slice).unwrap_or_default();
    models.iter().filter_map(|model| model["name"].as_str().or(model["path"].as_str())).collect()
}

fn short(value: &Value) -> String {
    let text = value.to_string();
    match text.char_indices().nth(60) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;
    use crate::entry::Device;
    use crate::plan::Plan;

    fn header(template: &str) -> Header {
        let text = format!(
            "limit = 2\n[[model]]\npath = \"fake\"\n{template}[[task]]\nname = \"logic\"\nparams = {{}}\n"
        );
        let plan = Plan::make(Config::parse(&text, "x.toml").unwrap(), "x.toml", &text).ok().unwrap();
        Header {
            run_id: String::new(),
            program: String::new(),
            format: 1,
            reading_version: datasets::reading::VERSION,
            config_json: plan.config.identity_json(),
            models: plan.models.iter().map(|model| model.record.clone()).collect(),
            tasks: plan.tasks.iter().map(|task| task.record.clone()).collect(),
            groups: 1,
            device: Device::default(),
            shard: None,
            level: crate::levels::OWN_BUILD.into(),
        }
    }

    #[test]
    fn log_10_one_space_more_in_a_template_or_an_item_is_another_run() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("t.jinja");
        let of_template = |text: &str| {
            std::fs::write(&path, text).unwrap();
            header(&format!("template = {path:?}\n"))
        };
        let before = of_template("{% for m in messages %}{{ m.content }}{% endfor %}A:");
        let after = of_template("{% for m in messages %}{{ m.content }}{% endfor %} A:");
        assert!(difference(&before, &after).is_some_and(|words| words.contains("template")));
        assert_eq!(difference(&before, &before), None);

        let task = datasets::Task::named("logic").unwrap();
        let mut items = (task.items)(&datasets::Params::default(), 1).unwrap();
        let whole = items_sha256(&items);
        let datasets::Script::One(question) = &mut items[0].script else { panic!("one question") };
        question.ask.direct.push(' ');
        assert_ne!(items_sha256(&items), whole);
    }

    #[test]
    fn models_that_came_or_went_are_told_by_name() {
        let before = header("name = \"a\"\n");
        let more = header("name = \"a\"\n[[model]]\npath = \"fake\"\nname = \"b\"\n");
        let words = difference(&before, &more);
        assert_eq!(words.as_deref(), Some("the models are a in the log and a, b now"));
        // A model without a name is called by its file.
        let words = difference(&header(""), &before);
        assert_eq!(words.as_deref(), Some("the models are fake in the log and a now"));
    }

    #[test]
    fn ext_26_another_extraction_policy_is_another_run() {
        let before = header("");
        let after = Header { reading_version: before.reading_version + 1, ..before.clone() };
        assert!(difference(&before, &after).is_some_and(|words| words.starts_with("reading_version")));
    }

    #[test]
    fn log_09_another_content_under_the_same_name_is_another_model() {
        let before = header("");
        let mut after = before.clone();
        after.models[0].sha256 = "0".repeat(64);
        assert!(difference(&before, &after).is_some_and(|words| words.starts_with("models[0].sha256")));
    }
}
