//! What answers cost: latency of items asked alone, energy of groups, per model, task and interface.
//!
//! The two are never mixed: latency comes from items asked alone, energy from groups that share their time. What a group
//! shares among interfaces is divided by engine time, and marked so.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::cells::Cell;
use super::load::RunLog;
use super::rounds::{Round, RoundCost, Rounds, rounds};
use crate::entry::ItemRecord;
use crate::telemetry::energy::{Energy, FEWEST_INTERVALS, Mark};
use crate::telemetry::latency::{Latency, latency};
use crate::telemetry::missing::Missing;
use crate::telemetry::record::{Began, Stretch, Window};
use crate::telemetry::source::{Channel, Domain, Kind};

/// Share of the gross power by which idle power may differ before and after.
const DRIFT: f64 = 0.05;

/// What a model's answers on a task through an interface cost.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Cost {
    /// Name of the model.
    pub model: String,
    /// Name of the task.
    pub task: String,
    /// Name of the interface.
    pub interface: String,
    /// Latency of items asked alone; `None` when none was.
    pub latency: Option<Latency>,
    /// Energy, or why there is none.
    pub energy: Spent,
    /// The same round by round, where models took turns.
    pub rounds: Rounds,
}

/// Energy that was spent.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Spent {
    /// What it was measured with.
    pub sensor: Option<Sensor>,
    /// Gross energy in joules; `None` with a reason.
    pub gross_j: Option<f64>,
    /// Why there is none.
    pub missing: Option<Missing>,
    /// Half the width of the interval that sampling leaves, in joules.
    pub doubt_j: Option<f64>,
    /// Gross less what the machine draws without a model, in joules; `None` where that was not measured.
    pub net_j: Option<f64>,
    /// Idle power that was subtracted, in watts.
    pub idle_w: Option<f64>,
    /// Mean gross power in watts.
    pub mean_w: Option<f64>,
    /// Time that it was spent in, in seconds.
    pub time_s: f64,
    /// Items that it was spent on: those of groups with a figure.
    pub items: u64,
    /// Items without a figure.
    pub items_without: u64,
    /// Gross joules per item.
    pub per_item_j: Option<f64>,
    /// Gross joules per token that was evaluated or written.
    pub per_token_j: Option<f64>,
    /// Gross joules per correct answer.
    pub per_correct_j: Option<f64>,
    /// Readings of the sensor.
    pub readings: u64,
    /// Readings that failed.
    pub failed: u64,
    /// Time without readings, in seconds.
    pub gap_s: f64,
    /// Why it needs care.
    pub marks: Vec<Mark>,
}

/// What a figure was measured with.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Sensor {
    /// Short name of the source.
    pub source: String,
    /// Name of the channel.
    pub channel: String,
    /// What it covers.
    pub domain: Domain,
    /// How the figure comes about.
    pub kind: &'static str,
    /// Readings per second, in thousandths.
    pub rate_mhz: u64,
    /// Whether it was compared with an instrument.
    pub calibrated: bool,
}

/// The channel to quote in a session: its index, itself, and what to call it.
pub(super) fn headline(began: &Began) -> Option<(usize, &Channel, Sensor)> {
    let index = usize::from(began.headline?);
    let mut first = 0;
    for source in &began.sources {
        if let Some(channel) = index.checked_sub(first).and_then(|index| source.channels.get(index)) {
            let every = began.every_us.get(index).copied().unwrap_or(began.period_us).max(1);
            let sensor = Sensor {
                source: source.id.clone(),
                channel: channel.name.clone(),
                domain: channel.domain,
                kind: channel.kind.word(),
                rate_mhz: 1_000_000_000 / every,
                calibrated: channel.calibrated,
            };
            return Some((index, channel, sensor));
        }
        first += source.channels.len();
    }
    None
}

