//! Ratios of costs round by round: in a round both sides answer the same items at about the same time, so that what drifts
//! while a run lasts falls on both and leaves their ratio alone.

use std::collections::BTreeMap;

use serde::Serialize;

use super::energy::{EnergyRatio, ratio};
use super::pairs::pairs;
use super::side::{Energies, Place, Side};
use crate::report::Round;
use crate::statistics::{Ranged, ranged};

/// Ratios of one round.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RoundRatio {
    /// The run.
    pub run: String,
    /// The round.
    #[serde(flatten)]
    pub round: Round,
    /// Pairs that both sides answered in it.
    pub pairs: u64,
    /// Time of the candidate's engine over that of the reference's.
    pub time_ratio: Option<f64>,
    /// Energy of the candidate over that of the reference.
    pub energy: EnergyRatio,
}

/// Ratios over rounds.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct RoundRatios {
    /// Ratios of time.
    pub time: Ranged,
    /// Ratios of energy, over rounds with one.
    pub energy: Ranged,
    /// Each round.
    pub each: Vec<RoundRatio>,
}

/// The ratios over some places. Sides of different runs share no round.
pub(super) fn rounds(reference: &Side, candidate: &Side, places: &[Place]) -> RoundRatios {
    let own = std::iter::once((reference, candidate));
    let again = reference.repeats.iter().map(AsRef::as_ref).zip(candidate.repeats.iter().map(AsRef::as_ref));
    let each: Vec<RoundRatio> = own.chain(again).flat_map(|(a, b)| of_run(a, b, places)).collect();
    RoundRatios {
        time: ranged(each.iter().filter_map(|round| round.time_ratio)),
        energy: ranged(each.iter().filter_map(|round| round.energy.ratio)),
        each,
    }
}

/// What both sides took for the same items in a round, in microseconds, and the pairs of each place.
#[derive(Default)]
struct Taken<'p> {
    us: (u64, u64),
    pairs: BTreeMap<&'p Place, u64>,
}

fn of_run(reference: &Side, candidate: &Side, places: &[Place]) -> Vec<RoundRatio> {
    if reference.header.run_id != candidate.header.run_id {
        return Vec::new();
    }
    let mut taken: BTreeMap<Round, Taken<'_>> = BTreeMap::new();
    for place in places {
        let Some(pairs) = pairs(reference, candidate, place) else { continue };
        for (a, b) in pairs.both {
            let Some(round) = a.round.filter(|_| a.round == b.round) else { continue };
            let own = taken.entry(round).or_default();
            own.us = (own.us.0 + a.engine_us, own.us.1 + b.engine_us);
            *own.pairs.entry(place).or_default() += 1;
        }
    }
    let nothing = Energies::new();
    let of_round = |(round, own): (Round, Taken<'_>)| {
        let energies = [reference, candidate].map(|side| side.round_energies.get(&round).unwrap_or(&nothing));
        let weighed = own.pairs.iter().map(|(place, pairs)| (*place, *pairs));
        RoundRatio {
            run: reference.header.run_id.clone(),
            round,
            pairs: own.pairs.values().sum(),
            time_ratio: (own.us.0 > 0 && own.us.1 > 0).then(|| own.us.1 as f64 / own.us.0 as f64),
            energy: ratio(energies[0], energies[1], weighed),
        }
    };
    taken.into_iter().map(of_round).collect()
}

impl RoundRatios {
    /// Whether there is anything to tell beside the pooled ratio.
    pub(super) fn are_told(&self) -> bool {
        self.each.len() > 1 && self.time.n + self.energy.n > 0
    }
}

/// `0.58 (0.55 to 0.60)`, and of how many rounds where not all of them have a ratio; `-` where none has.
pub(super) fn in_words(figure: Ranged, rounds: usize) -> String {
    let Some(((median, low), high)) = figure.median.zip(figure.low).zip(figure.high) else {
        return "-".to_owned();
    };
    let of = if figure.n < rounds as u64 { format!("; {} of {rounds}", figure.n) } else { String::new() };
    format!("{median:.2} ({low:.2} to {high:.2}{of})")
}
