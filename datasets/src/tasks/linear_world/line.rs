//! Persons on a line, and how they move.

use std::fmt;

use super::{Asking, Updates};
use crate::Stream;
use crate::tasks::tracking::{Query, World, letter, ordered_pair};

/// Where each person stands. No two stand at the same place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Line {
    pub(super) positions: Vec<i64>,
    pub(super) updates: Updates,
    pub(super) asking: Asking,
}

/// A change of places.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Movement {
    /// Two persons exchange places.
    Swap(usize, usize),
    /// One person moves by a number of units, to the right where it is positive.
    Move(usize, i64),
}

impl fmt::Display for Movement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Movement::Swap(one, other) => {
                write!(f, "Person {} swaps position with Person {}.", letter(one), letter(other))
            }
            Movement::Move(person, units) => {
                let side = if units < 0 { "left" } else { "right" };
                write!(f, "Person {} moves {} units to {side}.", letter(person), units.unsigned_abs())
            }
        }
    }
}

impl Line {
    /// The start of an episode: A at 0, B at 1, ... for swaps; A at 1, B at 2, ... for moves by small numbers;
    /// anywhere in 1000 to 9999 for moves by large ones.
    pub(super) fn begin(persons: usize, updates: Updates, asking: Asking, stream: &mut Stream) -> Self {
        let first = match updates {
            Updates::Swap => 0,
            Updates::Integer => 1,
            Updates::LargeInteger => {
                let places = distinct_within(stream, persons, 1000, 9999);
                return Line { positions: places, updates, asking };
            }
        };
        let positions = (first..).take(persons).collect();
        Line { positions, updates, asking }
    }

    /// 0 where `person` stands left of `other`, 1 where right of it: the indices of the options.
    pub(super) fn side(&self, person: usize, other: usize) -> u16 {
        u16::from(self.positions[person] > self.positions[other])
    }

    /// The question about two persons.
    pub(super) fn asked(person: usize, other: usize) -> String {
        format!("Where does Person {} stand with respect to Person {} now?", letter(person), letter(other))
    }

    /// A person between the outermost two lands beyond the outermost one of a side: so every update changes the
    /// order, positions stay distinct, and nobody moves twice in a row.
    fn draw_move(&self, stream: &mut Stream, overshoot: (i64, i64)) -> Movement {
        let low = self.positions.iter().copied().min().unwrap_or(0);
        let high = self.positions.iter().copied().max().unwrap_or(0);
        let inner: Vec<usize> = (0..self.positions.len())
            .filter(|&p| self.positions[p] != low && self.positions[p] != high)
            .collect();
        let person = *stream.pick(&inner);
        let right = stream.coin();
        let beyond = stream.within(overshoot.0, overshoot.1);
        let target = if right { high + beyond } else { low - beyond };
        Movement::Move(person, target - self.positions[person])
    }
}

impl World for Line {
    type Update = Movement;

    fn state(&self) -> Vec<String> {
        let line =
            |(person, place): (usize, &i64)| format!("Person {} starts at position {place}", letter(person));
        self.positions.iter().enumerate().map(line).collect()
    }

    fn draw(&self, stream: &mut Stream) -> Movement {
        match self.updates {
            Updates::Swap => {
                let (one, other) = ordered_pair(stream, self.positions.len());
                Movement::Swap(one, other)
            }
            Updates::Integer => self.draw_move(stream, (1, 5)),
            Updates::LargeInteger => self.draw_move(stream, (100, 999)),
        }
    }

    fn apply(&mut self, movement: &Movement) {
        match *movement {
            Movement::Swap(one, other) => self.positions.swap(one, other),
            Movement::Move(person, units) => self.positions[person] += units,
        }
    }

    fn query(&self, start: &Self, stream: &mut Stream) -> Query {
        let persons = self.positions.len();
        let changed: Vec<(usize, usize)> = (0..persons)
            .flat_map(|person| (0..persons).map(move |other| (person, other)))
            .filter(|&(person, other)| self.side(person, other) != start.side(person, other))
            .collect();
        let (person, other) = match self.asking {
            Asking::StateDependent if !changed.is_empty() => *stream.pick(&changed),
            _ => ordered_pair(stream, persons),
        };
        Query {
            text: Line::asked(person, other),
            gold: self.side(person, other),
            initial: start.side(person, other),
        }
    }
}

/// Different numbers of a range, uniform.
fn distinct_within(stream: &mut Stream, count: usize, low: i64, high: i64) -> Vec<i64> {
    let mut drawn = Vec::with_capacity(count);
    while drawn.len() < count {
        let number = stream.within(low, high);
        if !drawn.contains(&number) {
            drawn.push(number);
        }
    }
    drawn
}
