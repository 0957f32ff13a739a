//! Inverse inverse planning: which route shows best that the goal is X and not Y?
//!
//! From "Evaluating and Modeling Social Intelligence". The published result is the distribution over the four kinds of
//! routes; every item carries the kind of each option.

mod prompt;
pub mod routes;
pub mod scene;

use std::collections::HashSet;

use serde::Deserialize;

use crate::bayes::choice::{Parameters, Problem};
use crate::grid::{Cell, MAX_SIZE};
use crate::item::{self, Ask, Cue, Gold, Item, Part, Question};
use crate::picture::Picture;
use crate::reading::{Reading, SEQUENCE_JOINT};
use crate::tasks::campus::{Map, Show, Stretch};
use crate::{Baseline, Params, Stream, Task, TaskError};
use prompt::Form;
use routes::{Kind, Route, Routes, Rules, Type};
use scene::Scene;

/// The task.
pub static IIP: Task = Task {
    name: "iip",
    version: 1,
    summary: "inverse inverse planning: choose the route that signals the goal early and still gets there soon",
    source: "Evaluating and Modeling Social Intelligence, tasks section, appendix A and B",
    params: DEFAULTS,
    items,
    resolve: None,
    analysis: crate::analysis::Analysis { strata: &[&["type"], &["kind"]], figures: crate::analysis::none },
    baselines: &[
        Baseline {
            name: "shortest",
            summary: "the shortest of the four routes",
            answers: |items| by_length(items, 0),
        },
        Baseline {
            name: "third-shortest",
            summary: "the third of the four routes by length, without the layout",
            answers: |items| by_length(items, 2),
        },
        Baseline {
            name: "bayes",
            summary: "the likeliest route of the recursive Bayesian model, order 2, at (cost, urgency) = (0.775, 0.225)",
            answers: bayes,
        },
    ],
};

const DEFAULTS: &str = r#"# Scenes.
scenes = 500
# Cells along one side, 4 to 8.
size = 5
# Wall segments, 0 to 8.
walls = 2
# Longest wall segment in cells, 1 to `size`.
wall-length = 4
# Walls never touch the last cell of their line, as in the released generator.
compat-walls = true
# Types of scenes that are kept: I revisits a cell and passes Y, II revisits, III passes Y, IV neither.
types = ["I", "II", "III", "IV"]
# Per cent of the drawn scenes of each type that are kept, so that the types come out about equal.
acceptance = [50, 90, 20, 25]
# "official": routes of the released generator; "paper": the paper's algorithms 4 and 6 as printed.
rules = "official"
# "printed": the paper's prompt; "shortcut": layout and one route, the question is its kind; "shortcut-route": the same
# without the layout; "shortcut-routes": layout and the four routes, the question is their kinds in order.
form = "printed"
# The paper's worked example, 0 or 1.
shots = 0
# "none": layout and routes as text; "added": a picture of the layout before the text; "instead": pictures of the layout and
# of each route in place of rows and moves; "withheld": neither, a control. Pictures go with the form "printed".
pictures = "none"
"#;

#[derive(Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default, rename_all = "kebab-case")]
struct Settings {
    scenes: usize,
    size: u8,
    walls: usize,
    wall_length: u8,
    compat_walls: bool,
    types: Vec<String>,
    acceptance: [u8; 4],
    rules: Rules,
    form: Form,
    shots: usize,
    pictures: Show,
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            scenes: 500,
            size: 5,
            walls: 2,
            wall_length: 4,
            compat_walls: true,
            types: ["I", "II", "III", "IV"].map(str::to_owned).to_vec(),
            acceptance: [50, 90, 20, 25],
            rules: Rules::Official,
            form: Form::Printed,
            shots: 0,
            pictures: Show::None,
        }
    }
}

