//! The course of an analysis: splits, readouts of the last state, transfer, and what is asked beside them.

use std::collections::{BTreeMap, HashMap};

use datasets::Stream;
use datasets::readout::{Chosen, Halves, Target, fit_chosen};

use super::corpus::{Corpora, Corpus};
use super::curve::curve;
use super::native;
use super::pool::each;
use super::repair::repair;
use super::result::{ConditionResult, CorpusResult, ProbeResult, Share, Transfer};
use super::shortcut::shortcut;
use super::split::{Part, SplitBy, split};
use crate::exit::Failure;

/// What is asked.
#[derive(Clone, Debug)]
pub struct Options {
    /// Seed of splits, shuffles and starts.
    pub seed: u64,
    /// Highest rank of the update of the projection.
    pub rank: usize,
    /// Whether states of single layers are looked at, where they were kept.
    pub layers: bool,
    /// Tag of the kinds of items that readouts are learnt without; the paper's own where absent and known.
    pub without: Option<String>,
}

impl Default for Options {
    fn default() -> Self {
        Options { seed: 1, rank: 32, layers: true, without: None }
    }
}

/// Rows of one condition, by part; numbers of the corpus's samples.
#[derive(Clone, Debug, Default)]
pub(super) struct Rows {
    pub(super) train: Vec<usize>,
    pub(super) validation: Vec<usize>,
    pub(super) test: Vec<usize>,
}

/// One corpus with what every part of the analysis needs.
pub(super) struct Bench<'a> {
    pub(super) corpus: &'a Corpus,
    pub(super) options: &'a Options,
    pub(super) classes: Vec<&'a str>,
    pub(super) targets: Vec<Target>,
    pub(super) conditions: Vec<(&'a str, Rows)>,
    pub(super) states: usize,
    pub(super) dimension: usize,
}

/// A table of one state with the numbers of its rows in the corpus, and the parts as rows of the table.
pub(super) struct Loaded {
    pub(super) features: Halves,
    pub(super) targets: Vec<Target>,
    pub(super) samples: Vec<usize>,
    pub(super) train: Vec<usize>,
    pub(super) validation: Vec<usize>,
    pub(super) test: Vec<usize>,
}

/// Analyses everything that was given. `say` hears what is at work.
pub fn analyse(
    corpora: &Corpora,
    options: &Options,
    say: &mut dyn FnMut(&str),
) -> Result<ProbeResult, Failure> {
    let mut results = Vec::new();
    for corpus in &corpora.all {
        say(&format!("{}, {}: {} answers", corpus.model, corpus.task, corpus.samples.len()));
        results.push(one(corpus, options, say)?);
    }
    Ok(ProbeResult::new(options.seed, results, corpora.notes.clone()))
}

