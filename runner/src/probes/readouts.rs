//! Recorded readouts: one JSON object per answer, a line each, with states in NumPy arrays beside it. What was recorded
//! elsewhere is analysed here, and the other way round. The schema is in `docs/probes.md`.

use std::collections::{BTreeMap, HashMap};
use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::corpus::{Corpora, Kept, Sample, States, shown};
use super::npy::{Array, write_header};
use crate::exit::{Exit, Failure};

/// Name of the file that an export writes.
pub const READOUTS_FILE: &str = "readouts.jsonl";
/// Broken lines that are named.
const NAMED_LINES: usize = 5;

/// A line.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Readout {
    id: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    family: Option<String>,
    #[serde(default = "unnamed")]
    model: String,
    #[serde(default = "unnamed")]
    task: String,
    condition: String,
    n: usize,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    labels: Option<Vec<String>>,
    gold: usize,
    label_logits: Vec<f64>,
    #[serde(default)]
    ma: Option<f64>,
    #[serde(default)]
    mr: Option<f64>,
    #[serde(default)]
    rank: Option<u32>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    tags: BTreeMap<String, String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    split: Option<String>,
    #[serde(default)]
    hidden: Option<Hidden>,
}

/// Where the states of an answer lie.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Hidden {
    file: PathBuf,
    row: usize,
}

fn unnamed() -> String {
    "recorded".to_owned()
}

/// Adds the samples of a file of recorded readouts.
pub(super) fn add(corpora: &mut Corpora, path: &Path) -> Result<(), Failure> {
    let file = File::open(path).map_err(|error| Failure::disk(format!("{}: {error}", shown(path))))?;
    let base = path.parent().unwrap_or(Path::new("."));
    let mut arrays: HashMap<PathBuf, Opened> = HashMap::new();
    let mut faults = Vec::new();
    let mut count = 0usize;
    for (number, line) in (1..).zip(BufReader::new(file).lines()) {
        let line = match line {
            Ok(line) => line,
            // Bytes that are no text stand for a broken line; a disk that fails ends it.
            Err(error) if error.kind() == io::ErrorKind::InvalidData => {
                faults.push(format!("line {number}: is no text"));
                continue;
            }
            Err(error) => return Err(Failure::disk(format!("{}: {error}", shown(path)))),
        };
        if line.trim().is_empty() {
            continue;
        }
        match sample(&line, base, &mut arrays) {
            Ok((model, task, sample)) => {
                count += 1;
                corpora.of(&model, &task).samples.push(sample);
            }
            Err(what) => faults.push(format!("line {number}: {what}")),
        }
    }
    if !faults.is_empty() {
        let more = faults.len().saturating_sub(NAMED_LINES);
        let more = if more > 0 { format!("; and {more} more") } else { String::new() };
        faults.truncate(NAMED_LINES);
        return Err(Failure::input(format!("{}: {}{more}", shown(path), faults.join("; "))));
    }
    if count == 0 {
        return Err(Failure::input(format!("{}: holds no readout", shown(path))));
    }
    Ok(())
}

/// An array that is opened once.
struct Opened {
    array: Array,
    file: Arc<File>,
}

fn sample(
    line: &str,
    base: &Path,
    arrays: &mut HashMap<PathBuf, Opened>,
) -> Result<(String, String, Sample), String> {
    let readout: Readout = serde_json::from_str(line).map_err(|error| {
        // The position within the line is all that a column says here.
        let text = error.to_string();
        text.split(" at line ").next().unwrap_or(&text).to_owned()
    })?;
    let Readout { n, gold, .. } = readout;
    let labels = readout.labels.unwrap_or_else(|| (0..n).map(letter).collect());
    let wrong = |what: String| Err(what);
    if n < 2 || labels.len() != n {
        return wrong(format!(
            "n is {n} and there are {} labels: at least two, and as many as n",
            labels.len()
        ));
    }
    if gold >= n {
        return wrong(format!("gold is {gold}: it counts from 0 and must be below n ({n})"));
    }
    if readout.label_logits.len() != n {
        return wrong(format!("label_logits has {} numbers where n is {n}", readout.label_logits.len()));
    }
    if let Some((at, twice)) = labels.iter().enumerate().find(|(at, label)| labels[..*at].contains(label)) {
        return wrong(format!("labels: {twice:?} is there twice (again at {at})"));
    }
    for (key, share) in [("ma", readout.ma), ("mr", readout.mr)] {
        if share.is_some_and(|share| !(-1e-6..=1.0 + 1e-6).contains(&share)) {
            return wrong(format!("{key} is {}: give a probability", share.unwrap_or_default()));
        }
    }
    let states = readout.hidden.map(|hidden| states(&hidden, base, arrays)).transpose()?;
    let mut tags: Vec<(String, String)> = readout.tags.into_iter().collect();
    if let Some(split) = readout.split {
        tags.retain(|(key, _)| key != "split");
        tags.push(("split".to_owned(), split));
    }
    let sample = Sample {
        family: readout.family.unwrap_or_else(|| readout.id.clone()),
        id: readout.id,
        condition: readout.condition,
        tags,
        labels,
        gold,
        scores: readout.label_logits,
        tokens: Vec::new(),
        ma: readout.ma,
        mr: readout.mr,
        rank: readout.rank,
        states,
    };
    Ok((readout.model, readout.task, sample))
}

