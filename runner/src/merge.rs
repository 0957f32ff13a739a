//! Joins logs of one plan that several machines, or several attempts, have worked on.
//!
//! The unit is the group. A group that two logs have must have been answered alike; times may differ. Memory holds one
//! group at a time, whatever the logs hold. Hidden states beside the logs are joined too. The merged run appears whole or not at all.

mod census;
mod states;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use models::gguf::hex;
use sha2::{Digest, Sha256};

use census::{Census, take};
use states::Joint;

use crate::entry::{Complete, Device, Entry, FORMAT, GroupEnd, Header, ItemRecord};
use crate::exit::{Exit, Failure};
use crate::log::{Fsync, LOG_FILE, Lock, Log, LogError, Reader, file_of, sync_dir};
use crate::plan::difference;
use crate::states::STATES_FILE;

/// Groups or folders that a message lists.
const LISTED: usize = 5;
/// Where a merged run is written, in its folder, before it takes its place.
const UNFINISHED: &str = "merging.new";

/// What came of merging.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Merged {
    /// Groups in the merged log.
    pub groups: usize,
    /// Groups that are in none of the logs.
    pub missing: Vec<u32>,
    /// Groups that more than one log had, answered alike.
    pub duplicates: usize,
    /// Answers that have hidden states, where the runs keep them.
    pub states: Option<u64>,
    /// What people should know, one line each.
    pub notes: Vec<String>,
}

/// Merges the logs of run folders into a new folder.
pub fn merge(runs: &[PathBuf], target: &Path) -> Result<Merged, Failure> {
    vacant(target)?;
    let mut census: Vec<Census> = runs.iter().map(|dir| take(dir)).collect::<Result<_, _>>()?;
    // In an order of their own, so that the order of the arguments makes no other log.
    census.sort_by(|a, b| a.header.run_id.cmp(&b.header.run_id).then_with(|| a.dir.cmp(&b.dir)));
    let Some(first) = census.first() else { return Err(Failure::usage("name at least one run")) };
    for other in &census[1..] {
        if let Some(difference) = difference(&plan_of(&first.header), &plan_of(&other.header)) {
            return Err(Failure::new(
                Exit::Mismatch,
                format!(
                    "{} and {} are not of one plan: {difference}",
                    first.dir.display(),
                    other.dir.display()
                ),
            ));
        }
    }
    let owners = owners(&census)?;
    let planned = first.header.groups;
    let duplicates = census.iter().map(|one| one.groups.len()).sum::<usize>() - owners.len();
    let missing: Vec<u32> = (0..planned).filter(|group| !owners.contains_key(group)).collect();
    let mut joint = Joint::of(&census, &owners)?;
    let header = merged_header(&census);
    place(target, joint.is_some(), &|dir| {
        if let Some(joint) = &joint {
            joint.write(dir, &header)?;
        }
        write(&census, &owners, dir, &header, missing.is_empty())
    })?;
    let states = joint.as_ref().map(Joint::len);
    let notes = joint.as_mut().map(|joint| std::mem::take(&mut joint.notes)).unwrap_or_default();
    Ok(Merged { groups: owners.len(), missing, duplicates, states, notes })
}

fn vacant(target: &Path) -> Result<(), Failure> {
    if !target.join(LOG_FILE).exists() {
        return Ok(());
    }
    Err(Failure::new(
        Exit::Mismatch,
        format!("{}: holds a run already: name another folder with -o", target.display()),
    ))
}