fn one(corpus: &Corpus, options: &Options, say: &mut dyn FnMut(&str)) -> Result<CorpusResult, Failure> {
    let mut notes = Vec::new();
    let (by, parts) = split(corpus, options.seed);
    if by == SplitBy::Item {
        notes.push(
            "fewer than five families: the split is drawn item by item, and what shares material may lie on both sides"
                .to_owned(),
        );
    }
    let classes = corpus.classes();
    let targets = corpus.targets(&classes);
    let conditions: Vec<(&str, Rows)> = corpus
        .conditions()
        .into_iter()
        .map(|condition| (condition, rows(corpus, &parts, condition)))
        .collect();
    let shapes: Vec<(usize, usize)> = corpus
        .samples
        .iter()
        .filter_map(|sample| sample.states.as_ref().map(|states| (states.dimension, states.count)))
        .collect();
    let shape = shapes.first().copied().filter(|first| shapes.iter().all(|shape| shape == first));
    let mut result = CorpusResult {
        model: corpus.model.clone(),
        task: corpus.task.clone(),
        dimension: shape.map_or(0, |(dimension, _)| dimension),
        states: shape.map_or(0, |(_, states)| states),
        classes: Vec::new(),
        split: by,
        items: [Part::Train, Part::Validation, Part::Test].map(|part| items_in(corpus, &parts, part)),
        chance: 0.0,
        majority: None,
        conditions: Vec::new(),
        transfer: Vec::new(),
        curve: Vec::new(),
        repair: Vec::new(),
        shortcut: Vec::new(),
        notes: Vec::new(),
    };
    for (condition, rows) in &conditions {
        let native = native::figures(rows.test.iter().map(|&row| &corpus.samples[row]));
        result.conditions.push(ConditionResult {
            condition: (*condition).to_owned(),
            native,
            probe: None,
            shuffled: None,
            penalty: None,
            validation_accuracy: None,
        });
    }
    let bench = match (targets, shape) {
        (Ok(targets), Some((dimension, states))) => {
            let bench = Bench { corpus, options, classes, targets, conditions, states, dimension };
            bench.with_states().then_some(bench)
        }
        (Err(reason), _) => {
            notes.push(format!("no readout is learnt: {reason}"));
            None
        }
        (_, None) => None,
    };
    let Some(bench) = bench else {
        notes.push(match shapes.is_empty() {
            true => "there are no hidden states: figures are about the model's own scores alone".to_owned(),
            false if shape.is_none() => {
                "hidden states differ in size or number: no readout is learnt; give one run at a time"
                    .to_owned()
            }
            false => "some answers have no hidden states: no readout is learnt".to_owned(),
        });
        result.chance = chance_of_labels(corpus, &parts);
        result.notes = notes;
        return Ok(result);
    };
    result.classes = bench.classes.iter().map(|class| (*class).to_owned()).collect();
    bench.fill(&mut result, &mut notes, say)?;
    result.notes = notes;
    Ok(result)
}

/// The same classes in an order of which every stretch has its share of each. Dealt to rows that lie class by class, what a row
/// gets tells nothing of what it had: with a plain shuffle some class gets more of one label by luck, and a state that holds
/// the class clearly lets a readout follow that luck on every item.
fn dealt(classes: impl Iterator<Item = u16> + Clone) -> Vec<u16> {
    let mut counts: BTreeMap<u16, usize> = BTreeMap::new();
    classes.for_each(|class| *counts.entry(class).or_default() += 1);
    let total: usize = counts.values().sum();
    let mut given: BTreeMap<u16, usize> = BTreeMap::new();
    (1..=total)
        .map(|place| {
            let behind = |class: u16| {
                (counts[&class] * place) as i64 - (given.get(&class).copied().unwrap_or(0) * total) as i64
            };
            let next = counts.keys().copied().max_by_key(|&class| (behind(class), std::cmp::Reverse(class)));
            let next = next.unwrap_or_default();
            *given.entry(next).or_default() += 1;
            next
        })
        .collect()
}

fn rows(corpus: &Corpus, parts: &[Part], condition: &str) -> Rows {
    let of = |part: Part| {
        (0..parts.len())
            .filter(|&at| parts[at] == part && corpus.samples[at].condition == condition)
            .collect()
    };
    Rows { train: of(Part::Train), validation: of(Part::Validation), test: of(Part::Test) }
}

fn items_in(corpus: &Corpus, parts: &[Part], part: Part) -> u64 {
    let ids: std::collections::HashSet<&str> =
        (0..parts.len()).filter(|&at| parts[at] == part).map(|at| corpus.samples[at].id.as_str()).collect();
    ids.len() as u64
}

/// Chance over the items for test, where no readout is learnt.
fn chance_of_labels(corpus: &Corpus, parts: &[Part]) -> f64 {
    let each: Vec<f64> = (0..parts.len())
        .filter(|&at| parts[at] == Part::Test)
        .map(|at| 1.0 / corpus.samples[at].labels.len().max(1) as f64)
        .collect();
    each.iter().sum::<f64>() / each.len().max(1) as f64
}

