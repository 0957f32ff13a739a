//! The four routes of inverse inverse planning: Hybrid, Shortest, Reversed, Avoidant.

use std::cmp::Reverse;

use super::scene::{Colouring, Scene};
use crate::grid::{Cell, Cells, Direction, Grid, LURD, UDLR, UNREACHED, URDL};

/// Cells of a route, both ends included.
pub type Route = Vec<Cell>;

/// The kinds of routes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kind {
    /// Steps aside to signal X, then goes there.
    Hybrid,
    /// A shortest path.
    Shortest,
    /// Goes to Y first.
    Reversed,
    /// Keeps away from Y all the way.
    Avoidant,
}

impl Kind {
    /// All kinds.
    pub const ALL: [Kind; 4] = [Kind::Hybrid, Kind::Shortest, Kind::Reversed, Kind::Avoidant];

    /// The word in tags.
    pub fn word(self) -> &'static str {
        match self {
            Kind::Hybrid => "hybrid",
            Kind::Shortest => "shortest",
            Kind::Reversed => "reversed",
            Kind::Avoidant => "avoidant",
        }
    }
}

/// Whose rules make the routes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Rules {
    /// Those of the released generator.
    #[default]
    Official,
    /// The paper's algorithms 4 and 6 as printed.
    Paper,
}

/// The four routes of a scene.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Routes {
    /// By kind, in the order of [`Kind::ALL`].
    pub routes: [Route; 4],
    /// Steps of Hybrid until X is signalled.
    pub signal_steps: usize,
}

/// Whether Hybrid visits a cell twice, and whether it passes Y.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Type {
    /// Revisits a cell and passes Y.
    I,
    /// Revisits a cell.
    II,
    /// Passes Y.
    III,
    /// Neither.
    IV,
}

impl Type {
    /// The numeral.
    pub fn word(self) -> &'static str {
        match self {
            Type::I => "I",
            Type::II => "II",
            Type::III => "III",
            Type::IV => "IV",
        }
    }
}

impl Routes {
    /// The routes of a scene. `None` when there is none of some kind.
    pub fn plan(scene: &Scene, rules: Rules) -> Option<Routes> {
        let colouring = scene.colouring();
        let (hybrid, signal_steps) = hybrid(scene, &colouring, rules)?;
        let shortest = select(scene.grid.paths(scene.agent, scene.target, UDLR), &hybrid)?;
        if shortest == hybrid {
            return None;
        }
        let reversed = match rules {
            Rules::Official => reversed_official(scene, &hybrid, &shortest)?,
            Rules::Paper => reversed_paper(scene, &colouring, &hybrid, &shortest)?,
        };
        let avoidant = avoidant(scene)?;
        Some(Routes { routes: [hybrid, shortest, reversed, avoidant], signal_steps })
    }

    /// The route of a kind.
    pub fn of(&self, kind: Kind) -> &Route {
        let [hybrid, shortest, reversed, avoidant] = &self.routes;
        match kind {
            Kind::Hybrid => hybrid,
            Kind::Shortest => shortest,
            Kind::Reversed => reversed,
            Kind::Avoidant => avoidant,
        }
    }

    /// The four differ, and Avoidant costs more than Hybrid.
    pub fn are_told_apart(&self) -> bool {
        let distinct = (0..4).all(|one| (one + 1..4).all(|other| self.routes[one] != self.routes[other]));
        distinct && self.of(Kind::Avoidant).len() > self.of(Kind::Hybrid).len()
    }

    /// The type of the scene.
    pub fn scene_type(&self, scene: &Scene) -> Type {
        let hybrid = self.of(Kind::Hybrid);
        let cells: Cells = hybrid.iter().copied().collect();
        match (cells.len() < hybrid.len(), cells.contains(scene.other)) {
            (true, true) => Type::I,
            (true, false) => Type::II,
            (false, true) => Type::III,
            (false, false) => Type::IV,
        }
    }
}

