//! Multiple-choice items from a file of one's own.
//!
//! The file is read before the items are made ([`resolve`]): this crate opens no files.

use serde::Deserialize;

use crate::import::{self, Entry, Format, Labels, Layout, MOST_NUMBERS, Rules, Set};
use crate::task::{ReadFile, Resolved};
use crate::{Baseline, Item, Params, Task, TaskError};

/// The task.
pub static FILE: Task = Task {
    name: "file",
    version: 1,
    summary: "multiple-choice items from a JSONL, CSV or TSV file",
    source: "a file of the user's",
    params: include_str!("file.toml"),
    items,
    resolve: Some(resolve),
    analysis: crate::analysis::Analysis { strata: &[&["group"]], figures: crate::analysis::none },
    baselines: &[FIRST],
};

/// The baseline of tasks whose items are read.
pub(super) const FIRST: Baseline = Baseline {
    name: "first",
    summary: "always the first option",
    answers: |items| vec![Some(0); items.len()],
};

/// Parameters.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default, rename_all = "kebab-case")]
struct FileParams {
    path: String,
    format: Format,
    import: Rules,
    show: Layout,
    /// Filled by [`resolve`].
    rows: Vec<Entry>,
    /// Filled by [`resolve`].
    file_sha256: String,
}

fn items(params: &Params, seed: u64) -> Result<Vec<Item>, TaskError> {
    let params: FileParams = params.read()?;
    made(&params.rows, &params.show, &params.path, "a JSONL, CSV or TSV file of items", seed)
}

/// The items of rows that a file or a folder gave. `what` says what `path` names.
pub(super) fn made(
    rows: &[Entry],
    show: &Layout,
    path: &str,
    what: &str,
    seed: u64,
) -> Result<Vec<Item>, TaskError> {
    if rows.is_empty() {
        return Err(TaskError::Params(match path {
            "" => format!("path: name {what}"),
            path => format!("path: {path} has not been read; resolve the parameters first"),
        }));
    }
    for row in rows {
        if usize::from(row.gold) >= row.options.len() || !(2..=26).contains(&row.options.len()) {
            return Err(TaskError::Params(format!(
                "rows: item {} has no gold among 2 to 26 options",
                row.id
            )));
        }
        if show.labels == Labels::Numbers && row.options.len() > MOST_NUMBERS {
            return Err(TaskError::Key {
                key: "params.show.labels".to_owned(),
                message: format!(
                    "params.show.labels: item {} has {} options, and numbers serve {MOST_NUMBERS}: a model that goes on with 10 goes \
                     on with 1, which could never be less probable; take letters",
                    row.id,
                    row.options.len()
                ),
            });
        }
    }
    let mut items: Vec<Item> = rows.iter().map(|row| show.item(row, seed)).collect();
    // Families stand together; their first rows keep the order of the file.
    let mut first: std::collections::BTreeMap<String, usize> = std::collections::BTreeMap::new();
    for (index, item) in items.iter().enumerate() {
        first.entry(item.family.clone()).or_insert(index);
    }
    items.sort_by_key(|item| first.get(&item.family).copied());
    Ok(items)
}

/// Parameters with the rows that `read` gives, or as they are where `path` names nothing.
pub(super) fn resolved<E: std::fmt::Display>(
    params: &Params,
    path: &str,
    read: impl FnOnce() -> Result<Set, E>,
) -> Result<Resolved, TaskError> {
    if path.is_empty() {
        return Ok(Resolved { params: params.clone(), notes: Vec::new() });
    }
    let set = read().map_err(|error| TaskError::data("path", path, &error.to_string()))?;
    filled(params, path, &set.entries, set.notes)
}

/// Parameters with the rows that were read.
fn filled(params: &Params, path: &str, rows: &[Entry], notes: Vec<String>) -> Result<Resolved, TaskError> {
    let rows =
        toml::Value::try_from(rows).map_err(|error| TaskError::Params(format!("path: {path}: {error}")))?;
    let mut table = params.0.clone();
    table.insert("rows".to_owned(), rows);
    Ok(Resolved { params: Params(table), notes })
}

/// Reads the file that `path` names and puts its rows in its place.
pub(super) fn resolve(params: &Params, read_file: ReadFile<'_>) -> Result<Resolved, TaskError> {
    let named: FileParams = params.read()?;
    if named.path.is_empty() {
        return Ok(Resolved { params: params.clone(), notes: Vec::new() });
    }
    let format = named.format.of(&named.path).map_err(|error| TaskError::Params(format!("path: {error}")))?;
    let import = import::read_files(&named.path, format, &named.import, read_file)
        .map_err(|error| TaskError::data("path", &named.path, &error.to_string()))?;
    let notes = import.notes().into_iter().map(|note| format!("{}: {note}", named.path)).collect();
    let mut resolved = filled(params, &named.path, &import.entries, notes)?;
    resolved.params.0.insert("file-sha256".to_owned(), toml::Value::String(import.file_sha256));
    Ok(resolved)
}

#[cfg(test)]
mod tests;
