//! The features of apartments and the statements about them: a table of our own, built in.

use std::sync::LazyLock;

/// Statements about a feature: positive, neutral-plus, neutral-minus, negative.
pub(super) const LEVELS: usize = 4;

/// What can be said about an apartment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Statement {
    pub(super) text: String,
    /// How desirable it makes an apartment, -5 to 5.
    pub(super) rating: i32,
}

/// All features, each with its four statements from the best to the worst.
pub(super) static FEATURES: LazyLock<Vec<[Statement; LEVELS]>> = LazyLock::new(|| {
    let mut rows = csv::Reader::from_reader(TABLE.as_bytes());
    let statements: Vec<Statement> = rows
        .deserialize()
        .map(|row: csv::Result<(String, String, i32, String)>| {
            let (_feature, _level, rating, text) =
                row.expect("the built-in table is well formed: a test reads it");
            Statement { text, rating }
        })
        .collect();
    statements.as_chunks::<LEVELS>().0.to_vec()
});

pub(super) const TABLE: &str = include_str!("../../../data/apartments.csv");