/// The costs of a run, in the order of its cells.
pub fn costs(run: &RunLog, cells: &[Cell]) -> Vec<Cost> {
    let shares = Shares::of(run);
    let rounds = rounds(run);
    cells.iter().map(|cell| cost(run, cell, &shares, &rounds)).collect()
}

/// Whether a run measured anything that a table of costs could show: power, or items on their own.
pub fn has_costs(run: &RunLog) -> bool {
    run.measured.began.iter().any(|began| began.missing.is_none()) || !run.measured.timed.is_empty()
}

/// Engine time of each group, its items, and its window.
struct Shares<'a> {
    whole_us: BTreeMap<u32, u64>,
    items: BTreeMap<u32, u64>,
    windows: BTreeMap<u32, (usize, &'a Window)>,
}

impl<'a> Shares<'a> {
    fn of(run: &'a RunLog) -> Self {
        let mut whole_us: BTreeMap<u32, u64> = BTreeMap::new();
        let mut items: BTreeMap<u32, u64> = BTreeMap::new();
        for item in &run.items {
            *whole_us.entry(item.at.group).or_default() += item.usage.prefill_us + item.usage.decode_us;
            *items.entry(item.at.group).or_default() += 1;
        }
        let of_group = |(session, window): &'a (usize, Window)| {
            let group = window.group.filter(|_| window.stretch == Stretch::Group)?;
            Some((group.group, (*session, window)))
        };
        // A group that was run again has its last window.
        let windows = run.measured.windows.iter().filter_map(of_group).collect();
        Shares { whole_us, items, windows }
    }
}

fn cost(run: &RunLog, cell: &Cell, shares: &Shares<'_>, rounds: &BTreeMap<u32, Round>) -> Cost {
    let index = |names: Vec<&String>, name: &str| names.iter().position(|known| *known == name);
    let model = index(run.header.models.iter().map(|model| &model.name).collect(), &cell.model);
    let task = index(run.header.tasks.iter().map(|task| &task.name).collect(), &cell.task);
    let (model, task) = (model.map(|index| index as u16), task.map(|index| index as u16));
    let alone = run.measured.timed.iter().map(|(_, alone)| alone).filter(|alone| {
        Some(alone.model) == model && Some(alone.task) == task && alone.interface == cell.interface
    });
    let is_here = |item: &&ItemRecord| {
        Some(item.at.model) == model && Some(item.at.task) == task && item.interface == cell.interface
    };
    let items: Vec<&ItemRecord> = run.items.iter().filter(is_here).collect();
    Cost {
        model: cell.model.clone(),
        task: cell.task.clone(),
        interface: cell.interface.clone(),
        latency: latency(alone),
        energy: spent(run, &items, shares),
        rounds: Rounds::of(by_round(run, &items, shares, rounds)),
    }
}

/// What each round of a place cost. A run without turns is one round.
fn by_round(
    run: &RunLog,
    items: &[&ItemRecord],
    shares: &Shares<'_>,
    rounds: &BTreeMap<u32, Round>,
) -> Vec<RoundCost> {
    let mut own: BTreeMap<Round, Vec<&ItemRecord>> = BTreeMap::new();
    for item in items {
        let round = match rounds.is_empty() {
            true => Some(Round::WHOLE),
            false => rounds.get(&item.at.group).copied(),
        };
        if let Some(round) = round {
            own.entry(round).or_default().push(item);
        }
    }
    let cost = |(round, items): (Round, Vec<&ItemRecord>)| {
        RoundCost::of(run, round, &items, spent(run, &items, shares))
    };
    own.into_iter().map(cost).collect()
}

/// Why no session could measure.
pub(super) fn never(run: &RunLog) -> Missing {
    run.measured.began.iter().find_map(|began| began.missing).unwrap_or(Missing::NotLogged)
}

