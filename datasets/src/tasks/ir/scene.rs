//! The campus of inverse reasoning: four trucks in their slots, an agent, walls; and how the agent walks.

use crate::grid::{self, Cell, Grid, UNREACHED};
use crate::{Stream, grid::URDL};

/// The letters of the five trucks; the last one never parks.
pub const FOODS: [char; 5] = ['X', 'Y', 'Z', 'M', 'N'];

/// Index of the truck that is absent.
pub const ABSENT: u8 = 4;

/// A strict preference: truck indices, best first.
pub type Preference = [u8; 5];

/// Where everything is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scene {
    /// Cells and walls.
    pub grid: Grid,
    /// Where X, Y, Z and M park.
    pub trucks: [Cell; 4],
    /// Where the agent starts.
    pub agent: Cell,
}

/// How scenes are drawn.
#[derive(Clone, Copy, Debug)]
pub struct Draw {
    /// Cells along one side.
    pub size: u8,
    /// Number of wall segments.
    pub walls: usize,
    /// Longest wall segment; the shortest has two cells.
    pub longest: u8,
    /// Whether walls avoid the last cell of their line, as the released generator's do.
    pub compat: bool,
}

impl Scene {
    /// Draws until a scene is valid. `None` when a thousand tries give none.
    pub fn draw(stream: &mut Stream, how: Draw) -> Option<Scene> {
        (0..1000).find_map(|_| {
            let walls = grid::draw_walls(stream, how.size, how.walls, (2, how.longest), how.compat);
            let grid = Grid { size: how.size, walls };
            let free: Vec<Cell> = grid.free().collect();
            let [x, y, z, m, agent] = stream.distinct(free.len(), 5)[..] else { return None };
            let scene = Scene { grid, trucks: [free[x], free[y], free[z], free[m]], agent: free[agent] };
            scene.is_valid().then_some(scene)
        })
    }

    /// Every truck can be reached, and no two are closer than two steps.
    pub fn is_valid(&self) -> bool {
        let from_agent = self.grid.distances(self.agent);
        self.trucks.iter().enumerate().all(|(index, &truck)| {
            let from_truck = self.grid.distances(truck);
            from_agent.to(truck) != UNREACHED
                && self.trucks[index + 1..]
                    .iter()
                    .all(|&other| (2..UNREACHED).contains(&from_truck.to(other)))
        })
    }

    /// The trucks in view from a cell, in the order X, Y, Z, M. Walls do not hide them.
    pub fn in_view(&self, from: Cell) -> impl Iterator<Item = u8> {
        (0u8..).zip(self.trucks).filter(move |(_, truck)| from.chebyshev(*truck) <= 1).map(|(index, _)| index)
    }

    /// The rows of the layout.
    pub fn rows(&self) -> Vec<String> {
        self.grid.rows(|cell| {
            if cell == self.agent {
                return Some('A');
            }
            self.trucks.iter().position(|truck| *truck == cell).map(|index| FOODS[index])
        })
    }

    /// Reads a layout. `None` when it is none of an agent and four trucks.
    pub fn read(rows: &str) -> Option<Scene> {
        let (grid, letters) = Grid::read(rows)?;
        let find = |wanted| letters.iter().find(|(letter, _)| *letter == wanted).map(|(_, cell)| *cell);
        let trucks = [find('X')?, find('Y')?, find('Z')?, find('M')?];
        (letters.len() == 5).then_some(Scene { grid, trucks, agent: find('A')? })
    }
}

/// How the agent's walk ended, as the released generator classes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// Stops before all four trucks are known: the pick is the favourite.
    Intermediate,
    /// Stops at the truck found last: the favourite of those that park.
    Last,
    /// Returns to a truck found earlier: the second choice, the favourite is absent.
    Previsited,
}

impl Kind {
    /// The word in tags and parameters.
    pub fn word(self) -> &'static str {
        match self {
            Kind::Intermediate => "intermediate",
            Kind::Last => "last",
            Kind::Previsited => "previsited",
        }
    }
}

/// A walk from the agent's start to the truck that is picked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Walk {
    /// The cells, the start included; the last one is the pick's.
    pub cells: Vec<Cell>,
    /// Index of the truck that is picked.
    pub pick: u8,
    /// The class that the released generator's rule gives it.
    pub official: Kind,
}

