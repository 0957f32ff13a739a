//! Figures per model, task and interface.

use std::collections::BTreeMap;

use datasets::{NoAnswer, Normalisation, Verdict};
use models::{Scored, Usage};
use serde::Serialize;

use super::clusters::clusters;
use super::load::RunLog;
use super::parity::{floors, lead, normalisation};
use crate::entry::{ItemRecord, TurnRecord};
use crate::statistics::{Family, median, wilson_by_family};

/// Figures of one model on one task through one interface.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Cell {
    /// Name of the model.
    pub model: String,
    /// Name of the task.
    pub task: String,
    /// Name of the interface.
    pub interface: String,
    /// Items that were answered or left unanswered: the denominator of accuracy.
    pub n: u64,
    /// Right answers; partly right ones count in part.
    pub right: f64,
    /// `right / n`; `None` without items.
    pub accuracy: Option<f64>,
    /// 95 % interval of the accuracy (Wilson), on as many items as their families are worth; `None` where all are of one.
    pub low: Option<f64>,
    /// Its upper end.
    pub high: Option<f64>,
    /// Mean probability to be right by chance, over items where it is known.
    pub chance: Option<f64>,
    /// Items without an answer, by reason; they count as wrong.
    pub unanswered: BTreeMap<NoAnswer, u64>,
    /// Conversations that outgrew the context; they are among the unanswered.
    pub outgrown: u64,
    /// Answers that came from scoring the labels after a cut chain.
    pub rescued: u64,
    /// Right ones among them, counted in `right` too.
    pub rescued_right: u64,
    /// Items that were not asked because they do not fit the context.
    pub skipped: u64,
    /// Items that the engine lost.
    pub lost: u64,
    /// Tokens of the prompts.
    pub prompt_tokens: u64,
    /// Tokens that the model evaluated for them.
    pub evaluated_tokens: u64,
    /// Tokens generated.
    pub output_tokens: u64,
    /// Time that the engine spent on the items, in seconds.
    pub engine_s: f64,
    /// Evaluated and generated tokens per second of that time; `None` when nothing was measured.
    pub tokens_per_s: Option<f64>,
    /// Median over items of the probability that any label comes next; `None` where no labels were scored.
    pub median_label_mass: Option<f64>,
    /// Items whose answer hangs on a lead below the noise floor; `None` without a floor or without scored labels.
    pub undecided: Option<u64>,
    /// Share of scored items whose most probable next token begins a label.
    pub greedy_is_label: Option<f64>,
    /// Families of the items that count; their distinct prompts where those are fewer.
    pub families: u64,
}

impl Cell {
    /// Items without an answer.
    pub fn unanswered_total(&self) -> u64 {
        self.unanswered.values().sum()
    }
}

/// The items of one model on one task through one interface.
pub(crate) struct Place<'a> {
    /// Name of the model.
    pub(crate) model: String,
    /// Name of the task.
    pub(crate) task: String,
    /// Index of the task in the header.
    pub(crate) task_index: usize,
    /// Name of the interface.
    pub(crate) interface: String,
    /// Its items; at least one.
    pub(crate) items: Vec<&'a ItemRecord>,
    /// How labels were judged.
    pub(crate) by: Normalisation,
    /// The lead of a best label below which rounding decides; `None` where no parity sample tells.
    pub(crate) noise_floor: Option<f64>,
}

/// The figures of a run, in the order of its plan.
pub fn cells(run: &RunLog) -> Vec<Cell> {
    places(run).iter().map(|place| place.cell(&place.items)).collect()
}

/// The items of a run, model by model, task by task, interface by interface, in the order of its plan.
pub(crate) fn places(run: &RunLog) -> Vec<Place<'_>> {
    let mut groups: BTreeMap<(u16, u16, usize), Vec<&ItemRecord>> = BTreeMap::new();
    for item in &run.items {
        let interfaces = run.header.tasks.get(usize::from(item.at.task)).map(|task| &task.interfaces);
        let place = interfaces.and_then(|names| names.iter().position(|name| *name == item.interface));
        groups.entry((item.at.model, item.at.task, place.unwrap_or(usize::MAX))).or_default().push(item);
    }
    let (by, floors) = (normalisation(run), floors(run));
    groups
        .into_iter()
        .map(|((model, task, _), items)| {
            let name =
                |index: u16, names: Option<&String>| names.cloned().unwrap_or_else(|| index.to_string());
            let model = name(model, run.header.models.get(usize::from(model)).map(|model| &model.name));
            Place {
                by,
                noise_floor: floors.get(&model).copied(),
                model,
                task: name(task, run.header.tasks.get(usize::from(task)).map(|task| &task.name)),
                task_index: usize::from(task),
                interface: items.first().map(|item| item.interface.clone()).unwrap_or_default(),
                items,
            }
        })
        .collect()
}

