//! Finds the official test items of the social-intelligence paper, for tests that compare with them.

/// A file of official items, or `None` with a printed reason where the folder is absent.
pub(crate) fn json(name: &str) -> Option<serde_json::Value> {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/data").join(name);
    match std::fs::read_to_string(&path) {
        Ok(text) => Some(serde_json::from_str(&text).expect("official items are JSON")),
        Err(error) => {
            println!("skipped: no official items at {}: {error}", path.display());
            None
        }
    }
}