/// `A`, `B`, ... and numbers behind `Z`.
fn letter(place: usize) -> String {
    match u8::try_from(place) {
        Ok(place) if place < 26 => char::from(b'A' + place).to_string(),
        _ => (place + 1).to_string(),
    }
}

fn states(hidden: &Hidden, base: &Path, arrays: &mut HashMap<PathBuf, Opened>) -> Result<States, String> {
    if !arrays.contains_key(&hidden.file) {
        let array = Array::open(&base.join(&hidden.file))?;
        let file = Arc::new(array.file.try_clone().map_err(|error| error.to_string())?);
        arrays.insert(hidden.file.clone(), Opened { array, file });
    }
    let Some(Opened { array, file }) = arrays.get(&hidden.file) else { return Err("hidden: lost".into()) };
    if hidden.row >= array.rows {
        return Err(format!(
            "hidden: row {} of {}, which has {}",
            hidden.row,
            hidden.file.display(),
            array.rows
        ));
    }
    let row_bytes = (array.states * array.dimension * array.width) as u64;
    let kind = match array.width {
        2 => Kept::Halves(vec![0; array.states]),
        _ => Kept::Singles,
    };
    Ok(States {
        file: Arc::clone(file),
        at: array.at + hidden.row as u64 * row_bytes,
        dimension: array.dimension,
        count: array.states,
        kind,
    })
}

/// Writes corpora as recorded readouts into a folder; gives the files.
pub fn export(corpora: &Corpora, dir: &Path) -> Result<Vec<PathBuf>, Failure> {
    let failed = |path: &Path, error: io::Error| Failure::disk(format!("{}: {error}", path.display()));
    std::fs::create_dir_all(dir).map_err(|error| failed(dir, error))?;
    let lines_path = dir.join(READOUTS_FILE);
    if lines_path.exists() {
        return Err(Failure::new(
            Exit::Disk,
            format!("{}: is there already: name an empty folder", lines_path.display()),
        ));
    }
    let mut written = vec![lines_path.clone()];
    let out = File::create(&lines_path).map_err(|error| failed(&lines_path, error))?;
    let mut lines = BufWriter::new(out);
    for (number, corpus) in corpora.all.iter().enumerate() {
        let name = PathBuf::from(format!("states-{number}.npy"));
        let path = dir.join(&name);
        let rows = write_states(&corpus.samples, &path).map_err(|error| failed(&path, error))?;
        if rows.is_some() {
            written.push(path);
        }
        let mut row = 0;
        for sample in &corpus.samples {
            let hidden = (rows.is_some() && sample.states.is_some()).then(|| {
                row += 1;
                Hidden { file: name.clone(), row: row - 1 }
            });
            let line = line(&corpus.model, &corpus.task, sample, hidden);
            serde_json::to_writer(&mut lines, &line)
                .map_err(io::Error::from)
                .and_then(|()| lines.write_all(b"\n"))
                .map_err(|error| failed(&lines_path, error))?;
        }
    }
    lines.flush().map_err(|error| failed(&lines_path, error))?;
    Ok(written)
}

fn line(model: &str, task: &str, sample: &Sample, hidden: Option<Hidden>) -> Readout {
    let mut tags: BTreeMap<String, String> = sample.tags.iter().cloned().collect();
    Readout {
        id: sample.id.clone(),
        family: Some(sample.family.clone()),
        model: model.to_owned(),
        task: task.to_owned(),
        condition: sample.condition.clone(),
        n: sample.labels.len(),
        labels: Some(sample.labels.clone()),
        gold: sample.gold,
        // JSON has no number that is not finite; such an answer is undecided here and there.
        label_logits: match sample.scores.iter().all(|score| score.is_finite()) {
            true => sample.scores.clone(),
            false => vec![0.0; sample.scores.len()],
        },
        ma: sample.ma,
        mr: sample.mr,
        rank: sample.rank,
        split: tags.remove("split"),
        tags,
        hidden,
    }
}

/// Writes the states of samples as one array: halves where no state needs a factor, singles elsewhere. `None`, and no file,
/// where there are none or their shapes differ.
fn write_states(samples: &[Sample], path: &Path) -> io::Result<Option<usize>> {
    let kept: Vec<&States> = samples.iter().filter_map(|sample| sample.states.as_ref()).collect();
    let Some(first) = kept.first() else { return Ok(None) };
    if kept.iter().any(|states| (states.count, states.dimension) != (first.count, first.dimension)) {
        return Ok(None);
    }
    let plain = |states: &&States| matches!(&states.kind, Kept::Halves(exponents) if exponents.iter().all(|e| *e == 0));
    let width = if kept.iter().all(plain) { 2 } else { 4 };
    let mut out = BufWriter::new(File::create(path)?);
    match first.count {
        1 => write_header(&mut out, width, &[kept.len(), first.dimension])?,
        count => write_header(&mut out, width, &[kept.len(), count, first.dimension])?,
    }
    for states in &kept {
        for state in 0..states.count {
            match width {
                2 => out.write_all(&states.halves(state)?.0)?,
                _ => {
                    let bytes: Vec<u8> =
                        states.floats(state)?.iter().flat_map(|value| value.to_le_bytes()).collect();
                    out.write_all(&bytes)?;
                }
            }
        }
    }
    out.flush()?;
    Ok(Some(kept.len()))
}
