//! Inverse reasoning: what a walk past food trucks tells about a preference order.
//!
//! From "Evaluating and Modeling Social Intelligence". The gold is what any observer can conclude, by possible worlds.

mod pattern;
mod prompt;
pub mod scene;

use std::collections::HashSet;

use serde::Deserialize;

use crate::grid::MAX_SIZE;
use crate::item::{self, Ask, Cue, Gold, Item, Question};
use crate::reading::Reading;
use crate::tasks::campus::{Map, Show, Stretch};
use crate::{Params, Stream, Task, TaskError};
use prompt::{Form, Shown};
use scene::{Draw, Kind, Preference, Scene};

/// The task.
pub static IR: Task = Task {
    name: "ir",
    version: 2,
    summary: "inverse reasoning: infer a preference order over five food trucks from a walk past four of them",
    source: "Evaluating and Modeling Social Intelligence, tasks section, appendix A and B",
    params: DEFAULTS,
    items,
    resolve: None,
    analysis: crate::analysis::Analysis { strata: &[&["kind"]], figures: crate::analysis::none },
    baselines: &[],
};

const DEFAULTS: &str = r#"# Scenes; each gives up to `walks` items.
scenes = 100
# Different walks per scene, one per drawn preference.
walks = 5
# Cells along one side, 4 to 8.
size = 5
# Wall segments, 0 to 8.
walls = 2
# Longest wall segment in cells, 2 to `size`; the shortest has two.
wall-length = 4
# Walls never touch the last cell of their line, as in the released generator.
compat-walls = false
# Kinds of walks that are kept.
kinds = ["intermediate", "last", "previsited"]
# Keep walks whose kind by possible worlds differs from the released rule's (about 3.5 %).
disputed = true
# What is right: "possible-worlds", or "official" for the released rule.
gold = "possible-worlds"
# "model": rules and notation in our own words; "printed": the paper's printed prompt; "shortcut": nothing social.
form = "model"
# The paper's worked examples, 0 to 3: Previsited, Intermediate, Last.
shots = 0
# "none": layout and walk as text; "added": a picture of both before the text; "instead": the picture in place of rows and
# coordinates; "withheld": neither, a control. Pictures go with the forms "model" and "printed".
pictures = "none"
# "order": the order is written out; "choice": four orders are offered, for interfaces that score labels; "pattern": all twelve
# conclusions are scored, for the shortcut test of `edge-eval probe`; the tag `split` marks whole scenes as `test`, about a sixth
# of the items of each kind.
answer = "order"
"#;

