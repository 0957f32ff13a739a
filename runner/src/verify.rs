//! Checks a run against itself: frames, headers, hashes, what was planned and what is there, sums, grades, and hidden states.

mod states;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use datasets::{Condition, Item, Verdict};
use models::Usage;
use models::gguf::{Header as ModelHeader, hex, sha256_file};
use sha2::{Digest, Sha256};

use crate::doctor::{Check, Level};
use crate::entry::{Entry, ItemRecord};
use crate::exit::Failure;
use crate::log::{Reader, file_of};
use crate::material::Choices;
use crate::regrade::{Regrader, regrade};
use crate::report::RunLog;

/// Checks the run of a folder; `with_models`: hash its model files too, where they are.
pub fn verify(dir: &Path, with_models: bool) -> Result<Vec<Check>, Failure> {
    let run = RunLog::read(dir)?;
    let mut checks = vec![frames(&run), headers(dir, &run)?, groups(&run), templates(&run), sums(&run)];
    checks.extend(items(&run));
    checks.extend(states::states(dir, &run));
    if with_models {
        checks.extend(run.header.models.iter().map(model));
    }
    Ok(checks)
}

fn check(name: &str, level: Level, finding: impl Into<String>) -> Check {
    Check { name: name.to_owned(), level, finding: finding.into(), remedy: None }
}

fn frames(run: &RunLog) -> Check {
    let level = if run.summary.is_whole() { Level::Ok } else { Level::Fail };
    check("frames", level, run.summary.to_string())
}

/// The header is written twice; both must say the same.
fn headers(dir: &Path, run: &RunLog) -> Result<Check, Failure> {
    let mut copies = 0u64;
    let reader = Reader::<Entry>::open(&file_of(dir)).map_err(|error| Failure::disk(error.to_string()))?;
    for record in reader.flatten() {
        let Entry::Header(header) = record.entry else { continue };
        copies += 1;
        if *header != run.header {
            return Ok(check(
                "headers",
                Level::Fail,
                format!("entry {} is another header than the first", record.seq),
            ));
        }
    }
    Ok(check("headers", Level::Ok, format!("{copies}, alike")))
}

fn groups(run: &RunLog) -> Check {
    let (done, planned) = (run.groups.len() as u64, u64::from(run.header.own_groups()));
    let finding = format!("{done} of {planned}");
    match run.complete {
        Some(_) => check("groups", Level::Ok, finding),
        None if done == planned => {
            check("groups", Level::Warn, format!("{finding}, but the run's last entry is missing"))
        }
        None => check("groups", Level::Warn, format!("{finding}: the run is not complete")),
    }
}

fn templates(run: &RunLog) -> Check {
    let wrong = run.header.models.iter().find(|model| {
        !model.template.is_empty() && hex(&Sha256::digest(model.template.as_bytes())) != model.template_sha256
    });
    match wrong {
        Some(model) => {
            check("templates", Level::Fail, format!("{}: the template's SHA-256 is another", model.name))
        }
        None => check("templates", Level::Ok, "as their hashes say"),
    }
}

/// Tokens and times of an item are those of its replies.
fn sums(run: &RunLog) -> Check {
    let wrong = run.items.iter().filter(|item| !matches!(item.verdict, Verdict::Lost(_))).find(|item| {
        let mut usage = Usage::default();
        item.turns.iter().flat_map(|turn| &turn.replies).for_each(|reply| usage += reply.usage());
        usage != item.usage
    });
    match wrong {
        Some(item) => {
            let what = format!("item {} through {}: not the sum of its replies", item.item, item.interface);
            check("tokens and times", Level::Fail, what)
        }
        None => check("tokens and times", Level::Ok, "sums of the replies'"),
    }
}

/// What needs the items made anew: their hash, which of them are in the log, and their grades.
fn items(run: &RunLog) -> Vec<Check> {
    let regrader = match Regrader::of(&run.header) {
        Ok(regrader) => regrader,
        Err(failure) => {
            let ours = format!("edge-eval {}", env!("CARGO_PKG_VERSION"));
            // Another version makes other items by right.
            let level = if run.header.program == ours { Level::Fail } else { Level::Skip };
            return vec![check("items", level, failure.to_string())];
        }
    };
    vec![check("items", Level::Ok, "made anew, as their hashes say"), presence(run), grades(run, &regrader)]
}

