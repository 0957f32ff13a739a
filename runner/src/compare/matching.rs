//! What two sides must have in common, so that a difference between them is one of the models.

use serde_json::Value;

use super::side::Side;
use crate::entry::TaskRecord;
use crate::exit::{Exit, Failure};

/// Fields that are checked, by the names that `--allow` takes.
pub const FIELDS: [&str; 9] =
    ["seed", "reading", "asking", "version", "params", "limit", "cue", "items", "prompts"];

/// A field in which the sides differ.
struct Difference {
    field: &'static str,
    words: String,
}

/// Checks two sides. `Err` names the first field that differs and is not allowed to; `Ok` has notes.
pub(super) fn check(reference: &Side, candidate: &Side, allow: &[String]) -> Result<Vec<String>, Failure> {
    let mut notes = Vec::new();
    let mut differences = choices(reference, candidate);
    for task in &reference.header.tasks {
        let Some(other) = candidate.header.tasks.iter().find(|other| other.name == task.name) else {
            notes.push(format!(
                "task {}: {} has it, {} has not; it is left out",
                task.name, reference.name, candidate.name
            ));
            continue;
        };
        differences.extend(tasks(reference, candidate, task, other));
    }
    for task in &candidate.header.tasks {
        if !reference.header.tasks.iter().any(|other| other.name == task.name) {
            notes.push(format!(
                "task {}: {} has it, {} has not; it is left out",
                task.name, candidate.name, reference.name
            ));
        }
    }
    differences.extend(prompts(reference, candidate, &mut notes));
    for Difference { field, words } in differences {
        if !allow.iter().any(|allowed| allowed == field) {
            return Err(Failure::new(
                Exit::Mismatch,
                format!(
                    "{} and {} do not match: {words}: run both alike, or take the difference into the comparison with \
                     --allow {field}",
                    reference.name, candidate.name
                ),
            ));
        }
        notes.push(format!("{} and {} differ, as allowed: {words}", reference.name, candidate.name));
    }
    notes.extend(conditions(reference, candidate));
    Ok(notes)
}

/// What was chosen for the whole run.
fn choices(reference: &Side, candidate: &Side) -> Vec<Difference> {
    let mut found = Vec::new();
    let (a, b) = (&reference.config, &candidate.config);
    found.extend(differ("seed", "seed", &a["seed"], &b["seed"]));
    let (read_a, read_b) = (reference.header.reading_version, candidate.header.reading_version);
    if read_a != read_b {
        found.push(Difference {
            field: "reading",
            words: format!("reading_version is {read_a} and {read_b} (`regrade --write` reads a log again)"),
        });
    }
    let keys = |value: &Value| -> Vec<String> {
        value["asking"].as_object().map(|object| object.keys().cloned().collect()).unwrap_or_default()
    };
    let mut names = keys(a);
    names.extend(keys(b));
    names.sort();
    names.dedup();
    for name in names {
        let path = format!("asking.{name}");
        found.extend(differ("asking", &path, &a["asking"][&name], &b["asking"][&name]));
    }
    found
}

/// What was chosen for a task.
fn tasks(reference: &Side, candidate: &Side, task: &TaskRecord, other: &TaskRecord) -> Vec<Difference> {
    let mut found = Vec::new();
    let path = |key: &str| format!("task {}: {key}", task.name);
    if task.task != other.task {
        found.push(Difference {
            field: "version",
            words: format!("{} is {} and {}", path("task"), task.task, other.task),
        });
    }
    if task.version != other.version {
        found.push(Difference {
            field: "version",
            words: format!("{} is {} and {}", path("version"), task.version, other.version),
        });
    }
    let params = |task: &TaskRecord| serde_json::from_str::<Value>(&task.params_json).unwrap_or_default();
    found.extend(differ("params", &path("params"), &params(task), &params(other)));
    let chosen = |side: &Side, task: &TaskRecord, key: &str| {
        let at = side.header.tasks.iter().position(|own| own.name == task.name).unwrap_or_default();
        let own = side.config["task"][at][key].clone();
        if own.is_null() && key == "limit" { side.config["limit"].clone() } else { own }
    };
    for key in ["limit", "cue"] {
        found.extend(differ(key, &path(key), &chosen(reference, task, key), &chosen(candidate, other, key)));
    }
    if task.items_sha256 != other.items_sha256 {
        let short = |hash: &str| hash.chars().take(12).collect::<String>();
        let (a, b) = (short(&task.items_sha256), short(&other.items_sha256));
        found.push(Difference { field: "items", words: format!("{} is {a} and {b}", path("items_sha256")) });
    }
    found
}

