//! What one answer shows of how it came about.

use datasets::interfaces::normalised;
use datasets::{Normalisation, Said};

use crate::entry::{ItemRecord, TurnRecord};
use crate::report::cells::worth;

/// An answer to a single question with labels.
#[derive(Clone, Debug)]
pub struct Readout<'a> {
    /// The record.
    pub item: &'a ItemRecord,
    /// Its only turn.
    pub turn: &'a TurnRecord,
    /// Place of the right label.
    pub gold: usize,
    /// Place of the label that was said; `None` without an answer.
    pub said: Option<usize>,
    /// 1 when right, else 0.
    pub worth: f64,
    /// MA: probability that one of the valid labels comes next.
    pub label_mass: Option<f64>,
    /// MR: probability that a word comes next that begins a rationale.
    pub continuation_mass: Option<f64>,
    /// Probability of the labels' tokens with and without a space before them.
    pub variant_mass: Option<f64>,
    /// 1 + the number of tokens that are more probable than the right label's first.
    pub gold_rank: Option<u32>,
    /// Probability of the right label, over the full vocabulary.
    pub gold_probability: Option<f64>,
    /// The same among the valid labels alone.
    pub gold_share: Option<f64>,
    /// By how much the best label leads the second, in nats.
    pub margin: Option<f64>,
    /// Entropy of the next token, in nats.
    pub entropy: Option<f64>,
}

/// Reads a record. `None` where it did not count, has several questions, or no labels.
pub(crate) fn readout(item: &ItemRecord, by: Normalisation) -> Option<Readout<'_>> {
    let worth = worth(item.verdict)?;
    let [turn] = &item.turns[..] else { return None };
    let gold = usize::from(turn.gold.label()?);
    if turn.labels.len() < 2 || gold >= turn.labels.len() {
        return None;
    }
    let said = match turn.said {
        Some(Said::Choice(label)) => Some(usize::from(label)),
        _ => None,
    };
    // A rescue scores the labels behind a chain; what it shows is not the condition's.
    let scored = turn.scored_labels().filter(|_| !turn.rescued && turn.found.is_none());
    let finite = |value: f64| value.is_finite().then_some(value);
    let probabilities: Option<Vec<f64>> = scored.and_then(|scored| {
        scored.labels.iter().map(|label| finite(label.sum().exp())).collect::<Option<Vec<_>>>()
    });
    let gold_probability = probabilities.as_ref().and_then(|all| all.get(gold).copied());
    let sum: Option<f64> = probabilities.as_ref().map(|all| all.iter().sum());
    let lead = scored.and_then(|scored| {
        let best = super::super::parity::best_two(&normalised(scored, &turn.labels, by))?;
        Some(best.0.1 - best.1.1)
    });
    Some(Readout {
        item,
        turn,
        gold,
        said,
        worth,
        label_mass: scored.and_then(|scored| scored.mass),
        continuation_mass: scored.and_then(|scored| scored.watched.first().copied()),
        variant_mass: scored.and_then(|scored| scored.watched.get(1).copied()),
        gold_rank: scored.and_then(|scored| scored.labels.get(gold)).map(|label| label.rank),
        gold_probability,
        gold_share: gold_probability.zip(sum.filter(|sum| *sum > 0.0)).map(|(gold, sum)| gold / sum),
        margin: lead,
        entropy: scored.and_then(|scored| scored.entropy),
    })
}

impl Readout<'_> {
    /// Options of the question.
    pub fn options(&self) -> usize {
        self.turn.labels.len()
    }

    /// Whether the first place was said.
    pub fn is_first(&self) -> bool {
        self.said == Some(0)
    }

    /// A stratum of the item.
    pub fn tag(&self, key: &str) -> Option<&str> {
        self.item.tags.iter().find(|(name, _)| name == key).map(|(_, value)| value.as_str())
    }
}