/// To the nearest cell that signals X, then to X; and the steps of the first leg.
fn hybrid(scene: &Scene, colouring: &Colouring, rules: Rules) -> Option<(Route, usize)> {
    let signal = match rules {
        Rules::Official => signal_official(scene, colouring)?,
        Rules::Paper => signal_paper(scene, colouring)?,
    };
    let mut route = wary_leg(scene, colouring, scene.agent, signal)?;
    let steps = route.len() - 1;
    route.extend(&wary_leg(scene, colouring, signal, scene.target)?[1..]);
    Some((route, steps))
}

/// The nearest cell of the target's colour: then nearest to X, lowest level, first column, first row. A distance at
/// which the grid has one cell only is passed over.
fn signal_official(scene: &Scene, colouring: &Colouring) -> Option<Cell> {
    let from_agent = scene.from_agent();
    let to_target = scene.grid.distances(scene.target);
    let mut per_distance = [0usize; 256];
    scene.grid.free().for_each(|cell| per_distance[usize::from(from_agent.to(cell))] += 1);
    colouring
        .target_region()
        .iter()
        .filter(|cell| per_distance[usize::from(from_agent.to(*cell))] > 1)
        .min_by_key(|cell| {
            (from_agent.to(*cell), to_target.to(*cell), colouring.target_level(*cell), cell.x, cell.y)
        })
}

/// The nearest cell of the target's colour: then nearest to X, farthest from Y, most in the direction from Y to X.
fn signal_paper(scene: &Scene, colouring: &Colouring) -> Option<Cell> {
    let from_agent = scene.from_agent();
    let to_target = scene.grid.distances(scene.target);
    let to_other = scene.grid.distances(scene.other);
    let key = |cell: Cell| (from_agent.to(cell), to_target.to(cell), Reverse(to_other.to(cell)));
    let region = colouring.target_region();
    let best = region.iter().map(key).min()?;
    let span =
        |from: Cell, to: Cell| (i64::from(to.x) - i64::from(from.x), i64::from(to.y) - i64::from(from.y));
    // The cosine up to a factor that is the same for all cells: a signed square over a length, compared crosswise.
    let (ax, ay) = span(scene.other, scene.target);
    let cosine = |cell: Cell| {
        let (bx, by) = span(scene.agent, cell);
        let dot = ax * bx + ay * by;
        (dot * dot.abs(), bx * bx + by * by)
    };
    region.iter().filter(|cell| key(*cell) == best).min_by(|one, other| {
        let ((dot, length), (other_dot, other_length)) = (cosine(*one), cosine(*other));
        (other_dot * length).cmp(&(dot * other_length)).then((one.x, one.y).cmp(&(other.x, other.y)))
    })
}

/// A shortest path that keeps away from the other restaurant's region, step by step: the next cell farthest from it,
/// then the one whose best successor is, then one of the target's colour of lowest level, then Left, Up, Right, Down.
fn wary_leg(scene: &Scene, colouring: &Colouring, from: Cell, to: Cell) -> Option<Route> {
    let left = scene.grid.distances(to);
    if left.to(from) == UNREACHED {
        return None;
    }
    let away = scene.grid.distances_from(colouring.other_region());
    let nexts = |cell: Cell| {
        scene.grid.neighbours(cell, LURD).filter(|next| left.to(*next) < left.to(cell)).collect::<Vec<_>>()
    };
    let mut route = vec![from];
    let mut here = from;
    while here != to {
        here = nexts(here).into_iter().min_by_key(|next| {
            let beyond = nexts(*next).into_iter().map(|cell| away.to(cell)).max();
            let level = colouring.target_level(*next).unwrap_or(u8::MAX);
            (Reverse(away.to(*next)), Reverse(beyond), level)
        })?;
        route.push(here);
    }
    Some(route)
}

/// The route that leaves Hybrid earliest, then has the fewest turns, then comes first.
fn select(routes: Vec<Route>, hybrid: &[Cell]) -> Option<Route> {
    routes.into_iter().min_by_key(|route| (parting(route, hybrid), turns(route)))
}

/// Index of the first cell that differs.
fn parting(route: &[Cell], other: &[Cell]) -> usize {
    route.iter().zip(other).take_while(|(one, other)| one == other).count()
}

