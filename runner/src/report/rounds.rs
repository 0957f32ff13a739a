//! What answers cost round by round, where models took turns or a run was repeated: one pooled figure hides whether a cost
//! held still or drifted.
//!
//! A round has a share of the items, and not those of another round: the range over rounds holds what differs between these
//! items beside what drifted. The same round of two models has the same items (`compare/rounds`).

use std::collections::BTreeMap;

use serde::Serialize;

use super::cells::worth;
use super::costs::Spent;
use super::load::RunLog;
use crate::entry::ItemRecord;
use crate::plan::round_of;
use crate::statistics::{Ranged, ranged};

/// A round of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Round {
    /// In a merged log, the number of the log that it comes from, from 1; else 0.
    pub source: u32,
    /// How many rounds there were.
    pub of: u32,
    /// Which one it is, from 1.
    pub number: u32,
}

impl Round {
    /// All of a run without turns.
    pub(crate) const WHOLE: Round = Round { source: 0, of: 1, number: 1 };
}

/// The rounds that groups were answered in; none where one model was asked, or one after the other.
pub(crate) fn rounds(run: &RunLog) -> BTreeMap<u32, Round> {
    // A single model has all its rounds in one turn.
    if run.header.models.len() < 2 {
        return BTreeMap::new();
    }
    let source = |group: u32| {
        let has = |source: &crate::entry::Source| source.groups.binary_search(&group).is_ok();
        run.sources.iter().position(has).map_or(0, |at| at as u32 + 1)
    };
    let round = |(&group, &turn): (&u32, &usize)| {
        let visit = run.visits.get(turn)?;
        let number = match visit.rounds[..] {
            [number] => number,
            // A turn of two rounds has the groups of both. A merged log does not tell which of a part's groups they were.
            _ if !run.sources.is_empty() => return None,
            _ => round_of(&run.header, group, visit.of).filter(|number| visit.rounds.contains(number))?,
        };
        Some((group, Round { source: source(group), of: visit.of, number: number + 1 }))
    };
    run.turns.iter().filter_map(round).collect()
}

/// What a model's answers on a task through an interface cost in one round.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RoundCost {
    /// Identity of the run that it was asked in.
    pub run: String,
    /// The round.
    #[serde(flatten)]
    pub round: Round,
    /// Items that count: answered or left unanswered.
    pub items: u64,
    /// Time that the engine spent on an item, in seconds; `None` where it was not measured.
    pub seconds_per_item: Option<f64>,
    /// Evaluated and generated tokens per second of that time.
    pub tokens_per_s: Option<f64>,
    /// Energy, or why there is none.
    pub energy: Spent,
}

impl RoundCost {
    /// The figures of some items.
    pub(super) fn of(run: &RunLog, round: Round, items: &[&ItemRecord], energy: Spent) -> RoundCost {
        let counted = items.iter().filter(|item| worth(item.verdict).is_some()).count() as u64;
        let total = |figure: fn(&ItemRecord) -> u64| items.iter().map(|item| figure(item)).sum::<u64>();
        let seconds = total(|item| item.usage.prefill_us + item.usage.decode_us) as f64 / 1e6;
        let tokens =
            total(|item| u64::from(item.usage.evaluated_tokens) + u64::from(item.usage.output_tokens));
        let measured = seconds > 0.0;
        let run = items.first().map_or(&run.header.run_id[..], |item| run.source_of(item.at.group));
        RoundCost {
            run: run.to_owned(),
            round,
            items: counted,
            seconds_per_item: (measured && counted > 0).then(|| seconds / counted as f64),
            tokens_per_s: measured.then(|| tokens as f64 / seconds),
            energy,
        }
    }
}

/// Costs over rounds.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Rounds {
    /// Seconds of the engine per item.
    pub seconds_per_item: Ranged,
    /// Tokens per second.
    pub tokens_per_s: Ranged,
    /// Gross joules per item, over rounds with a figure.
    pub joules_per_item: Ranged,
    /// Each round.
    pub each: Vec<RoundCost>,
}

impl Rounds {
    /// Over these rounds.
    pub fn of(each: Vec<RoundCost>) -> Rounds {
        let over = |figure: fn(&RoundCost) -> Option<f64>| ranged(each.iter().filter_map(figure));
        Rounds {
            seconds_per_item: over(|round| round.seconds_per_item),
            tokens_per_s: over(|round| round.tokens_per_s),
            joules_per_item: over(|round| round.energy.per_item_j),
            each,
        }
    }

    /// Whether there is anything to tell beside the pooled figure.
    pub fn are_told(&self) -> bool {
        self.each.len() > 1 && self.seconds_per_item.n + self.joules_per_item.n > 0
    }

    /// Takes the rounds of a repetition in.
    pub fn join(&mut self, other: &Rounds) {
        let each = std::mem::take(&mut self.each);
        *self = Rounds::of(each.into_iter().chain(other.each.iter().cloned()).collect());
    }
}
