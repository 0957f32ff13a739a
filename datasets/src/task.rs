//! What a task is: a const value with function pointers, listed in [`crate::tasks::ALL`].

use serde::de::DeserializeOwned;

use crate::Item;
use crate::analysis::Analysis;
use crate::fault;

/// A task.
pub struct Task {
    /// The name in configurations and results: `linear-world`.
    pub name: &'static str,
    /// Raised by any change of items, prompts or reading rule: results of different versions do not compare.
    pub version: u32,
    /// One line for lists.
    pub summary: &'static str,
    /// Where the task comes from: paper, section.
    pub source: &'static str,
    /// A commented TOML table of every parameter with its default: documentation, and checked in tests.
    pub params: &'static str,
    /// All items for these parameters and this seed, families together, in canonical order.
    pub items: fn(&Params, u64) -> Result<Vec<Item>, TaskError>,
    /// Reads the files that parameters name; `None` for tasks that take none. Called by [`Task::resolved`].
    pub resolve: Option<Resolve>,
    /// How results are usually broken down, and what else is counted in them.
    pub analysis: Analysis,
    /// Cheap controls that use no model.
    pub baselines: &'static [Baseline],
}

/// A control that answers without a model.
pub struct Baseline {
    /// Its name: `stateless`.
    pub name: &'static str,
    /// One line: what it does.
    pub summary: &'static str,
    /// The label it gives for each item, in order; `None` where it gives none.
    pub answers: fn(&[Item]) -> Vec<Option<u16>>,
}

/// The parameters of a task as the configuration gives them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Params(pub toml::Table);

impl Params {
    /// Reads the parameters into a task's own type, which denies unknown keys and defaults the missing ones.
    pub fn read<P: DeserializeOwned>(&self) -> Result<P, TaskError> {
        self.0.clone().try_into().map_err(|error: toml::de::Error| {
            // Of a value that has no place in a text, the parser tells the keys behind its message.
            let shown = error.to_string();
            let keys = shown.trim_end().rsplit_once("\nin `").and_then(|(_, keys)| keys.strip_suffix('`'));
            let key = keys.map_or("params".to_owned(), |keys| format!("params.{keys}"));
            let message = fault::without(error.message(), FILLED);
            TaskError::Key { message: fault::in_words(Some(&key), &message), key }
        })
    }
}

/// Parameters that [`Task::resolved`] fills; nobody sets them by hand.
const FILLED: &[&str] = &["rows", "file-sha256", "pairs"];

/// Reads the files that a parameter names. The caller gives it, because this crate opens no files.
pub type ReadFile<'a> = &'a mut dyn crate::Files;

/// Replaces files that parameters name by what the task keeps of them.
pub type Resolve = fn(&Params, ReadFile<'_>) -> Result<Resolved, TaskError>;

/// Parameters that name no files any more: items are a function of these and the seed alone.
#[derive(Clone, Debug, PartialEq)]
pub struct Resolved {
    /// The parameters to make items from, to log and to resume with.
    pub params: Params,
    /// One line for each file, for people: rows, exclusions, what was kept.
    pub notes: Vec<String>,
}

/// Why a task can give no items.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TaskError {
    /// The parameters make no sense; the message names the key.
    #[error("{0}")]
    Params(String),
    /// A value of one parameter cannot be read.
    #[error("{message}")]
    Key {
        /// Its full key: `params.import.answer-is`.
        key: String,
        /// What is wrong; names the key.
        message: String,
    },
    /// A data file that a parameter names is missing, or cannot be used.
    #[error("{key}: {message}")]
    Data {
        /// The parameter: `path`.
        key: String,
        /// The file, and what is wrong with it.
        message: String,
    },
}

impl TaskError {
    /// A data file cannot be used; `path` is named once.
    pub(crate) fn data(key: &str, path: &str, reason: &str) -> Self {
        let named = reason.starts_with(path) && reason[path.len()..].starts_with([':', '/']);
        let message = if named { reason.to_owned() } else { format!("{path}: {reason}") };
        TaskError::Data { key: key.to_owned(), message }
    }
}

impl Task {
    /// Finds a task by its name.
    pub fn named(name: &str) -> Option<&'static Task> {
        crate::tasks::ALL.iter().copied().find(|task| task.name == name)
    }

    /// Whether it has items by default, and all of them are text: what any language model can be asked.
    pub fn asks_in_text(&self, seed: u64) -> bool {
        let items = (self.items)(&Params::default(), seed);
        items.is_ok_and(|items| items.iter().all(|item| item.pictures().next().is_none()))
    }

    /// Reads the files that the parameters name. To be called before [`Task::items`]; parameters of tasks that
    /// take no files come back as they are.
    pub fn resolved(&self, params: &Params, read_file: ReadFile<'_>) -> Result<Resolved, TaskError> {
        match self.resolve {
            Some(resolve) => resolve(params, read_file),
            None => Ok(Resolved { params: params.clone(), notes: Vec::new() }),
        }
    }
}
