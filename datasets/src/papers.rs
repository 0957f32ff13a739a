//! The papers' published figures, embedded as data: what reports put beside measured ones.

use serde::{Deserialize, Serialize};

/// Every file of `data/papers/`, by its stem; a new one is a line here.
pub const FILES: &[(&str, &str)] = &[
    ("mind-your-step", include_str!("../data/papers/mind-your-step.toml")),
    ("mind-your-step-grammar", include_str!("../data/papers/mind-your-step-grammar.toml")),
    ("social-intelligence", include_str!("../data/papers/social-intelligence.toml")),
    ("state-tracking", include_str!("../data/papers/state-tracking.toml")),
];

/// One published figure.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Row {
    /// The paper: the file's stem. Files leave it out.
    #[serde(default)]
    pub paper: String,
    /// Where it stands: `Table 1`.
    pub table: String,
    /// The task; papers have some that this library has not.
    pub task: String,
    /// Which model, or which control or people.
    pub model: String,
    /// How it was asked, and which stratum this is: `CoT, depth 3`.
    pub condition: String,
    /// What the value is: `accuracy`, `rounds`.
    pub metric: String,
    /// The value; shares are fractions of 1.
    pub value: f64,
    /// Sample size, where the paper states it.
    #[serde(default)]
    pub n: Option<u64>,
    /// Whether people answered.
    #[serde(default)]
    pub human: bool,
}

/// A file that is no table of figures.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("published figures {paper}: {reason}")]
pub struct PaperError {
    /// Stem of the file.
    pub paper: String,
    /// What is wrong.
    pub reason: String,
}

/// Every published figure on a task, in the order of the files.
pub fn on(task: &str) -> Result<Vec<Row>, PaperError> {
    let mut rows = Vec::new();
    for (paper, text) in FILES {
        rows.extend(read(paper, text)?.into_iter().filter(|row| row.task == task));
    }
    Ok(rows)
}

/// Reads one file.
pub fn read(paper: &str, text: &str) -> Result<Vec<Row>, PaperError> {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct File {
        row: Vec<Row>,
    }
    let file: File = toml::from_str(text)
        .map_err(|error| PaperError { paper: paper.to_owned(), reason: error.message().to_owned() })?;
    Ok(file.row.into_iter().map(|row| Row { paper: paper.to_owned(), ..row }).collect())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::path::Path;

    use super::*;

    /// Metrics that are no shares of 1.
    const COUNTS: [&str; 2] = ["rounds", "rounds increase"];

    #[test]
    fn every_file_of_the_folder_is_embedded() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("data/papers");
        let stem = |entry: std::io::Result<std::fs::DirEntry>| {
            entry.unwrap().path().file_stem().unwrap().to_string_lossy().into_owned()
        };
        let present: BTreeSet<String> = std::fs::read_dir(folder).unwrap().map(stem).collect();
        let embedded: BTreeSet<String> = FILES.iter().map(|(paper, _)| (*paper).to_owned()).collect();
        assert_eq!(present, embedded, "a file of data/papers/ and a line of FILES belong together");
    }

    #[test]
    fn every_row_is_whole_and_stands_once() {
        for (paper, text) in FILES {
            let rows = read(paper, text).unwrap();
            assert!(!rows.is_empty(), "{paper}");
            let mut keys = BTreeSet::new();
            for row in &rows {
                let texts = [&row.table, &row.task, &row.model, &row.condition, &row.metric];
                assert!(texts.iter().all(|text| !text.is_empty() && text.trim() == *text), "{row:?}");
                assert!(keys.insert(texts), "stands twice: {row:?}");
                assert!(row.value.is_finite(), "{row:?}");
                assert!(crate::Task::named(&row.task).is_some(), "no such task: {row:?}");
                assert_ne!(row.n, Some(0), "{row:?}");
            }
        }
    }

    #[test]
    fn shares_lie_within_their_bounds() {
        for (paper, text) in FILES {
            for row in read(paper, text).unwrap() {
                let low = match row.metric.as_str() {
                    metric if COUNTS.contains(&metric) => continue,
                    metric if metric.starts_with("relative") => continue,
                    "accuracy" | "p-value" | "p-value below" => 0.0,
                    _ => -1.0,
                };
                assert!((low..=1.0).contains(&row.value), "{row:?}");
            }
        }
    }

    #[test]
    fn figures_are_found_by_task() {
        // Table 1 of the grammar paper: GPT-4o zero-shot 87.5 % of 4400.
        let rows = on("grammar").unwrap();
        let one = rows.iter().find(|row| row.model == "GPT-4o" && row.condition == "zero-shot");
        assert_eq!(one.map(|row| (row.value, row.n)), Some((0.875, Some(4400))));
        assert!(on("no-such-task").unwrap().is_empty());
    }

    #[test]
    fn a_misspelt_key_is_named() {
        let text = "row = [{ tabel = 'Table 1', task = 'lights', model = 'm', condition = 'c', metric = 'accuracy', value = 1.0 }]";
        let error = read("mine", text).unwrap_err().to_string();
        assert!(error.contains("mine") && error.contains("tabel"), "{error}");
    }
}