impl Bench<'_> {
    fn with_states(&self) -> bool {
        self.corpus.samples.iter().all(|sample| sample.states.is_some())
    }

    fn fill(
        &self,
        result: &mut CorpusResult,
        notes: &mut Vec<String>,
        say: &mut dyn FnMut(&str),
    ) -> Result<(), Failure> {
        let tests: Vec<usize> =
            self.conditions.iter().flat_map(|(_, rows)| rows.test.iter().copied()).collect();
        result.chance = native::chance(&self.targets, &tests);
        result.majority = self.majority();
        say(&format!("  readouts of the last state, {} numbers", self.dimension));
        let last = self.states - 1;
        let learnt = each(self.conditions.len(), |at| self.learn(at, last));
        let mut readouts: Vec<Option<Chosen>> = Vec::new();
        for (at, learnt) in learnt.into_iter().enumerate() {
            let (chosen, shuffled) = learnt?;
            let target = &mut result.conditions[at];
            match &chosen {
                Some(chosen) => {
                    target.penalty = Some(chosen.penalty);
                    target.validation_accuracy = Some(chosen.validation_accuracy);
                }
                None => notes.push(format!(
                    "{}: too few items for training or validation: no readout is learnt",
                    target.condition
                )),
            }
            target.shuffled = shuffled;
            readouts.push(chosen);
        }
        for (from, chosen) in readouts.iter().enumerate() {
            let Some(chosen) = chosen else { continue };
            for (to, (condition, rows)) in self.conditions.iter().enumerate() {
                let accuracy = self.tried(&rows.test, |row, target| chosen.readout.choose(row, target))?;
                if from == to {
                    result.conditions[to].probe = Some(accuracy);
                }
                result.transfer.push(Transfer {
                    train: self.conditions[from].0.to_owned(),
                    test: (*condition).to_owned(),
                    accuracy,
                });
            }
        }
        say("  repairs of the readout");
        result.repair = repair(self)?;
        if self.options.layers && self.states > 1 {
            say(&format!("  curves over {} states", self.states));
            let (points, has_lens) = curve(self)?;
            result.curve = points;
            if !has_lens {
                notes.push(
                    "no logit lens: it needs the final norm and a row of the vocabulary projection for every label, and labels \
                     whose first tokens differ, and a model that ends with that norm and nothing else"
                        .to_owned(),
                );
            }
        }
        let tag = self.options.without.as_deref().or(self.corpus.shortcut_tag);
        if let Some(tag) = tag {
            say(&format!("  readouts without kinds of `{tag}`"));
            result.shortcut = shortcut(self, tag, notes)?;
        }
        Ok(())
    }

    /// A readout of one state, and how right one is that was learnt from shuffled labels.
    fn learn(&self, condition: usize, state: usize) -> Result<(Option<Chosen>, Option<Share>), Failure> {
        let mut loaded = self.loaded(condition, state)?;
        let fit = |loaded: &Loaded| {
            fit_chosen(
                &loaded.features,
                &loaded.targets,
                self.classes.len(),
                &loaded.train,
                &loaded.validation,
            )
        };
        let chosen = fit(&loaded);
        let truth = loaded.targets.clone();
        self.shuffle(&mut loaded, self.conditions[condition].0);
        let shuffled = fit(&loaded).map(|lost| {
            let right = loaded.right(&truth, |row, target| lost.readout.choose(row, target));
            Share::of(right, loaded.test.len() as u64)
        });
        Ok((chosen, shuffled))
    }

    /// Shuffles right labels among rows that offer the same choices, those for test left alone.
    fn shuffle(&self, loaded: &mut Loaded, condition: &str) {
        let mut stream = Stream::new(self.options.seed, &["probe", "shuffle", &self.corpus.task, condition]);
        for part in [&loaded.train, &loaded.validation] {
            let mut offers: Vec<u64> = part.iter().map(|&row| loaded.targets[row].valid).collect();
            offers.sort_unstable();
            offers.dedup();
            for valid in offers {
                let mut rows: Vec<usize> =
                    part.iter().copied().filter(|&row| loaded.targets[row].valid == valid).collect();
                stream.shuffle(&mut rows);
                rows.sort_by_key(|&row| loaded.targets[row].class);
                let dealt = dealt(rows.iter().map(|&row| loaded.targets[row].class));
                for (row, class) in rows.into_iter().zip(dealt) {
                    loaded.targets[row].class = class;
                }
            }
        }
    }

    /// One state of all rows of a condition, in memory.
    pub(super) fn loaded(&self, condition: usize, state: usize) -> Result<Loaded, Failure> {
        let rows = &self.conditions[condition].1;
        let samples: Vec<usize> =
            [&rows.train, &rows.validation, &rows.test].into_iter().flatten().copied().collect();
        let features = self.corpus.load(&samples, state)?;
        let targets = samples.iter().map(|&sample| self.targets[sample]).collect();
        let (train, validation) = (rows.train.len(), rows.validation.len());
        let count = samples.len();
        Ok(Loaded {
            features,
            targets,
            samples,
            train: (0..train).collect(),
            validation: (train..train + validation).collect(),
            test: (train + validation..count).collect(),
        })
    }

    /// How often a reading of the last state is right; rows are read one by one.
    pub(super) fn tried(
        &self,
        samples: &[usize],
        choose: impl Fn(&[f32], Target) -> Option<usize>,
    ) -> Result<Share, Failure> {
        let mut right = 0;
        for &sample in samples {
            let row = self.last_state(sample)?;
            let target = self.targets[sample];
            right += u64::from(choose(&row, target) == Some(usize::from(target.class)));
        }
        Ok(Share::of(right, samples.len() as u64))
    }

    /// The last state of a sample.
    pub(super) fn last_state(&self, sample: usize) -> Result<Vec<f32>, Failure> {
        let sample = &self.corpus.samples[sample];
        let failed = |what: String| Failure::disk(format!("hidden state of {}: {what}", sample.id));
        let states = sample.states.as_ref().ok_or_else(|| failed("there is none".into()))?;
        states.floats(self.states - 1).map_err(|error| failed(error.to_string()))
    }

    /// How often the most frequent class of the training rows is right among the test rows.
    fn majority(&self) -> Option<f64> {
        let mut counts: HashMap<u16, usize> = HashMap::new();
        let train = self.conditions.iter().flat_map(|(_, rows)| &rows.train);
        train.for_each(|&row| *counts.entry(self.targets[row].class).or_default() += 1);
        let most = counts.into_iter().max_by_key(|&(class, count)| (count, std::cmp::Reverse(class)))?.0;
        let tests: Vec<usize> =
            self.conditions.iter().flat_map(|(_, rows)| rows.test.iter().copied()).collect();
        let right = tests.iter().filter(|&&row| self.targets[row].class == most).count();
        (!tests.is_empty()).then(|| right as f64 / tests.len() as f64)
    }
}