/// Lets a run be written into a folder of its own inside the target, and then takes its files to their place, the log last: it
/// makes the folder a run. Half a merged log would look like a run that was interrupted.
fn place(
    target: &Path,
    with_states: bool,
    write: &dyn Fn(&Path) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let failed = |path: &Path, error: std::io::Error| Failure::disk(format!("{}: {error}", path.display()));
    std::fs::create_dir_all(target).map_err(|error| failed(target, error))?;
    let _lock = Lock::acquire(target).map_err(disk)?;
    vacant(target)?;
    let unfinished = target.join(UNFINISHED);
    // Nobody else writes here, the lock is held: this is what a crash left of an earlier attempt.
    if unfinished.exists() {
        std::fs::remove_dir_all(&unfinished).map_err(|error| failed(&unfinished, error))?;
    }
    let done = std::fs::create_dir(&unfinished).map_err(|error| failed(&unfinished, error)).and_then(|()| {
        write(&unfinished)?;
        for name in with_states.then_some(STATES_FILE).into_iter().chain([LOG_FILE]) {
            let path = target.join(name);
            std::fs::rename(unfinished.join(name), &path).map_err(|error| failed(&path, error))?;
        }
        // The files' own entries, and that of the folder, which may be new too.
        let mut dirs = [Some(target), target.parent()].into_iter().flatten();
        dirs.try_for_each(|dir| sync_dir(dir).map_err(|error| failed(dir, error)))
    });
    let _ = std::fs::remove_dir_all(&unfinished);
    done
}

/// A header without the part of the plan that a shard is: shards of one plan belong together.
fn plan_of(header: &Header) -> Header {
    Header { shard: None, ..header.clone() }
}

/// Which log gives which group: the first that has it, in the order of the logs' identities. Refused where a second one has it otherwise.
fn owners(census: &[Census]) -> Result<BTreeMap<u32, usize>, Failure> {
    let mut owners: BTreeMap<u32, usize> = BTreeMap::new();
    let mut conflicts = Vec::new();
    for (index, one) in census.iter().enumerate() {
        for (group, found) in &one.groups {
            let owner = *owners.entry(*group).or_insert(index);
            let held = census.get(owner).and_then(|census| census.groups.get(group));
            if held.is_some_and(|held| held.answers != found.answers) {
                conflicts.push((*group, owner, index));
            }
        }
    }
    if conflicts.is_empty() {
        return Ok(owners);
    }
    let listed: Vec<String> = conflicts.iter().map(|(group, _, _)| group.to_string()).collect();
    let (group, one, other) = conflicts[0];
    let (one, other) = (&census[one].dir, &census[other].dir);
    let item = census::first_difference(one, other, group)?.unwrap_or_default();
    Err(Failure::new(
        Exit::Mismatch,
        format!(
            "{} groups were answered differently in two logs (groups {}); the first difference, in {} and {}: {item}: \
             leave one of them out, or `compare` them",
            conflicts.len(),
            few(&listed),
            one.display(),
            other.display()
        ),
    ))
}

/// The first of these, for a message.
fn few(words: &[String]) -> String {
    let more = if words.len() > LISTED { ", ..." } else { "" };
    format!("{}{more}", words[..words.len().min(LISTED)].join(", "))
}

fn write(
    census: &[Census],
    owners: &BTreeMap<u32, usize>,
    target: &Path,
    header: &Header,
    all: bool,
) -> Result<(), Failure> {
    let header = Entry::Header(Box::new(header.clone()));
    let mut log = Log::create(target, &header, Fsync::EveryGroup).map_err(disk)?;
    log.append(&header).map_err(disk)?;
    let mut complete: Option<Complete> = None;
    for (index, one) in census.iter().enumerate() {
        let groups: BTreeSet<u32> =
            owners.iter().filter(|(_, owner)| **owner == index).map(|(group, _)| *group).collect();
        // A log that adds nothing is not part of the result: merging once more changes nothing.
        if groups.is_empty() {
            continue;
        }
        for source in one.sources_of(&groups) {
            log.append(&Entry::Source(source)).map_err(disk)?;
        }
        copy(one, &groups, &mut log, &mut complete)?;
    }
    // Complete is the merged run only when nothing is missing from it.
    if let Some(complete) = complete.filter(|_| all) {
        log.append(&Entry::Complete(complete)).map_err(disk)?;
    }
    log.close().map_err(disk)
}

