//! Measures how fast a model runs on this machine: bare evaluation and generation as the usual reference tool measures
//! them, then what an evaluation is made of: the first token, replies side by side, scored items.

mod opened;
mod row;
mod speed;
mod table;
pub mod threads;
mod workload;

use std::time::Duration;

use crate::exit::{Exit, Failure};
use crate::levels::Program;
use crate::supervisor::LinkError;
use opened::Opened;

pub use row::{Row, csv, json};
pub use table::markdown;

/// What to measure.
#[derive(Clone, Debug)]
pub struct Choice {
    /// Kinds of measurements.
    pub kinds: Vec<Kind>,
    /// Tokens of the prompts that are evaluated; 0 for no such test.
    pub prompt_tokens: Vec<u32>,
    /// Tokens that are generated; 0 for no such test.
    pub generated_tokens: Vec<u32>,
    /// Tokens that stand before either.
    pub depths: Vec<u32>,
    /// How often each is measured.
    pub repetitions: u32,
    /// Numbers of threads; empty for the physical cores of the fastest kind.
    pub threads: Vec<u32>,
    /// Numbers of sequences that generate side by side.
    pub parallel: Vec<u32>,
    /// Items of each task of the scoring workload.
    pub items: usize,
    /// Chat template: as in a configuration.
    pub template: Option<String>,
    /// Time without a word from the worker after which it is given up.
    pub deadline: Duration,
}

/// Kinds of measurements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Kind {
    /// Evaluating prompts and generating, on made-up tokens
    Speed,
    /// From a question to the first token of its reply
    FirstToken,
    /// Generating with several sequences side by side
    Parallel,
    /// Scoring items of two tasks, packed against one prompt at a time
    Scoring,
}

/// Why a measurement has no figures.
#[derive(Debug)]
enum Trouble {
    /// The worker failed.
    Link(LinkError),
    /// The model or a prompt cannot be used.
    Model(String),
}

impl From<LinkError> for Trouble {
    fn from(error: LinkError) -> Self {
        Trouble::Link(error)
    }
}

impl Trouble {
    fn in_words(&self) -> String {
        match self {
            Trouble::Link(error) => error.in_words("while it was measured"),
            Trouble::Model(message) => message.clone(),
        }
    }
}

/// Measures models, one after the other. A model that fails leaves a row that says why.
pub fn measure(
    models: &[String],
    choice: &Choice,
    program: Program,
    say: &mut dyn FnMut(&str),
) -> Result<Vec<Row>, Failure> {
    let runtime = runtime()?;
    let mut rows = Vec::new();
    for model in models {
        runtime.block_on(async {
            let opened = match Opened::new(model, choice, program.clone(), say) {
                Ok(opened) => opened,
                Err(failure) => return rows.push(Row::failed(model, failure.message)),
            };
            for &kind in &choice.kinds {
                let before = rows.len();
                let done = match kind {
                    Kind::Speed => speed::alone(&opened, choice, &mut rows).await,
                    Kind::Parallel => speed::side_by_side(&opened, choice, &mut rows).await,
                    Kind::FirstToken => workload::first_token(&opened, choice, &mut rows).await,
                    Kind::Scoring => workload::scoring(&opened, choice, &mut rows).await,
                };
                if let Err(trouble) = done {
                    rows.push(Row { kind: row::name(kind), ..opened.row().fail(trouble.in_words()) });
                }
                rows[before..].iter().for_each(|row| say(&row.in_words()));
            }
        });
    }
    Ok(rows)
}

fn runtime() -> Result<tokio::runtime::Runtime, Failure> {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| Failure::new(Exit::Failed, format!("cannot start the runtime: {error}")))
}
