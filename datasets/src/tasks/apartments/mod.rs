//! Aggregating features for a decision: which of four apartments is the best, all statements taken together.
//!
//! Every apartment has one of four statements about each feature, each with a rating; its score is the mean rating.
//! The statements of all four stand in one shuffled list.

mod features;
mod set;

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::Stream;
use crate::item::{Ask, Cue, Gold, Item, Part, Question, tags};
use crate::reading::Reading;
use crate::task::{Baseline, Params, Task, TaskError};

use features::{FEATURES, Statement};
use set::{Band, SET_SIZE, Set};

/// The task.
pub static APARTMENTS: Task = Task {
    name: "apartments",
    version: 1,
    summary: "Find the best of four apartments in a long shuffled list of rated statements",
    source: "Mind Your Step (arXiv 2410.21333), section 4.4 and appendix F",
    params: PARAMS,
    items,
    resolve: None,
    analysis: crate::analysis::Analysis { strata: &[&["band"]], figures: crate::analysis::none },
    baselines: &[
        Baseline {
            name: "most-liked",
            summary: "Takes the apartment with the most statements rated above 0",
            answers: |items| items.iter().map(|item| best(item, 1, |rating| i32::from(rating > 0))).collect(),
        },
        Baseline {
            name: "first-quarter",
            summary: "Adds up the ratings in the first quarter of the list",
            answers: |items| items.iter().map(|item| best(item, 4, |rating| rating)).collect(),
        },
    ],
};

const PARAMS: &str = r#"# Sets of four apartments in each band.
sets = 100
# By how much the best mean rating leads the second one.
bands = ["0.1-0.3", "0.3-0.5", "0.5-1"]
# Features of an apartment, 5 to 80; fewer than 80 are drawn for each set.
features = 80
# Show the rating behind each statement.
ratings = true
# Order of the list: "mixed" or "grouped" (by apartment, features in one order).
order = "mixed"
"#;

#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default, rename_all = "kebab-case")]
struct ApartmentsParams {
    sets: usize,
    bands: Vec<Band>,
    features: usize,
    ratings: bool,
    order: Order,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Order {
    Mixed,
    Grouped,
}

impl Default for ApartmentsParams {
    fn default() -> Self {
        ApartmentsParams {
            sets: 100,
            bands: vec![Band::Close, Band::Middle, Band::Far],
            features: 80,
            ratings: true,
            order: Order::Mixed,
        }
    }
}

impl ApartmentsParams {
    fn check(&self) -> Result<(), TaskError> {
        let refused = |message: String| Err(TaskError::Params(message));
        if self.sets == 0 || self.sets > 10_000 {
            return refused(format!("sets: {} is not in 1 to 10000", self.sets));
        }
        if self.bands.is_empty() {
            return refused("bands: at least one is needed".to_owned());
        }
        if self.bands.iter().zip(1..).any(|(band, next)| self.bands[next..].contains(band)) {
            return refused("bands: one is named twice".to_owned());
        }
        // With fewer than five features no whole number of rating points falls into the narrow bands.
        if !(5..=FEATURES.len()).contains(&self.features) {
            return refused(format!("features: {} is not in 5 to {}", self.features, FEATURES.len()));
        }
        Ok(())
    }
}

fn items(params: &Params, seed: u64) -> Result<Vec<Item>, TaskError> {
    let params: ApartmentsParams = params.read()?;
    params.check()?;
    let of_band = |&band: &Band| {
        let params = &params;
        (0..params.sets).map(move |index| item(params, band, seed, index))
    };
    Ok(params.bands.iter().flat_map(of_band).collect())
}

/// One set. It depends on its place in its band, not on how many sets and bands there are.
fn item(params: &ApartmentsParams, band: Band, seed: u64, index: usize) -> Item {
    let place = format!("{}/{index}", band.name());
    // Golds are dealt in fours, so that each number is right equally often.
    let four = format!("{}/{}", band.name(), index / SET_SIZE);
    let mut golds = [0, 1, 2, 3];
    Stream::new(seed, &["apartments", "gold", &four]).shuffle(&mut golds);
    let gold = golds[index % SET_SIZE];
    let set = Set::draw(&mut Stream::new(seed, &["apartments", "set", &place]), band, params.features, gold);
    let mut lines: Vec<(usize, &Statement)> = set.statements().collect();
    if params.order == Order::Mixed {
        Stream::new(seed, &["apartments", "order", &place]).shuffle(&mut lines);
    }
    let lines: Vec<String> = lines
        .into_iter()
        .map(|(apartment, statement)| {
            let text = &statement.text;
            let rating =
                if params.ratings { format!(" (rating: {})", statement.rating) } else { String::new() };
            format!("Apartment {}: {text}{rating}", apartment + 1)
        })
        .collect();
    let id = format!("b{}-s{:03}", band.number(), index + 1);
    Item::one(id.clone(), id, tags([("band", band.name().to_owned())]), question(&lines.join("\n"), gold))
}

fn question(lines: &str, gold: usize) -> Question {
    Question {
        history: Vec::new(),
        stem: vec![
            format!(
                "You are an AI assistant designed to evaluate the desirability of four apartments for a potential \
                 tenant. You will be given a list of statements about the apartment candidates and how much the \
                 tenant likes or dislikes an apartment with the quality described by the statement. Your task is \
                 to determine which apartment is the most desirable based on the given criteria.\n\
                 The statements are as follows:\n{lines}\n\
                 Which apartment is most desirable to the tenant?"
            )
            .into(),
        ],
        ask: Ask {
            direct: "\nRespond with only the number of the apartment, do not include anything else.".to_owned(),
            direct_lead: String::new(),
            reason: vec![Cue {
                name: "step-by-step".to_owned(),
                stem: None,
                text: "\nLet’s think step by step".to_owned(),
            }],
        },
        labels: (1..=SET_SIZE).map(|number| number.to_string()).collect(),
        options: Vec::new(),
        reading: Reading::Apartment,
        gold: Gold::Label(gold as u16),
    }
}

/// The apartment whose statements in the first part (1, or 1 in `share`) of the list are worth the most; none when
/// two are worth the same. Ratings come from our table, whether the list shows them or not.
fn best(item: &Item, share: usize, worth: fn(i32) -> i32) -> Option<u16> {
    let ratings: BTreeMap<&str, i32> =
        FEATURES.iter().flatten().map(|statement| (statement.text.as_str(), statement.rating)).collect();
    let mut lines: Vec<(usize, i32)> = Vec::new();
    for part in &item.first_question().stem {
        #[allow(irrefutable_let_patterns, reason = "holds whether or not other parts exist")]
        let Part::Text(text) = part else { continue };
        for line in text.lines() {
            let Some((number, text)) = line.strip_prefix("Apartment ").and_then(|line| line.split_once(": "))
            else {
                continue;
            };
            let text = text.split(" (rating: ").next().unwrap_or(text);
            if let (Ok(number @ 1..=SET_SIZE), Some(&rating)) = (number.parse(), ratings.get(text)) {
                lines.push((number - 1, rating));
            }
        }
    }
    let mut totals = [0; SET_SIZE];
    for &(apartment, rating) in &lines[..lines.len() / share] {
        totals[apartment] += worth(rating);
    }
    let most = totals.iter().copied().max()?;
    let mut leaders = (0..).zip(totals).filter(|&(_, total)| total == most).map(|(apartment, _)| apartment);
    leaders.next().filter(|_| leaders.next().is_none())
}

#[cfg(test)]
mod tests;
