//! A run as its log tells it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use models::LoadSpec;

use crate::entry::{
    Alone, Complete, Death, Entry, GroupEnd, Header, ItemRecord, Loaded, MemoryPlan, MemoryUse, ModelFailed,
    Pictures, Session, Source, Tuned, Visit,
};
use crate::exit::{Exit, Failure};
use crate::log::{self, LOG_FILE, Reader, Summary};
use crate::supervisor::TimedKey;
use crate::telemetry::record::{Began, Ended, Row, Stepped, Timed, Window};

/// Everything that a log holds, unfinished groups left out.
#[derive(Debug)]
pub struct RunLog {
    /// What the run is.
    pub header: Header,
    /// Items of complete groups, in the order of the plan.
    pub items: Vec<ItemRecord>,
    /// Ends of complete groups by number.
    pub groups: BTreeMap<u32, GroupEnd>,
    /// Processes that worked on the run.
    pub sessions: Vec<Session>,
    /// Models as they were loaded.
    pub loaded: Vec<Loaded>,
    /// Deaths of workers.
    pub deaths: Vec<Death>,
    /// What models were said to take, and how they were made to fit.
    pub memory_plans: Vec<MemoryPlan>,
    /// What their workers took.
    pub memory_uses: Vec<MemoryUse>,
    /// Models that could not be run.
    pub failed: Vec<ModelFailed>,
    /// Texts of label tokens, by model and id.
    pub pieces: BTreeMap<(u16, i32), String>,
    /// Items of the parity sample, scored alone.
    pub alone: Vec<Alone>,
    /// Replies written side by side, where a probe chose it; the last word on each model.
    pub tuned: Vec<Tuned>,
    /// Power, latency and the state of the machine.
    pub measured: Measured,
    /// Pictures that were encoded, group by group.
    pub pictures: Vec<Pictures>,
    /// Of a merged log: the logs that it comes from.
    pub sources: Vec<Source>,
    /// Turns of the models in their order, where they took several.
    pub visits: Vec<Visit>,
    /// The turn that a group was answered in, by its number in `visits`, where models took several.
    pub turns: BTreeMap<u32, usize>,
    /// Present when the run is complete.
    pub complete: Option<Complete>,
    /// What the log file itself is like.
    pub summary: Summary,
}

/// What was measured beside answers. The number before an entry is that of the session that measured it, from 1.
#[derive(Debug, Default)]
pub struct Measured {
    /// What there was to measure with, session by session.
    pub began: Vec<Began>,
    /// Stretches of time.
    pub windows: Vec<(usize, Window)>,
    /// Samples.
    pub timeline: Vec<(usize, Row)>,
    /// Items that were asked on their own.
    pub timed: Vec<(usize, Timed)>,
    /// Jumps of the wall clock.
    pub steps: Vec<Stepped>,
    /// How measuring ended.
    pub ended: Vec<Ended>,
}

