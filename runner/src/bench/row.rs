//! One measurement. Field names and meanings are those of `llama-bench -o json` where it has the same; docs/performance.md
//! lists which.

use serde::Serialize;

use super::Kind;
use crate::clock::{Clock, SystemClock};
use crate::statistics::median;

/// One measurement, or why there is none.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Row {
    /// `speed`, `first-token`, `parallel` or `scoring`.
    pub kind: &'static str,
    /// Short name: `pp512`, `tg128`, `tg32 x8`, `ttft`, `score packed`.
    pub test: String,
    /// Why there are no figures.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Processor.
    pub cpu_info: String,
    /// Always `CPU`.
    pub backends: &'static str,
    /// The file as it was named.
    pub model_filename: String,
    /// Architecture, size and quantisation.
    pub model_type: String,
    /// Bytes of the weights.
    pub model_size: u64,
    /// Parameters.
    pub model_n_params: u64,
    /// Tokens handed to the library in one call.
    pub n_batch: u32,
    /// Tokens that it computes at once.
    pub n_ubatch: u32,
    /// Threads for generating.
    pub n_threads: u32,
    /// Type of the keys in the cache.
    pub type_k: &'static str,
    /// Type of the values in the cache.
    pub type_v: &'static str,
    /// Tokens of the prompt.
    pub n_prompt: u32,
    /// Tokens generated, of each sequence.
    pub n_gen: u32,
    /// Tokens that stood before.
    pub n_depth: u32,
    /// When it was measured, UTC.
    pub test_time: String,
    /// Mean wall time.
    pub avg_ns: u64,
    /// Its sample standard deviation.
    pub stddev_ns: u64,
    /// Mean of the repetitions' tokens per second.
    pub avg_ts: f64,
    /// Their sample standard deviation.
    pub stddev_ts: f64,
    /// Wall time of each repetition.
    pub samples_ns: Vec<u64>,
    /// Tokens per second of each.
    pub samples_ts: Vec<f64>,
    /// Median of those.
    pub median_ts: f64,
    /// Threads for evaluating prompts.
    pub n_threads_batch: u32,
    /// Sequences side by side.
    pub n_parallel: u32,
    /// The engine.
    pub engine: String,
    /// Processor features that it uses.
    pub cpu_features: String,
    /// CPU level of the worker; empty for a build that names none.
    pub cpu_level: String,
    /// What a scoring workload came to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scoring: Option<Scoring>,
}

/// A scoring workload.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Scoring {
    /// `packed` or `exact`.
    pub mode: &'static str,
    /// The tasks.
    pub tasks: Vec<String>,
    /// The interfaces.
    pub interfaces: Vec<String>,
    /// Answers: items times interfaces.
    pub answers: u64,
    /// Tokens of their prompts.
    pub prompt_tokens: u64,
    /// Tokens that the model evaluated for them.
    pub evaluated_tokens: u64,
    /// Answers per second.
    pub answers_per_s: f64,
    /// Peak memory of the worker, where the system tells.
    pub worker_peak_bytes: Option<u64>,
}

/// What a kind is called in rows.
pub(super) fn name(kind: Kind) -> &'static str {
    match kind {
        Kind::Speed => "speed",
        Kind::FirstToken => "first-token",
        Kind::Parallel => "parallel",
        Kind::Scoring => "scoring",
    }
}

impl Row {
    /// A row without figures.
    pub fn failed(model: &str, error: String) -> Row {
        Row { model_filename: model.to_owned(), backends: "CPU", ..Row::default() }.fail(error)
    }

    pub(super) fn fail(self, error: String) -> Row {
        // Only the first line: the row stands in a table.
        let error = error.lines().next().unwrap_or_default().to_owned();
        Row { error: Some(error), test_time: now(), ..self }
    }

    /// Takes what was measured: wall times of work on so many tokens each.
    pub(super) fn timed(self, samples_us: &[u64], tokens: u64) -> Row {
        let ns: Vec<f64> = samples_us.iter().map(|&us| 1e3 * us as f64).collect();
        let rates: Vec<f64> = ns.iter().map(|ns| tokens as f64 / ns.max(1.0) * 1e9).collect();
        let (avg_ns, stddev_ns) = spread(&ns);
        let (avg_ts, stddev_ts) = spread(&rates);
        Row {
            avg_ns: avg_ns as u64,
            stddev_ns: stddev_ns as u64,
            avg_ts,
            stddev_ts,
            median_ts: median(rates.iter().copied()).unwrap_or_default(),
            samples_ns: samples_us.iter().map(|us| us.saturating_mul(1000)).collect(),
            samples_ts: rates,
            test_time: now(),
            ..self
        }
    }

