//! Configuration errors: file, line, key, what to do.

use std::fmt;
use std::ops::Range;

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

    /// A fault at a byte range of the text.
    pub fn at(file: &str, text: &str, span: Option<Range<usize>>, message: &str) -> Self {
        let line = span.map(|span| line_of(text, span.start));
        // Messages of the parser may have several lines; errors have one.
        let message =
            message.lines().map(str::trim).filter(|line| !line.is_empty()).collect::<Vec<_>>().join("; ");
        ConfigError { file: file.to_owned(), line, message }
    }

    /// A fault of a key, at the first line that sets it from `from` on.
    pub fn on_key(file: &str, text: &str, from: usize, key: &str, message: impl Into<String>) -> Self {
        // Also inside an inline table; `seed` must not be found in `my-seed`.
        let sets_key = |line: &str| {
            line.match_indices(key).any(|(place, _)| {
                let before = line[..place].chars().next_back();
                let starts = before.is_none_or(|c| !c.is_alphanumeric() && c != '-' && c != '_');
                starts && line[place + key.len()..].trim_start().starts_with('=')
            })
        };
        let mut offset = 0;
        let mut line = None;
        for (index, content) in text.split_inclusive('\n').enumerate() {
            if offset >= from && sets_key(content) {
                line = Some(index + 1);
                break;
            }
            offset += content.len();
        }
        let line = line.or((from > 0).then(|| line_of(text, from)));
        ConfigError { file: file.to_owned(), line, message: message.into() }
    }
}

fn line_of(text: &str, offset: usize) -> usize {
    1 + text.bytes().take(offset).filter(|&byte| byte == b'\n').count()
}
