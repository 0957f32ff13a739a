//! Joins the files of hidden states beside the logs: of every group the states that any log with that group has, each place
//! once. Memory holds the files' indices, the states of one place at a time, and nothing of the rest.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;

use models::{Readout, States};

use super::census::Census;
use super::few;
use crate::entry::Header;
use crate::exit::{Exit, Failure};
use crate::states::{Kept, Key, Place, STATES_FILE, StatesFile, StatesWriter, wanted};

/// What the files hold together, checked and not yet written.
pub(super) struct Joint {
    files: Vec<StatesFile>,
    /// The states that are kept: which file, and which of its own; in the order in which they are written.
    chosen: Vec<(usize, usize)>,
    /// Groups without states, by reason.
    absent: BTreeMap<String, Vec<u32>>,
    /// What people should know, one line each.
    pub(super) notes: Vec<String>,
}

impl Joint {
    /// Opens the files beside the logs and holds them against each other; `None` where the runs keep no states.
    pub(super) fn of(census: &[Census], owners: &BTreeMap<u32, usize>) -> Result<Option<Joint>, Failure> {
        if census.first().is_none_or(|first| wanted(&first.header) == States::None) {
            return Ok(None);
        }
        let (mut files, mut logs): (Vec<StatesFile>, Vec<&Census>) = (Vec::new(), Vec::new());
        let mut of_census = Vec::new();
        let (mut notes, mut bare) = (Vec::new(), Vec::new());
        for one in census {
            let file = StatesFile::of_run(&one.dir)?;
            of_census.push(file.as_ref().map(|_| files.len()));
            let Some(file) = file else {
                bare.push(one.dir.display().to_string());
                continue;
            };
            belongs(&file, one)?;
            notes.extend(damage(&file));
            files.push(file);
            logs.push(one);
        }
        if !bare.is_empty() {
            let (no, of) = (bare.len(), census.len());
            notes.push(format!("{no} of {of} logs have no file `{STATES_FILE}` beside them: {}", few(&bare)));
        }
        let file_of = |index: usize| of_census[index].map(|file| &files[file]);
        let absent = absent(census, owners, &file_of);
        if !absent.is_empty() {
            let groups: BTreeSet<u32> = absent.values().flatten().copied().collect();
            let listed: Vec<String> = groups.iter().map(u32::to_string).collect();
            notes.push(format!(
                "{} of {} groups have no hidden states in any of the logs' files: {}",
                groups.len(),
                owners.len(),
                few(&listed)
            ));
        }
        // What a crash left of a group that is not complete may belong to other answers.
        let counts = |file: usize, kept: &Kept| logs[file].groups.contains_key(&kept.place.group);
        let chosen = choose(&files, &counts, &census[0].header)?;
        ends_agree(&files)?;
        Ok(Some(Joint { files, chosen, absent, notes }))
    }

    /// Places that have states.
    pub(super) fn len(&self) -> u64 {
        self.chosen.len() as u64
    }

    /// Writes the states into a folder, under the identity of the merged run.
    pub(super) fn write(&self, dir: &Path, header: &Header) -> Result<(), Failure> {
        let mut writer = StatesWriter::open(dir, &header.run_id, true)?;
        for file in &self.files {
            for (model, readout) in readouts(file) {
                if let Some(record) = header.models.get(usize::from(model)) {
                    writer.readout(model, record, &readout)?;
                }
            }
        }
        for (reason, groups) in &self.absent {
            writer.absent(groups, reason)?;
        }
        for &(file, kept) in &self.chosen {
            let (file, kept) = (&self.files[file], &self.files[file].kept[kept]);
            let states = file.states(kept).map_err(|error| unreadable(file, &error))?;
            writer.item(kept.place.clone(), &states)?;
        }
        writer.end_group()
    }
}

/// Refuses a file that is of another run than its log, or of other models.
fn belongs(file: &StatesFile, one: &Census) -> Result<(), Failure> {
    let path = file.path().display();
    let own = |run_id: &String| *run_id == one.header.run_id || one.run_ids().contains(&run_id.as_str());
    if !file.run_id.as_ref().is_some_and(own) {
        return Err(mismatch(format!("{path}: belongs to another run than the log beside it")));
    }
    match file.other_model(&one.header) {
        Some(fault) => Err(mismatch(format!("{path}: {fault}"))),
        None => Ok(()),
    }
}

fn damage(file: &StatesFile) -> Option<String> {
    let first = file.first_damage.as_ref()?;
    Some(format!(
        "{}: {} damaged stretches are left out, the first {first}",
        file.path().display(),
        file.damaged
    ))
}

