//! The texts of LinearWorld: instruction and solved example.

use super::line::{Line, Movement};
use super::{Asking, Updates};
use crate::tasks::tracking::{Example, Layout, World};

/// The texts for a number of persons and a way of moving.
///
/// The paper prints the one for three persons and swaps. More persons join its example at the right without touching
/// its answer; moves by numbers have examples of our own in its form.
pub(super) fn layout(persons: usize, updates: Updates) -> Layout {
    let number = match persons {
        3 => "three",
        4 => "four",
        _ => "five",
    };
    let world = format!(
        "Consider a 2D world with {number} individuals, each starting at a given initial position, and a series of \
         movements for each person, where ‘left’ signifies a move towards negative coordinates and ‘right’ denotes a \
         move towards positive coordinates."
    );
    let format = "Your response should strictly follow this format: ‘Answer: [[response]]’, the response in the \
         double-closed brackets is either left or right, e.g, ‘Answer: [[left]]’ and ‘Answer: [[right]]’.";
    Layout {
        direct: format!(
            "{world} Your task is to respond to a given query about their respective positions after the specified \
             sequence of movements. {format}"
        ),
        reasoning: format!(
            "{world} Your task is to calculate and report the final position of each person after the specified \
             sequence of movements and respond to a given query about their respective positions. {format}"
        ),
        example: example(persons, updates),
        options: &["left", "right"],
    }
}

/// The solved example; one person of a pair ends right of the other in all of them, as in the printed one.
fn example(persons: usize, updates: Updates) -> Example {
    let (places, movements, (person, other)) = match updates {
        Updates::Swap => ([0, 1, 2, 3, 4], [Movement::Swap(2, 0), Movement::Swap(0, 1)], (1, 2)),
        Updates::Integer => ([1, 2, 3, 4, 5], [Movement::Move(1, -3), Movement::Move(0, 5)], (0, 2)),
        Updates::LargeInteger => {
            ([2417, 5180, 7365, 7481, 7602], [Movement::Move(1, -3021), Movement::Move(0, 5432)], (0, 2))
        }
    };
    let start = Line { positions: places[..persons].to_vec(), updates, asking: Asking::Random };
    let mut end = start.clone();
    for movement in &movements {
        end.apply(movement);
    }
    let (place, other_place) = (end.positions[person], end.positions[other]);
    let name = crate::tasks::tracking::letter(person);
    let other_name = crate::tasks::tracking::letter(other);
    Example {
        state: start.state(),
        updates: movements.iter().map(Movement::to_string).collect(),
        query: Line::asked(person, other),
        reasoning: format!(
            "Considering all the previous movements, Person {name} is at position {place}. Person {other_name} is at \
             position {other_place}. Since {place} is greater than {other_place}, Person {name} is to the right of \
             Person {other_name}."
        ),
        answer: "right",
    }
}
