//! Spatial intuition: to which mark must an empty glass be filled so that its water reaches the rim at the same tilt?
//!
//! Dimensions are exact fractions, in both shapes that tilted water can have. The picture is drawn here; a form in
//! numbers asks language models the same.

mod controls;
mod figure;
mod geometry;
mod marks;
mod normal;
mod ratio;

use serde::Deserialize;

pub use controls::shown;
pub use figure::Figure;
pub use geometry::{Combination, Glass, Regime};
pub use ratio::Ratio;

use crate::item::{Ask, Cue, Gold, Item, Part, Question, tags};
use crate::picture::Picture;
use crate::reading::Reading;
use crate::task::{Baseline, Params, Task, TaskError};
use crate::{Stream, analysis};
use controls::{best_constant, best_rank, nearest};
use marks::marks;

/// The task.
pub static GLASSES: Task = Task {
    name: "glasses",
    version: 2,
    summary: "Choose the mark to which a glass must be filled to pour at the same tilt as another one",
    source: "Mind Your Step (arXiv 2410.21333), section 5 and appendix E",
    params: PARAMS,
    items,
    resolve: None,
    analysis: analysis::Analysis { strata: &[&["regime"], &["glass"], &["rank"]], figures: analysis::none },
    baselines: &[
        Baseline {
            name: "best-constant",
            summary: "Always the letter that is right most often",
            answers: best_constant,
        },
        Baseline {
            name: "best-rank",
            summary: "Always the mark of that rank from the bottom that is right most often",
            answers: best_rank,
        },
        Baseline {
            name: "same-height",
            summary: "The mark nearest to the water's height",
            answers: |items| nearest(items, 0),
        },
        Baseline {
            name: "same-fraction",
            summary: "The mark nearest to the same part of the glass's height",
            answers: |items| nearest(items, 1),
        },
        Baseline {
            name: "equal-volume",
            summary: "The mark nearest to the same amount of water",
            answers: |items| nearest(items, 2),
        },
        Baseline {
            name: "walls-formula",
            summary: "The mark nearest to the formula for water that meets both walls, used throughout",
            answers: |items| nearest(items, 3),
        },
    ],
};

const PARAMS: &str = r#"# Problems, drawn from the 243 combinations without replacement.
problems = 100
# "picture": the paper's prompt with a drawn picture; "numbers": the dimensions in words, for language models;
# "withheld": the paper's prompt without its picture, a control.
form = "picture"
# "all"; "identical" keeps the 27 with two equal glasses (easy); "different" leaves them out.
combinations = "all"
# Wrong marks: "noise" around the right one, or "foils" that wrong shortcuts lead to, filled up with noise. In numbers both
# are put to the nearest height that is right for another glass of water, so that decimals do not tell the right one.
distractors = "noise"
# Least distance between marks, 0.2 to 0.4 (in numbers to 0.375), in units of 100 pixels.
epsilon = 0.25
# Letters: "shuffled", or "sorted" from the bottom up as in the paper's figure.
letters = "shuffled"
# Pixels of one unit, 20 to 200.
unit-px = 100
"#;

