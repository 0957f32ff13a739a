//! The picture: a glass with a blue water line, an empty glass, marks with letters, on one base line.

use serde::{Deserialize, Serialize};

use super::geometry::Glass;
use super::ratio::Ratio;
use crate::drawing::{Canvas, ONE, Point, Shape, letters};

/// What is drawn.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Figure {
    /// The glass with water.
    pub source: Glass,
    /// Height of the water.
    pub water: Ratio,
    /// The empty glass.
    pub target: Glass,
    /// Heights of the marks A, B, C ...
    pub marks: Vec<Ratio>,
    /// Pixels of one unit.
    pub unit_px: u16,
}

/// Space around the glasses, in hundredths of a unit.
const MARGIN: i32 = 40;
/// Space between the glasses.
const GAP: i32 = 120;
/// Space for ticks and letters.
const MARKS: i32 = 70;
/// Thickness of walls, and of the base line.
const WALL: i32 = 5;
/// Thickness of the water line and of ticks.
const LINE: i32 = 4;
/// Length of a tick.
const TICK: i32 = 25;
/// Height of a letter.
const LETTER: i32 = 18;

const BLACK: [u8; 3] = [0, 0, 0];
const BLUE: [u8; 3] = [30, 100, 230];

impl Figure {
    /// Width and height in pixels.
    pub fn size(&self) -> (u32, u32) {
        let units = i32::from(self.source.width) + i32::from(self.target.width);
        let tallest = i32::from(self.source.height.max(self.target.height));
        let pixels = |hundredths: i32| (hundredths * i32::from(self.unit_px) / 100) as u32;
        (pixels(2 * MARGIN + GAP + MARKS + 100 * units), pixels(2 * MARGIN + 100 * tallest))
    }

    /// Rows of pixels below the top at which a height stands, as a fraction of a pixel in 1/256.
    fn level(&self, height: Ratio) -> i32 {
        self.base() - height.times(i64::from(self.unit_px) * i64::from(ONE)) as i32
    }

    /// Where both glasses stand: the upper edge of their bottoms.
    fn base(&self) -> i32 {
        let (_, height) = self.size();
        height as i32 * ONE - self.scaled(MARGIN)
    }

    fn scaled(&self, hundredths: i32) -> i32 {
        hundredths * i32::from(self.unit_px) * ONE / 100
    }

    /// Left inner edges of the two glasses.
    fn edges(&self) -> (i32, i32) {
        let left = self.scaled(MARGIN);
        (left, left + self.scaled(100 * i32::from(self.source.width) + GAP))
    }

    /// Draws it.
    pub fn draw(&self) -> Canvas {
        let (width, height) = self.size();
        let mut canvas = Canvas::new(width, height, [255; 3]);
        let (left, right) = self.edges();
        let bar = |from: (i32, i32), to: (i32, i32)| {
            Shape::rectangle(Point::new(from.0, from.1), Point::new(to.0, to.1))
        };
        let half = self.scaled(LINE) / 2;
        let water = self.level(self.water);
        let end = left + self.scaled(100 * i32::from(self.source.width));
        canvas.fill(&bar((left, water - half), (end, water + half)), BLUE);
        let wall = self.scaled(WALL);
        for (edge, glass) in [(left, self.source), (right, self.target)] {
            let far = edge + self.scaled(100 * i32::from(glass.width));
            let (rim, base) = (self.level(Ratio::whole(glass.height)), self.base());
            canvas.fill(&bar((edge - wall, rim), (edge, base + wall)), BLACK);
            canvas.fill(&bar((far, rim), (far + wall, base + wall)), BLACK);
            canvas.fill(&bar((edge - wall, base), (far + wall, base + wall)), BLACK);
        }
        let outside = right + self.scaled(100 * i32::from(self.target.width)) + wall;
        for (letter, &height) in ('A'..='Z').zip(&self.marks) {
            let level = self.level(height);
            canvas.fill(&bar((outside, level - half), (outside + self.scaled(TICK), level + half)), BLACK);
            let middle = Point::new(outside + self.scaled(TICK + 16), level);
            if let Some(sign) = letters::sign(letter, middle, self.scaled(LETTER)) {
                canvas.fill(&sign, BLACK);
            }
        }
        canvas
    }
}

#[cfg(test)]
pub(super) mod read_back {
    //! Measures a drawn picture, knowing only where columns are.

    use super::*;

    /// Heights above the base in pixels of what is drawn in one column of pixels: middle of each dark stretch.
    fn stretches(canvas: &Canvas, x: u32, dark: impl Fn([u8; 3]) -> f64) -> Vec<f64> {
        let mut found = Vec::new();
        let (mut weight, mut moment) = (0.0, 0.0);
        for y in 0..canvas.height {
            let ink = dark(canvas.at(x, y).unwrap());
            if ink > 0.02 {
                weight += ink;
                moment += ink * (f64::from(y) + 0.5);
            } else if weight > 0.0 {
                found.push(moment / weight);
                (weight, moment) = (0.0, 0.0);
            }
        }
        found
    }

    /// Height of the water, and heights of the marks from the top down, in pixels.
    pub(in super::super) fn heights(figure: &Figure, canvas: &Canvas) -> (f64, Vec<f64>) {
        let unit = f64::from(figure.unit_px);
        let base = f64::from(canvas.height) - f64::from(MARGIN) * unit / 100.0;
        let (left, right) = figure.edges();
        let blue = |[r, _, b]: [u8; 3]| f64::from(b.saturating_sub(r)) / 200.0;
        let water = stretches(canvas, (left / ONE) as u32 + 20, blue);
        assert_eq!(water.len(), 1, "one water line");
        let far = (right + figure.scaled(100 * i32::from(figure.target.width) + WALL)) / ONE;
        let black = |[r, ..]: [u8; 3]| f64::from(255 - r) / 255.0;
        let marks = stretches(canvas, far as u32 + u32::from(figure.unit_px) / 10, black);
        (base - water[0], marks.into_iter().map(|y| base - y).collect())
    }
}
