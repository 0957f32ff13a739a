//! Hidden states beside the log: the file whole, every record of it the record of an answer, and every scored answer with its states
//! or with the reason why it has none.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::path::Path;

use datasets::Verdict;
use models::hidden::NO_STATES;
use models::{Reply, States};

use super::check;
use crate::doctor::{Check, Level};
use crate::entry::ItemRecord;
use crate::regrade::is_regraded;
use crate::report::RunLog;
use crate::states::{Kept, Key, Place, STATES_FILE, StatesFile, wanted};

const FILE: &str = "hidden states";
const ANSWERS: &str = "states of answers";

/// What is checked of the file beside a log; nothing where a run keeps none.
pub(super) fn states(dir: &Path, run: &RunLog) -> Vec<Check> {
    let wish = wanted(&run.header);
    let file = match StatesFile::of_run(dir) {
        Ok(file) => file,
        Err(failure) => return vec![check(FILE, Level::Fail, failure.message)],
    };
    match (wish, file) {
        (States::None, None) => Vec::new(),
        (States::None, Some(file)) => {
            let what = format!("{}: the run keeps none; the file is not of it", file.path().display());
            vec![check(FILE, Level::Warn, what)]
        }
        (_, None) => vec![no_file(dir, run)],
        (wish, Some(file)) => match fault(&file, run) {
            Some(fault) => {
                vec![check(FILE, Level::Fail, format!("{}: {fault}", file.path().display()))]
            }
            None => {
                let whole = format!("{} blocks, nothing damaged or torn", file.blocks);
                vec![check(FILE, Level::Ok, whole), answers(&file, run, wish)]
            }
        },
    }
}

fn no_file(dir: &Path, run: &RunLog) -> Check {
    if is_regraded(&run.header) {
        return check(FILE, Level::Skip, "those of a regraded run lie beside the run that it was made from");
    }
    if dir.is_file() {
        return check(FILE, Level::Skip, "the log lies alone; its states are not beside it");
    }
    match scored(run).count() {
        0 => check(FILE, Level::Ok, "no file, and no answer was scored"),
        count => {
            let what = format!("the file `{STATES_FILE}` is gone: {count} scored answers have no states");
            check(FILE, Level::Fail, what)
        }
    }
}

/// What is wrong with the file by itself, and with what it says of the run.
fn fault(file: &StatesFile, run: &RunLog) -> Option<String> {
    if let Some(first) = &file.first_damage {
        return Some(format!("{} damaged stretches, the first {first}", file.damaged));
    }
    if file.torn_bytes > 0 {
        let (bytes, at) = (file.torn_bytes, file.end_of_good_bytes);
        return Some(format!("ends inside a block: {bytes} bytes behind byte {at} are no whole one"));
    }
    let is_own = |run_id: &String| {
        *run_id == run.header.run_id || run.sources.iter().any(|source| source.run_id == *run_id)
    };
    match &file.run_id {
        None => return Some("does not say of which run it is".to_owned()),
        Some(run_id) if !is_own(run_id) => return Some(format!("belongs to another run, {run_id}")),
        Some(_) => {}
    }
    file.other_model(&run.header)
}

/// Every scored reply of a run: its item, the turn, the request.
fn scored(run: &RunLog) -> impl Iterator<Item = (&ItemRecord, u16, u16)> {
    run.items.iter().flat_map(|item| {
        item.turns.iter().enumerate().flat_map(move |(turn, record)| {
            let numbered = record.replies.iter().enumerate();
            let scored = numbered.filter(|(_, reply)| matches!(reply, Reply::Scored(_)));
            scored.map(move |(request, _)| (item, turn as u16, request as u16))
        })
    })
}

fn key(item: &ItemRecord, turn: u16, request: u16) -> Key<'_> {
    (item.at.model, item.at.task, &item.item, &item.interface, turn, request)
}

