//! Which items are scored a second time, alone: the sample that shows what packing does to scores.

use std::collections::BTreeSet;

use datasets::{Script, Stream};

use super::Plan;

/// An item under a condition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Pair {
    /// Index of the task.
    pub task: usize,
    /// Index of the item in the task.
    pub item: usize,
    /// Index of the condition in the task.
    pub condition: usize,
}

/// Draws `count` pairs from all that score labels once, or takes all where they are fewer. The draw knows no model: all
/// models are tried on the same prompts.
pub fn parity_sample(plan: &Plan, count: usize) -> BTreeSet<Pair> {
    let mut pairs = Vec::new();
    for (task, planned) in plan.tasks.iter().enumerate() {
        for (item, asked) in planned.items.iter().enumerate() {
            if !matches!(asked.script, Script::One(_)) {
                continue;
            }
            let scoring = planned
                .conditions
                .iter()
                .enumerate()
                .filter(|(_, it)| it.interface.scores_labels && it.fits(asked));
            pairs.extend(scoring.map(|(condition, _)| Pair { task, item, condition }));
        }
    }
    let mut stream = Stream::new(plan.config.seed, &["parity"]);
    let count = count.min(pairs.len());
    stream.distinct(pairs.len(), count).into_iter().map(|index| pairs[index]).collect()
}
