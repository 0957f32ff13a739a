//! Small square campuses: cells, walls and walking distances, shared by the tasks whose agents walk.
//!
//! `(x, y)` is column and row with the origin at the top left, as the social-intelligence paper prints it. A grid
//! has at most 8 x 8 cells, so that a set of cells is one 64-bit word.

use std::fmt;

/// Largest side of a grid.
pub const MAX_SIZE: u8 = 8;

/// Distance to a cell that cannot be reached.
pub const UNREACHED: u8 = u8::MAX;

/// A cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Cell {
    /// Column.
    pub x: u8,
    /// Row.
    pub y: u8,
}

impl Cell {
    /// The cell in column `x` and row `y`.
    pub const fn new(x: u8, y: u8) -> Self {
        Cell { x, y }
    }

    /// Steps of a king: how far a cell is for the eye.
    pub fn chebyshev(self, other: Cell) -> u8 {
        self.x.abs_diff(other.x).max(self.y.abs_diff(other.y))
    }

    const fn index(self) -> usize {
        self.y as usize * MAX_SIZE as usize + self.x as usize
    }
}

impl fmt::Display for Cell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "({}, {})", self.x, self.y)
    }
}

/// A direction of walking.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// Towards row 0.
    Up,
    /// Towards the last column.
    Right,
    /// Towards the last row.
    Down,
    /// Towards column 0.
    Left,
}

impl Direction {
    /// The word in route texts.
    pub fn word(self) -> &'static str {
        match self {
            Direction::Up => "up",
            Direction::Right => "right",
            Direction::Down => "down",
            Direction::Left => "left",
        }
    }

    /// Whether two directions run along the same axis.
    pub fn same_axis(self, other: Direction) -> bool {
        let vertical = |direction| matches!(direction, Direction::Up | Direction::Down);
        vertical(self) == vertical(other)
    }

    /// The direction of a step between adjacent cells.
    pub fn between(from: Cell, to: Cell) -> Direction {
        if to.y < from.y {
            Direction::Up
        } else if to.y > from.y {
            Direction::Down
        } else if to.x > from.x {
            Direction::Right
        } else {
            Direction::Left
        }
    }
}

/// A set of cells.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Cells(u64);

impl Cells {
    /// Adds a cell.
    pub fn insert(&mut self, cell: Cell) {
        self.0 |= 1 << cell.index();
    }

    /// Takes a cell out.
    pub fn remove(&mut self, cell: Cell) {
        self.0 &= !(1 << cell.index());
    }

    /// Whether a cell is in the set.
    pub fn contains(self, cell: Cell) -> bool {
        self.0 >> cell.index() & 1 == 1
    }

    /// Number of cells.
    pub fn len(self) -> usize {
        self.0.count_ones() as usize
    }

    /// Whether there is none.
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The cells, row by row.
    pub fn iter(self) -> impl Iterator<Item = Cell> {
        (0..64u8).filter(move |index| self.0 >> index & 1 == 1).map(|index| Cell::new(index % 8, index / 8))
    }
}

impl FromIterator<Cell> for Cells {
    fn from_iter<I: IntoIterator<Item = Cell>>(cells: I) -> Self {
        let mut set = Cells::default();
        cells.into_iter().for_each(|cell| set.insert(cell));
        set
    }
}

/// Walking distances from a cell or a set of cells.
#[derive(Clone, Debug)]
pub struct Distances([u8; 64]);

impl Distances {
    /// Steps to a cell, or [`UNREACHED`].
    pub fn to(&self, cell: Cell) -> u8 {
        self.0[cell.index()]
    }
}

/// A square of cells, some of them walls.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Grid {
    /// Cells along one side, at most [`MAX_SIZE`].
    pub size: u8,
    /// Cells that nobody can walk on.
    pub walls: Cells,
}

impl Grid {
    /// A grid without walls.
    pub fn open(size: u8) -> Self {
        Grid { size: size.min(MAX_SIZE), walls: Cells::default() }
    }

    /// Every cell, row by row.
    pub fn cells(self) -> impl Iterator<Item = Cell> {
        (0..self.size).flat_map(move |y| (0..self.size).map(move |x| Cell::new(x, y)))
    }

    /// Every cell that is no wall, row by row.
    pub fn free(self) -> impl Iterator<Item = Cell> {
        self.cells().filter(move |cell| !self.walls.contains(*cell))
    }

    /// Where a step leads: `None` off the grid or into a wall.
    pub fn step(self, from: Cell, direction: Direction) -> Option<Cell> {
        let (dx, dy) = match direction {
            Direction::Up => (0, -1),
            Direction::Right => (1, 0),
            Direction::Down => (0, 1),
            Direction::Left => (-1, 0),
        };
        self.offset(from, dx, dy)
    }

    /// The free cell at an offset.
    pub fn offset(self, from: Cell, dx: i8, dy: i8) -> Option<Cell> {
        let cell = Cell::new(from.x.checked_add_signed(dx)?, from.y.checked_add_signed(dy)?);
        (cell.x < self.size && cell.y < self.size && !self.walls.contains(cell)).then_some(cell)
    }

    /// The free neighbours of a cell in an order of directions.
    pub fn neighbours(self, from: Cell, order: [Direction; 4]) -> impl Iterator<Item = Cell> {
        order.into_iter().filter_map(move |direction| self.step(from, direction))
    }

    /// Walking distances from one cell.
    pub fn distances(self, from: Cell) -> Distances {
        self.distances_from(std::iter::once(from).collect())
    }

