//! Examines a model before it is trusted with an evaluation: the file, the template, the tokens of labels and of item
//! text, the processor, and whether shared evaluation answers as single prompts do.

mod answers;
mod examination;
mod file;
mod known;
mod labels;
mod machine;
mod pictures;
mod text;

use std::fmt;

use serde::Serialize;

pub use examination::{Subject, examine, levels};

/// How a check came out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Level {
    /// Nothing to object.
    Ok,
    /// It could not be made, or does not apply.
    Skip,
    /// Results need care.
    Warn,
    /// Results would mean nothing.
    Fail,
}

/// One check.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Check {
    /// What was checked.
    pub name: String,
    /// How it came out.
    pub level: Level,
    /// What was found.
    pub finding: String,
    /// What to do about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub remedy: Option<String>,
}

impl Check {
    fn new(level: Level, name: &str, finding: String, remedy: Option<&str>) -> Self {
        Check { name: name.to_owned(), level, finding, remedy: remedy.map(str::to_owned) }
    }

    fn ok(name: &str, finding: impl Into<String>) -> Self {
        Check::new(Level::Ok, name, finding.into(), None)
    }

    fn skip(name: &str, reason: impl Into<String>) -> Self {
        Check::new(Level::Skip, name, reason.into(), None)
    }

    fn warn(name: &str, finding: impl Into<String>, remedy: &str) -> Self {
        Check::new(Level::Warn, name, finding.into(), Some(remedy))
    }

    fn fail(name: &str, finding: impl Into<String>, remedy: &str) -> Self {
        Check::new(Level::Fail, name, finding.into(), Some(remedy))
    }
}

/// What an examination found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Findings {
    /// The model as it was named.
    pub model: String,
    /// The checks, in the order in which they were made.
    pub checks: Vec<Check>,
}

impl Findings {
    /// How many checks came out like that.
    pub fn count(&self, level: Level) -> usize {
        self.checks.iter().filter(|check| check.level == level).count()
    }
}

/// One line a check.
impl fmt::Display for Findings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for check in &self.checks {
            let level = match check.level {
                Level::Ok => "ok",
                Level::Skip => "skip",
                Level::Warn => "warn",
                Level::Fail => "fail",
            };
            let line = match &check.remedy {
                Some(remedy) => format!("{}; {remedy}", check.finding),
                None => check.finding.clone(),
            };
            // Names and texts may come from the file: it cannot write to the terminal.
            let line: String = line.chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect();
            writeln!(f, "{level:<4}  {:<30}  {line}", check.name)?;
        }
        let (warn, fail) = (self.count(Level::Warn), self.count(Level::Fail));
        writeln!(f, "{} checks, {warn} warnings, {fail} failures", self.checks.len())
    }
}
