//! One side of a comparison: a model of a run, with of each answer no more than the comparison needs.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use datasets::{Said, Verdict};
use serde_json::Value;

use super::matching::check;
use super::names::distinct;
use crate::entry::{Header, ItemRecord, ModelRecord};
use crate::exit::Failure;
use crate::report::{
    Cell, Cost, Round, RunLog, Spent, cells, clusters, costs, load_of_others, memory, rounds, worth,
};

/// A task and an interface, by name.
pub(super) type Place = (String, String);

/// What places took in energy, or why nobody knows.
pub(super) type Energies = BTreeMap<Place, Spent>;

/// A model of a run.
#[derive(Debug)]
pub struct Side {
    /// How the comparison calls it.
    pub name: String,
    /// The run folder.
    pub dir: PathBuf,
    /// The model.
    pub model: ModelRecord,
    pub(super) model_index: usize,
    pub(super) header: Rc<Header>,
    pub(super) config: Rc<Value>,
    /// Answers by place and item, places in the order of the plan.
    pub(super) places: Vec<(Place, BTreeMap<String, Answer>)>,
    /// Peak memory of its worker, where it was measured.
    pub(super) peak_bytes: Option<u64>,
    /// Mean load of other programs while its groups ran, as a share of all processors; `None` where it was not measured.
    pub(super) others_load: Option<f64>,
    /// Whether all groups of the run are in its log.
    pub(super) complete: bool,
    /// Places where its accuracy cannot be told from guessing.
    pub(super) guesses: BTreeSet<Place>,
    /// What each place took in energy, or why nobody knows.
    pub(super) energies: Energies,
    /// The same round by round.
    pub(super) round_energies: BTreeMap<Round, Energies>,
    /// The same model in repetitions of the run.
    pub(super) repeats: Vec<Rc<Side>>,
}

/// What an item came to.
#[derive(Clone, Debug)]
pub(super) struct Answer {
    /// What it is a witness of: its family, or its prompt where there are fewer prompts than families.
    pub(super) family: String,
    /// Whether it counts: asked and not lost.
    pub(super) counted: bool,
    /// Whether it is right altogether.
    pub(super) right: bool,
    /// 1 when right, a part when partly right, else 0.
    pub(super) worth: f64,
    /// Hash of the first prompt.
    pub(super) prompt: Option<[u8; 8]>,
    /// Labels that were chosen, question by question; `None` for other answers.
    pub(super) choices: Vec<Option<u16>>,
    /// Log-scores of labels with the hash of the question's prompt, question by question.
    pub(super) scored: Vec<([u8; 8], Vec<f64>)>,
    /// Time that the engine spent.
    pub(super) engine_us: u64,
    /// The round that it was asked in.
    pub(super) round: Option<Round>,
}

/// Reads the sides that were named: `DIR`, with all its models, or `DIR:MODEL`.
pub fn read(named: &[String]) -> Result<Vec<Side>, Failure> {
    let mut sides = Vec::new();
    let mut known: BTreeMap<PathBuf, Vec<Rc<Side>>> = BTreeMap::new();
    for name in named {
        let (dir, model) = parse(name);
        if !known.contains_key(&dir) {
            known.insert(dir.clone(), split(&dir)?.into_iter().map(Rc::new).collect());
        }
        let models = known.get(&dir).map(Vec::as_slice).unwrap_or_default();
        let wanted: Vec<&Rc<Side>> =
            models.iter().filter(|side| model.is_none_or(|model| side.model.name == model)).collect();
        if wanted.is_empty() {
            let names: Vec<&str> = models.iter().map(|side| side.model.name.as_str()).collect();
            return Err(Failure::usage(format!(
                "{}: has no model `{}`; it has: {}",
                dir.display(),
                model.unwrap_or_default(),
                names.join(", ")
            )));
        }
        sides.extend(wanted.into_iter().map(Rc::clone));
    }
    drop(known);
    if let Some((at, twice)) =
        sides.iter().enumerate().find(|(at, side)| sides[..*at].iter().any(|other| Rc::ptr_eq(other, side)))
    {
        return Err(Failure::usage(format!("{} (number {}) is named twice", twice.name, at + 1)));
    }
    let sides = sides.into_iter().filter_map(Rc::into_inner).collect();
    Ok(distinct(sides))
}

/// Takes the rounds of repetitions in: every one must have all models that are compared, asked the same. Their answers and
/// pooled figures play no part. Gives notes.
pub fn join_repeats(sides: &mut [Side], dirs: &[PathBuf], allow: &[String]) -> Result<Vec<String>, Failure> {
    let mut notes = Vec::new();
    for dir in dirs {
        let mut models = split(dir)?;
        let folder = dir.file_name().unwrap_or(dir.as_os_str()).to_string_lossy();
        models.iter_mut().for_each(|side| side.name = format!("{} @ {folder}", side.name));
        let models: Vec<Rc<Side>> = models.into_iter().map(Rc::new).collect();
        for side in &mut *sides {
            let is_same = |own: &&Rc<Side>| {
                (&own.model.name, &own.model.sha256) == (&side.model.name, &side.model.sha256)
            };
            let Some(own) = models.iter().find(is_same) else {
                return Err(Failure::usage(format!(
                    "--again {}: has no model `{}` from the same file",
                    dir.display(),
                    side.model.name
                )));
            };
            let earlier = side.repeats.iter().map(|own| &own.header.run_id).chain([&side.header.run_id]);
            if earlier.into_iter().any(|run_id| *run_id == own.header.run_id) {
                return Err(Failure::usage(format!("--again {}: this run is there already", dir.display())));
            }
            notes.extend(check(side, own, allow)?);
            side.repeats.push(Rc::clone(own));
        }
    }
    Ok(notes)
}

