//! `edge-eval tasks`.

use std::io::Write;
use std::path::PathBuf;

use clap::{Args, Subcommand};
use datasets::{Item, Params, Task, TaskError};
use serde_json::json;

use super::{output, print};
use crate::disk::Disk;
use crate::exit::{Exit, Failure};
use crate::gallery::Gallery;

/// What can be done with the items of tasks.
#[derive(Debug, Subcommand)]
pub(super) enum Tasks {
    /// Write items as lines of JSON
    Export {
        #[command(flatten)]
        which: Which,
        /// Items to write, a seeded sample; all when absent
        #[arg(short, long, value_name = "N")]
        n: Option<usize>,
        /// File to write (`-`: standard output)
        #[arg(short, long, default_value = "-")]
        output: PathBuf,
        /// Folder for the items' pictures, as PNG files under the names that the lines give
        #[arg(long, value_name = "DIR")]
        pictures: Option<PathBuf>,
    },
    /// Print one item with the prompts that a model would get
    Show {
        #[command(flatten)]
        which: Which,
        /// Which item, counted from 0
        #[arg(long, default_value_t = 0)]
        index: usize,
        /// Interface; all that fit when absent
        #[arg(long)]
        interface: Option<String>,
        /// Model whose chat template gives the prompt its form; the plain conversation when absent
        #[arg(long)]
        model: Option<String>,
        /// Chat template in place of the model's own: `raw` for none, or a file
        #[arg(long, alias = "template-file", value_name = "raw|FILE", requires = "model")]
        template: Option<String>,
        /// Folder for the pictures that a model would get, as PNG files
        #[arg(long, value_name = "DIR")]
        pictures: Option<PathBuf>,
    },
}

/// Which items.
#[derive(Debug, Args)]
pub(super) struct Which {
    /// Name of the task
    task: String,
    /// Seed
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Parameters as TOML: `--params 'persons = 5, query = "state-dependent"'`
    #[arg(long, value_name = "TOML", default_value = "")]
    params: String,
}

impl Which {
    fn items(&self) -> Result<Vec<Item>, Failure> {
        let task = Task::named(&self.task).ok_or_else(|| {
            Failure::usage(format!("unknown task {:?}; `edge-eval list tasks` shows all", self.task))
        })?;
        let usage = |message: String| Failure::usage(format!("task {}: {message}", task.name));
        let inline = format!("params = {{ {} }}", self.params);
        let table: toml::Table =
            toml::from_str(&inline).map_err(|error| usage(format!("--params: {}", error.message())))?;
        let params = table.get("params").and_then(toml::Value::as_table).cloned().unwrap_or_default();
        let wrong = |error: TaskError| match error {
            TaskError::Data { .. } => Failure::input(format!("task {}: {error}", task.name)),
            TaskError::Params(_) | TaskError::Key { .. } => usage(error.to_string()),
        };
        let resolved = task.resolved(&Params(params), &mut Disk).map_err(wrong)?;
        (task.items)(&resolved.params, self.seed).map_err(wrong)
    }
}

impl Tasks {
    pub(super) fn run(self) -> Result<Exit, Failure> {
        match self {
            Tasks::Export { which, n, output: path, pictures } => {
                let mut items = which.items()?;
                if let Some((n, task)) = n.zip(Task::named(&which.task)) {
                    items = datasets::sample::limited(items, n, which.seed, task);
                }
                let mut out = output(&path)?;
                for (place, item) in items.iter().enumerate() {
                    let gallery = Gallery::of(item, place);
                    let mut line = json!({ "task": which.task, "seed": which.seed, "item": item });
                    if item.pictures().next().is_some() {
                        line["pictures"] = gallery.json().into();
                    }
                    if let Some(folder) = &pictures {
                        gallery.write(folder)?;
                    }
                    match writeln!(out, "{line}") {
                        Ok(()) => {}
                        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => {
                            return Ok(Exit::Done);
                        }
                        Err(error) => return Err(Failure::disk(format!("{}: {error}", path.display()))),
                    }
                }
                out.flush().map_err(|error| Failure::disk(format!("{}: {error}", path.display())))?;
                Ok(Exit::Done)
            }
            Tasks::Show { which, index, interface, model, template, pictures } => {
                let items = which.items()?;
                let item = items.get(index).ok_or_else(|| {
                    Failure::usage(format!(
                        "--index {index}: the task has {} items, counted from 0",
                        items.len()
                    ))
                })?;
                let gallery = Gallery::of(item, index);
                if let Some(folder) = &pictures {
                    gallery.write(folder)?;
                }
                print(&crate::show::show(item, interface.as_deref(), model.as_deref(), template, &gallery)?)
            }
        }
    }
}
