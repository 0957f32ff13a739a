//! The campus of inverse inverse planning: an agent, its restaurant X, the other one Y, walls; and the colouring that
//! tells which restaurant a cell speaks for.

use crate::Stream;
use crate::grid::{self, Cell, Cells, Distances, Grid, UNREACHED, URDL};

/// Where everything is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scene {
    /// Cells and walls.
    pub grid: Grid,
    /// Where the agent starts.
    pub agent: Cell,
    /// Where the agent wants to eat.
    pub target: Cell,
    /// The other restaurant.
    pub other: Cell,
}

/// What a cell speaks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Colour {
    /// Neither restaurant.
    Neutral,
    /// The target, at a level: 0 is the restaurant itself, higher is weaker.
    Target(u8),
    /// The other restaurant, at a level.
    Other(u8),
}

/// A coloured scene.
#[derive(Clone, Debug)]
pub struct Colouring {
    colours: Vec<(Cell, Colour)>,
    target: Cells,
    other: Cells,
}

impl Colouring {
    /// The colour of a cell.
    pub fn of(&self, cell: Cell) -> Colour {
        self.colours.iter().find(|(at, _)| *at == cell).map_or(Colour::Neutral, |(_, colour)| *colour)
    }

    /// The level of the target's colour.
    pub fn target_level(&self, cell: Cell) -> Option<u8> {
        match self.of(cell) {
            Colour::Target(level) => Some(level),
            _ => None,
        }
    }

    /// All cells of the other restaurant's colour.
    pub fn other_region(&self) -> Cells {
        self.other
    }

    /// All cells of the target's colour.
    pub fn target_region(&self) -> Cells {
        self.target
    }
}

impl Scene {
    /// Draws one scene, valid or not; `None` when the walls leave too few cells.
    pub fn draw(stream: &mut Stream, size: u8, walls: usize, longest: u8, compat: bool) -> Option<Scene> {
        let walls = grid::draw_walls(stream, size, walls, (1, longest), compat);
        let grid = Grid { size, walls };
        let free: Vec<Cell> = grid.free().collect();
        let [agent, target, other] = stream.distinct(free.len(), 3)[..] else { return None };
        Some(Scene { grid, agent: free[agent], target: free[target], other: free[other] })
    }

    /// The same campus with the restaurants' parts exchanged.
    pub fn swapped(&self) -> Scene {
        Scene { target: self.other, other: self.target, ..self.clone() }
    }

    /// All three can reach each other, and no two are closer than two steps.
    pub fn is_spaced(&self) -> bool {
        let from_agent = self.grid.distances(self.agent);
        let from_target = self.grid.distances(self.target);
        [from_agent.to(self.target), from_agent.to(self.other), from_target.to(self.other)]
            .iter()
            .all(|steps| (2..UNREACHED).contains(steps))
    }

    /// Y lies on every shortest path to X though there is a way around it: whoever goes to X seems to go to Y.
    fn other_is_in_the_way(&self) -> bool {
        let direct = self.grid.distances(self.agent).to(self.target);
        let mut without = self.grid;
        without.walls.insert(self.other);
        let around = without.distances(self.agent).to(self.target);
        around != UNREACHED && around > direct
    }

    /// There is one shortest path to X, it begins with the same step as the one to Y, and Y lies straight ahead.
    fn starts_like_the_other(&self) -> bool {
        let across = self.agent.x.abs_diff(self.other.x);
        let along = self.agent.y.abs_diff(self.other.y);
        if across.min(along) != 0 {
            return false;
        }
        let straight = self.grid.distances(self.agent).to(self.other) == across.max(along);
        let starts = |goal: Cell| {
            let left = self.grid.distances(goal);
            URDL.map(|direction| {
                self.grid.step(self.agent, direction).is_some_and(|next| left.to(next) < left.to(self.agent))
            })
        };
        straight
            && starts(self.target) == starts(self.other)
            && self.grid.paths(self.agent, self.target, URDL).len() == 1
    }

