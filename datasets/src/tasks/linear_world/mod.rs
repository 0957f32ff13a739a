//! LinearWorld: who stands left or right of whom after a series of movements along a line.

mod line;
mod wording;

use serde::Deserialize;

use super::tracking::{Episodes, MOST_FREQUENT, STATELESS, default_depths};
use crate::item::{Item, tags};
use crate::{Params, Stream, Task, TaskError};
use line::Line;

/// The task.
pub static LINEAR_WORLD: Task = Task {
    name: "linear-world",
    version: 1,
    summary: "persons on a line change places; asks whether one stands left or right of another now",
    source: "Exploring State Tracking Capabilities of Large Language Models, sections 3.1, 4.2 and 6.1, appendices A.1, B, D",
    params: "\
# Episodes; each is asked about once per depth.
episodes = 50
# Numbers of updates after which a question is asked. Few updates are easy.
depths = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10]
# Persons on the line: 3, 4 or 5.
persons = 3
# How they move: \"swap\" (two exchange places), \"integer\" (one moves by a small number), \"large-integer\".
updates = \"swap\"
# Which pair is asked about: \"random\", or \"state-dependent\" (a pair whose order differs from the start; a random
# one where there is none, tagged dependent=false).
query = \"random\"
",
    items,
    resolve: None,
    analysis: super::tracking::ANALYSIS,
    baselines: &[STATELESS, MOST_FREQUENT],
};

#[derive(Deserialize, Debug, PartialEq)]
#[serde(deny_unknown_fields, default, rename_all = "kebab-case")]
struct LinearWorldParams {
    episodes: u32,
    depths: Vec<u32>,
    persons: usize,
    updates: Updates,
    query: Asking,
}

/// How persons move.
#[derive(Deserialize, Clone, Copy, Debug, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
enum Updates {
    Swap,
    Integer,
    LargeInteger,
}

/// Which pair a question is about.
#[derive(Deserialize, Clone, Copy, Debug, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
enum Asking {
    Random,
    StateDependent,
}

impl Default for LinearWorldParams {
    fn default() -> Self {
        LinearWorldParams {
            episodes: 50,
            depths: default_depths(),
            persons: 3,
            updates: Updates::Swap,
            query: Asking::Random,
        }
    }
}

impl Updates {
    fn name(self) -> &'static str {
        match self {
            Updates::Swap => "swap",
            Updates::Integer => "integer",
            Updates::LargeInteger => "large-integer",
        }
    }
}

impl Asking {
    fn name(self) -> &'static str {
        match self {
            Asking::Random => "random",
            Asking::StateDependent => "state-dependent",
        }
    }
}

fn items(params: &Params, seed: u64) -> Result<Vec<Item>, TaskError> {
    let params: LinearWorldParams = params.read()?;
    let LinearWorldParams { persons, updates, query, .. } = params;
    if !(3..=5).contains(&persons) {
        return Err(TaskError::Params(format!("linear-world: persons must be 3, 4 or 5, not {persons}")));
    }
    let world = format!("{persons}-{}", updates.name());
    let tags = tags([
        ("persons", persons.to_string()),
        ("updates", updates.name().to_owned()),
        ("query", query.name().to_owned()),
    ]);
    let episodes = Episodes {
        task: "linear-world",
        world: &world,
        episodes: params.episodes,
        depths: &params.depths,
        tags: &tags,
        seed,
    };
    episodes.check()?;
    let begin = |stream: &mut Stream| Line::begin(persons, updates, query, stream);
    Ok(episodes.items(&wording::layout(persons, updates), begin))
}

#[cfg(test)]
mod tests;
