//! MMBench from its TSV file: images in the table, rotated copies of questions, options that are absent.

use serde::Deserialize;

use crate::import::{self, Circular, Entry, Format, Images, Import, Layout, Rules, Set};
use crate::task::{Params, ReadFile, Resolved, Task, TaskError};
use crate::{Item, analysis};

/// The task.
pub static MMBENCH: Task = Task {
    name: "mmbench",
    version: 1,
    summary: "Questions of 2 to 4 options about images, from a TSV file of MMBench",
    source: "MMBench's TSV files; the answer-decoding paper's data",
    params: PARAMS,
    items,
    resolve: Some(resolve),
    analysis: analysis::Analysis {
        strata: &[&["l2-category"], &["group"], &["options"], &["pass"]],
        figures: analysis::none,
    },
    baselines: &[super::file::FIRST],
};

const PARAMS: &str = r#"# The TSV file.
path = ""
# Rows whose index is i + k * 1 000 000 repeat question i with rotated options: first, all.
circular = "first"
# "shown", "left-out", or "withheld" as a control.
images = "shown"
# When the file has been read, `rows` is filled with what it holds: it is logged with the run.

[show]
# What options are called: letters, numbers.
labels = "letters"
# Show the hint as a line of context.
hint = true
# Draw the order of the options, from the seed and the item's id.
shuffle = false
"#;

#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default, rename_all = "kebab-case")]
struct MmbenchParams {
    path: String,
    circular: Circular,
    images: Images,
    show: Layout,
    /// Filled by [`resolve`].
    rows: Vec<Entry>,
}

impl Default for MmbenchParams {
    fn default() -> Self {
        MmbenchParams {
            path: String::new(),
            circular: Circular::First,
            images: Images::Shown,
            show: Layout::default(),
            rows: Vec::new(),
        }
    }
}

/// Rows of the published development set, and questions in them.
const DEV_ROWS: std::ops::RangeInclusive<u64> = 4_329..=4_377;
const DEV_QUESTIONS: usize = 1_164;

fn items(params: &Params, seed: u64) -> Result<Vec<Item>, TaskError> {
    let params: MmbenchParams = params.read()?;
    super::file::made(&params.rows, &params.show, &params.path, "a TSV file of MMBench", seed)
}

fn resolve(params: &Params, files: ReadFile<'_>) -> Result<Resolved, TaskError> {
    let named: MmbenchParams = params.read()?;
    let rules = Rules {
        images: named.images,
        circular: named.circular,
        // The files write an absent option as an empty cell or as `nan`.
        nan_is_missing: true,
        usual_tags: &["l2-category", "source", "split"],
        ..Rules::default()
    };
    let path = &named.path;
    super::file::resolved(params, path, || {
        let import = import::read_files(path, Format::Tsv, &rules, files)
            // The rules of the import stand among the parameters themselves.
            .map_err(|error| format!("{path}: {error}").replace("params.import.", "params."))?;
        let notes = notes(&import).into_iter().map(|note| format!("{path}: {note}")).collect();
        Ok::<_, String>(Set { entries: import.entries, notes })
    })
}

/// What was read, beside the published set.
fn notes(import: &Import) -> Vec<String> {
    let mut notes = import.notes();
    if DEV_ROWS.contains(&import.counts.rows) {
        let questions = import.entries.iter().filter(|entry| entry.pass == 0).count();
        notes.push(match questions == DEV_QUESTIONS {
            true => "counts are those of the published development set".to_owned(),
            false => format!(
                "warning: {questions} questions where the published development set has {DEV_QUESTIONS}"
            ),
        });
    }
    notes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_documented_parameters_are_the_defaults() {
        let documented: MmbenchParams = Params(MMBENCH.params.parse().unwrap()).read().unwrap();
        assert_eq!(documented, MmbenchParams::default());
        assert!((MMBENCH.items)(&Params::default(), 1).unwrap_err().to_string().starts_with("path: name"));
    }
}
