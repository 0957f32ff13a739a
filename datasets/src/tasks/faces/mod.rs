//! Recognising faces: which of five pictures shows the person of the first one?
//!
//! Faces are drawn from an identity of continuous measures. All six pictures of a problem have one description in
//! words; only geometry tells the person, in another pose, light and expression.

mod controls;
mod folder;
mod identity;
mod painting;
mod portrait;

use serde::Deserialize;

pub use controls::portraits;
pub use identity::{FEATURES, Identity, Look, TRAITS};
pub use portrait::{Portrait, View};

use crate::item::{Ask, Cue, Gold, Item, Part, Question, Tags};
use crate::picture::{FilePicture, Picture};
use crate::reading::Reading;
use crate::task::{Baseline, Params, ReadFile, Resolved, Task, TaskError};
use crate::{Stream, analysis};
use folder::Photographed;

/// The task.
pub static FACES: Task = Task {
    name: "faces",
    version: 2,
    summary: "Find the person of the first picture among five others that fit the same description",
    source: "Mind Your Step (arXiv 2410.21333), section 4.2 and appendix B",
    params: PARAMS,
    items,
    resolve: Some(resolve),
    analysis: analysis::Analysis { strata: &[&["race"], &["gender"], &["age"]], figures: analysis::none },
    baselines: &[
        Baseline {
            name: "geometry",
            summary: "The candidate whose landmarks fit best, pose taken out",
            answers: controls::geometry,
        },
        Baseline {
            name: "pixel-distance",
            summary: "The candidate whose pixels differ least",
            answers: controls::pixels,
        },
        Baseline {
            name: "medoid",
            summary: "The candidate nearest to the other four, without the first picture",
            answers: controls::medoid,
        },
        Baseline {
            name: "most-extreme",
            summary: "The candidate farthest from the mean face, without the first picture",
            answers: controls::most_extreme,
        },
    ],
};

const PARAMS: &str = r#"# A folder of problems of one's own, each a folder with six pictures and problem.json, in place of drawn faces; when it
# has been read, `rows` is filled with what it holds.
path = ""
# Problems.
problems = 500
# How different the two most alike of the five people are: the mean over all measures of a face, in per cent of their
# range, 5 to 25; no two differ by more than a third more. Any two faces differ by 33 on average.
distance = 20
# "other": the first picture has another pose, light and expression than the candidates; "same": one view for all (easy).
views = "other"
# "pictures"; "described" puts the description in words where each picture stands, and "withheld" leaves them out:
# controls, in which nothing tells the person.
form = "pictures"
# Ask for a number after the paper's prompt, which names no format.
format-line = false
# Side of a picture in pixels, 64 to 1024.
size-px = 256
"#;

/// Candidates of a problem.
const CANDIDATES: usize = 5;
/// Share of their own in the views of candidates, in per cent.
const OWN_VIEW: i32 = 40;
/// Draws of five people before the parameters are given up.
const TRIES: usize = 10_000;

