//! A canvas of RGB pixels and the filling of shapes on it.

use super::shape::{ONE, Point, Shape};

/// Red, green, blue.
pub type Colour = [u8; 3];

/// Lines on which a pixel row is cut; along a line coverage is exact.
const LINES: i32 = 4;

/// Coverage of a pixel that a shape fills, times the full opacity.
const WHOLE: u32 = (LINES * ONE) as u32 * 256;

/// Pixels, row by row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Canvas {
    /// Pixels in a row.
    pub width: u32,
    /// Rows.
    pub height: u32,
    /// Three bytes for each pixel.
    pub rgb: Vec<u8>,
}

impl Canvas {
    /// A canvas of one colour.
    pub fn new(width: u32, height: u32, ground: Colour) -> Self {
        Canvas { width, height, rgb: ground.repeat(width as usize * height as usize) }
    }

    /// Fills a shape.
    pub fn fill(&mut self, shape: &Shape, colour: Colour) {
        self.glaze(shape, colour, 256);
    }

    /// Fills a shape with a colour that covers `opacity` parts in 256.
    pub fn glaze(&mut self, shape: &Shape, colour: Colour, opacity: u16) {
        let crossings = crossings(shape, self.height as i32);
        let mut row = Row::new(self.width);
        let mut next = 0;
        while next < crossings.len() {
            let y = crossings[next].line / LINES;
            while next < crossings.len() && crossings[next].line / LINES == y {
                next = row.cover(&crossings, next);
            }
            self.blend(y as usize, &mut row, colour, u32::from(opacity.min(256)));
        }
    }

    /// Mixes every column with a colour; `share` gives the colour's parts in 256 by the column.
    pub fn tint(&mut self, colour: Colour, share: impl Fn(u32) -> u16) {
        let shares: Vec<u32> = (0..self.width).map(|x| u32::from(share(x).min(256))).collect();
        if self.width == 0 || shares.iter().all(|&share| share == 0) {
            return;
        }
        for row in self.rgb.chunks_exact_mut(self.width as usize * 3) {
            for (pixel, &share) in row.chunks_exact_mut(3).zip(&shares) {
                for (channel, new) in pixel.iter_mut().zip(colour) {
                    *channel =
                        ((u32::from(*channel) * (256 - share) + u32::from(new) * share + 128) / 256) as u8;
                }
            }
        }
    }

    /// The colour of a pixel; `None` outside.
    pub fn at(&self, x: u32, y: u32) -> Option<Colour> {
        let inside = x < self.width && y < self.height;
        let start = (y as usize * self.width as usize + x as usize) * 3;
        let pixel = inside.then(|| self.rgb.get(start..start + 3)).flatten()?;
        pixel.try_into().ok()
    }

    fn blend(&mut self, y: usize, row: &mut Row, colour: Colour, opacity: u32) {
        let start = y * self.width as usize * 3;
        for x in row.first..row.end {
            let share = row.covered[x] as u32 * opacity;
            row.covered[x] = 0;
            let pixel = &mut self.rgb[start + x * 3..start + x * 3 + 3];
            if share == WHOLE {
                pixel.copy_from_slice(&colour);
                continue;
            }
            for (channel, new) in pixel.iter_mut().zip(colour) {
                let mixed = u32::from(*channel) * (WHOLE - share) + u32::from(new) * share;
                *channel = ((mixed + WHOLE / 2) / WHOLE) as u8;
            }
        }
        (row.first, row.end) = (row.covered.len(), 0);
    }
}

/// Where an edge crosses a line, and whether it runs down (1) or up (-1).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Crossing {
    line: i32,
    x: i32,
    turn: i32,
}

/// All crossings of a shape with the lines of a canvas, in order.
fn crossings(shape: &Shape, height: i32) -> Vec<Crossing> {
    let step = ONE / LINES;
    let mut found = Vec::new();
    let mut edge = |from: Point, to: Point| {
        let (top, bottom, turn) = if from.y <= to.y { (from, to, 1) } else { (to, from, -1) };
        // A line runs through the middle of its stretch; the first one at or below the upper end.
        let first = (top.y - step / 2 + step - 1).div_euclid(step).max(0);
        let end = (bottom.y - step / 2 + step - 1).div_euclid(step).min(height * LINES);
        let (dx, dy) = (i64::from(bottom.x - top.x), i64::from(bottom.y - top.y));
        for line in first..end {
            let down = i64::from(line * step + step / 2 - top.y);
            let x = top.x + (down * dx).div_euclid(dy) as i32;
            found.push(Crossing { line, x, turn });
        }
    };
    for contour in shape.contours() {
        for (index, &from) in contour.iter().enumerate() {
            edge(from, contour[(index + 1) % contour.len()]);
        }
    }
    found.sort_unstable();
    found
}