    /// The scene with the restaurant as target whose signalling is hard; `None` when neither is. Y in the way is looked
    /// for both ways round; Y straight ahead only as the scene was drawn, which gives the shares of the released data.
    pub fn aimed_at_the_hard_target(&self) -> Option<Scene> {
        if self.other_is_in_the_way() {
            return Some(self.clone());
        }
        let swapped = self.swapped();
        if swapped.other_is_in_the_way() {
            return Some(swapped);
        }
        self.starts_like_the_other().then(|| self.clone())
    }

    /// Colours the scene. A cell is the target's if walking there brings the target's region nearer than the other's,
    /// each compared with how near they are at the start. Regions grow in rounds: what a round colours counts from the
    /// next round on, with that round's level.
    pub fn colouring(&self) -> Colouring {
        let reach = self.grid.distances(self.agent);
        let mut target: Cells = std::iter::once(self.target).collect();
        let mut other: Cells = std::iter::once(self.other).collect();
        let mut colours = vec![(self.target, Colour::Target(0)), (self.other, Colour::Other(0))];
        for level in 1.. {
            let gain = |region: Cells| {
                let distances = self.grid.distances_from(region);
                let start = distances.to(self.agent);
                move |cell: Cell| i16::from(distances.to(cell)) - i16::from(start)
            };
            let (to_target, to_other) = (gain(target), gain(other));
            let open = self.grid.free().filter(|cell| {
                reach.to(*cell) != UNREACHED && !target.contains(*cell) && !other.contains(*cell)
            });
            let news: Vec<(Cell, Colour)> = open
                .filter_map(|cell| match to_target(cell).cmp(&to_other(cell)) {
                    std::cmp::Ordering::Less => Some((cell, Colour::Target(level))),
                    std::cmp::Ordering::Greater => Some((cell, Colour::Other(level))),
                    std::cmp::Ordering::Equal => None,
                })
                .collect();
            if news.is_empty() {
                break;
            }
            for (cell, colour) in &news {
                match colour {
                    Colour::Target(_) => target.insert(*cell),
                    _ => other.insert(*cell),
                }
            }
            colours.extend(news);
        }
        Colouring { colours, target, other }
    }

    /// Walking distances from the agent.
    pub fn from_agent(&self) -> Distances {
        self.grid.distances(self.agent)
    }

    /// The rows of the layout; the target is X.
    pub fn rows(&self) -> Vec<String> {
        self.grid.rows(|cell| {
            [('A', self.agent), ('X', self.target), ('Y', self.other)]
                .into_iter()
                .find(|(_, at)| *at == cell)
                .map(|(letter, _)| letter)
        })
    }

    /// Reads a layout. `None` when it is none of an agent and two restaurants.
    pub fn read(rows: &str) -> Option<Scene> {
        let (grid, letters) = Grid::read(rows)?;
        let find = |wanted| letters.iter().find(|(letter, _)| *letter == wanted).map(|(_, cell)| *cell);
        (letters.len() == 3).then_some(Scene {
            grid,
            agent: find('A')?,
            target: find('X')?,
            other: find('Y')?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The map that follows from the colouring of the paper's printed zero-shot scene.
    #[test]
    fn the_printed_scene_is_coloured_as_worked_out() {
        let scene = Scene::read("WA***\nW**W*\n*Y*W*\n*****\nX****").unwrap();
        let expected = "W  A  r2 r2 r2\nW  b3 r2 W  r1\nr1 Y  r2 W  r1\nr1 r1 r1 r1 r1\nX  r1 r1 r1 r1";
        let colouring = scene.colouring();
        for (line, y) in expected.lines().zip(0u8..) {
            for (sign, x) in line.split_whitespace().zip(0u8..) {
                let cell = Cell::new(x, y);
                let wanted = match (sign.as_bytes()[0], sign.get(1..).and_then(|level| level.parse().ok())) {
                    (b'r', Some(level)) => Colour::Target(level),
                    (b'b', Some(level)) => Colour::Other(level),
                    (b'X', _) => Colour::Target(0),
                    (b'Y', _) => Colour::Other(0),
                    _ => Colour::Neutral,
                };
                assert_eq!(colouring.of(cell), wanted, "{cell}");
            }
        }
    }
}
