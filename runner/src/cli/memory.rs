//! `edge-eval memory`.

use std::path::PathBuf;

use clap::Args;
use models::{KvType, LoadSpec, Mode};

use super::{print, talk};
use crate::config::ranges::{BATCH_TOKENS, MOST_CELLS, SEQUENCES};
use crate::config::{EngineChoice, ModelChoice};
use crate::exit::{Exit, Failure};
use crate::memory::{Counts, Kind, Trial, table, trial};
use crate::plan::PlannedModel;
use crate::threads;

/// Help beside the arguments.
pub(super) const HELP: &str = "Lists of figures are tried in all combinations.

Examples:
  edge-eval memory my.gguf --context 4096
  edge-eval memory my.gguf --context 512,8192 --batch 128,512 --measure";

/// Arguments of `memory`.
#[derive(Debug, Args)]
pub(super) struct Memory {
    /// Model files, or names of `list models`
    #[arg(required = true)]
    models: Vec<PathBuf>,
    /// File that turns pictures into what the models read (mmproj); a picture is shown when they are measured
    #[arg(long, value_name = "FILE")]
    mmproj: Option<PathBuf>,
    /// Context in tokens
    #[arg(long, value_name = "N,...", value_delimiter = ',', default_value = "2048")]
    context: Vec<u32>,
    /// Cells of the KV cache; 0 for those of the context
    #[arg(long, value_name = "N,...", value_delimiter = ',', default_value = "0")]
    cells: Vec<u32>,
    /// Sequences side by side
    #[arg(long, value_name = "N,...", value_delimiter = ',', default_value = "128")]
    sequences: Vec<u32>,
    /// Tokens of a batch
    #[arg(long, value_name = "N,...", value_delimiter = ',', default_value = "512")]
    batch: Vec<u32>,
    /// Read the weights instead of mapping them; `both` tries both
    #[arg(long, value_name = "map|read|both", default_value = "map")]
    weights: String,
    /// Threads; 0 for the physical cores
    #[arg(long, value_name = "N", default_value_t = 0)]
    threads: u32,
    /// Load the model, fill cache and batch, and compare
    #[arg(long)]
    measure: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Memory {
    pub(super) fn run(self) -> Result<Exit, Failure> {
        let mapped: &[bool] = match self.weights.as_str() {
            "map" => &[true],
            "read" => &[false],
            "both" => &[true, false],
            other => {
                return Err(Failure::usage(format!("--weights {other}: give `map`, `read` or `both`")));
            }
        };
        for (flag, figures, range) in [
            ("--context", &self.context, 1..=MOST_CELLS),
            ("--sequences", &self.sequences, SEQUENCES),
            ("--batch", &self.batch, BATCH_TOKENS),
        ] {
            if let Some(wrong) = figures.iter().find(|&&figure| !range.contains(&figure.into())) {
                return Err(Failure::usage(format!(
                    "{flag} is {wrong}: give {} to {}",
                    range.start(),
                    range.end()
                )));
            }
        }
        let program = crate::levels::Program::find(crate::levels::AUTO)?;
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(|error| Failure::new(Exit::Failed, format!("cannot start the runtime: {error}")))?;
        let mut trials = Vec::new();
        for path in &self.models {
            let planned = PlannedModel::open(&ModelChoice {
                mmproj: self.mmproj.clone(),
                ..ModelChoice::of(path.clone())
            })?;
            for spec in self.specs(&planned, mapped) {
                let outcome = runtime.block_on(trial(&program, &planned, &spec, self.measure));
                let outcome = outcome.map_err(|error| {
                    Failure::input(format!(
                        "model {}: {}",
                        planned.record.name,
                        error.in_words("while its memory was measured")
                    ))
                })?;
                if self.measure && !self.json {
                    talk(&row(&planned.record.name, &outcome));
                }
                trials.push((planned.record.name.clone(), outcome));
            }
        }
        print(&self.shown(&trials))
    }

    fn specs(&self, planned: &PlannedModel, mapped: &[bool]) -> Vec<LoadSpec> {
        let threads = threads::chosen(self.threads);
        let parallel = EngineChoice::default().parallel;
        let mut specs = Vec::new();
        for &context_tokens in &self.context {
            for &cells in &self.cells {
                for &sequences in &self.sequences {
                    for &batch_tokens in &self.batch {
                        specs.extend(mapped.iter().map(|&mmap| LoadSpec {
                            model: planned.path.clone(),
                            vocab_only: false,
                            context_tokens,
                            mode: Mode::Packed,
                            cells: cells.max(context_tokens),
                            sequences,
                            parallel,
                            batch_tokens,
                            threads,
                            threads_batch: threads,
                            mmap,
                            kv: KvType::F16,
                            mmproj: planned.mmproj.as_ref().map(|mmproj| mmproj.path.clone()),
                        }));
                    }
                }
            }
        }
        specs
    }

    fn shown(&self, trials: &[(String, Trial)]) -> String {
        if self.json {
            let all: Vec<_> = trials
                .iter()
                .map(|(model, trial)| serde_json::json!({ "model": model, "trial": trial, "error": trial.error() }))
                .collect();
            return format!("{:#}\n", serde_json::json!({ "trials": all }));
        }
        if self.measure {
            let head = "| model | context | cells | sequences | batch | weights | predicted MiB (private + file) | measured peak MiB (private + file) | error |\n\
                |---|---|---|---|---|---|---|---|---|\n";
            let rows: String = trials.iter().map(|(model, trial)| row(model, trial) + "\n").collect();
            return format!("{head}{rows}");
        }
        let one = |(model, trial): &(String, Trial)| {
            let spec = &trial.spec;
            format!(
                "{model}: context {} tokens, {} cells, {} sequences, batches of {}\n{}",
                spec.context_tokens,
                spec.cells,
                spec.sequences,
                spec.batch_tokens,
                table(&trial.prediction, Counts::Resident, None)
            )
        };
        trials.iter().map(one).collect::<Vec<_>>().join("\n")
    }
}

fn row(model: &str, trial: &Trial) -> String {
    let mib = |bytes: u64| format!("{:.1}", bytes as f64 / 1_048_576.0);
    let spec = &trial.spec;
    let (private, file) = (trial.predicted(Kind::Private), trial.predicted(Kind::File));
    let measured = trial.measured.unwrap_or_default();
    format!(
        "| {model} | {} | {} | {} | {} | {} | {} ({} + {}) | {} ({} + {}) | {} |",
        spec.context_tokens,
        spec.cells,
        spec.sequences,
        spec.batch_tokens,
        if spec.mmap { "mapped" } else { "read" },
        mib(trial.prediction.resident_bytes()),
        mib(private),
        mib(file),
        mib(measured.high_water_bytes),
        mib(measured.private_bytes),
        mib(measured.file_bytes),
        trial.error().map(|error| format!("{:+.1} %", 100.0 * error)).unwrap_or_default()
    )
}