type Key<'a> = (u16, u16, &'a str, &'a str);

/// Every item is there once per model and interface, and no other.
fn presence(run: &RunLog) -> Check {
    fn key(item: &ItemRecord) -> Key<'_> {
        (item.at.model, item.at.task, &item.item, &item.interface)
    }
    let mut there: BTreeSet<Key<'_>> = BTreeSet::new();
    if let Some(twice) = run.items.iter().find(|item| !there.insert(key(item))) {
        let what = format!("item {} through {} is there twice", twice.item, twice.interface);
        return check("presence", Level::Fail, what);
    }
    let Ok(choices) = Choices::of(&run.header) else {
        return check("presence", Level::Skip, "the configuration is of another version");
    };
    let made: Vec<Vec<Item>> = (0..run.header.tasks.len())
        .map(|index| choices.items(&run.header, index).unwrap_or_default())
        .collect();
    let mut missing = 0u64;
    for ((index, task), items) in run.header.tasks.iter().enumerate().zip(&made) {
        for (name, condition) in
            task.interfaces.iter().filter_map(|name| Some((name, Condition::named(name)?)))
        {
            for item in items.iter().filter(|item| condition.fits(item)) {
                for model in 0..run.header.models.len() {
                    missing += u64::from(!there.remove(&(model as u16, index as u16, &item.id, name)));
                }
            }
        }
    }
    if let Some((_, _, item, interface)) = there.first() {
        let what =
            format!("{} entries were not planned, the first: item {item} through {interface}", there.len());
        return check("presence", Level::Fail, what);
    }
    // A shard has its share.
    match (missing, run.complete.is_some() && run.header.shard.is_none()) {
        (0, _) => check("presence", Level::Ok, format!("{} entries, each once", run.items.len())),
        (_, true) => check("presence", Level::Fail, format!("{missing} planned entries are missing")),
        (_, false) => check("presence", Level::Warn, format!("{missing} planned entries are not there yet")),
    }
}

fn grades(run: &RunLog, regrader: &Regrader) -> Check {
    let outcome = match regrade(run, regrader) {
        Ok(outcome) => outcome,
        Err(failure) => return check("grades", Level::Fail, failure.to_string()),
    };
    let now = format!("{} answers read again", outcome.read);
    let changed = outcome.changes.len();
    match outcome.changes.first() {
        None => check("grades", Level::Ok, format!("{now}, as recorded")),
        Some(first) => {
            let what = format!(
                "{now}, {changed} come out otherwise, the first: {} / {} / {}: {} -> {}",
                first.task, first.interface, first.item, first.verdict_before, first.verdict_now
            );
            // A newer extraction policy may read otherwise.
            let level = if outcome.reading_before == outcome.reading_now { Level::Fail } else { Level::Warn };
            check("grades", level, what)
        }
    }
}

fn model(model: &crate::entry::ModelRecord) -> Check {
    let name = format!("model {}", model.name);
    if model.sha256.is_empty() {
        return check(&name, Level::Skip, "has no file");
    }
    let hash = || -> Result<String, String> {
        let path: PathBuf =
            crate::plan::resolve(Path::new(&model.path)).map_err(|failure| failure.to_string())?;
        let header = ModelHeader::open(&path).map_err(|error| error.to_string())?;
        let hashes: Result<Vec<String>, _> =
            header.files().iter().map(|file| sha256_file(file, &mut |_| ())).collect();
        hashes.map(|hashes| hashes.join("+")).map_err(|error| error.to_string())
    };
    match hash() {
        Ok(found) if found == model.sha256 => check(&name, Level::Ok, "the file is the one that was asked"),
        Ok(_) => check(
            &name,
            Level::Fail,
            format!("{}: the file has changed since: its SHA-256 is another", model.path),
        ),
        Err(reason) => check(&name, Level::Skip, format!("cannot be checked: {reason}")),
    }
}
