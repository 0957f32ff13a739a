//! The picture of a campus: cells, walls, who stands where, and a walk, as the social-intelligence paper draws them.

use serde::{Deserialize, Serialize};

use crate::drawing::{Canvas, Colour, ONE, Point, Shape, letters};
use crate::grid::Cell;
use crate::item::Part;
use crate::picture::Picture;

/// How a campus is shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Show {
    /// As text.
    #[default]
    None,
    /// A picture before the text, which stays whole.
    Added,
    /// Pictures in place of rows and coordinates.
    Instead,
    /// Neither: a control.
    Withheld,
}

/// A stretch of a text that pictures can replace: what it says, what is drawn, what is said of the drawing.
pub(super) struct Stretch {
    pub(super) text: String,
    pub(super) map: Option<Map>,
    pub(super) words: &'static str,
}

impl Show {
    /// A text with its stretches shown. They follow each other behind the last line `Layout:`.
    pub(super) fn parts(self, text: String, stretches: Vec<Stretch>) -> Vec<Part> {
        let picture = |map: Map| Part::picture(Picture::Campus(map));
        match self {
            Show::None => return vec![text.into()],
            Show::Added => {
                let map = stretches.into_iter().filter_map(|stretch| stretch.map).next();
                return map.map(picture).into_iter().chain([format!("\n{text}").into()]).collect();
            }
            Show::Instead | Show::Withheld => {}
        }
        let mut parts: Vec<Part> = Vec::new();
        let mut done = 0;
        let mut from = text.rfind("Layout:\n").unwrap_or_default();
        for stretch in stretches {
            let Some(at) = text[from..].find(&stretch.text).map(|at| from + at) else { continue };
            parts.push(text[done..at].to_owned().into());
            if self == Show::Instead {
                parts.extend(stretch.map.map(picture));
            }
            if !stretch.words.is_empty() {
                parts.push(stretch.words.to_owned().into());
            }
            done = at + stretch.text.len();
            from = done;
        }
        parts.push(text[done..].to_owned().into());
        parts
    }
}

/// What is drawn.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Map {
    /// Rows of signs: `A` the walker, `W` a wall, `*` nothing, other letters trucks or restaurants.
    pub rows: Vec<String>,
    /// Columns and rows of the cells walked, the first one included; empty where no walk is drawn.
    pub walk: Vec<(u8, u8)>,
    /// Whether Y is drawn in the colour of the other restaurant.
    pub two_restaurants: bool,
    /// Side of a cell in pixels.
    pub cell_px: u16,
}

const WHITE: Colour = [255; 3];
const BLACK: Colour = [0; 3];
const BORDER: Colour = [222, 222, 222];
const AGENT: Colour = [166, 227, 95];
const TARGET: Colour = [251, 132, 136];
const OTHER: Colour = [147, 199, 236];
const WALL: Colour = [183, 183, 183];
/// Arrow heads: the first and the last.
const FIRST: Colour = [255, 250, 215];
const LAST: Colour = [250, 200, 0];

impl Map {
    /// The map of these rows with a walk.
    pub fn new(rows: Vec<String>, walk: &[Cell], two_restaurants: bool) -> Self {
        Map { rows, walk: walk.iter().map(|cell| (cell.x, cell.y)).collect(), two_restaurants, cell_px: 80 }
    }

    /// Width and height in pixels.
    pub fn size(&self) -> (u32, u32) {
        let cells = |count: usize| count as u32 * u32::from(self.cell_px);
        (cells(self.rows.iter().map(|row| row.chars().count()).max().unwrap_or(0)), cells(self.rows.len()))
    }

    /// Draws it.
    pub fn draw(&self) -> Canvas {
        let (width, height) = self.size();
        let mut canvas = Canvas::new(width, height, WHITE);
        let cell = i32::from(self.cell_px) * ONE;
        for (row, y) in self.rows.iter().zip(0i32..) {
            for (sign, x) in row.chars().zip(0i32..) {
                let corner = Point::new(x * cell, y * cell);
                let colour = match sign {
                    '*' => None,
                    'W' => Some(WALL),
                    'A' => Some(AGENT),
                    'Y' if self.two_restaurants => Some(OTHER),
                    _ => Some(TARGET),
                };
                canvas.fill(&Shape::rectangle(corner, corner.plus(cell, cell)), BORDER);
                let inside = Shape::rectangle(corner.plus(ONE, ONE), corner.plus(cell - ONE, cell - ONE));
                canvas.fill(&inside, colour.unwrap_or(WHITE));
                if !matches!(sign, '*' | 'W')
                    && let Some(letter) = letters::sign(sign, corner.plus(cell / 2, cell / 2), cell * 2 / 5)
                {
                    canvas.fill(&letter, BLACK);
                }
            }
        }
        self.frame(&mut canvas);
        self.path(&mut canvas);
        canvas
    }

    fn frame(&self, canvas: &mut Canvas) {
        let (right, bottom) = (canvas.width as i32 * ONE, canvas.height as i32 * ONE);
        let thick = 3 * ONE;
        for (from, to) in [
            ((0, 0), (right, thick)),
            ((0, bottom - thick), (right, bottom)),
            ((0, 0), (thick, bottom)),
            ((right - thick, 0), (right, bottom)),
        ] {
            canvas.fill(&Shape::rectangle(Point::new(from.0, from.1), Point::new(to.0, to.1)), BLACK);
        }
    }

