//! What the model's own scores say.

use datasets::readout::Target;

use super::corpus::Sample;
use super::result::{Native, Share};

/// The label that the model's scores choose; none where the best are equal or a score is not finite.
pub(super) fn choice(sample: &Sample) -> Option<usize> {
    if sample.scores.len() != sample.labels.len() || sample.scores.iter().any(|score| !score.is_finite()) {
        return None;
    }
    let best = sample.scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let mut winners = sample.scores.iter().enumerate().filter(|(_, score)| **score == best);
    match (winners.next(), winners.next()) {
        (Some((winner, _)), None) => Some(winner),
        _ => None,
    }
}

/// The model's scores by class, as readouts take them: low for classes that cannot be chosen.
pub(super) fn by_class(sample: &Sample, classes: &[&str]) -> Vec<f64> {
    let of = |class: &&str| {
        let place = sample.labels.iter().position(|label| label == class);
        place
            .and_then(|place| sample.scores.get(place).copied())
            .filter(|score| score.is_finite())
            .unwrap_or(-50.0)
    };
    classes.iter().map(of).collect()
}

/// Figures over some samples.
pub(super) fn figures<'a>(samples: impl Iterator<Item = &'a Sample> + Clone) -> Native {
    let n = samples.clone().count() as u64;
    let mut slots: Vec<u64> = Vec::new();
    let (mut right, mut undecided) = (0, 0);
    for sample in samples.clone() {
        slots.resize(slots.len().max(sample.labels.len()), 0);
        match choice(sample) {
            Some(chosen) => {
                right += u64::from(chosen == sample.gold);
                slots[chosen] += 1;
            }
            None => undecided += 1,
        }
    }
    let mean =
        |values: Vec<f64>| (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64);
    Native {
        accuracy: Share::of(right, n),
        first_slot: Share::of(slots.first().copied().unwrap_or_default(), n),
        slots,
        undecided,
        ma: mean(samples.clone().filter_map(|sample| sample.ma).collect()),
        mr: mean(samples.clone().filter_map(|sample| sample.mr).collect()),
        rank: mean(samples.filter_map(|sample| sample.rank).map(f64::from).collect()),
    }
}

/// Mean of one over the number of choices.
pub(super) fn chance(targets: &[Target], rows: &[usize]) -> f64 {
    rows.iter().map(|&row| 1.0 / f64::from(targets[row].choices().max(1))).sum::<f64>()
        / rows.len().max(1) as f64
}
