//! AI2D as it is released: a folder of images, a JSON file of questions for each, and a list of the test images.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde::Deserialize;
use serde::de::{MapAccess, Visitor};
use serde_json::Value;

use super::images::Images;
use super::{Counts, Entry, ImportError, Set, checks};
use crate::files::Files;
use crate::picture::FilePicture;

/// What is read.
#[derive(Clone, Debug)]
pub struct Wanted<'a> {
    /// The folder with `images/` and `questions/`.
    pub folder: &'a str,
    /// The list of images, one id a line, in the folder; empty for all that have questions.
    pub ids: &'a str,
    /// The folder of images in which letters replace the words, in the folder; empty where there is none.
    pub lettered: &'a str,
    /// What is done with the images.
    pub images: Images,
}

/// Most bytes of the file of one image's questions, and of the other small files.
const SMALL_BYTES: u64 = 16 << 20;

/// Questions of the published test set.
const PUBLISHED_TEST: usize = 3_088;

/// Reads the questions of the listed images.
pub fn read(wanted: &Wanted<'_>, files: &mut dyn Files) -> Result<Set, ImportError> {
    let folder = wanted.folder.trim_end_matches('/');
    let listed = listed(folder, wanted.ids, files)?;
    let groups = categories(folder, files)?;
    let mut entries: Vec<Entry> = Vec::new();
    let mut taken: BTreeMap<String, String> = BTreeMap::new();
    let mut counts = Counts::default();
    let mut lettered_out = 0;
    for (line, image) in &listed {
        let path = format!("{folder}/questions/{image}.png.json");
        let fault = |reason: String| ImportError::File(format!("{path}: {reason}"));
        let bytes = files.bytes(&path, SMALL_BYTES).map_err(|reason| match line {
            Some(line) => ImportError::File(format!("{folder}/{}: line {line}: {reason}", wanted.ids)),
            None => ImportError::File(reason),
        })?;
        let sheet: Sheet = serde_json::from_slice(&bytes).map_err(|error| fault(error.to_string()))?;
        // One look at the image serves all its questions.
        let mut seen: BTreeMap<bool, FilePicture> = BTreeMap::new();
        for (text, value) in sheet.questions.0 {
            counts.rows += 1;
            let question = Question::of(&text, &value)
                .map_err(|reason| fault(format!("question `{text}`: {reason}")))?;
            if let Some(other) = taken.insert(question.id.clone(), path.clone()) {
                return Err(fault(format!("the questionId {} is used in {other} too", question.id)));
            }
            let mut entry = question.entry(&text);
            if let Some(group) = groups.get(image) {
                entry.group.clone_from(group);
            }
            match wanted.images {
                Images::LeftOut => {
                    counts.needs_image += 1;
                    continue;
                }
                Images::Withheld => entry.image = true,
                Images::Shown if question.lettered && wanted.lettered.is_empty() => {
                    lettered_out += 1;
                    continue;
                }
                Images::Shown => {
                    let picture = match seen.get(&question.lettered) {
                        Some(known) => known.clone(),
                        None => {
                            let place = if question.lettered { wanted.lettered } else { "images" };
                            let path = format!("{folder}/{place}/{image}.png");
                            let picture = FilePicture::at(&path, files)
                                .map_err(|reason| fault(format!("question {}: {reason}", question.id)))?;
                            seen.insert(question.lettered, picture.clone());
                            picture
                        }
                    };
                    entry.pictures.push(picture);
                }
            }
            entries.push(entry);
        }
    }
    let mut notes =
        vec![format!("{} images, {} questions, {} items", listed.len(), counts.rows, entries.len())];
    for (count, what) in [
        (counts.needs_image, "that need an image left out"),
        (lettered_out, "left out that need the image with letters; name its folder with lettered"),
    ] {
        if count > 0 {
            notes.push(format!("{count} {what}"));
        }
    }
    if !wanted.ids.is_empty() && counts.rows as usize != PUBLISHED_TEST {
        notes.push(format!(
            "the published test set has {PUBLISHED_TEST} questions, this list {}",
            counts.rows
        ));
    }
    if entries.is_empty() {
        return Err(ImportError::File(format!("{folder}: no item is left of {} questions", counts.rows)));
    }
    let mut warnings = Vec::new();
    checks::gold_positions(&entries, &mut counts, &mut warnings);
    notes.push(format!("sha256 of the items {}", super::sha256_of(&entries)?));
    notes.extend(warnings.into_iter().map(|warning| format!("warning: {warning}")));
    Ok(Set { entries, notes })
}

