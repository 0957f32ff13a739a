//! How far packing moves scores, and which answers are closer than that.
//!
//! The items of the parity sample have two scores: the one of their group and the one that they got alone. They differ
//! by rounding only. The largest move of a lead is the noise floor: an item whose lead is smaller might have got another
//! answer from other company.

use std::collections::BTreeMap;

use datasets::Normalisation;
use datasets::interfaces::{choose, normalised};
use models::Scored;
use serde::Serialize;

use super::load::RunLog;
use crate::entry::{ItemRecord, TurnRecord};
use crate::statistics::median;

/// What the parity sample of a model shows.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Parity {
    /// Name of the model.
    pub model: String,
    /// Items that were scored both ways.
    pub n: u64,
    /// Median difference of a label's score, in nats.
    pub median_difference: Option<f64>,
    /// The largest one.
    pub largest_difference: Option<f64>,
    /// The largest move of the lead of the best label over the second.
    pub noise_floor: Option<f64>,
    /// Items that got another answer alone.
    pub flips: u64,
    /// Scored answers of the run whose lead is below the noise floor.
    pub undecided: u64,
    /// Scored answers of the run.
    pub scored: u64,
}

/// The sample of every model that has one.
pub fn parity(run: &RunLog) -> Vec<Parity> {
    let by = normalisation(run);
    let rows = samples(run, by).into_iter().map(|(model, sample)| {
        let floor = sample.floor;
        let own = run.items.iter().filter(|item| item.at.model == model);
        let leads: Vec<f64> = own.filter_map(|item| lead(item, by)).collect();
        Parity {
            model: name(run, model),
            n: sample.n,
            largest_difference: sample.differences.iter().copied().reduce(f64::max),
            median_difference: median(sample.differences),
            noise_floor: floor,
            flips: sample.flips,
            undecided: leads.iter().filter(|lead| floor.is_some_and(|floor| **lead < floor)).count() as u64,
            scored: leads.len() as u64,
        }
    });
    rows.collect()
}

/// Noise floors by the model's name.
pub(super) fn floors(run: &RunLog) -> BTreeMap<String, f64> {
    let samples = samples(run, normalisation(run)).into_iter();
    samples.filter_map(|(model, sample)| Some((name(run, model), sample.floor?))).collect()
}

/// What was scored both ways, by the model's index.
fn samples(run: &RunLog, by: Normalisation) -> BTreeMap<u16, Sample> {
    let mut packed: BTreeMap<(u32, &str, &str), Option<&TurnRecord>> = BTreeMap::new();
    for alone in &run.alone {
        packed.insert((alone.at.group, &alone.item, &alone.interface), None);
    }
    for item in &run.items {
        if let Some(turn) = packed.get_mut(&(item.at.group, &item.item[..], &item.interface[..])) {
            *turn = item.turns.first();
        }
    }
    let mut found: BTreeMap<u16, Sample> = BTreeMap::new();
    for alone in &run.alone {
        let Some(Some(turn)) = packed.get(&(alone.at.group, &alone.item[..], &alone.interface[..])) else {
            continue;
        };
        if let Some(scored) = turn.scored_labels() {
            found.entry(alone.at.model).or_default().add(&turn.labels, scored, &alone.scored, by);
        }
    }
    found
}

fn name(run: &RunLog, model: u16) -> String {
    run.header.models.get(usize::from(model)).map_or(model.to_string(), |model| model.name.clone())
}

/// By how much the best label leads the second in an item's closest turn; `None` where no labels were scored, or some
/// score is no number.
pub(super) fn lead(item: &ItemRecord, by: Normalisation) -> Option<f64> {
    let leads = item.turns.iter().filter_map(|turn| {
        let (best, second) = best_two(&normalised(turn.scored_labels()?, &turn.labels, by))?;
        Some(best.1 - second.1)
    });
    leads.reduce(f64::min)
}