impl Settings {
    fn check(&self) -> Result<(), TaskError> {
        let wrong = |line: String| Err(TaskError::Params(line));
        if !(4..=MAX_SIZE).contains(&self.size) {
            return wrong(format!("size = {}: must be 4 to {MAX_SIZE}", self.size));
        }
        if self.walls > 8 {
            return wrong(format!("walls = {}: must be 0 to 8", self.walls));
        }
        if !(1..=self.size).contains(&self.wall_length) {
            return wrong(format!("wall-length = {}: must be 1 to size ({})", self.wall_length, self.size));
        }
        if let Some(name) = self.types.iter().find(|name| !["I", "II", "III", "IV"].contains(&name.as_str()))
        {
            return wrong(format!("types: \"{name}\" is none of I, II, III, IV"));
        }
        if self.types.is_empty() {
            return wrong("types = []: name at least one of I, II, III, IV".to_owned());
        }
        if self.acceptance.iter().any(|percent| *percent > 100) {
            return wrong("acceptance: must be four percentages, 0 to 100".to_owned());
        }
        if self.pictures != Show::None && self.form != Form::Printed {
            return wrong("pictures: shown with the form \"printed\" alone".to_owned());
        }
        if self.shots > 1 {
            return wrong(format!("shots = {}: must be 0 or 1", self.shots));
        }
        Ok(())
    }
}

/// One drawn scene with all that follows from it.
struct Drawn {
    scene: Scene,
    routes: Routes,
    scene_type: Type,
}

fn items(params: &Params, seed: u64) -> Result<Vec<Item>, TaskError> {
    let settings: Settings = params.read()?;
    settings.check()?;
    let mut used = HashSet::new();
    let mut per_type = [0usize; 4];
    let mut items = Vec::new();
    for number in 0..settings.scenes {
        let drawn = draw(&settings, seed, number, &mut used)?;
        let counted = &mut per_type[drawn.scene_type as usize];
        *counted += 1;
        match settings.form {
            Form::Printed => items.push(question(&settings, seed, number, &drawn)),
            Form::Shortcut | Form::ShortcutRoute => {
                items.extend(shortcuts(&settings, number, &drawn, split(*counted)));
            }
            Form::ShortcutRoutes => {
                items.push(shortcut_routes(&settings, seed, number, &drawn, split(*counted)));
            }
        }
    }
    Ok(items)
}

/// Of every type, five scenes for training and one for testing.
fn split(counted: usize) -> &'static str {
    if counted.is_multiple_of(6) { "test" } else { "train" }
}

fn draw(
    settings: &Settings,
    seed: u64,
    number: usize,
    used: &mut HashSet<Vec<String>>,
) -> Result<Drawn, TaskError> {
    let mut stream = Stream::new(seed, &["iip", "scene", &number.to_string()]);
    for _ in 0..100_000 {
        let Some(scene) = Scene::draw(
            &mut stream,
            settings.size,
            settings.walls,
            settings.wall_length,
            settings.compat_walls,
        ) else {
            continue;
        };
        if !scene.is_spaced() {
            continue;
        }
        let Some(scene) = scene.aimed_at_the_hard_target() else { continue };
        let Some(routes) = Routes::plan(&scene, settings.rules) else { continue };
        if !routes.are_told_apart() {
            continue;
        }
        let scene_type = routes.scene_type(&scene);
        let kept = stream.below(100) < usize::from(settings.acceptance[scene_type as usize]);
        if kept && settings.types.iter().any(|name| name == scene_type.word()) && used.insert(scene.rows()) {
            return Ok(Drawn { scene, routes, scene_type });
        }
    }
    Err(TaskError::Params(format!(
        "scenes = {}, types, acceptance, walls = {}: no further scene found; ask for fewer scenes or more types",
        settings.scenes, settings.walls
    )))
}