/// The walk of an agent with a preference: it goes to the nearest cell from which an unknown slot comes into view,
/// until it sees its favourite or knows all four trucks. `None` when a slot cannot be reached.
pub fn walk(scene: &Scene, preference: &Preference) -> Option<Walk> {
    let favourite = preference[0];
    let mut cells = vec![scene.agent];
    let mut here = scene.agent;
    let mut known: Vec<u8> = Vec::with_capacity(4);
    loop {
        if scene.in_view(here).any(|truck| truck == favourite) {
            let official = if known.len() + 1 < 4 { Kind::Intermediate } else { Kind::Last };
            extend(&mut cells, scene, scene.trucks[usize::from(favourite)])?;
            return Some(Walk { cells, pick: favourite, official });
        }
        let news: Vec<u8> = scene.in_view(here).filter(|truck| !known.contains(truck)).collect();
        known.extend(&news);
        if known.len() == 4 {
            // All four are known and the favourite is none of them: the best of those that park.
            let pick = *preference.iter().find(|truck| **truck != ABSENT)?;
            let goal = scene.trucks[usize::from(pick)];
            let official = if news.contains(&pick) || here == goal { Kind::Last } else { Kind::Previsited };
            extend(&mut cells, scene, goal)?;
            return Some(Walk { cells, pick, official });
        }
        let outlook = nearest_outlook(scene, here, &known)?;
        extend(&mut cells, scene, outlook)?;
        here = outlook;
    }
}

/// The nearest free cell from which an unknown slot is in view; first of slot order, then columns, then rows.
fn nearest_outlook(scene: &Scene, here: Cell, known: &[u8]) -> Option<Cell> {
    let steps = scene.grid.distances(here);
    let unknown = (0u8..).zip(scene.trucks).filter(|(index, _)| !known.contains(index));
    let around = (-1..=1).flat_map(|dx| (-1..=1).map(move |dy| (dx, dy)));
    unknown
        .flat_map(|(_, slot)| around.clone().filter_map(move |(dx, dy)| scene.grid.offset(slot, dx, dy)))
        .filter(|cell| steps.to(*cell) != UNREACHED)
        .min_by_key(|cell| steps.to(*cell))
}

fn extend(cells: &mut Vec<Cell>, scene: &Scene, goal: Cell) -> Option<()> {
    let here = *cells.last()?;
    cells.extend(&scene.grid.path(here, goal, URDL)?[1..]);
    Some(())
}

/// What the agent sees along its cells: one line per cell.
pub fn lines(scene: &Scene, cells: &[Cell], pick: u8) -> Vec<String> {
    let list = |trucks: &[u8]| {
        let letters: Vec<String> =
            trucks.iter().map(|truck| FOODS[usize::from(*truck)].to_string()).collect();
        letters.join(",")
    };
    let mut memory: Vec<u8> = Vec::with_capacity(4);
    let mut lines: Vec<String> = Vec::with_capacity(cells.len());
    for &cell in cells {
        let view: Vec<u8> = scene.in_view(cell).collect();
        for &truck in &view {
            if !memory.contains(&truck) {
                memory.push(truck);
            }
        }
        lines.push(match (view.is_empty(), memory.is_empty()) {
            (_, true) => cell.to_string(),
            (true, false) => format!("{cell} memory {}", list(&memory)),
            (false, false) => format!("{cell} view {}; memory {}", list(&view), list(&memory)),
        });
    }
    if let Some(last) = lines.last_mut() {
        last.push_str(&format!("; pick {}", FOODS[usize::from(pick)]));
    }
    lines
}

/// What anybody can conclude from a walk, by possible worlds: the preferences whose own walk would be the same.
/// Only the favourite matters, and the second choice where the favourite is absent, so that eight walks decide:
/// the consistent set has 24, 30 or 6 of the 120 preferences. `None` when no preference walks like this.
pub fn concluded(scene: &Scene, cells: &[Cell], pick: u8) -> Option<Kind> {
    let alike = |preference: Preference| {
        walk(scene, &preference).is_some_and(|other| other.pick == pick && other.cells == cells)
    };
    let favourite = alike(led_by(&[pick]));
    let second = alike(led_by(&[ABSENT, pick]));
    match (favourite, second) {
        (true, false) => Some(Kind::Intermediate),
        (true, true) => Some(Kind::Last),
        (false, true) => Some(Kind::Previsited),
        (false, false) => None,
    }
}

/// A preference that begins with the given trucks.
fn led_by(first: &[u8]) -> Preference {
    let mut order = [0; 5];
    let rest = (0..5).filter(|truck| !first.contains(truck));
    for (place, truck) in order.iter_mut().zip(first.iter().copied().chain(rest)) {
        *place = truck;
    }
    order
}
