//! Repairs of the model's own readout: an update of low rank to the rows that score labels, and a calibration of their
//! scores as a control. Learnt in each condition, tried in all.

use datasets::readout::{Affine, LowRank, Repair};

use super::analysis::Bench;
use super::native;
use super::pool::each;
use super::result::{RepairRow, Share};
use crate::exit::Failure;

/// A row for each method and pair of conditions. None where the model's own scores are not known.
pub(super) fn repair(bench: &Bench<'_>) -> Result<Vec<RepairRow>, Failure> {
    if bench.corpus.samples.iter().any(|sample| sample.scores.len() != sample.labels.len()) {
        return Ok(Vec::new());
    }
    let scores: Vec<Vec<f64>> =
        bench.corpus.samples.iter().map(|sample| native::by_class(sample, &bench.classes)).collect();
    let rows = each(bench.conditions.len(), |from| learnt_in(bench, &scores, from));
    Ok(rows.into_iter().collect::<Result<Vec<_>, _>>()?.into_iter().flatten().collect())
}

fn learnt_in(bench: &Bench<'_>, scores: &[Vec<f64>], from: usize) -> Result<Vec<RepairRow>, Failure> {
    let train = bench.conditions[from].0;
    let loaded = bench.loaded(from, bench.states - 1)?;
    let own: Vec<Vec<f64>> = loaded.samples.iter().map(|&sample| scores[sample].clone()).collect();
    let repair = Repair {
        features: &loaded.features,
        targets: &loaded.targets,
        scores: &own,
        classes: bench.classes.len(),
    };
    let update =
        LowRank::fit(repair, &loaded.train, &loaded.validation, bench.options.rank, bench.options.seed);
    let affine = Affine::fit(&own, &loaded.targets, bench.classes.len(), &loaded.train);
    drop(loaded);
    let mut rows = Vec::new();
    for (test, parts) in &bench.conditions {
        let samples = parts.test.iter().map(|&row| &bench.corpus.samples[row]);
        let before = native::figures(samples).accuracy;
        let mut row = |method: &str, rank: Option<usize>, right: u64| {
            rows.push(RepairRow {
                method: method.to_owned(),
                rank,
                train: train.to_owned(),
                test: (*test).to_owned(),
                before,
                after: Share::of(right, parts.test.len() as u64),
            });
        };
        if let Some(update) = &update {
            let mut right = 0;
            for &sample in &parts.test {
                let (target, state) = (bench.targets[sample], bench.last_state(sample)?);
                let read = update.choose(&state, &scores[sample], target);
                right += u64::from(read == Some(usize::from(target.class)));
            }
            row("low-rank", Some(update.rank), right);
        }
        if let Some(affine) = &affine {
            let is_right = |sample: &&usize| {
                let target = bench.targets[**sample];
                affine.choose(&scores[**sample], target) == Some(usize::from(target.class))
            };
            row("affine", None, parts.test.iter().filter(is_right).count() as u64);
        }
    }
    Ok(rows)
}
