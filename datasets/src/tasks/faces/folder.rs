//! Problems from a folder of one's own: a folder for each, with a query, five candidates and `problem.json`.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::CANDIDATES;
use crate::files::Files;
use crate::import::inside;
use crate::picture::FilePicture;

/// One problem as it was read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct Photographed {
    /// Name of its folder.
    pub(super) id: String,
    pub(super) query: FilePicture,
    pub(super) candidates: Vec<FilePicture>,
    /// Index of the right candidate.
    pub(super) gold: usize,
    /// What words can say, by feature.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) descriptors: BTreeMap<String, String>,
}

/// `problem.json`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Sheet {
    query: String,
    candidates: Vec<String>,
    /// From 1 to 5.
    gold: usize,
    #[serde(default)]
    descriptors: BTreeMap<String, String>,
}

/// Most bytes of a `problem.json`.
const SHEET_BYTES: u64 = 1 << 20;

/// Reads every problem of a folder, and lines for people.
pub(super) fn read(folder: &str, files: &mut dyn Files) -> Result<(Vec<Photographed>, Vec<String>), String> {
    let folder = folder.trim_end_matches('/');
    let mut problems = Vec::new();
    let (mut others, mut same) = (0, 0);
    for name in files.list(folder)? {
        let own = format!("{folder}/{name}");
        // Files beside the problems' folders are none of them.
        let Ok(inside) = files.list(&own) else { continue };
        if !inside.iter().any(|file| file == "problem.json") {
            others += 1;
            continue;
        }
        let problem = one(&name, &own, files).map_err(|reason| format!("{own}/problem.json: {reason}"))?;
        same += usize::from(problem.query.sha256 == problem.candidates[problem.gold].sha256);
        problems.push(problem);
    }
    if problems.is_empty() {
        return Err(format!("{folder}: no folder in it has a problem.json"));
    }
    let mut notes = vec![format!("{folder}: {} problems", problems.len())];
    if others > 0 {
        notes.push(format!("{folder}: {others} folders without problem.json left out"));
    }
    if same > 0 {
        notes.push(format!(
            "warning: {folder}: in {same} problems the query is the right candidate's very file: pixels give the answer away"
        ));
    }
    Ok((problems, notes))
}

fn one(id: &str, folder: &str, files: &mut dyn Files) -> Result<Photographed, String> {
    let bytes = files.bytes(&format!("{folder}/problem.json"), SHEET_BYTES)?;
    let sheet: Sheet = serde_json::from_slice(&bytes).map_err(|error| error.to_string())?;
    if sheet.candidates.len() != CANDIDATES {
        return Err(format!("{} candidates; a problem has {CANDIDATES}", sheet.candidates.len()));
    }
    if !(1..=CANDIDATES).contains(&sheet.gold) {
        return Err(format!("gold is {}, not 1 to {CANDIDATES}", sheet.gold));
    }
    let mut picture = |name: &String| FilePicture::at(&inside(folder, name)?, files);
    let query = picture(&sheet.query)?;
    let candidates: Vec<FilePicture> = sheet.candidates.iter().map(&mut picture).collect::<Result<_, _>>()?;
    for (index, one) in candidates.iter().enumerate() {
        if let Some(twin) = candidates[index + 1..].iter().position(|other| other.sha256 == one.sha256) {
            return Err(format!("candidates {} and {} are the same picture", index + 1, index + twin + 2));
        }
    }
    Ok(Photographed {
        id: id.to_owned(),
        query,
        candidates,
        gold: sheet.gold - 1,
        descriptors: sheet.descriptors,
    })
}
