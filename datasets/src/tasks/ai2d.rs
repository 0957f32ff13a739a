//! AI2D from its released files: questions about diagrams.

use serde::Deserialize;

use crate::import::{Entry, Images, Layout, ai2d};
use crate::task::{Params, ReadFile, Resolved, Task, TaskError};
use crate::{Item, analysis};

/// The task.
pub static AI2D: Task = Task {
    name: "ai2d",
    version: 1,
    summary: "Questions of 4 options about school-book diagrams, from AI2D's folders",
    source: "AI2D's images/ and questions/; the answer-decoding paper's data",
    params: PARAMS,
    items,
    resolve: Some(resolve),
    analysis: analysis::Analysis { strata: &[&["lettered"], &["group"]], figures: analysis::none },
    baselines: &[super::file::FIRST],
};

const PARAMS: &str = r#"# The folder with images/ and questions/.
path = ""
# The list of test images in it, one id a line; empty for all images that have questions.
ids = "ai2d_test_ids.csv"
# The folder in it of images with letters in place of words, which questions marked abcLabel need; empty where there is
# none: those questions are then left out and counted.
lettered = ""
# "shown", "left-out", or "withheld" as a control.
images = "shown"
# When the files have been read, `rows` is filled with what they hold: it is logged with the run.

[show]
# What options are called: letters, numbers. Options of AI2D can be letters themselves: numbers tell the two apart.
labels = "letters"
# Show the hint as a line of context; AI2D has none.
hint = true
# Draw the order of the options, from the seed and the item's id.
shuffle = false
"#;

#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default, rename_all = "kebab-case")]
struct Ai2dParams {
    path: String,
    ids: String,
    lettered: String,
    images: Images,
    show: Layout,
    /// Filled by [`resolve`].
    rows: Vec<Entry>,
}

impl Default for Ai2dParams {
    fn default() -> Self {
        Ai2dParams {
            path: String::new(),
            ids: "ai2d_test_ids.csv".to_owned(),
            lettered: String::new(),
            images: Images::Shown,
            show: Layout::default(),
            rows: Vec::new(),
        }
    }
}

fn items(params: &Params, seed: u64) -> Result<Vec<Item>, TaskError> {
    let params: Ai2dParams = params.read()?;
    super::file::made(&params.rows, &params.show, &params.path, "the folder of AI2D's files", seed)
}

fn resolve(params: &Params, files: ReadFile<'_>) -> Result<Resolved, TaskError> {
    let named: Ai2dParams = params.read()?;
    let wanted = ai2d::Wanted {
        folder: &named.path,
        ids: &named.ids,
        lettered: &named.lettered,
        images: named.images,
    };
    super::file::resolved(params, &named.path, || ai2d::read(&wanted, files))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_documented_parameters_are_the_defaults() {
        let documented: Ai2dParams = Params(AI2D.params.parse().unwrap()).read().unwrap();
        assert_eq!(documented, Ai2dParams::default());
        assert!((AI2D.items)(&Params::default(), 1).unwrap_err().to_string().starts_with("path: name"));
    }
}
