//! Reads SNLI 1.0 and MultiNLI 1.0 in their official JSONL form, and keeps the short entailments.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::LogicParams;
use super::pairs::{Pair, Source, is_short};
use crate::task::{Params, ReadFile, Resolved, TaskError};

/// What a file gave.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loaded {
    /// Entailments of which both sides are short and not the same, in file order.
    pub pairs: Vec<Pair>,
    /// Rows in the file.
    pub rows: usize,
    /// Rows on which the annotators agreed on no label (`-`); excluded.
    pub no_consensus: usize,
    /// Rows labelled as entailments.
    pub entailments: usize,
}

/// A row that cannot be read. Nothing of the file is used then: a file that breaks off would give other results.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line} (byte {byte}, after {good} good rows): {reason}")]
pub struct ImportError {
    /// Line, from 1.
    pub line: usize,
    /// Offset of the line's first byte.
    pub byte: usize,
    /// Rows read before it.
    pub good: usize,
    /// What is wrong with it.
    pub reason: String,
}

/// Short entailments of an SNLI 1.0 file.
pub fn snli(lines: &str) -> Result<Loaded, ImportError> {
    read(lines, Source::Snli)
}

/// Short entailments of a MultiNLI 1.0 file; pairs keep their genre.
pub fn mnli(lines: &str) -> Result<Loaded, ImportError> {
    read(lines, Source::Mnli)
}

/// The fields that are used; the parses are skipped.
#[derive(Deserialize)]
struct Row {
    gold_label: String,
    sentence1: String,
    sentence2: String,
    #[serde(rename = "pairID")]
    pair_id: String,
    #[serde(default)]
    genre: String,
}

fn read(lines: &str, source: Source) -> Result<Loaded, ImportError> {
    let mut loaded = Loaded { pairs: Vec::new(), rows: 0, no_consensus: 0, entailments: 0 };
    let mut first_lines: BTreeMap<String, usize> = BTreeMap::new();
    let mut byte = 0;
    for (line, text) in (1..).zip(lines.split_inclusive('\n')) {
        let at = |reason: String| ImportError { line, byte, good: loaded.rows, reason };
        let bare = text.trim_start_matches('\u{feff}').trim();
        if !bare.is_empty() {
            let row: Row = serde_json::from_str(bare).map_err(|error| at(explained(&error)))?;
            if let Some(first) = first_lines.insert(row.pair_id.clone(), line) {
                return Err(at(format!("pairID {} is already used in line {first}", row.pair_id)));
            }
            match row.gold_label.as_str() {
                "entailment" => {
                    loaded.entailments += 1;
                    loaded.pairs.extend(kept(row, source));
                }
                "neutral" | "contradiction" => {}
                "-" | "-1" => loaded.no_consensus += 1,
                other => {
                    let names = "entailment, neutral, contradiction or -";
                    return Err(at(format!("gold_label is {other:?}, not {names}")));
                }
            }
            loaded.rows += 1;
        }
        byte += text.len();
    }
    if loaded.rows == loaded.no_consensus {
        let reason = match loaded.rows {
            0 => "the file has no rows".to_owned(),
            _ => "no row has a label; take a development set, or a test set with labels".to_owned(),
        };
        return Err(ImportError { line: 1, byte: 0, good: loaded.rows, reason });
    }
    Ok(loaded)
}

fn explained(error: &serde_json::Error) -> String {
    if error.is_eof() {
        return "the row breaks off; the file is not complete".to_owned();
    }
    // serde_json counts lines within the row, which is one line: only the column says something.
    let text = error.to_string();
    let text = text.replace(&format!(" at line 1 column {}", error.column()), "");
    format!("{text}, column {} (the official JSONL form is needed)", error.column())
}

fn kept(row: Row, source: Source) -> Option<Pair> {
    let short = is_short(&row.sentence1) && is_short(&row.sentence2);
    let differ = row.sentence1.trim() != row.sentence2.trim();
    (short && differ).then_some(Pair {
        source,
        id: row.pair_id,
        a: row.sentence1,
        b: row.sentence2,
        set: String::new(),
        genre: row.genre,
    })
}

/// Pairs that the paper took from a source, where its two sets are given together.
fn published(source: Source) -> Option<usize> {
    match source {
        Source::Own => None,
        Source::Snli => Some(675),
        Source::Mnli => Some(833),
    }
}

/// Replaces the named files by their pairs.
pub(in crate::tasks) fn resolve(params: &Params, read_file: ReadFile<'_>) -> Result<Resolved, TaskError> {
    let named: LogicParams = params.read()?;
    let mut table = params.0.clone();
    let mut pairs = named.pairs;
    let mut notes = Vec::new();
    for (source, files) in [
        (Source::Snli, [("snli-dev", "dev", &named.snli_dev), ("snli-test", "test", &named.snli_test)]),
        (
            Source::Mnli,
            [
                ("mnli-matched", "matched", &named.mnli_matched),
                ("mnli-mismatched", "mismatched", &named.mnli_mismatched),
            ],
        ),
    ] {
        let mut count = 0;
        for (key, set, path) in files.iter().filter(|(_, _, path)| !path.is_empty()) {
            let fault = |reason: String| TaskError::data(key, path, &reason);
            let text = read_file.text(path).map_err(fault)?;
            let mut loaded = read(&text, source).map_err(|error| fault(error.to_string()))?;
            for pair in &mut loaded.pairs {
                (*set).clone_into(&mut pair.set);
            }
            notes.push(format!(
                "{path}: {} rows, {} without consensus, {} entailments, {} pairs",
                loaded.rows,
                loaded.no_consensus,
                loaded.entailments,
                loaded.pairs.len()
            ));
            count += loaded.pairs.len();
            pairs.append(&mut loaded.pairs);
            table.remove(*key);
        }
        if let Some(published) =
            published(source).filter(|_| files.iter().all(|(_, _, path)| !path.is_empty()))
        {
            notes.push(format!("{}: {count} pairs; the paper has {published}", source.name()));
        }
    }
    if !notes.is_empty() {
        let rows =
            toml::Value::try_from(&pairs).map_err(|error| TaskError::Params(format!("pairs: {error}")))?;
        table.insert("pairs".to_owned(), rows);
    }
    Ok(Resolved { params: Params(table), notes })
}
