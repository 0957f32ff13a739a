//! A session: opening the folder of a run, new or begun.

use std::path::{Path, PathBuf};

use models::States;
use models::gguf::hex;
use sha2::{Digest, Sha256};

use crate::clock::{Clock, SystemClock, boot_id};
use crate::config::SyncChoice;
use crate::device;
use crate::entry::{self, Entry, FORMAT, Header};
use crate::exit::{Exit, Failure};
use crate::log::{self, Fsync, LOG_FILE, Log, LogError};
use crate::plan::{Plan, difference};
use crate::report::{Done, RunLog};
use crate::states::{STATES_FILE, StatesWriter};

/// An opened run folder.
pub struct Session {
    /// The folder.
    pub dir: PathBuf,
    /// Its log; `None` when the run is complete already.
    pub log: Option<Log<Entry>>,
    /// What is in the log.
    pub done: Done,
    /// Where hidden states are kept, if they are.
    pub states: Option<StatesWriter>,
    notes: Vec<String>,
}

impl Session {
    /// Opens the folder of a plan: `out` when it is given, else a folder below the configuration's `out` whose name
    /// comes from the plan, so that the same command finds its run again.
    pub fn open(plan: &Plan, out: Option<&Path>, stem: &str) -> Result<Session, Failure> {
        let mut header = header(plan);
        let dir = match out {
            Some(dir) => dir.to_owned(),
            None => {
                let part =
                    plan.shard.map_or(String::new(), |shard| format!("-{}of{}", shard.index, shard.of));
                plan.config.out.join(log::sanitise(&format!("{stem}-{}{part}", identity(&header))))
            }
        };
        let clock = SystemClock::new();
        if dir.join(LOG_FILE).exists() {
            return resume(dir, header, plan, &clock);
        }
        header.run_id = log::run_id(clock.now(), stem);
        let run_id = header.run_id.clone();
        let header = Entry::Header(Box::new(header));
        let mut log = Log::create(&dir, &header, fsync(plan)).map_err(disk)?;
        // Nothing can be read without the header, so one damaged block must not take it.
        log.append(&header).map_err(disk)?;
        log.append(&Entry::Session(begun(&clock, 0, 0))).map_err(disk)?;
        log.end_group().map_err(disk)?;
        let notes = vec![format!("run folder: {}", dir.display())];
        let states = states(plan, &dir, &run_id)?;
        Ok(Session { dir, log: Some(log), done: Done::default(), states, notes })
    }

    /// What people should know, one line each.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }
}

fn resume(dir: PathBuf, planned: Header, plan: &Plan, clock: &SystemClock) -> Result<Session, Failure> {
    // The lock comes first: a log that another process writes to must not be judged.
    let (mut log, recovery) = Log::<Entry>::open_append(&dir, fsync(plan)).map_err(disk)?;
    let run = RunLog::read(&dir)?;
    if let Some(difference) = difference(&run.header, &planned) {
        return Err(Failure::new(
            Exit::Mismatch,
            format!("{}: holds another run: {difference}; choose another folder with --out", dir.display()),
        ));
    }
    let mut notes = Vec::new();
    let torn_bytes = recovery.cut.as_ref().map_or(0, |cut| cut.bytes);
    if let Some(cut) = &recovery.cut {
        notes.push(format!(
            "the log ended in {} torn bytes; they are kept in {}",
            cut.bytes,
            cut.kept_in.display()
        ));
    }
    if run.summary.damaged_stretches > 0 {
        notes.push(format!(
            "the log has {} damaged stretches; the groups that they touch are run again",
            run.summary.damaged_stretches
        ));
    }
    let done = run.done();
    if run.complete.is_some() {
        notes.push(format!("{}: the run is complete", dir.display()));
        return Ok(Session { dir, log: None, done, states: None, notes });
    }
    notes.push(format!(
        "{}: going on, {} of {} groups are done",
        dir.display(),
        done.groups.len(),
        run.header.own_groups()
    ));
    log.append(&Entry::Session(begun(clock, done.groups.len() as u32, torn_bytes))).map_err(disk)?;
    let lost = plan.config.asking.hidden_states != States::None
        && !done.groups.is_empty()
        && !dir.join(STATES_FILE).exists();
    if lost {
        notes.push(format!(
            "the file `{STATES_FILE}` is gone: hidden states are kept of the groups that are still to come; for all of them, \
             run into another folder with --out"
        ));
    }
    let mut states = states(plan, &dir, &run.header.run_id)?;
    if let Some(states) = states.as_mut().filter(|_| lost) {
        let groups: Vec<u32> = done.groups.iter().copied().collect();
        states.absent(&groups, &format!("the file `{STATES_FILE}` was gone when the run went on"))?;
    }
    Ok(Session { dir, log: Some(log), done, states, notes })
}

fn begun(clock: &SystemClock, groups_done: u32, torn_bytes: u64) -> entry::Session {
    entry::Session {
        wall_us: clock.now().wall_us,
        boot_id: boot_id(Path::new("/")).ok(),
        pid: std::process::id(),
        groups_done,
        torn_bytes,
    }
}

/// Opens the file of hidden states, where they are kept.
fn states(plan: &Plan, dir: &Path, run_id: &str) -> Result<Option<StatesWriter>, Failure> {
    if plan.config.asking.hidden_states == States::None {
        return Ok(None);
    }
    StatesWriter::open(dir, run_id, fsync(plan) != Fsync::Never).map(Some)
}

fn fsync(plan: &Plan) -> Fsync {
    match plan.config.log.sync {
        SyncChoice::Group => Fsync::EveryGroup,
        SyncChoice::Entry => Fsync::EveryEntry,
        SyncChoice::Never => Fsync::Never,
    }
}

fn disk(error: LogError) -> Failure {
    Failure::disk(error.to_string())
}

pub(crate) fn header(plan: &Plan) -> Header {
    Header {
        run_id: String::new(),
        program: format!("edge-eval {}", env!("CARGO_PKG_VERSION")),
        format: FORMAT,
        reading_version: datasets::reading::VERSION,
        config_json: plan.config.identity_json(),
        models: plan.models.iter().map(|model| model.record.clone()).collect(),
        tasks: plan.tasks.iter().map(|task| task.record.clone()).collect(),
        groups: plan.groups().count() as u32,
        device: device::facts(),
        shard: plan.shard,
        level: plan.level.clone(),
    }
}

/// Eight hexadecimal digits over all that makes a run this run.
fn identity(header: &Header) -> String {
    let same =
        Header { run_id: String::new(), device: entry::Device::default(), shard: None, ..header.clone() };
    // A header is plain data; it always has a JSON form.
    let digest = Sha256::digest(serde_json::to_vec(&same).unwrap_or_default());
    hex(&digest[..4])
}