impl RunLog {
    /// Reads the log of a run folder, or a log that lies alone in a file.
    pub fn read(dir: &Path) -> Result<RunLog, Failure> {
        let path = log::file_of(dir);
        if !path.exists() {
            return Err(Failure::disk(format!(
                "{}: holds no run: there is no file `{LOG_FILE}`",
                dir.display()
            )));
        }
        let mut reader = Reader::<Entry>::open(&path).map_err(|error| Failure::disk(error.to_string()))?;
        let mut summary = Summary::new(&reader);
        let mut header = None;
        let mut open: BTreeMap<u32, Vec<ItemRecord>> = BTreeMap::new();
        let mut closed: BTreeMap<u32, Vec<ItemRecord>> = BTreeMap::new();
        let mut run = Parts::default();
        // A turn ends with its process, and with the log that it was merged from.
        let mut turn = None;
        for item in &mut reader {
            summary.see(&item);
            let Ok(record) = item else { continue };
            match record.entry {
                Entry::Header(found) => header = header.or(Some(*found)),
                Entry::Session(session) => {
                    run.sessions.push(session);
                    turn = None;
                }
                Entry::Loaded(loaded) => run.loaded.push(loaded),
                // A group that is begun anew replaces what an interrupted session left of it.
                Entry::GroupStart(at) => drop(open.insert(at.group, Vec::new())),
                Entry::Item(item) => open.entry(item.at.group).or_default().push(*item),
                Entry::GroupEnd(end) => {
                    let items = open.remove(&end.at.group).unwrap_or_default();
                    // A damaged log may have lost some of the items: then the group is not complete.
                    if items.len() == end.items as usize {
                        closed.insert(end.at.group, items);
                        match turn.filter(|&turn| run.is_turn_of(turn, end.at.model)) {
                            Some(turn) => run.turns.insert(end.at.group, turn),
                            None => run.turns.remove(&end.at.group),
                        };
                        run.groups.insert(end.at.group, end);
                    }
                }
                Entry::Death(death) => run.deaths.push(death),
                Entry::Pieces(found) => {
                    let model = found.model;
                    let found = found.pieces.into_iter().map(|(token, text)| ((model, token), text));
                    run.pieces.extend(found);
                }
                Entry::MemoryPlan(plan) => run.memory_plans.push(*plan),
                Entry::MemoryUse(used) => run.memory_uses.push(used),
                Entry::ModelFailed(failed) => run.failed.push(failed),
                Entry::Alone(alone) => run.alone.push(*alone),
                Entry::Tuned(tuned) => {
                    run.tuned.retain(|earlier| earlier.model != tuned.model);
                    run.tuned.push(tuned);
                }
                Entry::Pictures(pictures) => {
                    run.pictures.retain(|earlier| earlier.at != pictures.at);
                    run.pictures.push(pictures);
                }
                Entry::Source(source) => {
                    run.sources.push(source);
                    turn = None;
                }
                Entry::Visit(visit) => {
                    turn = Some(run.visits.len());
                    run.visits.push(visit);
                }
                Entry::Complete(complete) => run.complete = Some(complete),
                Entry::Began(began) => run.measured.began.push(*began),
                Entry::Window(window) => run.measured.windows.push((run.measured.began.len(), *window)),
                Entry::Timeline(timeline) => {
                    let session = run.measured.began.len();
                    run.measured.timeline.extend(timeline.rows.into_iter().map(|row| (session, row)));
                }
                Entry::Timed(timed) => run.measured.timed.push((run.measured.began.len(), *timed)),
                Entry::Stepped(stepped) => run.measured.steps.push(stepped),
                Entry::Ended(ended) => run.measured.ended.push(*ended),
            }
        }
        let header = header.ok_or_else(|| {
            Failure::new(Exit::Damaged, format!("{}: the log's header is damaged or missing", path.display()))
        })?;
        let complete = run.complete.filter(|_| run.groups.len() as u32 == header.own_groups());
        Ok(RunLog {
            header,
            items: closed.into_values().flatten().collect(),
            groups: run.groups,
            sessions: run.sessions,
            loaded: run.loaded,
            deaths: run.deaths,
            memory_plans: run.memory_plans,
            memory_uses: run.memory_uses,
            failed: run.failed,
            pieces: run.pieces,
            alone: run.alone,
            tuned: run.tuned,
            measured: run.measured,
            pictures: run.pictures,
            sources: run.sources,
            visits: run.visits,
            turns: run.turns,
            complete,
            summary,
        })
    }

    /// Identity of the run that a group was answered in: this one, or one that it was merged from.
    pub fn source_of(&self, group: u32) -> &str {
        let source = self.sources.iter().find(|source| source.groups.binary_search(&group).is_ok());
        source.map_or(&self.header.run_id, |source| &source.run_id)
    }

    /// What need not be done again, and what was decided already.
    pub fn done(&self) -> Done {
        let sampled = |alone: &Alone| (alone.at.group, alone.item.clone(), alone.interface.clone());
        let mut chosen = BTreeMap::new();
        for loaded in &self.loaded {
            chosen.entry(loaded.model).or_insert_with(|| loaded.spec.clone());
        }
        Done {
            groups: self.groups.keys().copied().collect(),
            alone: self.alone.iter().map(sampled).collect(),
            tuned: self.tuned.clone(),
            timed: self.measured.timed.iter().map(|(_, timed)| TimedKey::from(timed)).collect(),
            chosen,
        }
    }
}

/// What a log holds already of a run.
#[derive(Clone, Debug, Default)]
pub struct Done {
    /// Groups that are complete.
    pub groups: BTreeSet<u32>,
    /// Group, item and interface of what was scored alone.
    pub alone: BTreeSet<(u32, String, String)>,
    /// What probes chose, by model.
    pub tuned: Vec<Tuned>,
    /// What was asked on its own, for its latency.
    pub timed: BTreeSet<TimedKey>,
    /// How models were loaded, by index: what was chosen once is kept, because batches decide bits of scores.
    pub chosen: BTreeMap<u16, LoadSpec>,
}

#[derive(Default)]
struct Parts {
    groups: BTreeMap<u32, GroupEnd>,
    sessions: Vec<Session>,
    loaded: Vec<Loaded>,
    deaths: Vec<Death>,
    memory_plans: Vec<MemoryPlan>,
    memory_uses: Vec<MemoryUse>,
    failed: Vec<ModelFailed>,
    pieces: BTreeMap<(u16, i32), String>,
    alone: Vec<Alone>,
    tuned: Vec<Tuned>,
    measured: Measured,
    pictures: Vec<Pictures>,
    sources: Vec<Source>,
    visits: Vec<Visit>,
    turns: BTreeMap<u32, usize>,
    complete: Option<Complete>,
}

impl Parts {
    fn is_turn_of(&self, turn: usize, model: u16) -> bool {
        self.visits.get(turn).is_some_and(|visit| visit.model == model)
    }
}