/// How the labels of a run were judged.
pub(super) fn normalisation(run: &RunLog) -> Normalisation {
    let config: serde_json::Value = serde_json::from_str(&run.header.config_json).unwrap_or_default();
    serde_json::from_value(config["asking"]["normalisation"].clone()).unwrap_or_default()
}

#[derive(Default)]
struct Sample {
    n: u64,
    differences: Vec<f64>,
    floor: Option<f64>,
    flips: u64,
}

impl Sample {
    fn add(&mut self, labels: &[String], packed: &Scored, alone: &Scored, by: Normalisation) {
        let (a, b) = (normalised(packed, labels, by), normalised(alone, labels, by));
        let Some((best, second)) =
            best_two(&a).filter(|_| b.len() == a.len() && b.iter().all(|p| p.is_finite()))
        else {
            return;
        };
        self.n += 1;
        self.differences.extend(a.iter().zip(&b).map(|(a, b)| (a - b).abs()));
        let moved = ((best.1 - second.1) - (b[best.0] - b[second.0])).abs();
        self.floor = Some(self.floor.map_or(moved, |floor| floor.max(moved)));
        self.flips += u64::from(choose(packed, labels, by) != choose(alone, labels, by));
    }
}

/// The two best scores with their places; `None` when there are fewer, or one is no finite number.
pub(super) fn best_two(scores: &[f64]) -> Option<((usize, f64), (usize, f64))> {
    let mut ordered: Vec<(usize, f64)> = scores.iter().copied().enumerate().collect();
    if ordered.len() < 2 || ordered.iter().any(|(_, score)| !score.is_finite()) {
        return None;
    }
    ordered.sort_by(|a, b| b.1.total_cmp(&a.1));
    Some((ordered[0], ordered[1]))
}

#[cfg(test)]
mod tests {
    use datasets::{Said, Verdict};
    use models::{LabelScore, Reply};

    use super::*;
    use crate::entry::Alone;
    use crate::report::made_up::{item, run, turn};

    fn scores(logprobs: [f32; 2]) -> Scored {
        let label = |&logprob: &f32| LabelScore { tokens: vec![1], logprobs: vec![logprob], rank: 1 };
        Scored { labels: logprobs.iter().map(label).collect(), ..Scored::default() }
    }

    fn asked(id: &str, logprobs: [f32; 2]) -> ItemRecord {
        let mut item = item(0, id, &[], "direct", Verdict::Right);
        let mut turn = turn(0, Said::Choice(0));
        turn.replies = vec![Reply::Scored(scores(logprobs))];
        item.turns = vec![turn];
        item
    }

    fn sampled(item: &ItemRecord, logprobs: [f32; 2]) -> Alone {
        let (interface, id) = (item.interface.clone(), item.item.clone());
        Alone { at: item.at, interface, item: id, scored: scores(logprobs) }
    }

    #[test]
    fn the_floor_is_the_largest_move_of_a_lead_and_what_lies_below_it_is_undecided() {
        // Leads 1.0, 0.2, 0.5 and 3.0.
        let items = vec![
            asked("a", [-1.0, -2.0]),
            asked("b", [-1.0, -1.2]),
            asked("c", [-1.0, -1.5]),
            asked("d", [-1.0, -4.0]),
        ];
        // Alone the first one leads by 0.75 and the second one is behind by 0.05: moves of 0.25.
        let alone = vec![sampled(&items[0], [-1.125, -1.875]), sampled(&items[1], [-1.0, -0.95])];
        let mut log = run(&["t"], items);
        assert!(parity(&log).is_empty(), "no sample, no figure");
        log.alone = alone;
        let rows = parity(&log);
        let row = &rows[0];
        assert_eq!((row.n, row.flips, row.scored, row.undecided), (2, 1, 4, 1));
        assert!((row.noise_floor.unwrap() - 0.25).abs() < 1e-6, "{row:?}");
        assert!((row.largest_difference.unwrap() - 0.25).abs() < 1e-6);
        // 0, 0.125, 0.125, 0.25.
        assert!((row.median_difference.unwrap() - 0.125).abs() < 1e-6);
    }
}