/// Coverage of one row of pixels.
struct Row {
    covered: Vec<i32>,
    first: usize,
    end: usize,
}

impl Row {
    fn new(width: u32) -> Self {
        Row { covered: vec![0; width as usize], first: width as usize, end: 0 }
    }

    /// Adds what lies inside on one line: where edges to the left do not cancel out. Returns the next line's crossing.
    fn cover(&mut self, crossings: &[Crossing], from: usize) -> usize {
        let line = crossings[from].line;
        let (mut at, mut winding) = (from, 0);
        while at < crossings.len() && crossings[at].line == line {
            winding += crossings[at].turn;
            if winding != 0
                && let Some(next) = crossings.get(at + 1).filter(|next| next.line == line)
            {
                self.span(crossings[at].x, next.x);
            }
            at += 1;
        }
        at
    }

    fn span(&mut self, from: i32, to: i32) {
        let right = self.covered.len() as i32 * ONE;
        let (from, to) = (from.clamp(0, right), to.clamp(0, right));
        if from >= to {
            return;
        }
        let (first, last) = ((from / ONE) as usize, ((to - 1) / ONE) as usize);
        self.first = self.first.min(first);
        self.end = self.end.max(last + 1);
        if first == last {
            self.covered[first] += to - from;
            return;
        }
        self.covered[first] += (first as i32 + 1) * ONE - from;
        self.covered[first + 1..last].iter_mut().for_each(|covered| *covered += ONE);
        self.covered[last] += to - last as i32 * ONE;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BLACK: Colour = [0; 3];
    const WHITE: Colour = [255; 3];

    fn ink(canvas: &Canvas) -> f64 {
        canvas.rgb.chunks_exact(3).map(|pixel| f64::from(255 - pixel[0]) / 255.0).sum()
    }

    #[test]
    fn a_rectangle_covers_its_area_to_the_fraction_of_a_pixel() {
        let mut canvas = Canvas::new(10, 8, WHITE);
        // 3.5 x 2.25 pixels, from (1.25, 2).
        canvas.fill(&Shape::rectangle(Point::new(320, 512), Point::new(320 + 896, 512 + 576)), BLACK);
        assert!((ink(&canvas) - 3.5 * 2.25).abs() < 0.03, "{}", ink(&canvas));
        assert_eq!(canvas.at(2, 2), Some(BLACK));
        assert_eq!(canvas.at(1, 2), Some([64; 3])); // three quarters
        assert_eq!(canvas.at(0, 2), Some(WHITE));
        assert_eq!(canvas.at(10, 2), None);
    }

    #[test]
    fn a_disc_has_the_area_of_a_disc_and_overlaps_count_once() {
        let mut canvas = Canvas::new(64, 64, WHITE);
        let disc = || Shape::ellipse(Point::new(32 * ONE, 32 * ONE), 20 * ONE, 20 * ONE);
        let mut twice = disc();
        twice.join(disc());
        canvas.fill(&twice, BLACK);
        // Twelve straight pieces stand for a quarter: 48 sides cover 99.7 % of the disc.
        let area = std::f64::consts::PI * 400.0 * 0.997;
        assert!((ink(&canvas) / area - 1.0).abs() < 0.002, "{} of {area}", ink(&canvas));
    }

    #[test]
    fn shapes_that_leave_the_canvas_are_cut_and_half_opaque_paint_is_half() {
        let mut canvas = Canvas::new(4, 4, WHITE);
        let all = Shape::rectangle(Point::new(-9000, -9000), Point::new(9000, 9000));
        canvas.glaze(&all, BLACK, 128);
        assert!(canvas.rgb.iter().all(|&channel| channel == 128), "{:?}", canvas.rgb);
        canvas.fill(&Shape::rectangle(Point::new(5000, 0), Point::new(9000, 900)), BLACK);
        assert!(canvas.rgb.iter().all(|&channel| channel == 128));
        canvas.tint(BLACK, |x| if x == 0 { 256 } else { 0 });
        assert_eq!((canvas.at(0, 3), canvas.at(1, 3)), (Some(BLACK), Some([128; 3])));
    }
}