/// Image names without their ending, with the line that names them.
fn listed(folder: &str, ids: &str, files: &mut dyn Files) -> Result<Vec<(Option<u64>, String)>, ImportError> {
    let bare = |name: &str| name.trim().trim_end_matches(".png").to_owned();
    if ids.is_empty() {
        let names = files.list(&format!("{folder}/questions")).map_err(ImportError::File)?;
        let mut names: Vec<String> =
            names.iter().filter_map(|name| name.strip_suffix(".png.json").map(str::to_owned)).collect();
        // 2 before 10.
        names.sort_by_key(|name| (name.parse::<u64>().unwrap_or(u64::MAX), name.clone()));
        return Ok(names.into_iter().map(|name| (None, name)).collect());
    }
    let path = format!("{folder}/{ids}");
    let bytes = files.bytes(&path, SMALL_BYTES).map_err(ImportError::File)?;
    let text = super::decode(bytes).map_err(|error| ImportError::File(format!("{path}: {error}")))?;
    let mut seen = BTreeSet::new();
    let mut listed = Vec::new();
    for (line, name) in (1u64..).zip(text.trim_start_matches('\u{feff}').lines()) {
        let name = bare(name);
        if name.is_empty() {
            continue;
        }
        if name.contains(['/', '\\']) || name.contains("..") {
            return Err(ImportError::File(format!("{path}: line {line}: `{name}` is no name of an image")));
        }
        if !seen.insert(name.clone()) {
            return Err(ImportError::File(format!("{path}: line {line}: the image {name} stands twice")));
        }
        listed.push((Some(line), name));
    }
    Ok(listed)
}

/// Categories by image, where the file is there.
fn categories(folder: &str, files: &mut dyn Files) -> Result<BTreeMap<String, String>, ImportError> {
    let path = format!("{folder}/categories.json");
    if !files.list(folder).map_err(ImportError::File)?.iter().any(|name| name == "categories.json") {
        return Ok(BTreeMap::new());
    }
    let bytes = files.bytes(&path, SMALL_BYTES).map_err(ImportError::File)?;
    let found: BTreeMap<String, String> =
        serde_json::from_slice(&bytes).map_err(|error| ImportError::File(format!("{path}: {error}")))?;
    Ok(found.into_iter().map(|(name, group)| (name.trim_end_matches(".png").to_owned(), group)).collect())
}

#[derive(Deserialize)]
struct Sheet {
    #[serde(default)]
    questions: InOrder,
}

/// An object whose order counts: questions are its keys.
#[derive(Default)]
struct InOrder(Vec<(String, Value)>);

impl<'de> Deserialize<'de> for InOrder {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Pairs;
        impl<'de> Visitor<'de> for Pairs {
            type Value = InOrder;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object of questions by their text")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<InOrder, A::Error> {
                let mut pairs = Vec::new();
                while let Some(pair) = map.next_entry()? {
                    pairs.push(pair);
                }
                Ok(InOrder(pairs))
            }
        }
        deserializer.deserialize_map(Pairs)
    }
}

struct Question {
    id: String,
    options: Vec<String>,
    gold: u16,
    /// Letters of the diagram stand where words were.
    lettered: bool,
}

impl Question {
    fn of(text: &str, value: &Value) -> Result<Question, String> {
        if text.trim().is_empty() {
            return Err("the question is empty".to_owned());
        }
        let id =
            value["questionId"].as_str().filter(|id| !id.is_empty()).ok_or("no `questionId`")?.to_owned();
        let options: Vec<String> = value["answerTexts"]
            .as_array()
            .and_then(|texts| {
                texts.iter().map(|text| text.as_str().map(|text| text.trim().to_owned())).collect()
            })
            .ok_or("`answerTexts` is no list of texts")?;
        if options.len() != 4 || options.iter().any(String::is_empty) {
            return Err(format!("{} answers, some perhaps empty; a question has 4", options.len()));
        }
        let gold = value["correctAnswer"].as_u64().filter(|gold| *gold < 4);
        let gold =
            gold.ok_or_else(|| format!("correctAnswer is {}, not 0 to 3", value["correctAnswer"]))? as u16;
        let lettered = value["abcLabel"].as_bool().ok_or("`abcLabel` is neither true nor false")?;
        Ok(Question { id, options, gold, lettered })
    }

    fn entry(&self, text: &str) -> Entry {
        let yes = |flag: bool| if flag { "yes" } else { "no" }.to_owned();
        Entry {
            id: self.id.clone(),
            question: text.trim().to_owned(),
            options: self.options.clone(),
            gold: self.gold,
            tags: BTreeMap::from([("lettered".to_owned(), yes(self.lettered))]),
            ..Entry::default()
        }
    }
}
