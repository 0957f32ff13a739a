//! What reasoning first does to a model, and whether it does as much to another.

use serde::Serialize;

use super::estimate::{Mean, estimate};
use super::pairs::{Value, families};
use super::side::{Answer, Side};
use crate::statistics::{SignFlip, sign_flip};

/// The interface that the others are held against.
const DIRECT: &str = "direct";

/// Accuracy through an interface minus accuracy through the direct one, on items that were asked through both.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Effect {
    /// The model.
    pub model: String,
    /// Name of the task.
    pub task: String,
    /// The interface.
    pub interface: String,
    /// Items asked through both interfaces.
    pub pairs: u64,
    /// The interface's effect.
    pub effect: Mean,
    /// How much larger the effect is than on the reference, on items that both sides have; `None` for the reference
    /// itself.
    pub interaction: Option<Interaction>,
}

/// A difference of differences.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Interaction {
    /// Items that both sides were asked through both interfaces.
    pub items: u64,
    /// The candidate's effect minus the reference's.
    pub difference: Mean,
    /// Whether there is one, tested by family on items right or not.
    pub test: SignFlip,
}

/// The effects on the reference.
pub(super) fn of_reference(reference: &Side, seed: u64) -> Vec<Effect> {
    of_side(reference, seed).into_iter().map(|(effect, _)| effect).collect()
}

/// The effects on a candidate, with their interaction.
pub(super) fn effects(reference: &Side, candidate: &Side, seed: u64) -> Vec<Effect> {
    let ours = of_side(reference, seed);
    of_side(candidate, seed)
        .into_iter()
        .map(|(mut effect, theirs)| {
            let same =
                ours.iter().find(|(own, _)| own.task == effect.task && own.interface == effect.interface);
            effect.interaction = same.map(|(_, ours)| interaction(ours, &theirs, &effect, seed));
            effect
        })
        .collect()
}

/// An item through the direct interface and through another.
type Asked<'a> = (&'a str, &'a Answer, &'a Answer);

fn of_side(side: &Side, seed: u64) -> Vec<(Effect, Vec<Asked<'_>>)> {
    let mut effects = Vec::new();
    for ((task, interface), through) in side.places.iter().filter(|(place, _)| place.1 != DIRECT) {
        let Some(direct) = side.answers(&(task.clone(), DIRECT.to_owned())) else { continue };
        let asked: Vec<Asked<'_>> = through
            .iter()
            .filter_map(|(item, answer)| Some((item.as_str(), direct.get(item)?, answer)))
            .filter(|(_, direct, answer)| direct.counted && answer.counted)
            .collect();
        if asked.is_empty() {
            continue;
        }
        let values: Vec<Value<'_>> = asked
            .iter()
            .map(|(_, direct, answer)| (answer.family.as_str(), answer.worth - direct.worth))
            .collect();
        let effect = Effect {
            model: side.name.clone(),
            task: task.clone(),
            interface: interface.clone(),
            pairs: asked.len() as u64,
            effect: estimate(&values, seed, &["effect", task, interface]).within(1.0),
            interaction: None,
        };
        effects.push((effect, asked));
    }
    effects
}

fn interaction(ours: &[Asked<'_>], theirs: &[Asked<'_>], at: &Effect, seed: u64) -> Interaction {
    let ours: std::collections::HashMap<&str, &Asked<'_>> =
        ours.iter().map(|asked| (asked.0, asked)).collect();
    let right = |answer: &Answer| i8::from(answer.right);
    let mut worths = Vec::new();
    let mut flips = Vec::new();
    for (item, direct, answer) in theirs {
        let Some((_, our_direct, our_answer)) = ours.get(item) else { continue };
        let family = answer.family.as_str();
        worths.push((family, (answer.worth - direct.worth) - (our_answer.worth - our_direct.worth)));
        let flip = (right(answer) - right(direct)) - (right(our_answer) - right(our_direct));
        flips.push((family, f64::from(flip)));
    }
    let by_family: Vec<i64> = families(&flips).iter().map(|family| family.sum as i64).collect();
    Interaction {
        items: worths.len() as u64,
        difference: estimate(&worths, seed, &["interaction", &at.task, &at.interface]).within(2.0),
        test: sign_flip(&by_family),
    }
}
