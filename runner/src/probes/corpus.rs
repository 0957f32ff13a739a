//! What readouts are learnt from and tried on.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use datasets::readout::{CLASSES, Halves, Target};
use models::hidden::two_to;
use models::{FinalNorm, HiddenStates};

use super::{from_run, readouts};
use crate::exit::Failure;

/// Everything that was given, by model and task.
#[derive(Debug, Default)]
pub struct Corpora {
    /// In the order in which they were met.
    pub all: Vec<Corpus>,
    /// What people should know, one line each.
    pub notes: Vec<String>,
}

/// The samples of one model on one task.
#[derive(Debug)]
pub struct Corpus {
    /// Name of the model.
    pub model: String,
    /// Name of the task.
    pub task: String,
    /// The tag that the shortcut test leaves out by itself, where the task is asked in its neutralised form.
    pub shortcut_tag: Option<&'static str>,
    /// Every item in every condition.
    pub samples: Vec<Sample>,
    /// The final norm, and rows of the vocabulary projection by token.
    pub norm: Option<FinalNorm>,
    /// Rows of the vocabulary projection.
    pub rows: std::collections::BTreeMap<i32, Vec<f32>>,
}

/// One item in one condition.
#[derive(Clone, Debug, Default)]
pub struct Sample {
    /// The item.
    pub id: String,
    /// Its family: what shares material.
    pub family: String,
    /// The condition: the interface, as a rule.
    pub condition: String,
    /// Its strata.
    pub tags: Vec<(String, String)>,
    /// Its labels, in display order.
    pub labels: Vec<String>,
    /// Place of the right one.
    pub gold: usize,
    /// The model's own scores of the labels, up to a number that they share; empty where there are none.
    pub scores: Vec<f64>,
    /// First token of each label; empty where they are not known.
    pub tokens: Vec<i32>,
    /// Probability that any label comes next.
    pub ma: Option<f64>,
    /// Probability of the fixed list of tokens that go on with a text.
    pub mr: Option<f64>,
    /// Rank of the right label's first token.
    pub rank: Option<u32>,
    /// Its states.
    pub states: Option<States>,
}

/// States in a file.
#[derive(Clone, Debug)]
pub struct States {
    /// The file.
    pub file: Arc<File>,
    /// Where the first number begins.
    pub at: u64,
    /// Numbers of one state.
    pub dimension: usize,
    /// How many states there are: behind each layer, then behind the final norm; or the last one alone.
    pub count: usize,
    /// How numbers are kept.
    pub kind: Kept,
}

/// How numbers are kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kept {
    /// Halves times two to a power, one power per state.
    Halves(Vec<u8>),
    /// Singles.
    Singles,
}

impl States {
    /// A state as halves with their factor. What is not finite is an error.
    pub fn halves(&self, state: usize) -> io::Result<(Vec<u8>, f32)> {
        let width = match &self.kind {
            Kept::Halves(_) => 2,
            Kept::Singles => 4,
        };
        let mut bytes = vec![0; self.dimension * width];
        self.file.read_exact_at(&mut bytes, self.at + (state * self.dimension * width) as u64)?;
        match &self.kind {
            Kept::Halves(exponents) => Ok((bytes, two_to(exponents.get(state).copied().unwrap_or_default()))),
            Kept::Singles => {
                let floats: Vec<f32> = bytes
                    .chunks_exact(4)
                    .map(|four| f32::from_le_bytes([four[0], four[1], four[2], four[3]]))
                    .collect();
                let packed = HiddenStates::pack(self.dimension, &floats)
                    .ok_or_else(|| io::Error::other("a hidden state is not finite"))?;
                Ok((packed.bytes, two_to(packed.exponents[0])))
            }
        }
    }

    /// A state as numbers.
    pub fn floats(&self, state: usize) -> io::Result<Vec<f32>> {
        let (bytes, factor) = self.halves(state)?;
        let number = |pair: &[u8]| models::half::decode(u16::from_le_bytes([pair[0], pair[1]])) * factor;
        Ok(bytes.chunks_exact(2).map(number).collect())
    }
}