/// What was asked, after the chat template.
fn prompts(reference: &Side, candidate: &Side, notes: &mut Vec<String>) -> Option<Difference> {
    let (a, b) = (&reference.model, &candidate.model);
    if a.template_sha256 != b.template_sha256 {
        let short = |hash: &str| hash.chars().take(12).collect::<String>();
        // Rungs of one model share its template; other models have their own.
        if (a.architecture.as_str(), a.parameters) == (b.architecture.as_str(), b.parameters) {
            return Some(Difference {
                field: "prompts",
                words: format!(
                    "template_sha256 is {} and {}",
                    short(&a.template_sha256),
                    short(&b.template_sha256)
                ),
            });
        }
        notes.push(format!(
            "{} and {} are different models: each is asked in its own chat template",
            reference.name, candidate.name
        ));
        return None;
    }
    let mut differing = 0u64;
    let mut first = None;
    for (place, answers) in &reference.places {
        let Some(others) = candidate.answers(place) else { continue };
        for (item, answer) in answers {
            let prompts = (answer.prompt, others.get(item).and_then(|other| other.prompt));
            if let (Some(one), Some(other)) = prompts
                && one != other
            {
                differing += 1;
                first.get_or_insert_with(|| format!("task {}, item {item} through {}", place.0, place.1));
            }
        }
    }
    let first = first?;
    let thinking = |side: &Side| side.config["model"][side.model_index]["thinking"].clone();
    let why = match differ("prompts", "thinking", &thinking(reference), &thinking(candidate)) {
        Some(difference) => format!(" ({})", difference.words),
        None => String::new(),
    };
    Some(Difference {
        field: "prompts",
        words: format!("prompt_hash of {differing} prompts differs, the first: {first}{why}"),
    })
}

/// What does not forbid a comparison and should be known.
fn conditions(reference: &Side, candidate: &Side) -> Vec<String> {
    let mut notes = Vec::new();
    for side in [reference, candidate] {
        if !side.complete {
            notes.push(format!("{}: the run is not complete; what both sides have is compared", side.name));
        }
    }
    let (a, b) = (&reference.config["engine"], &candidate.config["engine"]);
    let names = a.as_object().into_iter().chain(b.as_object()).flat_map(|object| object.keys());
    let mut names: Vec<&String> = names.collect();
    names.sort();
    names.dedup();
    for name in names {
        if let Some(difference) = differ("engine", &format!("engine.{name}"), &a[name], &b[name]) {
            notes.push(format!("{} and {}: {}", reference.name, candidate.name, difference.words));
        }
    }
    if reference.header.device != candidate.header.device {
        notes.push(format!(
            "{} and {} ran on different machines: the ratio of times compares the machines too",
            reference.name, candidate.name
        ));
    }
    if reference.header.level != candidate.header.level {
        notes.push(format!(
            "{} and {}: CPU level is {} and {}: scores differ by rounding alone, and times by the level",
            reference.name, candidate.name, reference.header.level, candidate.header.level
        ));
    }
    if reference.header.program != candidate.header.program {
        notes.push(format!(
            "{} and {}: program is {} and {}",
            reference.name, candidate.name, reference.header.program, candidate.header.program
        ));
    }
    notes
}

fn differ(field: &'static str, path: &str, a: &Value, b: &Value) -> Option<Difference> {
    let short = |value: &Value| {
        let text = value.to_string();
        match text.char_indices().nth(80) {
            Some((end, _)) => format!("{}...", &text[..end]),
            None => text,
        }
    };
    if let (Value::Object(one), Value::Object(two)) = (a, b) {
        let keys: std::collections::BTreeSet<&String> = one.keys().chain(two.keys()).collect();
        return keys.into_iter().find_map(|key| differ(field, &format!("{path}.{key}"), &a[key], &b[key]));
    }
    (a != b).then(|| Difference { field, words: format!("{path} is {} and {}", short(a), short(b)) })
}