/// Groups whose states no log has, by the reason that is known.
fn absent<'a>(
    census: &[Census],
    owners: &BTreeMap<u32, usize>,
    file_of: &dyn Fn(usize) -> Option<&'a StatesFile>,
) -> BTreeMap<String, Vec<u32>> {
    let mut absent: BTreeMap<String, Vec<u32>> = BTreeMap::new();
    for (&group, &owner) in owners {
        let tells = |index: usize| {
            census[index].groups.contains_key(&group)
                && file_of(index).is_some_and(|file| !file.absent.contains_key(&group))
        };
        if (0..census.len()).any(tells) {
            continue;
        }
        let told = file_of(owner).and_then(|file| file.absent.get(&group).cloned());
        let reason = told.unwrap_or_else(|| {
            format!("no file `{STATES_FILE}` lay beside the log of {}", census[owner].header.run_id)
        });
        absent.entry(reason).or_default().push(group);
    }
    absent
}

/// Which states are kept: of each place the first. Refused where another file has it otherwise, or where states of one model
/// differ in their shape.
fn choose(
    files: &[StatesFile],
    counts: &dyn Fn(usize, &Kept) -> bool,
    header: &Header,
) -> Result<Vec<(usize, usize)>, Failure> {
    let mut chosen: Vec<(usize, usize)> = Vec::new();
    let mut seen: HashMap<Key<'_>, (usize, usize)> = HashMap::new();
    let mut shapes: BTreeMap<u16, (usize, &Place)> = BTreeMap::new();
    for (index, file) in files.iter().enumerate() {
        for (number, kept) in file.kept.iter().enumerate().filter(|(_, kept)| counts(index, kept)) {
            let place = &kept.place;
            let (first, shape) = *shapes.entry(place.model).or_insert((index, place));
            if sizes(shape) != sizes(place) {
                return Err(mismatch(format!(
                    "{} and {} do not hold states of one kind: {} has {}, {} has {}: leave one of them out",
                    files[first].path().display(),
                    file.path().display(),
                    named(shape, header),
                    in_words(shape),
                    named(place, header),
                    in_words(place)
                )));
            }
            let Some(&(earlier, held)) = seen.get(&place.key()) else {
                seen.insert(place.key(), (index, number));
                chosen.push((index, number));
                continue;
            };
            let other = &files[earlier];
            let ours = file.states(kept).map_err(|error| unreadable(file, &error))?;
            let theirs = other.states(&other.kept[held]).map_err(|error| unreadable(other, &error))?;
            if ours != theirs {
                return Err(mismatch(format!(
                    "{} and {} hold different hidden states of {}: leave one of the runs out, or `compare` them",
                    other.path().display(),
                    file.path().display(),
                    named(place, header)
                )));
            }
        }
    }
    Ok(chosen)
}

/// Refuses files whose models end otherwise: in another norm, or in other rows of the projection.
fn ends_agree(files: &[StatesFile]) -> Result<(), Failure> {
    let (mut norms, mut rows) = (BTreeMap::new(), BTreeMap::new());
    let differ = |first: &StatesFile, file: &StatesFile, what: String| {
        let (first, file) = (first.path().display(), file.path().display());
        Err(mismatch(format!(
            "{first} and {file} hold different numbers for {what}: leave one of the runs out"
        )))
    };
    for file in files {
        for (model, norm) in &file.norms {
            let (first, known) = norms.entry(*model).or_insert((file, norm));
            if *known != norm {
                return differ(first, file, format!("the final norm of model {model}"));
            }
        }
        for (key, row) in &file.rows {
            let (first, known) = rows.entry(*key).or_insert((file, row));
            if *known != row {
                let (model, token) = key;
                return differ(first, file, format!("the projection of token {token} of model {model}"));
            }
        }
    }
    Ok(())
}

/// What a file says of its models' ends, model by model.
fn readouts(file: &StatesFile) -> BTreeMap<u16, Readout> {
    let mut all: BTreeMap<u16, Readout> = BTreeMap::new();
    for (model, norm) in &file.norms {
        all.entry(*model).or_default().norm = Some(norm.clone());
    }
    for ((model, token), row) in &file.rows {
        all.entry(*model).or_default().rows.push(models::OutputRow { token: *token, row: row.clone() });
    }
    for (model, reason) in &file.refusals {
        all.entry(*model).or_default().refusals.push(reason.clone());
    }
    all
}

fn sizes(place: &Place) -> (u32, usize) {
    (place.dimension, place.exponents.len())
}

fn in_words(place: &Place) -> String {
    format!("{} states of {} numbers", place.exponents.len(), place.dimension)
}

/// A place for people: `item q3 through direct (model m, task file), turn 1, request 1`.
fn named(place: &Place, header: &Header) -> String {
    let model = header.models.get(usize::from(place.model)).map_or("?", |model| model.name.as_str());
    let task = header.tasks.get(usize::from(place.task)).map_or("?", |task| task.name.as_str());
    format!(
        "item {} through {} (model {model}, task {task}), turn {}, request {}",
        place.item,
        place.interface,
        u32::from(place.turn) + 1,
        u32::from(place.request) + 1
    )
}

fn unreadable(file: &StatesFile, error: &std::io::Error) -> Failure {
    Failure::disk(format!("{}: {error}", file.path().display()))
}

fn mismatch(message: String) -> Failure {
    Failure::new(Exit::Mismatch, message)
}