#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default, rename_all = "kebab-case")]
struct GlassesParams {
    problems: usize,
    form: Form,
    combinations: Kept,
    distractors: Distractors,
    epsilon: f64,
    letters: Letters,
    unit_px: u16,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Form {
    Picture,
    Numbers,
    Withheld,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Kept {
    All,
    Identical,
    Different,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Distractors {
    Noise,
    Foils,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Letters {
    Shuffled,
    Sorted,
}

impl Default for GlassesParams {
    fn default() -> Self {
        GlassesParams {
            problems: 100,
            form: Form::Picture,
            combinations: Kept::All,
            distractors: Distractors::Noise,
            epsilon: 0.25,
            letters: Letters::Shuffled,
            unit_px: 100,
        }
    }
}

/// Number of marks.
const MARKS: usize = 4;
/// Most that marks can be apart where they are answers: one combination has no three others farther from its own.
const APART_IN_NUMBERS: f64 = 0.375;

impl GlassesParams {
    fn combinations(&self) -> Vec<(usize, Combination)> {
        let keep = |(_, it): &(usize, Combination)| match self.combinations {
            Kept::All => true,
            Kept::Identical => it.source == it.target,
            Kept::Different => it.source != it.target,
        };
        Combination::all().enumerate().filter(keep).collect()
    }

    fn check(&self, known: usize) -> Result<(), TaskError> {
        let refused = |message: String| Err(TaskError::Params(message));
        if !(1..=known).contains(&self.problems) {
            return refused(format!(
                "problems: {} is not in 1 to {known}, the combinations there are",
                self.problems
            ));
        }
        if !(0.2..=0.4).contains(&self.epsilon) {
            return refused(format!("epsilon: {} is not in 0.2 to 0.4", self.epsilon));
        }
        if self.form == Form::Numbers && self.epsilon > APART_IN_NUMBERS {
            return refused(format!(
                "epsilon: {} is above {APART_IN_NUMBERS}, the most that leaves room in the form in numbers",
                self.epsilon
            ));
        }
        if !(20..=200).contains(&self.unit_px) {
            return refused(format!("unit-px: {} is not in 20 to 200", self.unit_px));
        }
        Ok(())
    }
}

fn items(params: &Params, seed: u64) -> Result<Vec<Item>, TaskError> {
    let params: GlassesParams = params.read()?;
    let known = params.combinations();
    // The default number is for all of them; a smaller choice gives what it has.
    let params = GlassesParams {
        problems: if params.combinations == Kept::Identical {
            params.problems.min(known.len())
        } else {
            params.problems
        },
        ..params
    };
    params.check(known.len())?;
    let drawn = Stream::new(seed, &["glasses", "combinations"]).distinct(known.len(), params.problems);
    drawn.into_iter().enumerate().map(|(place, index)| item(&params, seed, place, known[index])).collect()
}

fn item(
    params: &GlassesParams,
    seed: u64,
    place: usize,
    (number, it): (usize, Combination),
) -> Result<Item, TaskError> {
    let id = format!("g{number:03}");
    let mut marks =
        marks(params, &mut Stream::new(seed, &["glasses", "marks", &id]), it).ok_or_else(|| {
            TaskError::Params(format!(
                "epsilon: {} leaves no room for the marks of {id}; lower it",
                params.epsilon
            ))
        })?;
    marks.sort_unstable();
    let answer = it.answer();
    let rank = marks.iter().position(|mark| *mark == answer).unwrap_or_default();
    let mut gold = rank;
    if params.letters == Letters::Shuffled {
        // Golds are dealt in fours, so that each letter is right equally often.
        let mut golds = [0, 1, 2, 3];
        Stream::new(seed, &["glasses", "gold", &(place / MARKS).to_string()]).shuffle(&mut golds);
        gold = golds[place % MARKS];
        marks.remove(rank);
        Stream::new(seed, &["glasses", "letters", &id]).shuffle(&mut marks);
        marks.insert(gold, answer);
    }
    let figure =
        Figure { source: it.source, water: it.water(), target: it.target, marks, unit_px: params.unit_px };
    let tangent = it.tangent();
    let (from, to) = (it.source.regime(tangent), it.target.regime(tangent));
    let tags = tags([
        (
            "regime",
            if from == to { from.word().to_owned() } else { format!("{}-{}", from.word(), to.word()) },
        ),
        ("glass", relation(it)),
        ("water", format!("{}/4", it.quarters)),
        ("rank", (rank + 1).to_string()),
        ("position", LABELS[gold].to_owned()),
    ]);
    Ok(Item::one(id.clone(), id, tags, question(params.form, figure, gold)))
}

/// How the empty glass differs: `wider-shorter`, `same`.
fn relation(it: Combination) -> String {
    let word = |from: u8, to: u8, words: [&'static str; 2]| match to.cmp(&from) {
        std::cmp::Ordering::Less => words[0],
        std::cmp::Ordering::Equal => "same",
        std::cmp::Ordering::Greater => words[1],
    };
    let width = word(it.source.width, it.target.width, ["narrower", "wider"]);
    let height = word(it.source.height, it.target.height, ["shorter", "taller"]);
    if width == height { "same".to_owned() } else { format!("{width}-{height}") }
}

const LABELS: [&str; MARKS] = ["A", "B", "C", "D"];

/// The paper's prompt up to its last line.
const ASKED: &str = "On the left of the figure provided, there is a rectangular glass with its water level indicated with the blue \
     line. On the right, there is a target glass. The target glass has four height markings (A, B, C, D), each indicating a \
     different water level. Which marking should the target glass be filled to so that both glasses pour at the same angle? \
     Provide your answer using the letter that matches the correct height marking.";

fn question(form: Form, figure: Figure, gold: usize) -> Question {
    let mut options = Vec::new();
    let stem = match form {
        Form::Picture => vec![Part::picture(Picture::Glasses(figure)), format!("\n{ASKED}").into()],
        Form::Withheld => vec![ASKED.to_owned().into()],
        Form::Numbers => {
            options = figure.marks.iter().map(|mark| format!("{} cm", mark.decimal())).collect();
            vec![in_words(&figure, &options).into()]
        }
    };
    let cue = |name: &str, text: &str| Cue { name: name.to_owned(), stem: None, text: text.to_owned() };
    Question {
        history: Vec::new(),
        stem,
        ask: Ask {
            direct: " Do not include anything else.".to_owned(),
            direct_lead: String::new(),
            reason: vec![
                cue("step-by-step", " Let’s think step by step."),
                cue(
                    "answer-line",
                    " Think step by step, then end with one line \"Answer: X\", where X is A, B, C or D.",
                ),
            ],
        },
        labels: LABELS.map(str::to_owned).to_vec(),
        options,
        reading: Reading::Statement,
        gold: Gold::Label(gold as u16),
    }
}

/// The same problem without a figure.
fn in_words(figure: &Figure, options: &[String]) -> String {
    let Figure { source, water, target, .. } = figure;
    let mut text = format!(
        "There is a rectangular glass, {} cm wide and {} cm high, with water up to a height of {} cm. There is also an empty \
         rectangular target glass, {} cm wide and {} cm high. The target glass has four height markings:",
        source.width,
        source.height,
        water.decimal(),
        target.width,
        target.height
    );
    for (label, option) in LABELS.iter().zip(options) {
        text.push_str(&format!("\n{label}. {option}"));
    }
    text.push_str(
        "\nBoth glasses are tilted slowly. Which marking should the target glass be filled to so that both glasses pour at the \
         same angle? Provide your answer using the letter that matches the correct height marking.",
    );
    text
}

#[cfg(test)]
mod tests;
