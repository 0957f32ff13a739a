//! `edge-eval list`.

use clap::Subcommand;

use super::print;
use crate::exit::{Exit, Failure};

/// What can be listed.
#[derive(Debug, Subcommand)]
pub(super) enum List {
    /// Tasks, with their parameters and baselines
    Tasks {
        /// Show this task alone, with every parameter and its default
        name: Option<String>,
    },
    /// The ways of asking
    Interfaces,
    /// Endings that can be swept, and the words that count as a continuation
    Endings,
    /// Models that are known by name, and the fake engine
    Models,
}

impl List {
    pub(super) fn run(self) -> Result<Exit, Failure> {
        match self {
            List::Tasks { name: None } => {
                let line = |task: &&datasets::Task| {
                    format!("{:<14} {}\n{:14} {}\n", task.name, task.summary, "", task.source)
                };
                print(&datasets::tasks::ALL.iter().map(line).collect::<String>())
            }
            List::Tasks { name: Some(name) } => print(&details(&name)?),
            List::Interfaces => {
                let all = datasets::interfaces::ALL;
                let width = all.iter().map(|interface| interface.name.len()).max().unwrap_or(0);
                let line = |interface: &&datasets::Interface| {
                    format!("{:<width$}  {}\n", interface.name, interface.summary)
                };
                print(&all.iter().map(line).collect::<String>())
            }
            List::Endings => print(&endings()),
            List::Models => {
                let catalog = models::catalog::Catalog::embedded()
                    .map_err(|error| Failure::new(Exit::Failed, error.to_string()))?;
                let mut text = String::new();
                for entry in &catalog.models {
                    let here = match entry.path(std::path::Path::new("")).exists() {
                        true => "here",
                        false => "not fetched",
                    };
                    text.push_str(&format!(
                        "{:<28} {:>4} MB  {here:<11}  {}; {}\n",
                        entry.name,
                        entry.size_bytes / 1_000_000,
                        entry.licence,
                        entry.note
                    ));
                }
                text.push_str(&format!("{:<28} no file; options: {}\n", "fake", models::fake::OPTIONS));
                print(&text)
            }
        }
    }
}

fn details(name: &str) -> Result<String, Failure> {
    let task = datasets::Task::named(name)
        .ok_or_else(|| Failure::usage(format!("unknown task {name:?}; `edge-eval list tasks` shows all")))?;
    let mut text = format!("{} (version {})\n{}\n{}\n", task.name, task.version, task.summary, task.source);
    for baseline in task.baselines {
        text.push_str(&format!("baseline {}: {}\n", baseline.name, baseline.summary));
    }
    text.push_str(&format!("\n[[task]]\nname = \"{}\"\n[task.params]\n{}\n", task.name, task.params.trim()));
    Ok(text)
}

/// Every ending with what it asks for, then the continuation tokens.
fn endings() -> String {
    let line = |ending: &datasets::Ending| {
        let asks = match ending.asks {
            datasets::Asks::Reasoning => format!("a rationale, strength {}", ending.strength),
            datasets::Asks::Answer => "the answer".to_owned(),
            datasets::Asks::Nothing => "nothing".to_owned(),
        };
        format!("{:<20} asks for {asks}\n{:20} {:?}\n", ending.name, "", ending.pattern())
    };
    let endings: String = datasets::ending::ENDINGS.iter().map(line).collect();
    let words: Vec<String> =
        datasets::ending::CONTINUATION_TOKENS.iter().map(|token| format!("{token:?}")).collect();
    format!("{endings}\ncontinuation tokens (MR): {}\n", words.join(" "))
}