    /// Lines run a fifth of a cell to the right of travel, so that going back and forth stays visible.
    fn path(&self, canvas: &mut Canvas) {
        let cell = i32::from(self.cell_px) * ONE;
        let at =
            |(x, y): (u8, u8)| Point::new(i32::from(x) * cell + cell / 2, i32::from(y) * cell + cell / 2);
        // Each step with what lies to the right of it.
        let steps: Vec<(Point, Point, (i32, i32))> = self
            .walk
            .windows(2)
            .map(|pair| {
                let (from, to) = (at(pair[0]), at(pair[1]));
                let (dx, dy) = ((to.x - from.x).signum(), (to.y - from.y).signum());
                (from, to, (-dy * cell / 5, dx * cell / 5))
            })
            .collect();
        let (Some(first), Some(end)) = (steps.first(), steps.last()) else { return };
        let mut line = vec![first.0.plus(first.2.0, first.2.1)];
        for pair in steps.windows(2) {
            let ((_, corner, before), (_, _, after)) = (pair[0], pair[1]);
            let turns = before.0 * after.0 + before.1 * after.1 == 0;
            match (before == after, turns) {
                (true, _) => {}
                (_, true) => line.push(corner.plus(before.0 + after.0, before.1 + after.1)),
                (_, false) => line.extend([corner.plus(before.0, before.1), corner.plus(after.0, after.1)]),
            }
        }
        line.push(end.1.plus(end.2.0, end.2.1));
        canvas.fill(&Shape::stroke(&line, 3 * ONE), BLACK);
        let last = steps.len().max(2) as i32 - 1;
        for (&(from, to, (right, down)), number) in steps.iter().zip(0i32..) {
            let colour = std::array::from_fn(|channel| {
                let (first, end) = (i32::from(FIRST[channel]), i32::from(LAST[channel]));
                (first + (end - first) * number / last) as u8
            });
            let (dx, dy) = ((to.x - from.x).signum(), (to.y - from.y).signum());
            let middle = Point::new((from.x + to.x) / 2, (from.y + to.y) / 2).plus(right, down);
            let head = |size: i32| {
                let (long, wide) = (cell * size / 100, cell * size * 7 / 1000);
                Shape::polygon(vec![
                    middle.plus(dx * long, dy * long),
                    middle.plus(-dx * long - dy * wide, -dy * long + dx * wide),
                    middle.plus(-dx * long + dy * wide, -dy * long - dx * wide),
                ])
            };
            canvas.fill(&head(14), BLACK);
            canvas.fill(&head(9), colour);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sha2::{Digest, Sha256};

    /// The scene of the paper's Figure 3c, with the hybrid route of its demonstration.
    fn figure_3() -> Map {
        let rows = ["W****", "W*W**", "WXW**", "W*W**", "Y**A*"].map(str::to_owned).to_vec();
        let walk: Vec<Cell> =
            [(3, 4), (3, 3), (3, 4), (2, 4), (1, 4), (1, 3), (1, 2)].map(|(x, y)| Cell::new(x, y)).to_vec();
        Map::new(rows, &walk, true)
    }

    #[test]
    fn a_campus_is_drawn_as_in_the_figure() {
        let map = figure_3();
        let canvas = map.draw();
        assert_eq!((canvas.width, canvas.height), (400, 400));
        // A corner of each cell, away from letters and lines.
        let colour = |x: u32, y: u32| canvas.at(x * 80 + 8, y * 80 + 8).unwrap();
        assert_eq!((colour(0, 0), colour(3, 4), colour(1, 2), colour(0, 4)), (WALL, AGENT, TARGET, OTHER));
        assert_eq!(colour(4, 0), WHITE);
        assert_eq!(canvas.at(1, 200), Some(BLACK));
        assert_eq!(canvas.at(80, 40), Some(BORDER));
    }

    #[test]
    fn back_and_forth_are_two_lines() {
        let map = Map { walk: vec![(3, 4), (3, 3), (3, 4)], ..figure_3() };
        let canvas = map.draw();
        // Between the middles of the two cells, at a quarter of the way.
        let dark: Vec<u32> = (240..320).filter(|&x| canvas.at(x, 340) == Some(BLACK)).collect();
        let (left, right) = (dark[0], dark[dark.len() - 1]);
        // Up is to the right of the middle (280), down to the left.
        assert!((262..=266).contains(&left) && (294..=298).contains(&right), "{dark:?}");
    }

    #[test]
    fn trucks_have_one_colour_and_pixels_stay_the_same_for_ever() {
        let rows = ["***Y*", "*****", "**X**", "M*WW*", "*ZWWA"].map(str::to_owned).to_vec();
        let map = Map::new(rows, &[], false);
        let canvas = map.draw();
        for (x, y) in [(3, 0), (2, 2), (0, 3), (1, 4)] {
            assert_eq!(canvas.at(x * 80 + 8, y * 80 + 8), Some(TARGET));
        }
        let pixels = [canvas.rgb, figure_3().draw().rgb].concat();
        let hash =
            Sha256::digest(pixels).iter().fold(String::new(), |text, byte| text + &format!("{byte:02x}"));
        assert_eq!(hash, "1132d6f0b497dc9822b2928d04829713d1557861588f0ce1cc05a34fe7e6ae84");
    }
}
