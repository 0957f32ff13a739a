//! Collects the label scores of one job from rows of logits.

use super::vocabulary::Vocabulary;
use crate::labels::LabelTokens;
use crate::logits::Row;
use crate::{HiddenStates, LabelScore, Scored, States, TokenProb, Usage};

/// Scores in the making.
pub(super) struct Scoring {
    labels: LabelTokens,
    scores: Vec<LabelScore>,
    top: Vec<TokenProb>,
    top_count: usize,
    finite: bool,
    /// Tokens of the watched sets.
    watch: Vec<Vec<i32>>,
    watched: Vec<f64>,
    entropy: Option<f64>,
    wish: States,
    states: Option<HiddenStates>,
}

impl Scoring {
    pub(super) fn new(labels: LabelTokens, top_count: u16, watch: Vec<Vec<i32>>, wish: States) -> Self {
        let unknown = |tail: &Vec<i32>| LabelScore {
            tokens: tail.clone(),
            logprobs: vec![f32::NAN; tail.len()],
            rank: u32::MAX,
        };
        Scoring {
            scores: labels.tails.iter().map(unknown).collect(),
            labels,
            top: Vec::new(),
            top_count: usize::from(top_count),
            finite: true,
            watch,
            watched: Vec::new(),
            entropy: None,
            wish,
            states: None,
        }
    }

    pub(super) fn labels(&self) -> &LabelTokens {
        &self.labels
    }

    /// The row behind the stem: first tokens of every label.
    pub(super) fn first(&mut self, row: Row<'_>, vocabulary: &Vocabulary) {
        let softmax = row.softmax();
        self.finite &= softmax.is_finite();
        if let (true, Some(hidden)) = (self.wish != States::None, row.hidden()) {
            // Another job of the round may have wanted more.
            let behind_norm = hidden.values.len().saturating_sub(hidden.dimension);
            let from = if self.wish == States::Final { behind_norm } else { 0 };
            self.states = HiddenStates::pack(hidden.dimension, &hidden.values[from..]);
        }
        for score in &mut self.scores {
            score.logprobs[0] = softmax.logprob(score.tokens[0]);
            score.rank = row.rank(score.tokens[0]);
        }
        if softmax.is_finite() {
            self.watched = self.watch.iter().map(|tokens| softmax.mass(tokens)).collect();
        }
        self.entropy = softmax.entropy();
        self.top = softmax.top(self.top_count, |token| {
            String::from_utf8_lossy(&vocabulary.piece(token, true)).into_owned()
        });
    }

    /// The row before a later token of a label.
    pub(super) fn later(&mut self, label: usize, token: usize, row: Row<'_>) {
        let softmax = row.softmax();
        self.finite &= softmax.is_finite();
        let score = &mut self.scores[label];
        score.logprobs[token] = softmax.logprob(score.tokens[token]);
    }

    pub(super) fn finish(self, usage: Usage) -> Scored {
        let mass = mass(&self.scores);
        Scored {
            mass: self.finite.then_some(mass),
            labels: self.scores,
            top: self.top,
            usage,
            watched: self.watched,
            entropy: self.entropy,
            states: self.states,
        }
    }
}

/// The probability that the text goes on with one of the labels: one that begins with another is part of that one's already.
fn mass(scores: &[LabelScore]) -> f64 {
    let is_told = |index: usize, score: &LabelScore| {
        scores.iter().enumerate().any(|(other, begins)| {
            let is_before = begins.tokens.len() < score.tokens.len() || other < index;
            is_before && score.tokens.starts_with(&begins.tokens)
        })
    };
    let own = scores.iter().enumerate().filter(|&(index, score)| !is_told(index, score));
    own.map(|(_, score)| score.sum().exp()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn label(tokens: &[i32], probabilities: &[f32]) -> LabelScore {
        let logprobs = probabilities.iter().map(|probability| probability.ln()).collect();
        LabelScore { tokens: tokens.to_vec(), logprobs, rank: 0 }
    }

    #[test]
    fn what_begins_with_another_label_or_stands_twice_counts_once() {
        // `1`, `10`, `2` and `2` again: all texts that begin with 1 have 0.3, those with 2 have 0.2.
        let ten = label(&[1, 0], &[0.3, 0.5]);
        let scores = [ten.clone(), label(&[1], &[0.3]), label(&[2], &[0.2]), label(&[2], &[0.2])];
        assert!((mass(&scores) - 0.5).abs() < 1e-6, "{}", mass(&scores));
        assert!((mass(&[ten]) - 0.15).abs() < 1e-6);
    }
}