/// Changes of axis; a step back is none, and a step right after a turn is not looked at: a jog sideways counts once.
/// So the released routes have it; counting both corners of a jog picks another path in a fifth of its scenes.
fn turns(route: &[Cell]) -> usize {
    let steps: Vec<Direction> = route.windows(2).map(|pair| Direction::between(pair[0], pair[1])).collect();
    let (mut turns, mut at) = (0, 1);
    while at < steps.len() {
        let turned = !steps[at].same_axis(steps[at - 1]);
        turns += usize::from(turned);
        at += if turned { 2 } else { 1 };
    }
    turns
}

/// To Y as Hybrid would go if Y were the target, then a shortest path to X that makes the route differ from Shortest.
fn reversed_official(scene: &Scene, hybrid: &[Cell], shortest: &[Cell]) -> Option<Route> {
    let swapped = scene.swapped();
    let (first, _) = self::hybrid(&swapped, &swapped.colouring(), Rules::Official)?;
    joined(scene, vec![first], hybrid, shortest)
}

/// A shortest path to Y with as few cells of the target's colour as can be, then a shortest path to X.
fn reversed_paper(scene: &Scene, colouring: &Colouring, hybrid: &[Cell], shortest: &[Cell]) -> Option<Route> {
    let region = colouring.target_region();
    let firsts = scene.grid.paths(scene.agent, scene.other, UDLR);
    let red = |path: &Route| path.iter().filter(|cell| region.contains(**cell)).count();
    let fewest = firsts.iter().map(red).min()?;
    joined(scene, firsts.into_iter().filter(|path| red(path) == fewest).collect(), hybrid, shortest)
}

fn joined(scene: &Scene, firsts: Vec<Route>, hybrid: &[Cell], shortest: &[Cell]) -> Option<Route> {
    let seconds = scene.grid.paths(scene.other, scene.target, UDLR);
    let whole = firsts.iter().flat_map(|first| {
        seconds.iter().map(|second| first.iter().chain(&second[1..]).copied().collect::<Route>())
    });
    select(whole.filter(|route| route != shortest).collect(), hybrid)
}

/// A shortest path over what is left to walk on when Y spreads: from Y outward in layers every cell is closed unless
/// that cuts the agent from X; closed cells alone spread. Within a layer cells farther from X close first, then those
/// nearer to the agent, then in the order in which their neighbours (to the Left, Up, Right, Down) closed.
fn avoidant(scene: &Scene) -> Option<Route> {
    let to_target = scene.grid.distances(scene.target);
    let from_agent = scene.from_agent();
    let mut grid: Grid = scene.grid;
    let mut reached: Cells = std::iter::once(scene.other).collect();
    let mut layer = vec![scene.other];
    while !layer.is_empty() {
        layer.sort_by_key(|cell| (Reverse(to_target.to(*cell)), from_agent.to(*cell)));
        let mut next = Vec::new();
        for &cell in &layer {
            grid.walls.insert(cell);
            if !grid.connects(scene.agent, scene.target) {
                grid.walls.remove(cell);
                continue;
            }
            for neighbour in scene.grid.neighbours(cell, LURD) {
                if !reached.contains(neighbour) {
                    reached.insert(neighbour);
                    next.push(neighbour);
                }
            }
        }
        layer = next;
    }
    homing_leg(grid, scene.agent, scene.target)
}

/// A shortest path that always steps to the cell nearest to the goal as if there were no walls; then Up, Right, Down,
/// Left.
fn homing_leg(grid: Grid, from: Cell, to: Cell) -> Option<Route> {
    let left = grid.distances(to);
    if left.to(from) == UNREACHED {
        return None;
    }
    let mut route = vec![from];
    let mut here = from;
    while here != to {
        here = grid
            .neighbours(here, URDL)
            .filter(|next| left.to(*next) < left.to(here))
            .min_by_key(|next| next.x.abs_diff(to.x) + next.y.abs_diff(to.y))?;
        route.push(here);
    }
    Some(route)
}

#[cfg(test)]
mod tests;
