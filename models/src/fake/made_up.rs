//! Scores without a model: a whole distribution over a made-up vocabulary, from the prompt's hash.

use super::{VOCABULARY, hash, token};
use crate::{LabelScore, Score, Scored, TokenProb, Usage};

/// What the labels have together; the rest of the vocabulary has the rest, evenly.
const MASS: f64 = 0.9;

pub(super) fn scored(text: &str, score: &Score, usage: Usage) -> Scored {
    let weight = |label: &String| 1.0 + (hash(&(text, label.as_str())) % 1_000_000) as f64;
    let total: f64 = score.continuations.iter().map(weight).sum();
    let logprob = |label: &String| (MASS * weight(label) / total).ln() as f32;
    let rank = |label: &String| {
        1 + score.continuations.iter().filter(|other| logprob(other) > logprob(label)).count() as u32
    };
    let token = |label: &String| token(label).id;
    let labels: Vec<LabelScore> = score
        .continuations
        .iter()
        .map(|label| LabelScore {
            tokens: vec![token(label)],
            logprobs: vec![logprob(label)],
            rank: rank(label),
        })
        .collect();
    let mut top: Vec<TokenProb> = score
        .continuations
        .iter()
        .map(|label| TokenProb { token: token(label), piece: label.clone(), logprob: logprob(label) })
        .collect();
    top.sort_by(|a, b| b.logprob.total_cmp(&a.logprob));
    top.truncate(usize::from(score.top));
    let others = f64::from(VOCABULARY).max(1.0) - score.continuations.len() as f64;
    let each = (1.0 - MASS) / others;
    let of_text = |text: &String| match score.continuations.contains(text) {
        true => f64::from(logprob(text)).exp(),
        false => each,
    };
    let watched = score.watch.iter().map(|set| set.iter().map(of_text).sum()).collect();
    let labelled: f64 = labels.iter().map(|label| -label.sum().exp() * label.sum()).sum();
    let entropy = Some(labelled - others * each * each.ln());
    Scored { labels, mass: Some(MASS), top, usage, watched, entropy, states: None }
}
