//! ScienceQA as it is released: `problems.json`, `pid_splits.json` and folders of images.
//!
//! `problems.json` is one object of tens of megabytes: its problems pass one at a time, and those of the wanted split
//! alone are kept.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde::de::{DeserializeSeed, MapAccess, Visitor};
use serde_json::Value;

use super::images::{Images, inside};
use super::{Counts, Entry, ImportError, Set, checks};
use crate::files::Files;
use crate::picture::FilePicture;

/// What is read.
#[derive(Clone, Debug)]
pub struct Wanted<'a> {
    /// The folder with the two JSON files and `images/`.
    pub folder: &'a str,
    /// A split: `test`, `val`, `train`, `minitest` ...
    pub split: &'a str,
    /// What is done with problems that come with an image.
    pub images: Images,
    /// Show the lecture behind the hint.
    pub lecture: bool,
    /// Go on where counts differ from the published ones.
    pub other_counts: bool,
}

/// Problems in all, in the published set.
const PUBLISHED: usize = 21_208;

/// Published splits: problems, and problems with an image.
const SPLITS: [(&str, usize, usize); 3] =
    [("train", 12_726, 6_218), ("val", 4_241, 2_097), ("test", 4_241, 2_017)];

/// Most bytes of `pid_splits.json`; the published one has less than one million.
const SPLITS_BYTES: u64 = 64 << 20;

/// Reads one split.
pub fn read(wanted: &Wanted<'_>, files: &mut dyn Files) -> Result<Set, ImportError> {
    let at = |name: &str| format!("{}/{name}", wanted.folder.trim_end_matches('/'));
    let order = split(&at("pid_splits.json"), wanted.split, files)?;
    let ids: BTreeSet<&str> = order.iter().map(String::as_str).collect();
    let mut found: BTreeMap<String, Problem> = BTreeMap::new();
    let path = at("problems.json");
    let fault = |reason: String| ImportError::File(format!("{path}: {reason}"));
    let total = {
        let reader = std::io::BufReader::new(files.open(&path).map_err(ImportError::File)?);
        let mut stream = serde_json::Deserializer::from_reader(reader);
        let walk = Walk { ids: &ids, found: &mut found };
        let total = walk.deserialize(&mut stream).map_err(|error| fault(explained(&error)))?;
        stream.end().map_err(|error| fault(explained(&error)))?;
        total
    };
    let mut counts = Counts { rows: order.len() as u64, ..Counts::default() };
    let mut entries = Vec::with_capacity(order.len());
    let mut with_image = 0;
    for id in &order {
        let row = |reason: String| fault(format!("problem {id}: {reason}"));
        let problem = found
            .remove(id)
            .ok_or_else(|| fault(format!("problem {id} of the split {} is missing", wanted.split)))?;
        with_image += usize::from(problem.image.is_some());
        let image = match (&problem.image, wanted.images) {
            (Some(_), Images::LeftOut) => {
                counts.needs_image += 1;
                continue;
            }
            (Some(name), Images::Shown) => {
                let path = inside(&at("images"), &format!("{}/{id}/{name}", problem.split)).map_err(row)?;
                Some(FilePicture::at(&path, files).map_err(row)?)
            }
            _ => None,
        };
        entries.push(problem.entry(id, image, wanted.lecture));
    }
    let mut notes = vec![counted(&counts, entries.len(), with_image)];
    let checked = published(wanted.split, total, order.len(), with_image);
    match checked {
        Err(reason) if !wanted.other_counts => {
            return Err(ImportError::File(format!("{}: {reason}; set other-counts to go on", wanted.folder)));
        }
        Ok(note) | Err(note) => notes.push(note),
    }
    if entries.is_empty() {
        return Err(ImportError::File(format!(
            "{}: no item is left of {} problems",
            wanted.folder,
            order.len()
        )));
    }
    let mut warnings = Vec::new();
    checks::gold_positions(&entries, &mut counts, &mut warnings);
    notes.push(format!("sha256 of the items {}", super::sha256_of(&entries)?));
    notes.extend(warnings.into_iter().map(|warning| format!("warning: {warning}")));
    Ok(Set { entries, notes })
}

fn counted(counts: &Counts, kept: usize, with_image: usize) -> String {
    let mut note = format!("{} problems, {with_image} with an image, {kept} items", counts.rows);
    if counts.needs_image > 0 {
        note.push_str(&format!(", {} that need an image left out", counts.needs_image));
    }
    note
}

/// Holds counts against the published ones, where the whole set is there.
fn published(split: &str, total: usize, problems: usize, with_image: usize) -> Result<String, String> {
    let Some((_, most, images)) = SPLITS.iter().find(|(name, ..)| *name == split) else {
        return Ok(format!("{total} problems in all; no published counts for the split {split}"));
    };
    if total != PUBLISHED {
        return Ok(format!("a part of the published set: {total} of {PUBLISHED} problems"));
    }
    match (problems, with_image) == (*most, *images) {
        true => Ok("counts are the published ones".to_owned()),
        false => Err(format!(
            "the split {split} has {problems} problems, {with_image} with an image, and the published one {most} and {images}"
        )),
    }
}