#[derive(Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default, rename_all = "kebab-case")]
struct Settings {
    scenes: usize,
    walks: usize,
    size: u8,
    walls: usize,
    wall_length: u8,
    compat_walls: bool,
    kinds: Vec<KindName>,
    disputed: bool,
    gold: GoldRule,
    form: Form,
    shots: usize,
    pictures: Show,
    answer: Answer,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum KindName {
    Intermediate,
    Last,
    Previsited,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum GoldRule {
    PossibleWorlds,
    Official,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Answer {
    Order,
    Choice,
    Pattern,
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            scenes: 100,
            walks: 5,
            size: 5,
            walls: 2,
            wall_length: 4,
            compat_walls: false,
            kinds: vec![KindName::Intermediate, KindName::Last, KindName::Previsited],
            disputed: true,
            gold: GoldRule::PossibleWorlds,
            form: Form::Model,
            shots: 0,
            pictures: Show::None,
            answer: Answer::Order,
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
        if !(2..=self.size).contains(&self.wall_length) {
            return wrong(format!("wall-length = {}: must be 2 to size ({})", self.wall_length, self.size));
        }
        if self.shots > prompt::MAX_SHOTS {
            return wrong(format!("shots = {}: must be 0 to {}", self.shots, prompt::MAX_SHOTS));
        }
        if self.kinds.is_empty() {
            return wrong("kinds = []: name at least one of intermediate, last, previsited".to_owned());
        }
        if self.pictures != Show::None && self.form == Form::Shortcut {
            return wrong(
                "pictures: the form \"shortcut\" is text alone; take \"model\" or \"printed\"".to_owned(),
            );
        }
        if !(1..=8).contains(&self.walks) {
            return wrong(format!("walks = {}: must be 1 to 8", self.walks));
        }
        Ok(())
    }

    fn keeps(&self, found: &Found) -> bool {
        let wanted = self.kinds.iter().any(|name| {
            found.gold
                == match name {
                    KindName::Intermediate => Kind::Intermediate,
                    KindName::Last => Kind::Last,
                    KindName::Previsited => Kind::Previsited,
                }
        });
        wanted && (self.disputed || found.concluded == found.walk.official)
    }
}

/// A walk of a scene with what it lets conclude.
struct Found {
    walk: scene::Walk,
    preference: Preference,
    concluded: Kind,
    gold: Kind,
}

fn items(params: &Params, seed: u64) -> Result<Vec<Item>, TaskError> {
    let settings: Settings = params.read()?;
    settings.check()?;
    let how = Draw {
        size: settings.size,
        walls: settings.walls,
        longest: settings.wall_length,
        compat: settings.compat_walls,
    };
    let mut used = HashSet::new();
    let mut items: Vec<Item> = Vec::new();
    let mut split = pattern::Split::default();
    for number in 0..settings.scenes {
        let mut stream = Stream::new(seed, &["ir", "scene", &number.to_string()]);
        // A scene that was drawn before, or has no walk of the wanted kinds, is drawn anew.
        let (scene, walks) = (0..200)
            .find_map(|_| {
                let scene = Scene::draw(&mut stream, how)?;
                let walks = walks(&scene, &settings, &mut stream);
                (!walks.is_empty() && used.insert(scene.rows())).then_some((scene, walks))
            })
            .ok_or_else(|| {
                TaskError::Params(format!(
                    "walls = {}, size = {}, kinds: no scene found that has such walks; use fewer walls, more room or more kinds",
                    settings.walls, settings.size
                ))
            })?;
        let part = split.part(walks.iter().map(|found| found.gold));
        for (place, found) in walks.iter().enumerate() {
            let mut item = item(&settings, seed, (number, place), &scene, found);
            if settings.answer == Answer::Pattern {
                item.tags.insert("split".to_owned(), part.to_owned());
            }
            items.push(item);
        }
    }
    Ok(items)
}

/// Up to `walks` different walks for preferences drawn from the stream; a walk that visits a cell three times is none.
fn walks(scene: &Scene, settings: &Settings, stream: &mut Stream) -> Vec<Found> {
    let mut seen = HashSet::new();
    let mut walks = Vec::new();
    for _ in 0..100 {
        if seen.len() == settings.walks {
            break;
        }
        let mut preference: Preference = [0, 1, 2, 3, 4];
        stream.shuffle(&mut preference);
        let Some(walk) = scene::walk(scene, &preference) else { continue };
        let crowded =
            walk.cells.iter().any(|cell| walk.cells.iter().filter(|other| *other == cell).count() >= 3);
        if crowded || !seen.insert(walk.cells.clone()) {
            continue;
        }
        let Some(concluded) = scene::concluded(scene, &walk.cells, walk.pick) else { continue };
        let gold = match settings.gold {
            GoldRule::PossibleWorlds => concluded,
            GoldRule::Official => walk.official,
        };
        let found = Found { walk, preference, concluded, gold };
        if settings.keeps(&found) {
            walks.push(found);
        }
    }
    walks
}

fn item(
    settings: &Settings,
    seed: u64,
    (number, place): (usize, usize),
    scene: &Scene,
    found: &Found,
) -> Item {
    let family = format!("s{number:03}");
    let id = format!("{family}-w{place}");
    let pick = found.walk.pick;
    let shown = Shown { scene, lines: scene::lines(scene, &found.walk.cells, pick) };
    let stretches = [
        (scene.rows().join("\n"), Some(Map::new(scene.rows(), &found.walk.cells, false)), ""),
        (shown.lines.join("\n"), None, DRAWN_WALK),
    ];
    let stretches = stretches.map(|(text, map, words)| Stretch { text, map, words }).into();
    let mut stem = prompt::stem(settings.form, settings.shots, &shown);
    let (right, chain, free) = prompt::conclusion(found.gold, pick);
    let foods: Vec<&str> = found.preference.iter().map(|truck| FOOD_NAMES[usize::from(*truck)]).collect();
    let mut tags = item::tags([
        ("kind", found.gold.word().to_owned()),
        ("official", found.walk.official.word().to_owned()),
        ("disputed", if found.concluded == found.walk.official { "no" } else { "yes" }.to_owned()),
        ("preference", foods.join(">")),
        ("steps", (found.walk.cells.len() - 1).to_string()),
    ]);
    let question = match settings.answer {
        Answer::Order => Question {
            history: Vec::new(),
            stem: settings.pictures.parts(stem, stretches),
            ask: ask_order(settings.form),
            labels: Vec::new(),
            options: Vec::new(),
            reading: Reading::Ordering,
            gold: Gold::Ordering { chain, free },
        },
        Answer::Pattern => Question {
            history: Vec::new(),
            stem: settings.pictures.parts(stem, stretches),
            ask: ask_pattern(),
            labels: pattern::labels(),
            options: Vec::new(),
            reading: Reading::Statement,
            gold: Gold::Label(pattern::place(found.gold, pick)),
        },
        Answer::Choice => {
            let mut stream = Stream::new(seed, &["ir", "options", &id]);
            let mut offers = offers(found.gold, pick, &mut stream);
            stream.shuffle(&mut offers);
            let gold = offers.iter().position(|offer| *offer == right).unwrap_or_default() as u16;
            let labels: Vec<String> = ["A", "B", "C", "D"].map(str::to_owned).to_vec();
            stem.push('\n');
            for (label, offer) in labels.iter().zip(&offers) {
                stem.push_str(&format!("\n{label}. {offer}"));
            }
            tags.insert("position".to_owned(), labels[usize::from(gold)].clone());
            Question {
                history: Vec::new(),
                stem: settings.pictures.parts(stem, stretches),
                ask: ask_choice(),
                labels,
                options: offers,
                reading: Reading::Statement,
                gold: Gold::Label(gold),
            }
        }
    };
    Item::one(id, family, tags, question)
}

/// Stands for the lines of a walk that is drawn.
const DRAWN_WALK: &str = "It is the line in the picture. Its arrow heads are the more yellow the later the step, and it ends at the truck \
     that A picks.";

const FOOD_NAMES: [&str; 5] = ["X", "Y", "Z", "M", "N"];

/// The right kind of conclusion and another one, each about the truck that was picked and about another one: every kind and
/// every truck stands in two options, so that what is offered more often tells nothing.
fn offers(kind: Kind, pick: u8, stream: &mut Stream) -> Vec<String> {
    let kinds: Vec<Kind> = pattern::KINDS.into_iter().filter(|other| *other != kind).collect();
    let trucks: Vec<u8> = (0..pattern::PICKS).filter(|truck| *truck != pick).collect();
    let (other_kind, other_truck) = (*stream.pick(&kinds), *stream.pick(&trucks));
    [kind, other_kind]
        .into_iter()
        .flat_map(|kind| [pick, other_truck].map(|truck| prompt::conclusion(kind, truck).0))
        .collect()
}

fn ask_order(form: Form) -> Ask {
    let notation = match form {
        Form::Model => String::new(),
        Form::Printed => format!("\n\nFormat: {}", prompt::NOTATION),
        // The fine-tuned model of the paper saw the input alone.
        Form::Shortcut => {
            return Ask {
                reason: vec![cue(
                    "\n\nThink step by step. End with a line that begins with \"Answer:\" and holds the order.",
                )],
                ..Ask::default()
            };
        }
    };
    Ask {
        direct: format!("{notation}\n\nAnswer with the order alone."),
        direct_lead: String::new(),
        reason: vec![cue(&format!(
            "{notation}\n\nThink step by step. End with a line that begins with \"Answer:\" and holds the order."
        ))],
    }
}

/// The paper's model saw the input alone and wrote the order: the order is scored right behind it, and there is no other way
/// of asking.
fn ask_pattern() -> Ask {
    Ask { direct: "\n".to_owned(), ..Ask::default() }
}

fn ask_choice() -> Ask {
    Ask {
        direct: "\n\nWhich order does the trajectory allow to conclude? Answer with the letter alone."
            .to_owned(),
        direct_lead: String::new(),
        reason: vec![cue(
            "\n\nWhich order does the trajectory allow to conclude? Think step by step. End with a line that begins with \
             \"Answer:\" and holds the letter.",
        )],
    }
}

fn cue(text: &str) -> Cue {
    Cue { name: "step-by-step".to_owned(), stem: None, text: text.to_owned() }
}

#[cfg(test)]
mod tests;
