//! HandSwap: who holds what after a series of swaps between hands.

use std::fmt;

use serde::Deserialize;

use super::tracking::{
    Episodes, Example, Layout, MOST_FREQUENT, Query, STATELESS, World, default_depths, letter, ordered_pair,
};
use crate::item::{Item, Tags};
use crate::{Params, Stream, Task, TaskError};

/// The task.
pub static HAND_SWAP: Task = Task {
    name: "hand-swap",
    version: 1,
    summary: "three persons swap what they hold; asks what one of them holds now",
    source: "Exploring State Tracking Capabilities of Large Language Models, sections 3.2 and 4.2, appendix A.2",
    params: "\
# Episodes; each is asked about once per depth.
episodes = 50
# Numbers of swaps after which a question is asked. Few swaps are easy.
depths = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10]
",
    items,
    resolve: None,
    analysis: super::tracking::ANALYSIS,
    baselines: &[STATELESS, MOST_FREQUENT],
};

const PERSONS: usize = 3;
const OBJECTS: &[&str] = &["apple", "banana", "nothing"];

#[derive(Deserialize, Debug, PartialEq)]
#[serde(deny_unknown_fields, default, rename_all = "kebab-case")]
struct HandSwapParams {
    episodes: u32,
    depths: Vec<u32>,
}

impl Default for HandSwapParams {
    fn default() -> Self {
        HandSwapParams { episodes: 50, depths: default_depths() }
    }
}

fn items(params: &Params, seed: u64) -> Result<Vec<Item>, TaskError> {
    let params: HandSwapParams = params.read()?;
    let episodes = Episodes {
        task: "hand-swap",
        world: "3",
        episodes: params.episodes,
        depths: &params.depths,
        tags: &Tags::new(),
        seed,
    };
    episodes.check()?;
    Ok(episodes.items(&layout(), |_| Hands::full()))
}

/// What each person holds, as an index of [`OBJECTS`].
#[derive(Clone, Debug)]
struct Hands([u16; PERSONS]);

/// Two persons exchange what they hold.
struct Swap(usize, usize);

impl fmt::Display for Swap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Person {} swaps hands with Person {}.", letter(self.0), letter(self.1))
    }
}

impl Hands {
    /// Everybody begins with the same thing in every episode.
    fn full() -> Self {
        Hands([0, 1, 2])
    }

    fn asked(person: usize) -> String {
        format!("What is in the hands of Person {} now?", letter(person))
    }
}

impl World for Hands {
    type Update = Swap;

    fn state(&self) -> Vec<String> {
        let line = |(person, &object): (usize, &u16)| {
            format!("Person {} is initially holding {}", letter(person), OBJECTS[usize::from(object)])
        };
        self.0.iter().enumerate().map(line).collect()
    }

    fn draw(&self, stream: &mut Stream) -> Swap {
        let (one, other) = ordered_pair(stream, PERSONS);
        Swap(one, other)
    }

    fn apply(&mut self, swap: &Swap) {
        self.0.swap(swap.0, swap.1);
    }

    fn query(&self, start: &Self, stream: &mut Stream) -> Query {
        let person = stream.below(PERSONS);
        Query { text: Hands::asked(person), gold: self.0[person], initial: start.0[person] }
    }
}

/// The paper's instruction asks for no reasoning in words of its own, so both forms share it.
fn layout() -> Layout {
    let instruction = "Consider three individuals, each holding an object. Given initial object that each individual \
        holds, and a series of swaps with other individuals, your task is to respond to a given query about the final \
        object that one of the individuals is holding. Your response should strictly follow this format: \
        ‘Answer: [[response]]’, with the response in the double-closed brackets chosen from this list of the options: \
        [apple, banana, nothing], e.g, ‘Answer: [[apple]]’ or ‘Answer: [[banana]]’ or ‘Answer: [[nothing]]’.";
    Layout {
        direct: instruction.to_owned(),
        reasoning: instruction.to_owned(),
        example: Example {
            state: Hands::full().state(),
            updates: vec![Swap(1, 2).to_string(), Swap(2, 1).to_string()],
            query: Hands::asked(1),
            reasoning: "Considering all the previous swaps, Person B is now holding banana.".to_owned(),
            answer: "banana",
        },
        options: OBJECTS,
    }
}

#[cfg(test)]
mod tests;