fn split(path: &str, name: &str, files: &mut dyn Files) -> Result<Vec<String>, ImportError> {
    let fault = |reason: String| ImportError::File(format!("{path}: {reason}"));
    let bytes = files.bytes(path, SPLITS_BYTES).map_err(ImportError::File)?;
    let splits: BTreeMap<String, Vec<Value>> =
        serde_json::from_slice(&bytes).map_err(|error| fault(explained(&error)))?;
    let known = || splits.keys().map(String::as_str).collect::<Vec<_>>().join(", ");
    let ids = splits.get(name).ok_or_else(|| fault(format!("no split `{name}`; it has {}", known())))?;
    let mut order = Vec::with_capacity(ids.len());
    let mut seen = BTreeSet::new();
    for id in ids {
        let id = match id {
            Value::String(id) => id.clone(),
            Value::Number(id) => id.to_string(),
            other => return Err(fault(format!("split {name}: `{other}` is no id"))),
        };
        if !seen.insert(id.clone()) {
            return Err(fault(format!("split {name}: the id {id} stands twice")));
        }
        order.push(id);
    }
    Ok(order)
}

fn explained(error: &serde_json::Error) -> String {
    match error.is_eof() {
        true => format!("breaks off at line {}, column {}; fetch it again", error.line(), error.column()),
        false => error.to_string(),
    }
}

/// A problem that is kept while the file passes.
struct Problem {
    question: String,
    choices: Vec<String>,
    answer: u16,
    hint: String,
    lecture: String,
    image: Option<String>,
    split: String,
    tags: [(&'static str, String); 3],
}

impl Problem {
    /// What stands in an object; the message says what is wrong with it.
    fn of(object: &Value) -> Result<Problem, String> {
        let text = |key: &str| match &object[key] {
            Value::String(text) => Ok(text.clone()),
            Value::Null => Ok(String::new()),
            other => Err(format!("`{key}` is {other}; it must be a text")),
        };
        let question = text("question")?;
        if question.trim().is_empty() {
            return Err("the question is empty".to_owned());
        }
        let choices: Vec<String> = object["choices"]
            .as_array()
            .and_then(|choices| choices.iter().map(|choice| choice.as_str().map(str::to_owned)).collect())
            .ok_or("`choices` is no list of texts")?;
        if !(2..=5).contains(&choices.len()) || choices.iter().any(|choice| choice.trim().is_empty()) {
            return Err(format!("{} choices, some perhaps empty; a problem has 2 to 5", choices.len()));
        }
        let answer = object["answer"].as_u64().and_then(|answer| u16::try_from(answer).ok());
        let answer = answer
            .filter(|answer| usize::from(*answer) < choices.len())
            .ok_or_else(|| format!("the answer {} is not in 0 to {}", object["answer"], choices.len() - 1))?;
        let image = match &object["image"] {
            Value::Null => None,
            Value::String(name) if name.is_empty() => None,
            Value::String(name) => Some(name.clone()),
            other => return Err(format!("`image` is {other}; it must be a file's name or null")),
        };
        let grade = text("grade")?;
        let band = match grade.strip_prefix("grade").and_then(|number| number.parse::<u8>().ok()) {
            Some(1..=6) => "1-6",
            Some(7..=12) => "7-12",
            _ => "unknown",
        };
        let hint = text("hint")?;
        let context = match (hint.trim().is_empty(), image.is_some()) {
            (true, false) => "none",
            (false, false) => "text",
            (true, true) => "image",
            (false, true) => "text-image",
        };
        let tags =
            [("subject", text("subject")?), ("grades", band.to_owned()), ("context", context.to_owned())];
        Ok(Problem {
            question,
            choices,
            answer,
            hint,
            lecture: text("lecture")?,
            image,
            split: text("split")?,
            tags,
        })
    }

    fn entry(self, id: &str, image: Option<FilePicture>, lecture: bool) -> Entry {
        let lecture = if lecture { self.lecture.trim() } else { "" };
        let hint = match (self.hint.trim(), lecture) {
            ("", lecture) => lecture.to_owned(),
            (hint, "") => hint.to_owned(),
            (hint, lecture) => format!("{hint}\n{lecture}"),
        };
        Entry {
            id: id.to_owned(),
            question: self.question.trim().to_owned(),
            hint,
            options: self.choices.iter().map(|choice| choice.trim().to_owned()).collect(),
            gold: self.answer,
            image: self.image.is_some() && image.is_none(),
            pictures: image.into_iter().collect(),
            tags: self
                .tags
                .into_iter()
                .filter(|(_, value)| !value.is_empty())
                .map(|(key, value)| (key.to_owned(), value))
                .collect(),
            ..Entry::default()
        }
    }
}

/// Walks the object and keeps the problems that are wanted; gives the number of all.
struct Walk<'a> {
    ids: &'a BTreeSet<&'a str>,
    found: &'a mut BTreeMap<String, Problem>,
}

impl<'de> DeserializeSeed<'de> for Walk<'_> {
    type Value = usize;

    fn deserialize<D: serde::Deserializer<'de>>(self, deserializer: D) -> Result<usize, D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Walk<'_> {
    type Value = usize;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object of problems by id")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<usize, A::Error> {
        use serde::de::Error;
        let mut total = 0;
        while let Some(id) = map.next_key::<String>()? {
            total += 1;
            if !self.ids.contains(id.as_str()) {
                map.next_value::<serde::de::IgnoredAny>()?;
                continue;
            }
            let object: Value = map.next_value()?;
            let problem =
                Problem::of(&object).map_err(|reason| A::Error::custom(format!("problem {id}: {reason}")))?;
            if self.found.insert(id.clone(), problem).is_some() {
                return Err(A::Error::custom(format!("problem {id} stands twice")));
            }
        }
        Ok(total)
    }
}
