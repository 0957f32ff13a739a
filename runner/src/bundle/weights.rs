//! Weights of a started bundle: unpacked once and used again, or found beside it.

use std::fs::{File, OpenOptions};
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use models::gguf::{Header, hex, sha256_file};
use serde::{Deserialize, Serialize};

use super::places::unwritable;
use super::{BundledModel, WeightFile, refused};
use crate::config::ModelChoice;
use crate::exit::Failure;
use crate::log::free_bytes;
use crate::memory::in_words;
use crate::parcel::Parcel;
use crate::plan::PlannedModel;

/// What is left free beside unpacked weights: the log and the page need some.
const MARGIN_BYTES: u64 = 16 << 20;

/// Names the account of what was checked, beside the weights.
const ACCOUNT: &str = "checked.json";

/// What was checked of an unpacked file, and how it looked then.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Checked {
    name: String,
    bytes: u64,
    modified_ns: u128,
    sha256: String,
}

/// Gives the folder with the files of a model that a bundle carries: unpacks what is not there yet, into the first of `places` that
/// has room. A copy that is there is used when it looks as it did when it was checked, or else when its hash is right.
pub fn unpack(
    parcel: &Parcel,
    model: &BundledModel,
    places: &[PathBuf],
    say: &mut dyn FnMut(&str),
) -> Result<PathBuf, Failure> {
    let mut key: String = model.sha256().unwrap_or_default().chars().take(16).collect();
    if let Some(hash) = model.mmproj.as_ref().and_then(|file| file.sha256.as_deref()) {
        key.extend(hash.chars().take(8));
    }
    let mut reasons = Vec::new();
    // A copy in any place is better than a new one in the best.
    for place in places {
        let folder = place.join(&key);
        if model.all_files().all(|file| is_whole(&folder, file, say)) {
            say(&format!("weights: {} (unpacked before, checked)", folder.display()));
            return Ok(folder);
        }
    }
    for place in places {
        match into(parcel, model, &place.join(&key), say) {
            Ok(()) => return Ok(place.join(&key)),
            Err(Refusal::Here(reason)) => reasons.push(format!("{}: {reason}", place.display())),
            Err(Refusal::Whole(failure)) => return Err(failure),
        }
    }
    Err(Failure::disk(format!(
        "no room to unpack {} of weights ({}): free some, or name a folder with room in XDG_CACHE_HOME",
        in_words(model.bytes()),
        reasons.join("; ")
    )))
}

/// Why weights are not unpacked.
enum Refusal {
    /// Not in this folder.
    Here(String),
    /// Nowhere.
    Whole(Failure),
}

fn into(
    parcel: &Parcel,
    model: &BundledModel,
    folder: &Path,
    say: &mut dyn FnMut(&str),
) -> Result<(), Refusal> {
    let here = |error: std::io::Error| Refusal::Here(error.to_string());
    std::fs::create_dir_all(folder).map_err(here)?;
    if let Some(error) = unwritable(folder) {
        return Err(here(error));
    }
    // Two bundles may carry the same weights and be started at once. The lock ends with the process.
    let lock = OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(false)
        .open(folder.join("lock"))
        .map_err(here)?;
    if lock.try_lock().is_err() {
        say(&format!("{}: another process unpacks these weights: waiting for it", folder.display()));
        lock.lock().map_err(here)?;
    }
    let missing: Vec<&WeightFile> = model.all_files().filter(|file| !is_whole(folder, file, say)).collect();
    for file in &missing {
        // What an earlier start left takes room that is needed now.
        let _ = std::fs::remove_file(part(folder, file));
    }
    let needed: u64 = missing.iter().filter_map(|file| file.bytes).sum();
    match free_bytes(folder) {
        Ok(free) if free < needed.saturating_add(MARGIN_BYTES) => {
            let _ = std::fs::remove_file(folder.join("lock"));
            let _ = std::fs::remove_dir(folder);
            return Err(Refusal::Here(format!(
                "{} free, where {} are needed beside them for log and page",
                in_words(free),
                in_words(MARGIN_BYTES)
            )));
        }
        // Where the system does not tell, writing will.
        _ => {}
    }
    for file in missing {
        write(parcel, file, folder, say)?;
    }
    Ok(())
}

fn write(
    parcel: &Parcel,
    file: &WeightFile,
    folder: &Path,
    say: &mut dyn FnMut(&str),
) -> Result<(), Refusal> {
    let whole = |failure: Failure| Refusal::Whole(failure);
    let Some(member) = &file.member else {
        return Err(whole(Failure::input(format!("{}: not in the bundle", file.name))));
    };
    let packed = parcel.member(member).map(|member| hex(&member.sha256));
    if packed.is_none() || packed != file.sha256 {
        return Err(whole(Failure::input(format!(
            "{}: its manifest and its index differ about {}: make the bundle anew",
            parcel.path().display(),
            file.name
        ))));
    }
    let (part, target) = (part(folder, file), folder.join(&file.name));
    say(&format!("unpacking {} ({}) to {}", file.name, in_words(file.bytes.unwrap_or(0)), folder.display()));
    let mut out = File::create(&part).map_err(|error| Refusal::Here(error.to_string()))?;
    let copied = parcel.copy(member, &mut out, &mut |_| ());
    let done = match copied {
        Err(error) => Err(whole(refused(error))),
        Ok(written) => written
            .and_then(|()| out.sync_all())
            .and_then(|()| std::fs::rename(&part, &target))
            .map_err(|error| Refusal::Here(error.to_string())),
    };
    if done.is_err() {
        let _ = std::fs::remove_file(&part);
        return done;
    }
    remember(folder, file);
    Ok(())
}

