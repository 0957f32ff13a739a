//! Lights: whether a room is lit after a series of switch presses.

use std::fmt;

use serde::Deserialize;

use super::tracking::{
    Episodes, Example, Layout, MOST_FREQUENT, Query, STATELESS, World, default_depths, letter,
};
use crate::item::{Item, Tags};
use crate::{Params, Stream, Task, TaskError};

/// The task.
pub static LIGHTS: Task = Task {
    name: "lights",
    version: 1,
    summary: "five switches turn the lights of three rooms on and off; asks whether one room is lit at the end",
    source: "Exploring State Tracking Capabilities of Large Language Models, sections 3.3 and 4.2, appendix A.3",
    params: "\
# Episodes; each is asked about once per depth.
episodes = 50
# Numbers of presses after which a question is asked. Few presses are easy.
depths = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10]
# The lights at the start: \"random\" (each room on or off), or \"off\" (all dark, as in the printed instance).
initial = \"random\"
",
    items,
    resolve: None,
    analysis: super::tracking::ANALYSIS,
    baselines: &[STATELESS, MOST_FREQUENT],
};

const ROOMS: usize = 3;
const STATUS: &[&str] = &["on", "off"];

/// What each switch turns on or off, one effect per line of the prompt. Fixed in the paper.
const EFFECTS: &[(usize, &[usize], bool)] = &[
    (1, &[0], true),
    (1, &[1], false),
    (2, &[1], true),
    (2, &[2], false),
    (3, &[2], true),
    (3, &[0], false),
    (4, &[0, 1, 2], true),
    (5, &[0, 1, 2], false),
];
const SWITCHES: usize = 5;

#[derive(Deserialize, Debug, PartialEq)]
#[serde(deny_unknown_fields, default, rename_all = "kebab-case")]
struct LightsParams {
    episodes: u32,
    depths: Vec<u32>,
    initial: Initial,
}

#[derive(Deserialize, Clone, Copy, Debug, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
enum Initial {
    Random,
    Off,
}

impl Default for LightsParams {
    fn default() -> Self {
        LightsParams { episodes: 50, depths: default_depths(), initial: Initial::Random }
    }
}

fn items(params: &Params, seed: u64) -> Result<Vec<Item>, TaskError> {
    let params: LightsParams = params.read()?;
    let episodes = Episodes {
        task: "lights",
        world: "3",
        episodes: params.episodes,
        depths: &params.depths,
        tags: &Tags::new(),
        seed,
    };
    episodes.check()?;
    let begin = |stream: &mut Stream| {
        // Drawn in either case, so that the presses of an episode are the same.
        let drawn = [stream.coin(), stream.coin(), stream.coin()];
        match params.initial {
            Initial::Random => Rooms(drawn),
            Initial::Off => Rooms::dark(),
        }
    };
    Ok(episodes.items(&layout(), begin))
}

/// Whether each room is lit.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Rooms([bool; ROOMS]);

/// A switch, 1 to 5, is pressed.
struct Press(usize);

impl fmt::Display for Press {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "The switch {} is pressed.", self.0)
    }
}

impl Rooms {
    fn dark() -> Self {
        Rooms([false; ROOMS])
    }

    /// Index of the room's status in [`STATUS`].
    fn status(&self, room: usize) -> u16 {
        u16::from(!self.0[room])
    }

    fn asked(room: usize) -> String {
        format!("What is the final light status in room {}?", letter(room))
    }
}

impl World for Rooms {
    type Update = Press;

    fn state(&self) -> Vec<String> {
        let word = |on: bool| if on { "on" } else { "off" };
        let light =
            |room: usize| format!("The light in room {} is initially {}.", letter(room), word(self.0[room]));
        let effect = |&(switch, rooms, on): &(usize, &[usize], bool)| {
            let rooms = match rooms {
                [one] => format!("room {}", letter(*one)),
                _ => "room A, room B and room C".to_owned(),
            };
            format!("When switch {switch} is pressed, it turns the lights of {rooms} {}.", word(on))
        };
        (0..ROOMS).map(light).chain(EFFECTS.iter().map(effect)).collect()
    }

    fn draw(&self, stream: &mut Stream) -> Press {
        Press(1 + stream.below(SWITCHES))
    }

    fn apply(&mut self, press: &Press) {
        for &(_, rooms, on) in EFFECTS.iter().filter(|effect| effect.0 == press.0) {
            for &room in rooms {
                self.0[room] = on;
            }
        }
    }

    fn query(&self, start: &Self, stream: &mut Stream) -> Query {
        let room = stream.below(ROOMS);
        Query { text: Rooms::asked(room), gold: self.status(room), initial: start.status(room) }
    }
}

/// The paper's instruction asks for no reasoning in words of its own, so both forms share it.
fn layout() -> Layout {
    let instruction = "Consider a scenario where there are a set of switches and multiple rooms each equipped with a \
        light. Each switch affects the state of certain lights when pressed. Given the initial state of the lights in \
        each room and the effects of pressing each switch, your task is to respond to queries about the final state \
        of a specific room after a sequence of switch presses. Your response format must strictly follow the \
        following pattern: ‘Answer: [[response]]’, where the response enclosed in double brackets indicates whether \
        the light is on or off, for instance, ‘Answer: [[on]]’ or ‘Answer: [[off]]’.";
    Layout {
        direct: instruction.to_owned(),
        reasoning: instruction.to_owned(),
        example: Example {
            state: Rooms::dark().state(),
            updates: vec![Press(3).to_string(), Press(3).to_string()],
            query: Rooms::asked(0),
            reasoning: "Starting from the first key press: The switch 3 is pressed and it turns the light in room A \
                off. The switch 3 is pressed and it turns the light in room A off. Therefore the final status of the \
                light in room A is off."
                .to_owned(),
            answer: "off",
        },
        options: STATUS,
    }
}

#[cfg(test)]
mod tests;