fn answers(file: &StatesFile, run: &RunLog, wish: States) -> Check {
    let left = match strangers(file, run) {
        Ok(left) => left,
        Err(stranger) => return check(ANSWERS, Level::Fail, stranger),
    };
    if let Some(misfit) = misfit(file, wish) {
        return check(ANSWERS, Level::Fail, misfit);
    }
    let kept: HashSet<Key<'_>> = file.kept.iter().map(|kept| kept.place.key()).collect();
    let (mut all, mut reasons, mut bare) = (0u64, BTreeMap::<&str, u64>::new(), Vec::new());
    for (item, turn, request) in scored(run) {
        all += 1;
        if kept.contains(&key(item, turn, request)) {
            continue;
        }
        let refused =
            |(model, reason): &&(u16, String)| *model == item.at.model && reason.starts_with(NO_STATES);
        let refusal = || file.refusals.iter().find(refused).map(|(_, reason)| reason);
        match file.absent.get(&item.at.group).or_else(refusal) {
            Some(reason) => *reasons.entry(reason).or_default() += 1,
            None => bare.push((item, turn, request)),
        }
    }
    if let Some((item, turn, request)) = bare.first() {
        let what = format!(
            "{} of {all} scored answers have none, and no reason is recorded; the first: item {} through {}, turn {}, request {}",
            bare.len(),
            item.item,
            item.interface,
            u32::from(*turn) + 1,
            u32::from(*request) + 1
        );
        return check(ANSWERS, Level::Fail, what);
    }
    let mut what = match reasons.is_empty() {
        true => format!("{all} scored answers, each has its own"),
        false => {
            let told: Vec<String> =
                reasons.iter().map(|(reason, count)| format!("{count} have none ({reason})")).collect();
            format!("of {all} scored answers {}", told.join(", "))
        }
    };
    if left > 0 {
        what.push_str(&format!("; {left} more are left of groups that were begun and are run again"));
    }
    check(ANSWERS, if reasons.is_empty() { Level::Ok } else { Level::Warn }, what)
}

/// How many records are left of groups that did not come to their end, or of answers that were lost when a group was run again. `Err`
/// names a record that belongs to no answer.
fn strangers(file: &StatesFile, run: &RunLog) -> Result<u64, String> {
    let items: HashMap<(u16, u16, &str, &str), &ItemRecord> = run
        .items
        .iter()
        .map(|item| ((item.at.model, item.at.task, item.item.as_str(), item.interface.as_str()), item))
        .collect();
    let there: BTreeSet<Key<'_>> =
        scored(run).map(|(item, turn, request)| key(item, turn, request)).collect();
    let mut left = 0;
    for Kept { place, .. } in &file.kept {
        let item = items.get(&(place.model, place.task, place.item.as_str(), place.interface.as_str()));
        let is_own = item.is_some_and(|item| item.at.group == place.group);
        if is_own && there.contains(&place.key()) {
            continue;
        }
        let is_lost = is_own && item.is_some_and(|item| matches!(item.verdict, Verdict::Lost(_)));
        let is_open = place.group < run.header.groups && !run.groups.contains_key(&place.group);
        if !is_lost && !is_open {
            return Err(format!("{} belongs to no scored answer of the log", named(place)));
        }
        left += 1;
    }
    Ok(left)
}

/// Records of one model that are not alike, or not what the run was to keep.
fn misfit(file: &StatesFile, wish: States) -> Option<String> {
    let mut shapes: BTreeMap<u16, &Place> = BTreeMap::new();
    for Kept { place, .. } in &file.kept {
        let first = *shapes.entry(place.model).or_insert(place);
        let (now, then) = (place.exponents.len(), first.exponents.len());
        if (now, place.dimension) != (then, first.dimension) {
            return Some(format!(
                "{} has {now} states of {} numbers, {} has {then} of {}",
                named(place),
                place.dimension,
                named(first),
                first.dimension
            ));
        }
        if wish == States::Final && now != 1 {
            return Some(format!("{} has {now} states where the final one alone is kept", named(place)));
        }
    }
    let width = |model: &u16| shapes.get(model).map(|place| place.dimension as usize);
    let fits = |model: &u16, count: usize| count == 0 || width(model).is_none_or(|width| width == count);
    for (model, norm) in &file.norms {
        if !fits(model, norm.weight.len()) || !fits(model, norm.bias.len()) {
            return Some(format!("the final norm of model {model} is not as wide as its states"));
        }
    }
    let row = file.rows.iter().find(|((model, _), row)| !fits(model, row.dimension as usize));
    row.map(|((model, token), _)| {
        format!("the row of token {token} of model {model}'s projection is not as wide as its states")
    })
}

fn named(place: &Place) -> String {
    let (turn, request) = (u32::from(place.turn) + 1, u32::from(place.request) + 1);
    format!(
        "the record of item {} through {} (model {}, task {}, group {}), turn {turn}, request {request},",
        place.item, place.interface, place.model, place.task, place.group
    )
}