fn part(folder: &Path, file: &WeightFile) -> PathBuf {
    folder.join(format!("{}.part", file.name))
}

/// Whether an unpacked file is there and right.
fn is_whole(folder: &Path, file: &WeightFile, say: &mut dyn FnMut(&str)) -> bool {
    let path = folder.join(&file.name);
    let (Some(looks), Some(sha256)) = (looks(&path, file), &file.sha256) else { return false };
    if file.bytes.is_some_and(|bytes| bytes != looks.bytes) {
        return false;
    }
    if account(folder).contains(&looks) {
        return true;
    }
    say(&format!("{}: checking it again, it changed since it was unpacked", path.display()));
    let same = sha256_file(&path, &mut |_| ()).is_ok_and(|found| found == *sha256);
    if same {
        remember(folder, file);
    } else {
        say(&format!("{}: not the packed weights; it is unpacked anew", path.display()));
        let _ = std::fs::remove_file(&path);
    }
    same
}

fn looks(path: &Path, file: &WeightFile) -> Option<Checked> {
    let about = std::fs::metadata(path).ok().filter(std::fs::Metadata::is_file)?;
    let modified_ns = about.modified().ok()?.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_nanos());
    let sha256 = file.sha256.clone()?;
    Some(Checked { name: file.name.clone(), bytes: about.len(), modified_ns, sha256 })
}

fn account(folder: &Path) -> Vec<Checked> {
    let text = std::fs::read(folder.join(ACCOUNT)).unwrap_or_default();
    serde_json::from_slice(&text).unwrap_or_default()
}

/// Notes how a checked file looks. Without the note it is hashed at the next start; nothing else depends on it.
fn remember(folder: &Path, file: &WeightFile) {
    let Some(looks) = looks(&folder.join(&file.name), file) else { return };
    let mut all = account(folder);
    all.retain(|known| known.name != file.name);
    all.push(looks);
    if let Ok(text) = serde_json::to_vec(&all) {
        let _ = std::fs::write(folder.join(ACCOUNT), text);
    }
}

/// The models beside a bundle that names none: every GGUF file in the folder that can be asked, sorted by name, with what was
/// left out and why. `template` is what the bundle was packed with for all of them.
pub fn beside(home: &Path, template: Option<&str>) -> Result<(Vec<ModelChoice>, Vec<String>), Failure> {
    let entries = std::fs::read_dir(home)
        .map_err(|error| Failure::disk(format!("{}: cannot look for GGUF files: {error}", home.display())))?;
    let mut paths: Vec<PathBuf> =
        entries.flatten().map(|entry| entry.path()).filter(|path| is_gguf(path)).collect();
    paths.sort();
    let (mut found, mut notes, mut parts) = (Vec::<ModelChoice>::new(), Vec::new(), Vec::new());
    for path in paths {
        let left_out = |reason: &str| format!("{} is left out: {reason}", path.display());
        let header = match Header::open(&path) {
            Err(error) => {
                notes.push(left_out(&error.to_string()));
                continue;
            }
            Ok(header) if header.projector() => {
                notes.push(left_out("it is a picture projector"));
                continue;
            }
            Ok(header) => header,
        };
        // Any part of a split file opens the whole.
        if parts.contains(&path) {
            continue;
        }
        parts.extend(header.files().iter().map(|file| (*file).to_owned()));
        let choice = ModelChoice {
            template: template.map(str::to_owned),
            guess_pre_tokenizer: false,
            ..ModelChoice::of(path.clone())
        };
        if let Some(same) = found.iter().find(|other| other.path.file_stem() == path.file_stem()) {
            notes.push(left_out(&format!("results would call it as they call {}", same.path.display())));
        } else if let Err(failure) = PlannedModel::open(&choice) {
            notes.push(left_out(&for_testers(failure).message));
        } else {
            found.push(choice);
        }
    }
    Ok((found, notes))
}

/// A failure whose advice is an option that only the one who packs can give.
pub fn for_testers(failure: Failure) -> Failure {
    match failure.message.contains("--template") {
        true => {
            let message = format!("{} (options of `pack`: ask who made the bundle)", failure.message);
            Failure { message, ..failure }
        }
        false => failure,
    }
}

fn is_gguf(path: &Path) -> bool {
    let extension = path.extension().unwrap_or_default().to_ascii_lowercase();
    extension == "gguf" && path.is_file()
}