    /// One line for people.
    pub fn in_words(&self) -> String {
        let name =
            std::path::Path::new(&self.model_filename).file_name().unwrap_or_default().to_string_lossy();
        let test = if self.test.is_empty() { self.kind } else { &self.test };
        match (&self.error, &self.scoring) {
            (Some(error), _) => format!("{name} {test}: {error}"),
            (None, Some(scoring)) => format!("{name} {test}: {:.1} answers/s", scoring.answers_per_s),
            (None, None) if self.kind == "first-token" => {
                format!("{name} {test}: {:.1} ms", self.avg_ns as f64 / 1e6)
            }
            (None, None) => format!("{name} {test}: {:.1} tokens/s +- {:.1}", self.avg_ts, self.stddev_ts),
        }
    }
}

/// Mean and sample standard deviation; no spread where there is one value.
fn spread(values: &[f64]) -> (f64, f64) {
    let n = values.len() as f64;
    if values.is_empty() {
        return (0.0, 0.0);
    }
    let mean = values.iter().sum::<f64>() / n;
    let squares: f64 = values.iter().map(|value| (value - mean) * (value - mean)).sum();
    (mean, if values.len() > 1 { (squares / (n - 1.0)).sqrt() } else { 0.0 })
}

/// `2026-03-01T12:00:00Z`.
fn now() -> String {
    let stamp = crate::log::stamp(SystemClock::new().now().wall_us);
    let part = |range: std::ops::Range<usize>| stamp.get(range).unwrap_or_default();
    format!("{}-{}-{}T{}:{}:{}Z", part(0..4), part(4..6), part(6..8), part(9..11), part(11..13), part(13..15))
}

/// All rows as one JSON array.
pub fn json(rows: &[Row]) -> Result<String, serde_json::Error> {
    serde_json::to_string_pretty(rows).map(|text| text + "\n")
}

/// The columns of [`csv`]: those of a row whose values are one number or one text.
const COLUMNS: [&str; 34] = [
    "kind",
    "test",
    "error",
    "cpu_info",
    "backends",
    "model_filename",
    "model_type",
    "model_size",
    "model_n_params",
    "n_batch",
    "n_ubatch",
    "n_threads",
    "type_k",
    "type_v",
    "n_prompt",
    "n_gen",
    "n_depth",
    "test_time",
    "avg_ns",
    "stddev_ns",
    "avg_ts",
    "stddev_ts",
    "median_ts",
    "n_threads_batch",
    "n_parallel",
    "engine",
    "cpu_features",
    "cpu_level",
    "mode",
    "answers",
    "prompt_tokens",
    "evaluated_tokens",
    "answers_per_s",
    "worker_peak_bytes",
];

/// All rows as CSV: the fields of the JSON form, but for the single repetitions.
pub fn csv(rows: &[Row]) -> Result<String, String> {
    let failed = |error: csv::Error| error.to_string();
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(COLUMNS).map_err(failed)?;
    for row in rows {
        let value = serde_json::to_value(row).map_err(|error| error.to_string())?;
        let cell = |column: &&str| {
            let found =
                value.get(*column).or_else(|| value.get("scoring").and_then(|more| more.get(*column)));
            match found {
                None | Some(serde_json::Value::Null) => String::new(),
                Some(serde_json::Value::String(text)) => text.clone(),
                Some(other) => other.to_string(),
            }
        };
        writer.write_record(COLUMNS.iter().map(cell)).map_err(failed)?;
    }
    let bytes = writer.into_inner().map_err(|error| error.to_string())?;
    String::from_utf8(bytes).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mean_spread_and_median_are_those_of_the_repetitions() {
        // 100 tokens in 1 s, 0.5 s and 2 s: 100, 200 and 50 tokens/s.
        let row = Row::default().timed(&[1_000_000, 500_000, 2_000_000], 100);
        assert_eq!(row.samples_ts, [100.0, 200.0, 50.0]);
        assert_eq!((row.avg_ns, row.median_ts), (1_166_666_666, 100.0));
        assert!((row.avg_ts - 350.0 / 3.0).abs() < 1e-9);
        // Deviations -16.67, 83.33, -66.67: squares 277.8 + 6944.4 + 4444.4, over 2, root 76.38.
        assert!((row.stddev_ts - 76.376).abs() < 1e-3, "{}", row.stddev_ts);
        assert_eq!(Row::default().timed(&[1000], 1).stddev_ts, 0.0);
    }

    #[test]
    fn every_csv_column_is_a_field() {
        let row = Row { scoring: Some(Scoring::default()), error: Some("x, \"y\"".into()), ..Row::default() };
        let value = serde_json::to_value(&row).unwrap();
        let known = |column: &str| value.get(column).is_some() || value["scoring"].get(column).is_some();
        assert!(COLUMNS.iter().all(|column| known(column)));
        let text = csv(&[row]).unwrap();
        assert!(text.contains("\"x, \"\"y\"\"\""), "{text}");
    }

    #[test]
    fn a_time_has_the_common_form() {
        let now = now();
        assert_eq!((now.len(), &now[4..5], &now[10..11], &now[19..]), (20, "-", "T", "Z"), "{now}");
    }
}