    /// Walking distances from the nearest of several cells.
    pub fn distances_from(self, from: Cells) -> Distances {
        let mut steps = [UNREACHED; 64];
        let open = self.open_cells();
        let mut reached = from.0 & open;
        let mut front = reached;
        let mut step = 0;
        while front != 0 {
            let mut rest = front;
            while rest != 0 {
                steps[rest.trailing_zeros() as usize] = step;
                rest &= rest - 1;
            }
            front = spread(front) & open & !reached;
            reached |= front;
            step += 1;
        }
        Distances(steps)
    }

    /// Whether one can walk from a cell to another.
    pub fn connects(self, from: Cell, to: Cell) -> bool {
        let open = self.open_cells();
        let goal = 1u64 << to.index();
        let mut reached = (1u64 << from.index()) & open;
        loop {
            let next = (reached | spread(reached)) & open;
            if next & goal != 0 {
                return true;
            }
            if next == reached {
                return false;
            }
            reached = next;
        }
    }

    /// Every cell that is no wall, as bits.
    fn open_cells(self) -> u64 {
        let row = (1u64 << self.size) - 1;
        let all = (0..self.size).fold(0, |cells, y| cells | row << (y * MAX_SIZE));
        all & !self.walls.0
    }

    /// One shortest path, both ends included: at each step the first direction of `order` that lies on one.
    /// `None` when there is no path.
    pub fn path(self, from: Cell, to: Cell, order: [Direction; 4]) -> Option<Vec<Cell>> {
        let left = self.distances(to);
        if left.to(from) == UNREACHED {
            return None;
        }
        let mut path = vec![from];
        let mut here = from;
        while here != to {
            here = self.neighbours(here, order).find(|next| left.to(*next) < left.to(here))?;
            path.push(here);
        }
        Some(path)
    }

    /// Every shortest path, both ends included, in the depth-first order of the directions.
    pub fn paths(self, from: Cell, to: Cell, order: [Direction; 4]) -> Vec<Vec<Cell>> {
        let left = self.distances(to);
        let mut done = Vec::new();
        if left.to(from) == UNREACHED {
            return done;
        }
        let mut open = vec![vec![from]];
        while let Some(path) = open.pop() {
            let here = path[path.len() - 1];
            if here == to {
                done.push(path);
                continue;
            }
            let nexts: Vec<Cell> =
                self.neighbours(here, order).filter(|next| left.to(*next) < left.to(here)).collect();
            // The stack gives back the last one first.
            for next in nexts.into_iter().rev() {
                let mut longer = path.clone();
                longer.push(next);
                open.push(longer);
            }
        }
        done
    }

    /// Rows of characters: `mark` gives the letter of a free cell, `*` where it gives none; walls are `W`.
    pub fn rows(self, mark: impl Fn(Cell) -> Option<char>) -> Vec<String> {
        let sign = |cell| if self.walls.contains(cell) { 'W' } else { mark(cell).unwrap_or('*') };
        (0..self.size).map(|y| (0..self.size).map(|x| sign(Cell::new(x, y))).collect()).collect()
    }

    /// Reads rows of characters: the grid, and the cells that bear a letter other than `W`. `None` when the rows
    /// are no square of a size that a grid can have.
    pub fn read(rows: &str) -> Option<(Grid, Vec<(char, Cell)>)> {
        let rows: Vec<Vec<char>> = rows.lines().map(|row| row.trim().chars().collect()).collect();
        let size = u8::try_from(rows.len()).ok().filter(|size| (1..=MAX_SIZE).contains(size))?;
        let mut grid = Grid::open(size);
        let mut letters = Vec::new();
        for (row, y) in rows.iter().zip(0u8..) {
            if row.len() != rows.len() {
                return None;
            }
            for (&sign, x) in row.iter().zip(0u8..) {
                match sign {
                    '*' => {}
                    'W' => grid.walls.insert(Cell::new(x, y)),
                    letter => letters.push((letter, Cell::new(x, y))),
                }
            }
        }
        Some((grid, letters))
    }
}

/// The neighbours of a set of cells, as bits; rows have eight.
fn spread(cells: u64) -> u64 {
    const FIRST_COLUMN: u64 = 0x0101_0101_0101_0101;
    const LAST_COLUMN: u64 = FIRST_COLUMN << 7;
    (cells & !LAST_COLUMN) << 1 | (cells & !FIRST_COLUMN) >> 1 | cells << 8 | cells >> 8
}

/// Up, Right, Down, Left.
pub const URDL: [Direction; 4] = [Direction::Up, Direction::Right, Direction::Down, Direction::Left];
/// Up, Down, Left, Right.
pub const UDLR: [Direction; 4] = [Direction::Up, Direction::Down, Direction::Left, Direction::Right];
/// Left, Up, Right, Down.
pub const LURD: [Direction; 4] = [Direction::Left, Direction::Up, Direction::Right, Direction::Down];

/// Draws wall segments: length, axis, line and start are uniform, segments may overlap.
pub fn draw_walls(
    stream: &mut crate::Stream,
    size: u8,
    segments: usize,
    lengths: (u8, u8),
    compat: bool,
) -> Cells {
    let mut walls = Cells::default();
    for _ in 0..segments {
        let length = stream.within(i64::from(lengths.0), i64::from(lengths.1)) as u8;
        let down = stream.coin();
        let line = stream.below(usize::from(size)) as u8;
        // The released generator never lets a segment touch the last cell of its line.
        let starts = if compat { size.saturating_sub(length).max(1) } else { size - length + 1 };
        let start = stream.below(usize::from(starts)) as u8;
        for step in start..start + length {
            walls.insert(if down { Cell::new(line, step) } else { Cell::new(step, line) });
        }
    }
    walls
}

#[cfg(test)]
mod tests;
