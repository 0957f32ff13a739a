//! Configuration errors: file, line, key, what to do.

use std::fmt;
use std::ops::Range;

use super::place;

/// What is wrong with a configuration, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigError {
    file: String,
    /// 1-based; `None` when the fault has no line (a command line override).
    line: Option<usize>,
    message: String,
}

impl std::error::Error for ConfigError {}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Some(line) => write!(f, "{}:{line}: {}", self.file, self.message),
            None => write!(f, "{}: {}", self.file, self.message),
        }
    }
}

impl ConfigError {
    /// A fault without a line.
    pub fn whole(file: &str, message: impl Into<String>) -> Self {
        ConfigError { file: file.to_owned(), line: None, message: message.into() }
    }

    /// A fault at a byte range of the text, as the parser tells it.
    pub fn at(file: &str, text: &str, span: Option<Range<usize>>, message: &str) -> Self {
        let line = span.clone().map(|span| line_of(text, span.start));
        // Messages of the parser may have several lines; errors have one.
        let message =
            message.lines().map(str::trim).filter(|line| !line.is_empty()).collect::<Vec<_>>().join("; ");
        let key = span.and_then(|span| place::key_at(text, span.start));
        // Of an unknown key the parser names the key itself, and not the table that has it.
        let key = key.filter(|_| !message.starts_with("unknown field"));
        ConfigError {
            file: file.to_owned(),
            line,
            message: datasets::fault::in_words(key.as_deref(), &message),
        }
    }

    /// A fault of a key of the task whose name stands at these bytes; one that the text does not have has no line.
    pub fn on_task(
        file: &str,
        text: &str,
        name: &Range<usize>,
        path: &[&str],
        message: impl Into<String>,
    ) -> Self {
        let Some(index) = place::task_at(text, name) else { return ConfigError::whole(file, message) };
        let index = index.to_string();
        ConfigError::on_key(file, text, &[&["task", index.as_str()], path].concat(), message)
    }

    /// A fault of a key, at its line; numbers in the path stand for places in lists. Where the key is not in the text, it is the
    /// line of what would hold it, or none.
    pub fn on_key(file: &str, text: &str, path: &[&str], message: impl Into<String>) -> Self {
        let line = place::of_path(text, path).map(|at| line_of(text, at));
        ConfigError { file: file.to_owned(), line, message: message.into() }
    }
}

fn line_of(text: &str, offset: usize) -> usize {
    1 + text.bytes().take(offset).filter(|&byte| byte == b'\n').count()
}