impl Sample {
    /// The value of a tag.
    pub fn tag(&self, key: &str) -> Option<&str> {
        self.tags.iter().find(|(own, _)| own == key).map(|(_, value)| value.as_str())
    }
}

impl Corpus {
    /// Conditions, in the order of the samples.
    pub fn conditions(&self) -> Vec<&str> {
        let mut all: Vec<&str> = Vec::new();
        for sample in &self.samples {
            if !all.contains(&sample.condition.as_str()) {
                all.push(&sample.condition);
            }
        }
        all
    }

    /// Label texts, in the order in which they are met: the classes of a readout.
    pub fn classes(&self) -> Vec<&str> {
        let mut all: Vec<&str> = Vec::new();
        for label in self.samples.iter().flat_map(|sample| &sample.labels) {
            if !all.contains(&label.as_str()) {
                all.push(label);
            }
        }
        all
    }

    /// What a readout shall say of each sample; `Err` where there are more classes than it can tell apart.
    pub fn targets(&self, classes: &[&str]) -> Result<Vec<Target>, String> {
        if classes.len() > CLASSES {
            return Err(format!(
                "it has {} different labels; a readout tells at most {CLASSES} apart (labels that are the options' own texts \
                 are no classes)",
                classes.len()
            ));
        }
        let place = |label: &String| classes.iter().position(|class| class == label).unwrap_or_default();
        let target = |sample: &Sample| Target {
            class: sample.labels.get(sample.gold).map(place).unwrap_or_default() as u16,
            valid: sample.labels.iter().fold(0, |valid, label| valid | 1 << place(label)),
        };
        Ok(self.samples.iter().map(target).collect())
    }

    /// One state of some samples, in memory. `Err` names a file that cannot be read.
    pub fn load(&self, samples: &[usize], state: usize) -> Result<Halves, Failure> {
        let first = samples.iter().find_map(|&sample| self.samples[sample].states.as_ref());
        let mut table = Halves::with_room(first.map_or(0, |states| states.dimension), samples.len());
        for &sample in samples {
            let sample = &self.samples[sample];
            let failed = |what: String| {
                Failure::disk(format!("hidden state of {} ({}): {what}", sample.id, sample.condition))
            };
            let states = sample.states.as_ref().ok_or_else(|| failed("there is none".into()))?;
            let (bytes, factor) = states.halves(state).map_err(|error| failed(error.to_string()))?;
            if !table.push(&bytes, factor) {
                return Err(failed("it is not finite, or of another dimension than others".into()));
            }
        }
        Ok(table)
    }
}

/// Reads runs (folders) and recorded readouts (files).
pub fn load(paths: &[PathBuf]) -> Result<Corpora, Failure> {
    let mut corpora = Corpora::default();
    let mut known = from_run::Known::default();
    for path in paths {
        match path.is_dir() {
            true => from_run::add(&mut corpora, &mut known, path)?,
            false => readouts::add(&mut corpora, path)?,
        }
    }
    Ok(corpora)
}

/// Reads the scored answers of a run, with states where it kept them.
pub fn load_answers(dir: &Path) -> Result<Corpora, Failure> {
    let mut corpora = Corpora::default();
    from_run::add_answers(&mut corpora, &mut from_run::Known::default(), dir)?;
    Ok(corpora)
}

impl Corpora {
    /// The corpus of a model and task, made where it is missing.
    pub(super) fn of(&mut self, model: &str, task: &str) -> &mut Corpus {
        let place = self.all.iter().position(|corpus| corpus.model == model && corpus.task == task);
        let place = place.unwrap_or_else(|| {
            self.all.push(Corpus {
                model: model.to_owned(),
                task: task.to_owned(),
                shortcut_tag: None,
                samples: Vec::new(),
                norm: None,
                rows: Default::default(),
            });
            self.all.len() - 1
        });
        &mut self.all[place]
    }
}

/// How a path is told.
pub(super) fn shown(path: &Path) -> std::path::Display<'_> {
    path.display()
}