/// The published question: four routes in random order.
fn question(settings: &Settings, seed: u64, number: usize, drawn: &Drawn) -> Item {
    let id = format!("c{number:04}");
    let mut kinds = Kind::ALL;
    Stream::new(seed, &["iip", "options", &id]).shuffle(&mut kinds);
    let options: Vec<String> = kinds.iter().map(|kind| prompt::moves(drawn.routes.of(*kind))).collect();
    let gold = kinds.iter().position(|kind| *kind == Kind::Hybrid).unwrap_or_default();
    let mut tags = tags(drawn);
    for (label, kind) in ["option-a", "option-b", "option-c", "option-d"].iter().zip(kinds) {
        tags.insert((*label).to_owned(), kind.word().to_owned());
    }
    tags.insert("position".to_owned(), prompt::LABELS[gold].to_owned());
    let map = |walk: &[Cell]| Some(Map::new(drawn.scene.rows(), walk, true));
    let mut stretches = vec![Stretch { text: drawn.scene.rows().join("\n"), map: map(&[]), words: "" }];
    for (kind, option) in kinds.iter().zip(&options) {
        stretches.push(Stretch { text: option.clone(), map: map(drawn.routes.of(*kind)), words: "" });
    }
    let text = prompt::printed(&drawn.scene, &options, settings.shots);
    let question = Question {
        history: Vec::new(),
        stem: settings.pictures.parts(text, stretches),
        ask: Ask {
            direct: "\n\nAnswer with the letter of the most proper route alone.".to_owned(),
            direct_lead: String::new(),
            reason: vec![
                cue(
                    "step-by-step",
                    "\n\nThink step by step. End with two lines:\nBest Route: its letter\nSteps for Signaling: the number \
                     of steps required to signal the preference",
                ),
                cue(
                    "three-lines",
                    "\n\nAnswer in three lines:\nBest Route: its letter\nSteps for Signaling: the number of steps required \
                     to signal the preference\nExplanation: why",
                ),
            ],
        },
        labels: prompt::LABELS.map(str::to_owned).to_vec(),
        options,
        reading: Reading::Route,
        gold: Gold::Route {
            label: gold as u16,
            kinds: kinds.map(|kind| kind.word().to_owned()).to_vec(),
            steps: drawn.routes.signal_steps as u16,
        },
    };
    Item::one(id.clone(), id, tags, question)
}

/// The neutralised form: each route by itself, to be classified.
fn shortcuts<'a>(
    settings: &'a Settings,
    number: usize,
    drawn: &'a Drawn,
    split: &'static str,
) -> impl Iterator<Item = Item> + 'a {
    let family = format!("c{number:04}");
    prompt::KIND_NAMES.iter().zip(0u16..).map(move |((kind, _), gold)| {
        let mut tags = tags(drawn);
        tags.insert("kind".to_owned(), kind.word().to_owned());
        tags.insert("split".to_owned(), split.to_owned());
        let moves = prompt::moves(drawn.routes.of(*kind));
        let layout = settings.form == Form::Shortcut;
        let question = Question {
            history: Vec::new(),
            stem: vec![prompt::shortcut(&drawn.scene, &moves, layout, settings.shots).into()],
            ask: Ask {
                direct: prompt::CATEGORY.to_owned(),
                direct_lead: String::new(),
                reason: vec![cue(
                    "step-by-step",
                    "\nThink step by step. End with \"Answer:\" and the category: Reversed, Shortest, Avoidant or Hybrid.",
                )],
            },
            labels: prompt::KIND_NAMES.map(|(_, name)| name.to_owned()).to_vec(),
            options: Vec::new(),
            reading: Reading::Statement,
            gold: Gold::Label(gold),
        };
        Item::one(format!("{family}-{}", kind.word()), family.clone(), tags, question)
    })
}

