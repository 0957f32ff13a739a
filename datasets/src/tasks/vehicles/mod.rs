//! Classifying data with exceptions: learn by feedback which vehicles are Class A.
//!
//! A descriptor (cold or warm climate) gives the class, but for one exception in each class; the license plate gives
//! it always. Who looks for the rule stays at eight of ten, who remembers plates is done in the second pass.

mod list;

use serde::Deserialize;

use crate::Stream;
use crate::item::{Ask, Card, Cue, Gold, Item, Passes, Question, Script, Tags};
use crate::reading::Reading;
use crate::task::{Params, Task, TaskError};

use list::{IRRELEVANT, PAIRS, Vehicle, vehicles};

/// The task.
pub static VEHICLES: Task = Task {
    name: "vehicles",
    version: 1,
    summary: "Learn two classes of vehicles by feedback, in passes over one list with two exceptions",
    source: "Mind Your Step (arXiv 2410.21333), section 4.3 and appendix C",
    params: PARAMS,
    items,
    resolve: None,
    analysis: crate::analysis::PLAIN,
    baselines: &[],
};

const PARAMS: &str = r#"# Lists of vehicles; each is one item.
lists = 240
# Passes over a list until it counts as not learnt.
passes = 15
# Vehicles in a list: an even number up to 10, half of them in each class.
vehicles = 10
# Vehicles of each class whose descriptor belongs to the other class; fewer than half of the class.
exceptions = 1
# How many of the features without meaning are shown: transmission, seat cover, doors.
irrelevant = 3
"#;

#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default, rename_all = "kebab-case")]
struct VehiclesParams {
    lists: usize,
    passes: usize,
    vehicles: usize,
    exceptions: usize,
    irrelevant: usize,
}

impl Default for VehiclesParams {
    fn default() -> Self {
        VehiclesParams { lists: 240, passes: 15, vehicles: 10, exceptions: 1, irrelevant: 3 }
    }
}

impl VehiclesParams {
    fn check(&self) -> Result<(), TaskError> {
        let refused = |message: String| Err(TaskError::Params(message));
        let most = 2 * PAIRS.len();
        if self.lists == 0 || self.lists > 10_000 {
            return refused(format!("lists: {} is not in 1 to 10000", self.lists));
        }
        if self.passes == 0 || self.passes > 99 {
            return refused(format!("passes: {} is not in 1 to 99", self.passes));
        }
        if self.vehicles < 2 || self.vehicles > most || self.vehicles % 2 == 1 {
            return refused(format!("vehicles: {} is not an even number in 2 to {most}", self.vehicles));
        }
        let class = self.vehicles / 2;
        if 2 * self.exceptions >= class {
            let message =
                format!("exceptions: {} in classes of {class} leaves no rule; take fewer", self.exceptions);
            return refused(message);
        }
        if self.irrelevant > IRRELEVANT.len() {
            return refused(format!("irrelevant: {} is not in 0 to {}", self.irrelevant, IRRELEVANT.len()));
        }
        Ok(())
    }
}

fn items(params: &Params, seed: u64) -> Result<Vec<Item>, TaskError> {
    let params: VehiclesParams = params.read()?;
    params.check()?;
    Ok((1..=params.lists).map(|number| item(&params, seed, number)).collect())
}

/// One list. It depends on its number, not on how many lists there are.
fn item(params: &VehiclesParams, seed: u64, number: usize) -> Item {
    let number_text = number.to_string();
    let mut stream = Stream::new(seed, &["vehicles", "list", &number_text]);
    let vehicles = vehicles(&mut stream, params.vehicles / 2, params.exceptions, params.irrelevant);
    let cards: Vec<Card> = vehicles.iter().map(|vehicle| card(vehicle, params.irrelevant)).collect();
    let mut stream = Stream::new(seed, &["vehicles", "order", &number_text]);
    let order = |_| {
        let mut order: Vec<u16> = (0..cards.len() as u16).collect();
        stream.shuffle(&mut order);
        order
    };
    let orders: Vec<Vec<u16>> = (0..params.passes).map(order).collect();
    let first = question(&cards[usize::from(orders[0][0])]);
    let passes = Passes {
        first,
        cards,
        orders,
        right: "Correct.".to_owned(),
        wrong: "Incorrect.".to_owned(),
        join: "\n\n".to_owned(),
    };
    let id = format!("l{number:03}");
    Item { family: id.clone(), id, tags: Tags::new(), script: Script::Passes(Box::new(passes)) }
}

fn card(vehicle: &Vehicle, irrelevant: usize) -> Card {
    let mut text = format!(
        "The vehicle description is as follows:\nLicense plate: {}\nDescriptor: {}",
        vehicle.plate, vehicle.descriptor
    );
    for (feature, &second) in IRRELEVANT.iter().zip(&vehicle.irrelevant).take(irrelevant) {
        text.push_str(&format!("\n{}: {}", feature.name, feature.values[usize::from(second)]));
    }
    text.push_str("\nIs this vehicle more likely to be a Class A or Class B vehicle?");
    Card {
        text,
        gold: u16::from(vehicle.class_b),
        truth: format!("This vehicle is Class {}.", if vehicle.class_b { 'B' } else { 'A' }),
        exception: vehicle.exception,
    }
}

fn question(card: &Card) -> Question {
    Question {
        history: Vec::new(),
        stem: vec![card.text.clone().into()],
        ask: Ask {
            direct: "\nOnly answer with ‘A’ or ‘B’.".to_owned(),
            direct_lead: String::new(),
            reason: vec![Cue {
                name: "step-by-step".to_owned(),
                stem: None,
                text: "\nLet’s think step by step and answer with either ‘A’ or ‘B’. If you are unsure, feel free \
                       to guess and explain your reasoning"
                    .to_owned(),
            }],
        },
        labels: vec!["A".to_owned(), "B".to_owned()],
        options: Vec::new(),
        reading: Reading::VehicleClass,
        gold: Gold::Label(card.gold),
    }
}

#[cfg(test)]
mod tests;
