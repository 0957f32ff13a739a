//! `edge-eval bench`.

use std::time::Duration;

use clap::{Args, Subcommand, ValueEnum};

use super::{print, talk};
use crate::bench::{self, Choice, Kind};
use crate::exit::{Exit, Failure};
use crate::levels::{AUTO, Program};

/// Help beside the arguments.
pub(super) const HELP: &str = "Tests are named as llama-bench names them: pp512 evaluates a prompt of 512 tokens, tg128 generates 128 tokens.

Examples:
  edge-eval bench my.gguf
  edge-eval bench a.gguf b.gguf --kind speed -p 512 -n 128 -r 5 -t 4 -o json
  edge-eval bench threads my.gguf";

/// Arguments of `bench`.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(super) struct Bench {
    #[command(subcommand)]
    what: Option<What>,
    #[command(flatten)]
    tests: Tests,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Find the best numbers of threads for a model, in under a minute
    Threads {
        /// A GGUF file, a name of `list models`, or `fake`
        model: String,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
}

#[derive(Debug, Args)]
struct Tests {
    /// GGUF files, names of `list models`, or `fake`
    #[arg(required = true, value_name = "MODEL")]
    models: Vec<String>,
    /// What to measure; everything when absent
    #[arg(long = "kind", value_delimiter = ',', value_name = "KIND")]
    kinds: Vec<Kind>,
    /// Tokens of prompts to evaluate; 0 for none
    #[arg(short = 'p', long, value_delimiter = ',', default_value = "512", value_name = "N")]
    n_prompt: Vec<u32>,
    /// Tokens to generate; 0 for none
    #[arg(short = 'n', long, value_delimiter = ',', default_value = "128", value_name = "N")]
    n_gen: Vec<u32>,
    /// Tokens that stand before either
    #[arg(short = 'd', long, value_delimiter = ',', default_value = "0", value_name = "N")]
    n_depth: Vec<u32>,
    /// Repetitions
    #[arg(short = 'r', long, default_value_t = 5, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    repetitions: u32,
    /// Threads; the physical cores of the fastest kind when absent
    #[arg(short = 't', long, value_delimiter = ',', value_name = "N", value_parser = clap::value_parser!(u32).range(1..=512))]
    threads: Vec<u32>,
    /// Sequences that generate side by side
    #[arg(long, value_delimiter = ',', default_value = "1,2,4,8,16", value_name = "N", value_parser = clap::value_parser!(u32).range(1..=255))]
    parallel: Vec<u32>,
    /// Items of each task of the scoring workload
    #[arg(long, default_value_t = 22, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    items: u32,
    /// Chat template: `raw` for none, or a file; the model's own when absent
    #[arg(long, value_name = "raw|FILE")]
    template: Option<String>,
    /// CPU level of the worker; the best that runs here when absent
    #[arg(long, value_name = "LEVEL", default_value = AUTO, hide_default_value = true)]
    cpu_level: String,
    /// Form of the result
    #[arg(short, long, default_value = "md")]
    output: Form,
    /// No talk on standard error
    #[arg(short, long)]
    quiet: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Form {
    /// A Markdown table
    Md,
    /// A JSON array, with the field names of llama-bench
    Json,
    /// CSV
    Csv,
}

/// Time without a word after which a worker is given up: one call on the slowest board is far shorter.
const DEADLINE: Duration = Duration::from_secs(1800);

impl Bench {
    pub(super) fn run(self) -> Result<Exit, Failure> {
        match self.what {
            Some(What::Threads { model, json }) => threads(&model, json),
            None => self.tests.run(),
        }
    }
}

impl Tests {
    fn run(self) -> Result<Exit, Failure> {
        let kinds = if self.kinds.is_empty() { Kind::value_variants().to_vec() } else { self.kinds };
        let choice = Choice {
            kinds,
            prompt_tokens: self.n_prompt,
            generated_tokens: self.n_gen,
            depths: self.n_depth,
            repetitions: self.repetitions,
            threads: self.threads,
            parallel: self.parallel,
            items: self.items as usize,
            template: self.template,
            deadline: DEADLINE,
        };
        let mut say = |line: &str| {
            if !self.quiet {
                talk(line);
            }
        };
        let rows = bench::measure(&self.models, &choice, Program::find(&self.cpu_level)?, &mut say)?;
        let failed = |message: String| Failure::new(Exit::Failed, message);
        match self.output {
            Form::Md => print(&bench::markdown(&rows))?,
            Form::Json => print(&bench::json(&rows).map_err(|error| failed(format!("JSON: {error}")))?)?,
            Form::Csv => print(&bench::csv(&rows).map_err(|error| failed(format!("CSV: {error}")))?)?,
        };
        match rows.iter().filter(|row| row.error.is_some()).count() {
            0 => Ok(Exit::Done),
            count => {
                Err(Failure::input(format!("{count} of {} measurements failed: see their rows", rows.len())))
            }
        }
    }
}

fn threads(model: &str, json: bool) -> Result<Exit, Failure> {
    let choice = Choice {
        kinds: Vec::new(),
        prompt_tokens: Vec::new(),
        generated_tokens: Vec::new(),
        depths: Vec::new(),
        repetitions: 1,
        threads: Vec::new(),
        parallel: Vec::new(),
        items: 1,
        template: None,
        deadline: DEADLINE,
    };
    let best = bench::threads::find(model, &choice, Program::find(AUTO)?, &mut talk)?;
    if json {
        let text = serde_json::to_string_pretty(&best)
            .map_err(|error| Failure::new(Exit::Failed, format!("JSON: {error}")))?;
        return print(&format!("{text}\n"));
    }
    print(&best.in_words())
}