#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default, rename_all = "kebab-case")]
struct FacesParams {
    path: String,
    /// Filled by [`resolve`].
    rows: Vec<Photographed>,
    problems: usize,
    distance: u32,
    views: Views,
    form: Form,
    format_line: bool,
    size_px: u16,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Views {
    Other,
    Same,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Form {
    Pictures,
    Described,
    Withheld,
}

impl Default for FacesParams {
    fn default() -> Self {
        FacesParams {
            path: String::new(),
            rows: Vec::new(),
            problems: 500,
            distance: 20,
            views: Views::Other,
            form: Form::Pictures,
            format_line: false,
            size_px: 256,
        }
    }
}

impl FacesParams {
    fn check(&self) -> Result<(), TaskError> {
        let refused = |message: String| Err(TaskError::Params(message));
        if !(1..=10_000).contains(&self.problems) {
            return refused(format!("problems: {} is not in 1 to 10000", self.problems));
        }
        if !(5..=25).contains(&self.distance) {
            return refused(format!("distance: {} is not in 5 to 25", self.distance));
        }
        if !(64..=1024).contains(&self.size_px) {
            return refused(format!("size-px: {} is not in 64 to 1024", self.size_px));
        }
        Ok(())
    }
}

fn items(params: &Params, seed: u64) -> Result<Vec<Item>, TaskError> {
    let params: FacesParams = params.read()?;
    params.check()?;
    match (params.rows.is_empty(), params.path.as_str()) {
        (false, _) => return params.rows.iter().map(|row| photographed(&params, seed, row)).collect(),
        (true, "") => {}
        (true, path) => {
            return Err(TaskError::Params(format!(
                "path: {path} has not been read; resolve the parameters first"
            )));
        }
    }
    (0..params.problems).map(|number| item(&params, seed, number)).collect()
}

fn item(params: &FacesParams, seed: u64, number: usize) -> Result<Item, TaskError> {
    let id = format!("f{number:04}");
    let stream = |purpose: &str, word: &str| Stream::new(seed, &["faces", purpose, word]);
    // Golds are dealt in fives, so that each slot is right equally often.
    let mut golds = [0, 1, 2, 3, 4];
    stream("gold", &(number / CANDIDATES).to_string()).shuffle(&mut golds);
    let gold = golds[number % CANDIDATES];
    let mut people = stream("people", &id);
    let look = Look::draw(&mut people);
    let identities =
        (0..TRIES).find_map(|_| Identity::alike(params.distance, &mut people)).ok_or_else(|| {
            TaskError::Params(format!(
                "distance: {}: no five people that far apart were found; lower it",
                params.distance
            ))
        })?;
    // None of the five differs from the others in how it was drawn, so the place alone chooses who is shown first.
    let person = identities[gold];
    let mut views = stream("views", &id);
    let (first, second) = (View::draw(&mut views), View::draw(&mut views));
    let portrait = |identity, view| Portrait { look, identity, view, size_px: params.size_px };
    let query = portrait(person, first);
    let candidates = identities.map(|identity| {
        let own = View::draw(&mut views);
        portrait(identity, if params.views == Views::Same { first } else { second.near(own, OWN_VIEW) })
    });
    let mut tags = Tags::new();
    for (feature, (name, _)) in FEATURES.iter().enumerate() {
        tags.insert((*name).to_owned(), look.word(feature).to_owned());
    }
    tags.insert("position".to_owned(), (gold + 1).to_string());
    Ok(Item::one(
        id.clone(),
        id,
        tags,
        question(params, Shown::drawn(query), candidates.map(Shown::drawn), gold),
    ))
}

/// Reads the folder that `path` names.
fn resolve(params: &Params, files: ReadFile<'_>) -> Result<Resolved, TaskError> {
    let named: FacesParams = params.read()?;
    if named.path.is_empty() {
        return Ok(Resolved { params: params.clone(), notes: Vec::new() });
    }
    let fault = |reason: String| TaskError::Params(format!("path: {reason}"));
    let (problems, notes) =
        folder::read(&named.path, files).map_err(|reason| TaskError::data("path", &named.path, &reason))?;
    let rows = toml::Value::try_from(problems).map_err(|error| fault(error.to_string()))?;
    let mut table = params.0.clone();
    table.insert("rows".to_owned(), rows);
    Ok(Resolved { params: Params(table), notes })
}

/// A problem of a folder: the candidates in a drawn order.
fn photographed(params: &FacesParams, seed: u64, row: &Photographed) -> Result<Item, TaskError> {
    let fault = |what: &str| TaskError::Params(format!("rows: problem {}: {what}", row.id));
    let mut order: Vec<usize> = (0..CANDIDATES).collect();
    Stream::new(seed, &["faces", "order", &row.id]).shuffle(&mut order);
    let candidates: Vec<&FilePicture> = order.iter().filter_map(|&index| row.candidates.get(index)).collect();
    let candidates: [&FilePicture; CANDIDATES] =
        candidates.try_into().map_err(|_| fault("not five candidates"))?;
    let gold = order.iter().position(|&index| index == row.gold).ok_or_else(|| fault("no such gold"))?;
    let words: Vec<String> =
        row.descriptors.iter().map(|(feature, value)| format!("{feature}: {value}")).collect();
    let shown =
        |picture: &FilePicture| Shown { picture: Picture::File(picture.clone()), words: words.join(", ") };
    let mut tags: Tags = row.descriptors.clone();
    tags.insert("position".to_owned(), (gold + 1).to_string());
    let question = question(params, shown(&row.query), candidates.map(shown), gold);
    Ok(Item::one(row.id.clone(), row.id.clone(), tags, question))
}

/// What stands in one place of a question.
struct Shown {
    picture: Picture,
    words: String,
}

impl Shown {
    fn drawn(portrait: Portrait) -> Self {
        Shown { words: portrait.look.description(), picture: Picture::Face(portrait) }
    }
}

fn question(params: &FacesParams, query: Shown, candidates: [Shown; CANDIDATES], gold: usize) -> Question {
    let part = |shown: Shown| match params.form {
        Form::Pictures => Some(Part::picture(shown.picture)),
        Form::Described => Some(Part::Text(format!("[{}]", shown.words))),
        Form::Withheld => None,
    };
    let text = |text: &str| Part::Text(text.to_owned());
    let mut stem = vec![text("Here is an image of a person. ")];
    stem.extend(part(query));
    stem.push(text(" Select the image that contains the same person as the person in the first image. "));
    for candidate in candidates {
        stem.extend(part(candidate));
    }
    let line = "\nAnswer with the number of the image, 1 to 5, and nothing else.";
    let cue = |name: &str, text: &str| Cue { name: name.to_owned(), stem: None, text: text.to_owned() };
    Question {
        history: Vec::new(),
        stem,
        ask: Ask {
            direct: if params.format_line { line.to_owned() } else { String::new() },
            direct_lead: String::new(),
            reason: vec![
                cue("step-by-step", "\nLet’s think step by step"),
                cue(
                    "answer-line",
                    "\nThink step by step, then end with one line \"Answer: N\", where N is 1, 2, 3, 4 or 5.",
                ),
            ],
        },
        labels: (1..=CANDIDATES).map(|number| number.to_string()).collect(),
        options: Vec::new(),
        reading: Reading::Ordinal,
        gold: Gold::Label(gold as u16),
    }
}

#[cfg(test)]
mod tests;