#[derive(Default)]
struct Sum {
    gross_uj: f64,
    doubt_uj: f64,
    time_us: f64,
    /// Time of the groups as a whole: what is shared is not shorter for that.
    span_us: f64,
    idle_uj: Option<f64>,
    readings: f64,
    failed: f64,
    gap_us: f64,
    items: u64,
    right: f64,
    tokens: u64,
    without: u64,
    fewest_us: f64,
    marks: BTreeSet<Mark>,
    sensors: BTreeSet<Sensor>,
    reasons: BTreeMap<Missing, u64>,
}

fn spent(run: &RunLog, items: &[&ItemRecord], shares: &Shares<'_>) -> Spent {
    let mut groups: BTreeMap<u32, Part> = BTreeMap::new();
    for item in items {
        let part = groups.entry(item.at.group).or_default();
        part.us += item.usage.prefill_us + item.usage.decode_us;
        part.items += 1;
        part.right += match item.verdict {
            datasets::Verdict::Right => 1.0,
            datasets::Verdict::Partial(part) => f64::from(part),
            _ => 0.0,
        };
        part.tokens += u64::from(item.usage.evaluated_tokens) + u64::from(item.usage.output_tokens);
    }
    let mut sum = Sum { idle_uj: Some(0.0), ..Sum::default() };
    for (group, part) in groups {
        sum.add(run, group, &part, shares);
    }
    sum.spent(run)
}

/// What of a group belongs to a cell.
#[derive(Default)]
struct Part {
    us: u64,
    items: u64,
    right: f64,
    tokens: u64,
}

impl Sum {
    fn add(&mut self, run: &RunLog, group: u32, part: &Part, shares: &Shares<'_>) {
        let lack = |sum: &mut Sum, reason: Missing| {
            sum.without += part.items;
            *sum.reasons.entry(reason).or_default() += part.items;
        };
        let Some(&(session, window)) = shares.windows.get(&group) else { return lack(self, never(run)) };
        let began = session.checked_sub(1).and_then(|session| run.measured.began.get(session));
        let Some(began) = began else { return lack(self, never(run)) };
        let Some((index, channel, sensor)) = headline(began) else {
            return lack(self, began.missing.unwrap_or(Missing::NoSensor));
        };
        if window.suspended {
            return lack(self, Missing::Suspended);
        }
        let Some(energy) = window.energy.get(index) else { return lack(self, Missing::NotLogged) };
        let Some(uj) = energy.energy_uj.or(energy.short_uj) else {
            return lack(self, energy.missing.unwrap_or(Missing::NotLogged));
        };
        let whole = shares.whole_us.get(&group).copied().unwrap_or(0);
        // Without engine times (the fake engine) the items share alike.
        let share = match (whole, part.us) {
            (0, _) => {
                let all = shares.items.get(&group).copied().unwrap_or(0).max(1);
                part.items as f64 / all as f64
            }
            (whole, us) => us as f64 / whole as f64,
        };
        if share < 0.999 {
            self.marks.insert(Mark::Shared);
        }
        if window.state.throttled() {
            self.marks.insert(Mark::Throttled);
        }
        let span = window.end.since_us(window.begin) as f64;
        self.marks.extend(energy.marks.iter().filter(|mark| **mark != Mark::Short));
        self.sensors.insert(sensor);
        self.gross_uj += uj * share;
        self.doubt_uj += energy.doubt_uj.unwrap_or(0.0) * share;
        self.time_us += span * share;
        self.span_us += span;
        let every = began.every_us.get(index).copied().unwrap_or(began.period_us);
        let counter = channel.kind == Kind::Counter;
        let fewest = channel.shortest_us.max(if counter { 0 } else { FEWEST_INTERVALS * every });
        self.fewest_us = self.fewest_us.max(fewest as f64);
        self.readings += energy.readings as f64 * share;
        self.failed += energy.failed as f64 * share;
        self.gap_us += energy.gap_us as f64 * share;
        self.items += part.items;
        self.right += part.right;
        self.tokens += part.tokens;
        let idle = idle(run, session, window, index);
        if idle.drifts(uj / span) {
            self.marks.insert(Mark::BaselineDrift);
        }
        self.idle_uj = self.idle_uj.zip(idle.before_uw).map(|(sum, uw)| sum + uw * span * share / 1e6);
    }

