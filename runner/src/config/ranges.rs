//! Which values make sense. What would be taken for another value, or fail hours later, is refused before anything is run; 0
//! stays where the reference gives it a meaning.

use std::ops::RangeInclusive;

use super::Config;

/// Sequences that llama.cpp tells apart, less the one that forks need.
pub(crate) const SEQUENCES: RangeInclusive<u64> = 1..=255;
/// More tokens than any context has.
const MOST_TOKENS: u64 = 1_000_000;
/// More cells than any memory holds.
pub(crate) const MOST_CELLS: u64 = 16_777_216;
/// Tokens of one call.
pub(crate) const BATCH_TOKENS: RangeInclusive<u64> = 1..=65_536;
/// Blocks that llama.cpp rounds a cache to.
const LEAST_CELLS: u64 = 256;
const MOST_THREADS: u64 = 1024;

/// The first value that makes no sense: its full key, with places in lists, and one line.
pub(super) fn fault(config: &Config) -> Option<(String, String)> {
    let (asking, engine, latency) = (&config.asking, &config.engine, &config.latency);
    if config.limit == Some(0) {
        return said("limit", "limit is 0: leave it out for all items, or give at least 1");
    }
    for (index, task) in config.tasks.iter().enumerate() {
        if task.limit == Some(0) {
            return said(
                &format!("task.{index}.limit"),
                "limit is 0: leave it out for the limit above, or give at least 1",
            );
        }
        if let Some(label) = task.label.as_ref().filter(|label| !is_name(label, &['/', '\\'])) {
            let message = format!("label is {label:?}: give a name of one line, without slashes");
            return said(&format!("task.{index}.label"), &message);
        }
    }
    for (index, model) in config.models.iter().enumerate() {
        if let Some(name) = model.name.as_ref().filter(|name| !is_name(name, &[':'])) {
            let message = format!(
                "name is {name:?}: give a name of one line, without colons (`compare DIR:MODEL` could not reach it)"
            );
            return said(&format!("model.{index}.name"), &message);
        }
    }
    let tokens = 1..=MOST_TOKENS;
    let numbers = [
        ("asking.max-tokens", u64::from(asking.max_tokens), tokens.clone()),
        ("asking.thinking-max-tokens", asking.thinking_max_tokens.into(), 0..=MOST_TOKENS),
        ("asking.thought-tokens", asking.thought_tokens.into(), tokens.clone()),
        ("asking.vote-tokens", asking.vote_tokens.into(), tokens.clone()),
        ("asking.temperature-percent", asking.temperature_percent.into(), 1..=1000),
        ("engine.sequences", engine.sequences.into(), SEQUENCES),
        ("engine.parallel", engine.parallel.into(), 0..=*SEQUENCES.end()),
        ("engine.batch-tokens", engine.batch_tokens.into(), BATCH_TOKENS),
        ("engine.context-tokens", engine.context_tokens.into(), 0..=MOST_CELLS),
        ("engine.context-cap-tokens", engine.context_cap_tokens.into(), 1..=MOST_CELLS),
        ("engine.threads", engine.threads.into(), 0..=MOST_THREADS),
        ("engine.threads-batch", engine.threads_batch.into(), 0..=MOST_THREADS),
        ("engine.deadline-s", engine.deadline_s, 1..=31_536_000),
        ("latency.repetitions", latency.repetitions.into(), 1..=u64::from(u16::MAX)),
    ];
    if let Some((key, value, range)) = numbers.into_iter().find(|(_, value, range)| !range.contains(value)) {
        return said(key, &format!("{key} is {value}: give {} to {}", range.start(), range.end()));
    }
    let cells = u64::from(engine.cells);
    if cells != 0 && !(LEAST_CELLS..=MOST_CELLS).contains(&cells) {
        let message =
            format!("engine.cells is {cells}: give {LEAST_CELLS} to {MOST_CELLS}, or 0 to leave it open");
        return said("engine.cells", &message);
    }
    if let Some(cap) = asking.caps.iter().find(|&&cap| u64::from(cap) > MOST_TOKENS) {
        return said("asking.caps", &format!("asking.caps holds {cap}: give 1 to {MOST_TOKENS}"));
    }
    if asking.stop.iter().any(String::is_empty) {
        return said(
            "asking.stop",
            "asking.stop holds an empty text, which would end every reply: leave it out",
        );
    }
    if let Some((key, message)) = asking.fault() {
        return said(&format!("asking.{key}"), &message);
    }
    if let Err((key, message)) = config.telemetry.options() {
        return said(&format!("telemetry.{key}"), &message);
    }
    if let Some(message) = config.sweep.fault() {
        return said("sweep.rounds", &message);
    }
    let floor = config.report.mass_floor;
    if !(0.0..=1.0).contains(&floor) {
        return said(
            "report.mass-floor",
            &format!("report.mass-floor is {floor}: give a probability, 0 to 1"),
        );
    }
    None
}

fn said(key: &str, message: &str) -> Option<(String, String)> {
    Some((key.to_owned(), message.to_owned()))
}

/// Whether results can be called so: something to see, on one line, without these.
fn is_name(name: &str, without: &[char]) -> bool {
    !name.trim().is_empty() && !name.contains(|c: char| c.is_control() || without.contains(&c))
}