/// A folder, and the model behind the last colon unless the whole names a folder.
fn parse(name: &str) -> (PathBuf, Option<&str>) {
    match name.rsplit_once(':') {
        Some((dir, model)) if !Path::new(name).exists() && !dir.is_empty() && !model.is_empty() => {
            (PathBuf::from(dir), Some(model))
        }
        _ => (PathBuf::from(name), None),
    }
}

/// The models of a run.
fn split(dir: &Path) -> Result<Vec<Side>, Failure> {
    Ok(sides(&RunLog::read(dir)?, dir))
}

/// The models of a run that has been read.
pub(super) fn sides(run: &RunLog, dir: &Path) -> Vec<Side> {
    let alone = run.header.models.len() == 1;
    let last_bytes = run.complete.and_then(|complete| complete.worker_peak_bytes).filter(|_| alone);
    let memory = memory(run);
    let rounds = rounds(run);
    let complete = run.complete.is_some();
    let config = Rc::new(serde_json::from_str(&run.header.config_json).unwrap_or(Value::Null));
    let header = Rc::new(run.header.clone());
    let cells = cells(run);
    let costs = costs(run, &cells);
    let mut sides: Vec<Side> = header
        .models
        .iter()
        .enumerate()
        .map(|(model_index, model)| Side {
            name: model.name.clone(),
            dir: dir.to_owned(),
            model: model.clone(),
            model_index,
            header: Rc::clone(&header),
            config: Rc::clone(&config),
            places: places(&header),
            peak_bytes: memory.get(model_index).and_then(|own| own.peak_bytes).or(last_bytes),
            others_load: load_of_others(run, Some(model_index as u16)),
            complete,
            guesses: cells
                .iter()
                .filter(|cell| cell.model == model.name && guesses(cell))
                .map(place)
                .collect(),
            energies: costs
                .iter()
                .filter(|cost| cost.model == model.name)
                .map(|cost| ((cost.task.clone(), cost.interface.clone()), cost.energy.clone()))
                .collect(),
            round_energies: round_energies(costs.iter().filter(|cost| cost.model == model.name)),
            repeats: Vec::new(),
        })
        .collect();
    for asked in crate::report::places(run) {
        let Some(at) = asked.items.first().map(|item| item.at) else { continue };
        let Some(side) = sides.get_mut(usize::from(at.model)) else { continue };
        let here = |place: &&mut (Place, _)| place.0.0 == asked.task && place.0.1 == asked.interface;
        let Some((_, answers)) = side.places.iter_mut().find(here) else { continue };
        for (item, family) in asked.items.iter().zip(clusters(&asked.items)) {
            let round = match rounds.is_empty() {
                true => Some(Round::WHOLE),
                false => rounds.get(&item.at.group).copied(),
            };
            answers.insert(item.item.clone(), answer(item, family, round));
        }
    }
    sides
}

/// Whether the interval of an accuracy holds the chance level, or lies below it. Items of one family have no interval, and show
/// nothing.
fn guesses(cell: &Cell) -> bool {
    let chance = cell.chance.filter(|_| cell.n > 0);
    chance.is_some_and(|chance| cell.low.is_none_or(|low| low <= chance))
}

fn place(cell: &Cell) -> Place {
    (cell.task.clone(), cell.interface.clone())
}

fn round_energies<'a>(costs: impl Iterator<Item = &'a Cost>) -> BTreeMap<Round, Energies> {
    let mut energies: BTreeMap<Round, Energies> = BTreeMap::new();
    for cost in costs {
        for round in &cost.rounds.each {
            let place = (cost.task.clone(), cost.interface.clone());
            energies.entry(round.round).or_default().insert(place, round.energy.clone());
        }
    }
    energies
}

fn places(header: &Header) -> Vec<(Place, BTreeMap<String, Answer>)> {
    let of_task = |task: &crate::entry::TaskRecord| {
        let name = task.name.clone();
        let places = task.interfaces.iter().map(move |interface| (name.clone(), interface.clone()));
        places.map(|place| (place, BTreeMap::new())).collect::<Vec<_>>()
    };
    header.tasks.iter().flat_map(of_task).collect()
}

fn answer(item: &ItemRecord, family: &str, round: Option<Round>) -> Answer {
    let worth = worth(item.verdict);
    let scored = |turn: &crate::entry::TurnRecord| {
        let scored = turn.scored_labels()?;
        Some((turn.prompt_hash, scored.labels.iter().map(|label| label.sum()).collect()))
    };
    let choice = |turn: &crate::entry::TurnRecord| match turn.said {
        Some(Said::Choice(label)) => Some(label),
        _ => None,
    };
    Answer {
        family: family.to_owned(),
        counted: worth.is_some(),
        right: item.verdict == Verdict::Right,
        worth: worth.unwrap_or(0.0),
        prompt: item.turns.first().map(|turn| turn.prompt_hash),
        choices: item.turns.iter().map(choice).collect(),
        scored: item.turns.iter().filter_map(scored).collect(),
        engine_us: item.usage.prefill_us + item.usage.decode_us,
        round,
    }
}

impl Side {
    /// Answers of a place, by item.
    pub(super) fn answers(&self, place: &Place) -> Option<&BTreeMap<String, Answer>> {
        self.places.iter().find(|(own, _)| own == place).map(|(_, answers)| answers)
    }
}
