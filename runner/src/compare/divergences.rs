//! How far the labels' distributions of two sides are apart, and whether one likes the first label more.

use serde::Serialize;

use super::estimate::{Mean, estimate};
use super::side::Answer;
use crate::statistics::divergence;

/// What the sides make of the labels.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Labels {
    /// Questions whose labels both sides scored at the same prompt.
    pub scored: u64,
    /// Mean divergence of the candidate's distribution over the labels from the reference's, in nats.
    pub kl: Option<f64>,
    /// The largest one.
    pub kl_max: Option<f64>,
    /// Mean total variation of the two distributions.
    pub total_variation: Option<f64>,
    /// Questions that both sides answered or left unanswered.
    pub questions: u64,
    /// Share of them with the same answer on both sides.
    pub same_answer: Option<f64>,
    /// Share of the reference's choices that are the label shown first.
    pub first_slot_reference: Option<f64>,
    /// The same of the candidate.
    pub first_slot_candidate: Option<f64>,
    /// The second minus the first, over questions where both chose a label.
    pub first_slot_shift: Mean,
}

/// Compares the answers of pairs. Different models see different prompts: then the first question of an item is compared
/// whatever its prompt.
pub(super) fn labels(
    pairs: &[(&Answer, &Answer)],
    same_template: bool,
    seed: u64,
    place: &[&str; 2],
) -> Labels {
    let mut divergences = Vec::new();
    let (mut questions, mut same) = (0u64, 0u64);
    let mut first = [0u64; 2];
    let mut shifts = Vec::new();
    for (a, b) in pairs {
        for (at, (one, two)) in a.scored.iter().zip(&b.scored).enumerate() {
            // Behind a different answer a conversation goes on differently.
            if one.0 == two.0 || (at == 0 && !same_template) {
                divergences.extend(divergence(&one.1, &two.1));
            }
        }
        let (Some(one), Some(two)) = (a.choices.first(), b.choices.first()) else { continue };
        questions += 1;
        same += u64::from(one == two);
        if let (Some(one), Some(two)) = (one, two) {
            first[0] += u64::from(*one == 0);
            first[1] += u64::from(*two == 0);
            let slot = |label: u16| f64::from(u8::from(label == 0));
            shifts.push((a.family.as_str(), slot(*two) - slot(*one)));
        }
    }
    let mean = |sum: f64, n: u64| (n > 0).then(|| sum / n as f64);
    let (scored, chosen) = (divergences.len() as u64, shifts.len() as u64);
    Labels {
        scored,
        kl: mean(divergences.iter().map(|both| both.kl).sum(), scored),
        kl_max: divergences.iter().map(|both| both.kl).max_by(f64::total_cmp),
        total_variation: mean(divergences.iter().map(|both| both.total_variation).sum(), scored),
        questions,
        same_answer: mean(same as f64, questions),
        first_slot_reference: mean(first[0] as f64, chosen),
        first_slot_candidate: mean(first[1] as f64, chosen),
        first_slot_shift: estimate(&shifts, seed, &["first slot", place[0], place[1]]).within(1.0),
    }
}