/// Copies a log's own groups, and what it says of its processes.
fn copy(
    one: &Census,
    groups: &BTreeSet<u32>,
    log: &mut Log<Entry>,
    complete: &mut Option<Complete>,
) -> Result<(), Failure> {
    let mut open: BTreeMap<u32, Vec<Entry>> = BTreeMap::new();
    for record in Reader::<Entry>::open(&file_of(&one.dir)).map_err(disk)? {
        let Ok(record) = record else { continue };
        match record.entry {
            Entry::Header(_) | Entry::Source(_) => {}
            Entry::GroupStart(at) => drop(open.insert(at.group, vec![Entry::GroupStart(at)])),
            Entry::Item(item) => open.entry(item.at.group).or_default().push(Entry::Item(item)),
            Entry::Pictures(pictures) => {
                open.entry(pictures.at.group).or_default().push(Entry::Pictures(pictures));
            }
            Entry::GroupEnd(end) => {
                let entries = open.remove(&end.at.group).unwrap_or_default();
                let counts = one.groups.get(&end.at.group).is_some_and(|found| found.end_seq == record.seq);
                if groups.contains(&end.at.group) && counts {
                    for entry in entries.iter().chain([&Entry::GroupEnd(end)]) {
                        log.append(entry).map_err(disk)?;
                    }
                }
            }
            Entry::Complete(own) => *complete = Some(joined(*complete, own)),
            // The sample of a group that comes from another log comes from there too.
            Entry::Alone(alone) if !groups.contains(&alone.at.group) => {}
            Entry::Window(window) if window.group.is_some_and(|at| !groups.contains(&at.group)) => {}
            other => drop(log.append(&other).map_err(disk)?),
        }
    }
    Ok(())
}

/// Times add up; of memory the highest counts.
fn joined(complete: Option<Complete>, own: Complete) -> Complete {
    let Some(so_far) = complete else { return own };
    Complete {
        session_us: so_far.session_us + own.session_us,
        library_us: so_far.library_us + own.library_us,
        supervisor_peak_bytes: so_far.supervisor_peak_bytes.max(own.supervisor_peak_bytes),
        worker_peak_bytes: so_far.worker_peak_bytes.max(own.worker_peak_bytes),
    }
}

/// The header of the merged run: its identity comes from what it was merged from, so that the same logs give the same
/// run.
fn merged_header(census: &[Census]) -> Header {
    let mut hash = Sha256::new();
    let ids: BTreeSet<&str> = census.iter().flat_map(Census::run_ids).collect();
    ids.iter().for_each(|id| {
        hash.update(id.as_bytes());
        hash.update(b"\n");
    });
    let first = plan_of(&census[0].header);
    let same = census.iter().all(|one| one.header.device == first.device);
    let several = Device { model: "several machines".to_owned(), ..Device::default() };
    Header {
        run_id: format!("merged-{}", hex(&hash.finalize()[..6])),
        format: FORMAT,
        device: if same { first.device.clone() } else { several },
        ..first
    }
}

/// An item without what differs between two machines that answer alike: times, attempts.
fn timeless(item: &ItemRecord) -> ItemRecord {
    let mut item = item.clone();
    item.tries = 1;
    (item.usage.prefill_us, item.usage.decode_us, item.usage.encode_us) = (0, 0, 0);
    for reply in item.turns.iter_mut().flat_map(|turn| &mut turn.replies) {
        match reply {
            models::Reply::Scored(models::Scored { usage, .. })
            | models::Reply::Generated(models::Generated { usage, .. })
            | models::Reply::Failed { usage, .. } => (usage.prefill_us, usage.decode_us) = (0, 0),
            models::Reply::TooLong { .. } => {}
        }
    }
    item
}

/// Identity of what a group was answered.
fn answers(items: &[ItemRecord], end: &GroupEnd) -> Result<[u8; 32], Failure> {
    let mut hash = Sha256::new();
    hash.update(end.items.to_le_bytes());
    for item in items {
        let bytes = postcard::to_stdvec(&timeless(item))
            .map_err(|error| Failure::new(Exit::Failed, format!("item {}: {error}", item.item)))?;
        hash.update((bytes.len() as u64).to_le_bytes());
        hash.update(bytes);
    }
    Ok(hash.finalize().into())
}

fn disk(error: LogError) -> Failure {
    Failure::disk(error.to_string())
}
