//! The power sources, one file each.

pub mod battery;
pub mod hwmon;
pub mod ina3221;
mod lines;
pub mod mailbox;
pub mod meter;
pub mod nvidia;
pub mod pmic;
pub mod rapl;

use super::missing::Missing;
use super::source::PowerSource;

/// What looking for a source came to.
pub enum Found {
    /// It is there.
    Source(Box<dyn PowerSource>),
    /// It is not, or cannot be read.
    Absent(Absent),
}

/// A source that gives nothing, and why.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Absent {
    /// Its short name.
    pub id: String,
    /// Why.
    pub reason: Missing,
    /// What was looked at.
    pub looked_at: String,
    /// The one line that would change it, where one would.
    pub remedy: Option<String>,
}

impl Found {
    /// Nothing was found.
    pub(super) fn absent(id: &str, reason: Missing, looked_at: impl Into<String>) -> Found {
        Found::Absent(Absent { id: id.to_owned(), reason, looked_at: looked_at.into(), remedy: None })
    }

    /// Something was found that cannot be read as things are.
    pub(super) fn barred(
        id: &str,
        reason: Missing,
        looked_at: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Found {
        let absent =
            Absent { id: id.to_owned(), reason, looked_at: looked_at.into(), remedy: Some(remedy.into()) };
        Found::Absent(absent)
    }
}
