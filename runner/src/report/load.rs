//! A run as its log tells it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use crate::entry::{Complete, Death, Entry, GroupEnd, Header, ItemRecord, Loaded, Session};
use crate::exit::{Exit, Failure};
use crate::log::{LOG_FILE, Reader, Summary};
use crate::telemetry::record::{Alone, Began, Ended, Row, Stepped, Window};

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
    /// Texts of label tokens, by model and id.
    pub pieces: BTreeMap<(u16, i32), String>,
    /// Power, latency and the state of the machine.
    pub measured: Measured,
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
    /// Items that were asked alone.
    pub alone: Vec<(usize, Alone)>,
    /// Jumps of the wall clock.
    pub steps: Vec<Stepped>,
    /// How measuring ended.
    pub ended: Vec<Ended>,
}

impl RunLog {
    /// Reads the log of a run folder.
    pub fn read(dir: &Path) -> Result<RunLog, Failure> {
        let path = dir.join(LOG_FILE);
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
        for item in &mut reader {
            summary.see(&item);
            let Ok(record) = item else { continue };
            match record.entry {
                Entry::Header(found) => header = header.or(Some(*found)),
                Entry::Session(session) => run.sessions.push(session),
                Entry::Loaded(loaded) => run.loaded.push(loaded),
                // A group that is begun anew replaces what an interrupted session left of it.
                Entry::GroupStart(at) => drop(open.insert(at.group, Vec::new())),
                Entry::Item(item) => open.entry(item.at.group).or_default().push(*item),
                Entry::GroupEnd(end) => {
                    let items = open.remove(&end.at.group).unwrap_or_default();
                    // A damaged log may have lost some of the items: then the group is not complete.
                    if items.len() == end.items as usize {
                        closed.insert(end.at.group, items);
                        run.groups.insert(end.at.group, end);
                    }
                }
                Entry::Death(death) => run.deaths.push(death),
                Entry::Pieces(found) => {
                    let model = found.model;
                    let found = found.pieces.into_iter().map(|(token, text)| ((model, token), text));
                    run.pieces.extend(found);
                }
                Entry::Complete(complete) => run.complete = Some(complete),
                Entry::Began(began) => run.measured.began.push(*began),
                Entry::Window(window) => run.measured.windows.push((run.measured.began.len(), *window)),
                Entry::Timeline(timeline) => {
                    let session = run.measured.began.len();
                    run.measured.timeline.extend(timeline.rows.into_iter().map(|row| (session, row)));
                }
                Entry::Alone(alone) => run.measured.alone.push((run.measured.began.len(), *alone)),
                Entry::Stepped(stepped) => run.measured.steps.push(stepped),
                Entry::Ended(ended) => run.measured.ended.push(*ended),
            }
        }
        let header = header.ok_or_else(|| {
            Failure::new(Exit::Damaged, format!("{}: the log's header is damaged or missing", path.display()))
        })?;
        let complete = run.complete.filter(|_| run.groups.len() as u32 == header.groups);
        Ok(RunLog {
            header,
            items: closed.into_values().flatten().collect(),
            groups: run.groups,
            sessions: run.sessions,
            loaded: run.loaded,
            deaths: run.deaths,
            pieces: run.pieces,
            measured: run.measured,
            complete,
            summary,
        })
    }

    /// Groups that are complete.
    pub fn done(&self) -> BTreeSet<u32> {
        self.groups.keys().copied().collect()
    }
}

#[derive(Default)]
struct Parts {
    groups: BTreeMap<u32, GroupEnd>,
    sessions: Vec<Session>,
    loaded: Vec<Loaded>,
    deaths: Vec<Death>,
    pieces: BTreeMap<(u16, i32), String>,
    measured: Measured,
    complete: Option<Complete>,
}