impl Place<'_> {
    /// The figures of some of its items.
    pub(super) fn cell(&self, items: &[&ItemRecord]) -> Cell {
        let (model, task, interface) = (self.model.clone(), self.task.clone(), self.interface.clone());
        let leads: Vec<f64> = items.iter().filter_map(|item| lead(item, self.by)).collect();
        let undecided = self
            .noise_floor
            .filter(|_| !leads.is_empty())
            .map(|floor| leads.iter().filter(|lead| **lead < floor).count() as u64);
        cell(Cell { model, task, interface, undecided, ..Cell::default() }, items)
    }
}

fn cell(mut cell: Cell, items: &[&ItemRecord]) -> Cell {
    let mut usage = Usage64::default();
    let mut chances = Vec::new();
    let mut masses = Vec::new();
    let mut greedy = Vec::new();
    for item in items {
        usage.add(item.usage);
        match item.verdict {
            Verdict::Skipped(_) => {
                cell.skipped += 1;
                continue;
            }
            Verdict::Lost(_) => {
                cell.lost += 1;
                continue;
            }
            Verdict::Right => cell.right += 1.0,
            Verdict::Partial(part) => cell.right += f64::from(part),
            Verdict::Wrong => {}
            Verdict::Unanswered(reason) => *cell.unanswered.entry(reason).or_default() += 1,
        }
        cell.n += 1;
        let cut = matches!(item.turns.last().map(|turn| turn.verdict), Some(Verdict::Skipped(_)));
        cell.outgrown += u64::from(cut);
        let rescued = item.turns.iter().any(|turn| turn.rescued);
        cell.rescued += u64::from(rescued);
        cell.rescued_right += u64::from(rescued && item.verdict == Verdict::Right);
        if let [turn] = &item.turns[..]
            && turn.gold.label().is_some()
            && !turn.labels.is_empty()
        {
            chances.push(1.0 / turn.labels.len() as f64);
        }
        for scored in item.turns.iter().filter_map(TurnRecord::scored_labels) {
            masses.extend(scored.mass);
            greedy.extend(greedy_is_label(scored));
        }
    }
    let mean =
        |values: &[f64]| (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64);
    cell.accuracy = (cell.n > 0).then(|| cell.right / cell.n as f64);
    let worths = items.iter().zip(clusters(items));
    let witnesses = Witnesses::of(worths.filter_map(|(item, cluster)| Some((cluster, worth(item.verdict)?))));
    (cell.families, cell.low, cell.high) = (witnesses.families, witnesses.low, witnesses.high);
    cell.chance = mean(&chances);
    cell.median_label_mass = median(masses);
    cell.greedy_is_label = mean(&greedy.iter().map(|&is| f64::from(u8::from(is))).collect::<Vec<_>>());
    cell.prompt_tokens = usage.prompt;
    cell.evaluated_tokens = usage.evaluated;
    cell.output_tokens = usage.output;
    cell.engine_s = usage.us as f64 / 1e6;
    cell.tokens_per_s = (usage.us > 0).then(|| (usage.evaluated + usage.output) as f64 / cell.engine_s);
    cell
}

/// Families of items, and the 95 % interval of the mean of the items' worths. Items of one family, and forms of one item, share
/// material: they count as fewer.
pub(super) struct Witnesses {
    pub(super) families: u64,
    pub(super) low: Option<f64>,
    pub(super) high: Option<f64>,
}

impl Witnesses {
    /// Of items' worths, each with the item's family.
    pub(super) fn of<K: Ord>(worths: impl Iterator<Item = (K, f64)>) -> Witnesses {
        let mut families: BTreeMap<K, Family> = BTreeMap::new();
        let mut squares = 0.0;
        for (family, worth) in worths {
            let own = families.entry(family).or_default();
            own.sum += worth;
            own.items += 1;
            squares += worth * worth;
        }
        let families: Vec<Family> = families.into_values().collect();
        let ends = wilson_by_family(&families, squares);
        Witnesses {
            families: families.len() as u64,
            low: ends.map(|ends| ends.0),
            high: ends.map(|ends| ends.1),
        }
    }
}

/// Whether the most probable next token begins a label; `None` where the most probable tokens were not logged.
pub(super) fn greedy_is_label(scored: &Scored) -> Option<bool> {
    let first = scored.top.first()?.token;
    Some(scored.labels.iter().any(|label| label.tokens.first() == Some(&first)))
}

/// Sums that do not overflow over a long run.
#[derive(Default)]
struct Usage64 {
    prompt: u64,
    evaluated: u64,
    output: u64,
    us: u64,
}

impl Usage64 {
    fn add(&mut self, usage: Usage) {
        self.prompt += u64::from(usage.prompt_tokens);
        self.evaluated += u64::from(usage.evaluated_tokens);
        self.output += u64::from(usage.output_tokens);
        self.us += usage.prefill_us + usage.decode_us;
    }
}

/// What an item is worth: 1 when right, a part when partly right, else 0; `None` when it does not count.
pub(crate) fn worth(verdict: Verdict) -> Option<f64> {
    match verdict {
        Verdict::Right => Some(1.0),
        Verdict::Partial(part) => Some(f64::from(part)),
        Verdict::Wrong | Verdict::Unanswered(_) => Some(0.0),
        Verdict::Skipped(_) | Verdict::Lost(_) => None,
    }
}