impl Loaded {
    /// How many rows for test are read right.
    pub(super) fn right(&self, truth: &[Target], choose: impl Fn(&[f32], Target) -> Option<usize>) -> u64 {
        let mut row_values = vec![0.0; self.features.dimension()];
        let is_right = |row: &&usize| {
            self.features.read(**row, &mut row_values);
            choose(&row_values, truth[**row]) == Some(usize::from(truth[**row].class))
        };
        self.test.iter().filter(is_right).count() as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dealt_labels_are_the_same_ones_and_no_class_keeps_more_than_its_share() {
        let classes: Vec<u16> = [vec![0; 30], vec![1; 20], vec![2; 10]].concat();
        let dealt = dealt(classes.iter().copied());
        for (class, count) in [(0, 30), (1, 20), (2, 10)] {
            assert_eq!(dealt.iter().filter(|&&label| label == class).count(), count);
            // The half of the rows that had label 0 get half of every label, and so on, to one.
            for (stretch, share) in
                [(&dealt[..30], 1.0 / 2.0), (&dealt[30..50], 1.0 / 3.0), (&dealt[50..], 1.0 / 6.0)]
            {
                let got = stretch.iter().filter(|&&label| label == class).count() as f64;
                assert!((got - count as f64 * share).abs() <= 1.0, "{class} {share}: {got}");
            }
        }
    }
}
