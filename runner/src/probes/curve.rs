//! Where along the layers the answer can be read: a readout learnt on each state, and the model's own end applied to it.

use datasets::readout::fit_chosen;

use super::analysis::Bench;
use super::lens;
use super::pool::each;
use super::result::{CurvePoint, Share};
use crate::exit::Failure;

/// A point for each state and condition, and whether there is a logit lens.
pub(super) fn curve(bench: &Bench<'_>) -> Result<(Vec<CurvePoint>, bool), Failure> {
    let mut fitting = bench.corpus.samples.iter().filter(|sample| lens::fits(bench.corpus, sample));
    let has_lens = match fitting.next() {
        Some(sample) => lens::is_sound(bench.corpus, sample)
            .map_err(|error| Failure::disk(format!("hidden state of {}: {error}", sample.id)))?,
        None => false,
    };
    let conditions = bench.conditions.len();
    let points =
        each(bench.states * conditions, |at| point(bench, at / conditions, at % conditions, has_lens));
    Ok((points.into_iter().collect::<Result<_, _>>()?, has_lens))
}

fn point(bench: &Bench<'_>, state: usize, condition: usize, has_lens: bool) -> Result<CurvePoint, Failure> {
    let loaded = bench.loaded(condition, state)?;
    let chosen =
        fit_chosen(&loaded.features, &loaded.targets, bench.classes.len(), &loaded.train, &loaded.validation);
    let probe = chosen.map(|chosen| {
        let right = loaded.right(&loaded.targets, |row, target| chosen.readout.choose(row, target));
        Share::of(right, loaded.test.len() as u64)
    });
    let (name, rows) = &bench.conditions[condition];
    let (mut right, mut n) = (0, 0);
    for &row in &rows.test {
        let sample = &bench.corpus.samples[row];
        if has_lens && lens::fits(bench.corpus, sample) {
            let choice = lens::choice(bench.corpus, sample, state)
                .map_err(|error| Failure::disk(format!("hidden state of {}: {error}", sample.id)))?;
            n += 1;
            right += u64::from(choice == Some(sample.gold));
        }
    }
    Ok(CurvePoint {
        layer: state + 1,
        normed: state + 1 == bench.states,
        condition: (*name).to_owned(),
        probe,
        lens: (n > 0).then(|| Share::of(right, n)),
    })
}
