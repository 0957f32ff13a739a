//! Which items a readout learns from, which choose its penalty, and which it is tried on.

use std::collections::{BTreeMap, HashMap, HashSet};

use datasets::Stream;
use serde::{Deserialize, Serialize};

use super::corpus::Corpus;

/// A part of the items.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Part {
    /// Readouts learn from them.
    Train,
    /// They choose penalties.
    Validation,
    /// Figures are about them.
    Test,
}

/// What the parts follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SplitBy {
    /// The data set's own split, as the tag `split` tells it.
    Tag,
    /// Drawn, families whole: what shares material is in one part.
    Family,
    /// Drawn item by item, because there are too few families; orders of one item's options are one item.
    Item,
}

fn named(word: &str) -> Option<Part> {
    match word {
        "train" => Some(Part::Train),
        "val" | "validation" | "dev" | "valid" => Some(Part::Validation),
        "test" => Some(Part::Test),
        _ => None,
    }
}

/// The part of each sample; one item is in one part in all conditions.
pub(super) fn split(corpus: &Corpus, seed: u64) -> (SplitBy, Vec<Part>) {
    let tagged: Option<Vec<Part>> = corpus.samples.iter().map(|sample| named(sample.tag("split")?)).collect();
    let whole = |parts: &Vec<Part>| parts.contains(&Part::Train) && parts.contains(&Part::Test);
    if let Some(mut parts) = tagged.filter(whole) {
        if !parts.contains(&Part::Validation) {
            validation_of_train(corpus, &mut parts, seed);
        }
        return (SplitBy::Tag, parts);
    }
    let families: HashSet<&str> = corpus.samples.iter().map(|sample| sample.family.as_str()).collect();
    let by = if families.len() >= 5 { SplitBy::Family } else { SplitBy::Item };
    let unit = |at: usize| {
        let sample = &corpus.samples[at];
        if by == SplitBy::Family { sample.family.as_str() } else { datasets::forms::base(&sample.id) }
    };
    let all: Vec<usize> = (0..corpus.samples.len()).collect();
    let drawn =
        draw(corpus, &all, unit, seed, &[(Part::Train, 0.6), (Part::Validation, 0.2), (Part::Test, 0.2)]);
    (by, (0..corpus.samples.len()).map(|at| drawn[unit(at)]).collect())
}

/// A fifth of the items for training, families whole, choose penalties where the data set has no part for that.
fn validation_of_train(corpus: &Corpus, parts: &mut [Part], seed: u64) {
    let train: Vec<usize> = (0..parts.len()).filter(|&at| parts[at] == Part::Train).collect();
    let unit = |at: usize| corpus.samples[at].family.as_str();
    let drawn = draw(corpus, &train, unit, seed, &[(Part::Train, 0.8), (Part::Validation, 0.2)]);
    for &at in &train {
        parts[at] = drawn[unit(at)];
    }
}

/// Deals units out until each part has its share of the samples.
fn draw<'a>(
    corpus: &Corpus,
    samples: &[usize],
    unit: impl Fn(usize) -> &'a str,
    seed: u64,
    shares: &[(Part, f64)],
) -> HashMap<&'a str, Part> {
    let mut sizes: BTreeMap<&str, usize> = BTreeMap::new();
    for &at in samples {
        *sizes.entry(unit(at)).or_default() += 1;
    }
    // By name first, so that the order of the samples decides nothing.
    let mut units: Vec<(&str, usize)> = sizes.into_iter().collect();
    Stream::new(seed, &["probe", "split", &corpus.task]).shuffle(&mut units);
    let total = samples.len() as f64;
    let mut taken = vec![0.0; shares.len()];
    let mut parts = HashMap::new();
    for (name, size) in units {
        // To the part that is farthest behind its share; of equals the first.
        let behind = |part: usize| shares[part].1 - taken[part] / total;
        let part =
            (1..shares.len()).fold(0, |best, part| if behind(part) > behind(best) { part } else { best });
        taken[part] += size as f64;
        parts.insert(name, shares[part].0);
    }
    parts
}
