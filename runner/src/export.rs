//! A run in the forms that other tools read. What a form has no place for is left out, what a run does not have is
//! absent or null, and nothing is made up.

mod jsonl;
mod llama_bench;
mod lm_eval;

use std::io::Write;

pub use jsonl::write_jsonl;
pub use llama_bench::llama_bench;
pub use lm_eval::write_lm_eval;

use crate::report::RunLog;

/// Name of a model of a run by its index.
fn model_name(run: &RunLog, model: u16) -> String {
    run.header.models.get(usize::from(model)).map_or(model.to_string(), |model| model.name.clone())
}

/// Name of a task of a run by its index.
fn task_name(run: &RunLog, task: u16) -> String {
    run.header.tasks.get(usize::from(task)).map_or(task.to_string(), |task| task.name.clone())
}

/// Writes a value as one line.
fn line(value: &serde_json::Value, output: &mut dyn Write) -> std::io::Result<()> {
    serde_json::to_writer(&mut *output, value)?;
    output.write_all(b"\n")
}