    fn spent(self, run: &RunLog) -> Spent {
        let many = 5.0 * self.fewest_us;
        let mut spent = Spent {
            time_s: self.time_us / 1e6,
            items: self.items,
            items_without: self.without,
            readings: self.readings.round() as u64,
            failed: self.failed.round() as u64,
            gap_s: self.gap_us / 1e6,
            marks: self.marks.into_iter().collect(),
            ..Spent::default()
        };
        let mut sensors = self.sensors.into_iter();
        spent.sensor = sensors.next();
        let reason = self.reasons.into_iter().max_by_key(|(_, items)| *items).map(|(reason, _)| reason);
        spent.missing = if self.items == 0 {
            Some(reason.unwrap_or_else(|| never(run)))
        } else if sensors.next().is_some() {
            // Sessions with different sensors cannot be added.
            Some(Missing::Mixed)
        } else if self.span_us < self.fewest_us {
            Some(Missing::TooShort)
        } else {
            None
        };
        if spent.missing.is_some() {
            return spent;
        }
        if self.span_us < many {
            spent.marks.insert(0, Mark::Short);
        }
        if spent.items_without > 0 && !spent.marks.contains(&Mark::Gaps) {
            spent.marks.push(Mark::Gaps);
        }
        let gross = self.gross_uj / 1e6;
        let per = |count: f64| (count > 0.0).then(|| gross / count);
        spent.gross_j = Some(gross);
        spent.doubt_j = Some(self.doubt_uj / 1e6);
        spent.net_j = self.idle_uj.map(|idle| gross - idle / 1e6);
        spent.idle_w = self.idle_uj.and_then(|idle| (self.time_us > 0.0).then(|| idle / self.time_us));
        spent.mean_w = (self.time_us > 0.0).then(|| self.gross_uj / self.time_us);
        spent.per_item_j = per(self.items as f64);
        spent.per_token_j = per(self.tokens as f64);
        spent.per_correct_j = per(self.right);
        spent
    }
}

/// Idle power of a session around a stretch, in microwatts.
struct Idle {
    before_uw: Option<f64>,
    after_uw: Option<f64>,
}

impl Idle {
    /// Whether it changed by more than a share of a gross power, in watts.
    fn drifts(&self, gross_w: f64) -> bool {
        self.before_uw
            .zip(self.after_uw)
            .is_some_and(|(before, after)| (after - before).abs() / 1e6 > DRIFT * gross_w)
    }
}

/// A model that is visited several times has an idle power around each visit: what counts is that next to the stretch.
fn idle(run: &RunLog, session: usize, at: &Window, index: usize) -> Idle {
    let windows = |stretch: Stretch| {
        let own = run.measured.windows.iter().filter(move |(own, window)| {
            *own == session && window.model == at.model && window.stretch == stretch
        });
        own.map(|(_, window)| window)
    };
    let before = windows(Stretch::IdleUnloaded).filter(|idle| idle.end.mono_us <= at.begin.mono_us);
    let after = windows(Stretch::IdleAfter).filter(|idle| idle.begin.mono_us >= at.end.mono_us);
    Idle {
        before_uw: before.filter_map(|idle| power_uw(idle, index)).next_back(),
        after_uw: after.filter_map(|idle| power_uw(idle, index)).next(),
    }
}

/// Mean power of a stretch in microwatts.
fn power_uw(window: &Window, index: usize) -> Option<f64> {
    let energy: &Energy = window.energy.get(index)?;
    let span = window.end.since_us(window.begin);
    (span > 0 && !window.suspended).then(|| energy.energy_uj.map(|uj| uj / (span as f64 / 1e6)))?
}