/// The neutralised form with four routes at once, in random order: which kinds are they?
fn shortcut_routes(
    settings: &Settings,
    seed: u64,
    number: usize,
    drawn: &Drawn,
    split: &'static str,
) -> Item {
    let id = format!("c{number:04}");
    let mut order = [0, 1, 2, 3];
    Stream::new(seed, &["iip", "sequence", &id]).shuffle(&mut order);
    let options = order.map(|kind| prompt::moves(drawn.routes.of(prompt::KIND_NAMES[kind].0)));
    let spelled = |order: [usize; 4]| order.map(|kind| prompt::KIND_NAMES[kind].1).join(SEQUENCE_JOINT);
    let gold = prompt::sequences().position(|sequence| sequence == order).unwrap_or_default();
    let mut tags = tags(drawn);
    tags.insert("split".to_owned(), split.to_owned());
    let question = Question {
        history: Vec::new(),
        stem: vec![prompt::shortcut_routes(&drawn.scene, &options, settings.shots).into()],
        ask: Ask {
            direct: prompt::CATEGORIES.to_owned(),
            direct_lead: String::new(),
            reason: vec![cue(
                "step-by-step",
                "\nThink step by step. End with \"Answer:\" and the categories of routes A, B, C and D in this order: \
                 Reversed, Shortest, Avoidant and Hybrid, each once.",
            )],
        },
        labels: prompt::sequences().map(spelled).collect(),
        options: Vec::new(),
        reading: Reading::Sequence,
        gold: Gold::Label(gold as u16),
    };
    Item::one(id.clone(), id, tags, question)
}

fn tags(drawn: &Drawn) -> item::Tags {
    item::tags([
        ("type", drawn.scene_type.word().to_owned()),
        ("signal-steps", drawn.routes.signal_steps.to_string()),
        ("walls", drawn.scene.grid.walls.len().to_string()),
    ])
}

fn cue(name: &str, text: &str) -> Cue {
    Cue { name: name.to_owned(), stem: None, text: text.to_owned() }
}

/// Reads back what an item shows: the scene, and its four routes with their kinds. `None` for the neutralised forms.
pub fn shown(item: &Item) -> Option<(Scene, Routes)> {
    let question = item.first_question();
    let Gold::Route { kinds, steps, .. } = &question.gold else { return None };
    let drawn = question.pictures().find_map(|picture| match picture {
        Picture::Campus(map) => Some(map.rows.join("\n")),
        _ => None,
    });
    let written = || {
        let Part::Text(text) = question.stem.first()? else { return None };
        let layout = text.rsplit_once("\nTask:\n")?.0.rsplit_once("two restaurants.\n")?.1;
        Some(layout.trim_end().to_owned())
    };
    let scene = Scene::read(&drawn.or_else(written)?)?;
    let of = |wanted: Kind| -> Option<Route> {
        let option = &question.options[kinds.iter().position(|kind| kind == wanted.word())?];
        std::iter::once(Some(scene.agent)).chain(option.lines().map(goal)).collect()
    };
    let [hybrid, shortest, reversed, avoidant] = Kind::ALL;
    let routes = [of(hybrid)?, of(shortest)?, of(reversed)?, of(avoidant)?];
    Some((scene, Routes { routes, signal_steps: usize::from(*steps) }))
}

/// Where a line such as `Move right from (1, 0) to (2, 0)` leads.
fn goal(line: &str) -> Option<Cell> {
    let (x, y) = line.rsplit_once('(')?.1.strip_suffix(')')?.split_once(", ")?;
    Some(Cell::new(x.parse().ok()?, y.parse().ok()?))
}

/// The route of this place by length, of equally long ones in the order shown. It does not look at the layout.
fn by_length(items: &[Item], place: usize) -> Vec<Option<u16>> {
    let answer = |item: &Item| {
        let options = &item.first_question().options;
        let mut order: Vec<usize> = (0..options.len()).collect();
        order.sort_by_key(|&label| options[label].lines().count());
        order.get(place).and_then(|&label| u16::try_from(label).ok())
    };
    items.iter().map(answer).collect()
}

fn bayes(items: &[Item]) -> Vec<Option<u16>> {
    let answer = |item: &Item| {
        let (scene, routes) = shown(item)?;
        let chances = Problem::new(&scene, &routes).choices(&Parameters::OF_PEOPLE, 2);
        let (kind, _) = Kind::ALL.iter().zip(chances).max_by(|(_, one), (_, other)| one.total_cmp(other))?;
        let Gold::Route { kinds, .. } = &item.first_question().gold else { return None };
        kinds.iter().position(|name| name == kind.word()).map(|label| label as u16)
    };
    items.iter().map(answer).collect()
}

#[cfg(test)]
mod tests;
