//! How much of a result is shown. A sweep makes dozens of conditions, and some tables multiply with them: pairs of conditions,
//! places, layers. Where there are many conditions, people are shown such tables for the plain ones; CSV and JSON have all.

/// Conditions of a model on a task up to which every table is shown whole.
pub(crate) const FEW_CONDITIONS: usize = 4;

/// How much is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// What can be read: tables that multiply with conditions are cut where there are many.
    Brief,
    /// Every row.
    Whole,
}

impl Extent {
    /// The extent that a flag asks for.
    pub fn of(all_rows: bool) -> Extent {
        if all_rows { Extent::Whole } else { Extent::Brief }
    }

    /// Whether tables of so many conditions are shown whole.
    pub(crate) fn shows_all_of(self, conditions: usize) -> bool {
        self == Extent::Whole || conditions <= FEW_CONDITIONS
    }
}

/// Whether a condition varies something about its interface.
pub(crate) fn is_varied(condition: &str) -> bool {
    condition.contains('+')
}
