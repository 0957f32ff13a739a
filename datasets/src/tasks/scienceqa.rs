//! ScienceQA from its released files: one split, with or without images.

use serde::Deserialize;

use crate::import::{Entry, Images, Layout, scienceqa};
use crate::task::{Params, ReadFile, Resolved, Task, TaskError};
use crate::{Item, analysis};

/// The task.
pub static SCIENCEQA: Task = Task {
    name: "scienceqa",
    version: 1,
    summary: "School science questions of 2 to 5 options, half of them with an image, from ScienceQA's files",
    source: "ScienceQA's problems.json, pid_splits.json and images; the answer-decoding paper's data",
    params: PARAMS,
    items,
    resolve: Some(resolve),
    analysis: analysis::Analysis {
        strata: &[&["context"], &["options"], &["subject"], &["grades"]],
        figures: analysis::none,
    },
    baselines: &[super::file::FIRST],
};

const PARAMS: &str = r#"# The folder with problems.json, pid_splits.json and images/.
path = ""
# A split of pid_splits.json: train, val, test, trainval, minitrain, minival, minitest.
split = "test"
# Problems with an image: "shown", "left-out", or "withheld" as a control.
images = "shown"
# Show the lecture behind the hint. The solution is never shown.
lecture = false
# Go on where a split of the whole set has not its published number of problems.
other-counts = false
# When the files have been read, `rows` is filled with what they hold: it is logged with the run.

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
struct ScienceQaParams {
    path: String,
    split: String,
    images: Images,
    lecture: bool,
    other_counts: bool,
    show: Layout,
    /// Filled by [`resolve`].
    rows: Vec<Entry>,
}

impl Default for ScienceQaParams {
    fn default() -> Self {
        ScienceQaParams {
            path: String::new(),
            split: "test".to_owned(),
            images: Images::Shown,
            lecture: false,
            other_counts: false,
            show: Layout::default(),
            rows: Vec::new(),
        }
    }
}

fn items(params: &Params, seed: u64) -> Result<Vec<Item>, TaskError> {
    let params: ScienceQaParams = params.read()?;
    super::file::made(&params.rows, &params.show, &params.path, "the folder of ScienceQA's files", seed)
}

fn resolve(params: &Params, files: ReadFile<'_>) -> Result<Resolved, TaskError> {
    let named: ScienceQaParams = params.read()?;
    let wanted = scienceqa::Wanted {
        folder: &named.path,
        split: &named.split,
        images: named.images,
        lecture: named.lecture,
        other_counts: named.other_counts,
    };
    super::file::resolved(params, &named.path, || scienceqa::read(&wanted, files))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_documented_parameters_are_the_defaults() {
        let documented: ScienceQaParams = Params(SCIENCEQA.params.parse().unwrap()).read().unwrap();
        assert_eq!(documented, ScienceQaParams::default());
        assert!((SCIENCEQA.items)(&Params::default(), 1).unwrap_err().to_string().starts_with("path: name"));
    }
}
