//! Paints a portrait, from the background to the hair.

use super::identity::Look;
use super::portrait::{JAW_LEVEL, Measures, Portrait};
use crate::drawing::{Canvas, Colour, Point, Shape};

const SKIN: [Colour; 4] = [[240, 205, 165], [120, 80, 55], [205, 155, 115], [245, 215, 195]];
const HAIR: [Colour; 5] = [[95, 60, 35], [30, 26, 26], [225, 190, 110], [165, 70, 35], [165, 165, 165]];
const IRIS: [Colour; 3] = [[95, 60, 30], [70, 120, 190], [80, 140, 85]];
const DARK: Colour = [45, 30, 28];
const WHITE: Colour = [250, 250, 250];

impl Portrait {
    /// Draws it.
    pub fn draw(&self) -> Canvas {
        let (width, height) = self.size();
        let mut canvas = Canvas::new(width, height, [196, 204, 212]);
        let m = self.measures();
        let colours = Colours::of(self.look);
        self.behind(&mut canvas, &m, &colours);
        self.head(&mut canvas, &m, &colours);
        self.age(&mut canvas, &m, &colours);
        for side in [-1, 1] {
            self.eye(&mut canvas, &m, &colours, side);
        }
        self.nose(&mut canvas, &m, &colours);
        self.mouth(&mut canvas, &m, &colours);
        self.hair(&mut canvas, &m, &colours);
        self.light(&mut canvas);
        canvas
    }

    /// Hair that falls behind the head, neck, shoulders, ears.
    fn behind(&self, canvas: &mut Canvas, m: &Measures, colours: &Colours) {
        if self.look.word(5) == "long" {
            let wide = m.half_width + 62;
            let points = [
                (-wide + 20, -170),
                (-wide, 0),
                (-wide - 6, 160),
                (-wide + 4, 320),
                (-wide + 40, 400),
                (0, 410),
                (wide - 40, 400),
                (wide - 4, 320),
                (wide + 6, 160),
                (wide, 0),
                (wide - 20, -170),
                (0, m.top - 40),
            ];
            let outline: Vec<Point> = points.iter().map(|&(x, y)| self.outer(x, y)).collect();
            canvas.fill(&self.strands(&outline), colours.hair);
        }
        let body = |x, y| self.outer(x, y);
        canvas.fill(&Shape::ellipse(body(0, 560), self.length(360), self.length(175)), [92, 104, 128]);
        let neck = Shape::polygon(vec![
            body(-95, 200),
            body(95, 200),
            body(105, 420),
            body(0, 455),
            body(-105, 420),
        ]);
        canvas.fill(&neck, colours.shade);
        for side in [-1, 1] {
            let ear = self.outer(side * (m.half_width + 4), m.ear_level);
            canvas.fill(&Shape::ellipse(ear, self.length(m.ear * 6 / 10), self.length(m.ear)), colours.shade);
            canvas.fill(
                &Shape::ellipse(ear, self.length(m.ear * 3 / 10), self.length(m.ear * 6 / 10)),
                colours.deep,
            );
        }
    }

    fn head(&self, canvas: &mut Canvas, m: &Measures, colours: &Colours) {
        let at = |x, y| self.outer(x, y);
        let right = |side: i32| {
            [
                [
                    at(side * m.chin_width, m.chin),
                    at(side * (m.jaw - 18), JAW_LEVEL + 85),
                    at(side * m.jaw, JAW_LEVEL),
                ],
                [
                    at(side * (m.jaw + 22), JAW_LEVEL - 75),
                    at(side * m.half_width, m.cheek + 85),
                    at(side * m.half_width, m.cheek),
                ],
                [
                    at(side * m.half_width, m.cheek - 160),
                    at(side * m.half_width * 62 / 100, m.top),
                    at(0, m.top),
                ],
            ]
        };
        let mut pieces = right(1).to_vec();
        // The left half is walked from the top down: the same pieces, backwards.
        let [low, middle, high] = right(-1);
        pieces.push([high[1], high[0], middle[2]]);
        pieces.push([middle[1], middle[0], low[2]]);
        pieces.push([low[1], low[0], at(0, m.chin)]);
        canvas.fill(&Shape::curve(at(0, m.chin), &pieces), colours.skin);
        if self.look.word(2) == "man" {
            let beard = Shape::ellipse(at(0, m.chin - 70), self.length(m.jaw - 38), self.length(62));
            canvas.glaze(&beard, colours.hair, 38);
        }
    }

    /// Lines of middle and old age.
    fn age(&self, canvas: &mut Canvas, m: &Measures, colours: &Colours) {
        let line = |canvas: &mut Canvas, points: [(i32, i32); 4]| {
            let [start, one, two, end] = points.map(|(x, y)| self.inner(x, y));
            canvas.glaze(&Shape::curved_stroke(start, &[[one, two, end]], self.length(7)), colours.deep, 150);
        };
        let years = self.look.word(0);
        if years == "young" {
            return;
        }
        for side in [-1, 1] {
            let (nose, mouth) = (m.nose_width + 22, m.mouth_width + 26);
            line(
                canvas,
                [
                    (side * nose, m.nose_tip),
                    (side * (nose + 22), m.nose_tip + 20),
                    (side * mouth, m.mouth - 30),
                    (side * mouth, m.mouth),
                ],
            );
        }
        if years == "old" {
            for row in 0..2 {
                let y = m.brow - 42 - row * 30;
                line(canvas, [(-90, y + 8), (-40, y - 4), (40, y - 4), (90, y + 8)]);
            }
            for side in [-1, 1] {
                let (x, y) = (m.eye_at, m.eye_level + m.eye_height + 20);
                line(
                    canvas,
                    [
                        (side * (x - 40), y),
                        (side * (x - 15), y + 14),
                        (side * (x + 15), y + 14),
                        (side * (x + 40), y),
                    ],
                );
            }
        }
    }

    fn eye(&self, canvas: &mut Canvas, m: &Measures, colours: &Colours, side: i32) {
        let corner =
            |end: i32| self.inner(side * (m.eye_at + end * m.eye_width), m.eye_level - end * m.eye_tilt);
        let lid = |end: i32, up: i32| {
            self.inner(
                side * (m.eye_at + end * m.eye_width / 2),
                m.eye_level - end * m.eye_tilt / 2 - up * m.eye_height * 13 / 10,
            )
        };
        let (inner, outer) = (corner(-1), corner(1));
        let upper = [[lid(-1, 1), lid(1, 1), outer]];
        let lower = [lid(1, -1), lid(-1, -1), inner];
        canvas.fill(&Shape::curve(inner, &[upper[0], lower]), WHITE);
        let middle = self.inner(side * m.eye_at, m.eye_level);
        let iris = (m.eye_height - 1).clamp(8, 24);
        canvas.fill(&Shape::ellipse(middle, self.length(iris), self.length(iris)), colours.iris);
        canvas.fill(&Shape::ellipse(middle, self.length(iris / 2), self.length(iris / 2)), DARK);
        canvas.fill(
            &Shape::ellipse(middle.plus(self.length(5), -self.length(6)), self.length(4), self.length(4)),
            WHITE,
        );
        let lash = if self.look.word(2) == "woman" { 9 } else { 6 };
        canvas.fill(&Shape::curved_stroke(inner, &upper, self.length(lash)), DARK);
        canvas.glaze(&Shape::curved_stroke(outer, &[lower], self.length(3)), colours.deep, 200);
        let brow = |end: i32, lift: i32| {
            self.inner(side * (m.eye_at + end * (m.eye_width + 12)), m.brow - end * m.brow_tilt / 2 - lift)
        };
        let [start, rise, fall, end] = [
            brow(-1, 0),
            brow(0, 12).plus(-self.length(side * 20), 0),
            brow(0, 14).plus(self.length(side * 20), 0),
            brow(1, 0),
        ];
        canvas.fill(
            &Shape::curved_stroke(start, &[[rise, fall, end]], self.length(m.brow_thickness)),
            colours.brow,
        );
    }

    fn nose(&self, canvas: &mut Canvas, m: &Measures, colours: &Colours) {
        let at = |x, y| self.inner(x, y);
        let width = m.nose_width;
        let bridge =
            [at(-14, m.eye_level + 40), at(-width * 6 / 10, m.nose_tip - 50), at(-width, m.nose_tip)];
        canvas.glaze(
            &Shape::curved_stroke(at(-16, m.eye_level + 10), &[bridge], self.length(6)),
            colours.deep,
            170,
        );
        let base = [
            at(-width * 7 / 10, m.nose_tip + 24),
            at(width * 7 / 10, m.nose_tip + 24),
            at(width, m.nose_tip),
        ];
        canvas.fill(&Shape::curved_stroke(at(-width, m.nose_tip), &[base], self.length(8)), colours.deep);
        for side in [-1, 1] {
            let nostril = at(side * width / 2, m.nose_tip + 8);
            canvas.fill(&Shape::ellipse(nostril, self.length(8), self.length(5)), colours.deep);
        }
    }

    fn mouth(&self, canvas: &mut Canvas, m: &Measures, colours: &Colours) {
        let smile = i32::from(self.view.smile) * 18 / 100;
        let at = |x, y| self.inner(x, y);
        let (left, right) = (at(-m.mouth_width, m.mouth - smile), at(m.mouth_width, m.mouth - smile));
        let middle = m.mouth + smile / 2;
        let upper =
            [at(-m.mouth_width / 3, middle - 2 * m.lip), at(m.mouth_width / 3, middle - 2 * m.lip), right];
        let lower =
            [at(m.mouth_width / 3, middle + 3 * m.lip), at(-m.mouth_width / 3, middle + 3 * m.lip), left];
        canvas.fill(&Shape::curve(left, &[upper, lower]), colours.lips);
        let parting = [at(-m.mouth_width / 3, middle + 2), at(m.mouth_width / 3, middle + 2), right];
        canvas.fill(&Shape::curved_stroke(left, &[parting], self.length(5)), DARK);
    }

    /// Hair above the hairline.
    fn hair(&self, canvas: &mut Canvas, m: &Measures, colours: &Colours) {
        let wide = m.half_width + 22;
        let points = [
            (-wide + 12, -40),
            (-wide - 6, -130),
            (-wide + 28, -240),
            (-wide / 2 - 20, m.top - 42),
            (0, m.top - 60),
            (wide / 2 + 20, m.top - 42),
            (wide - 28, -240),
            (wide + 6, -130),
            (wide - 12, -40),
            (wide - 42, -120),
            (wide * 55 / 100, m.hairline),
            (0, m.hairline - 12),
            (-wide * 55 / 100, m.hairline),
            (-wide + 42, -120),
        ];
        let outline: Vec<Point> = points.iter().map(|&(x, y)| self.outer(x, y)).collect();
        let mut cap = Shape::polygon(outline.clone());
        // Locks on the outside alone: the hairline belongs to the face.
        cap.join(self.locks(&outline[..9]));
        canvas.fill(&cap, colours.hair);
    }

    /// A body of hair with its locks all around.
    fn strands(&self, outline: &[Point]) -> Shape {
        let mut shape = Shape::polygon(outline.to_vec());
        shape.join(self.locks(outline));
        shape
    }

    /// What straight, wavy and curly hair adds along a line.
    fn locks(&self, line: &[Point]) -> Shape {
        let (size, step) = match self.look.word(6) {
            "straight" => return Shape::stroke(line, self.length(14)),
            "wavy" => (26, 3),
            _ => (38, 5),
        };
        let mut shape = Shape::default();
        for pair in line.windows(2) {
            for part in 0..step {
                let along = |from: i32, to: i32| from + (to - from) * part / step;
                let centre = Point::new(along(pair[0].x, pair[1].x), along(pair[0].y, pair[1].y));
                let radius = self.length(if part % 2 == 0 { size } else { size * 6 / 10 });
                shape.join(Shape::ellipse(centre, radius, radius));
            }
        }
        shape
    }

    /// Brightness, and light from one side.
    fn light(&self, canvas: &mut Canvas) {
        let (light, side) = (i32::from(self.view.light), i32::from(self.view.side));
        let width = i32::from(self.size_px).max(1);
        let level = |x: u32| light * 36 / 100 + side * 44 * (2 * x as i32 - width) / (100 * width);
        canvas.tint([0; 3], |x| (-level(x)).max(0) as u16);
        canvas.tint([255; 3], |x| level(x).max(0) as u16);
    }
}

struct Colours {
    skin: Colour,
    shade: Colour,
    deep: Colour,
    hair: Colour,
    brow: Colour,
    iris: Colour,
    lips: Colour,
}

impl Colours {
    fn of(look: Look) -> Self {
        let pick = |table: &[Colour], feature: usize| {
            table.get(usize::from(look.0[feature])).copied().unwrap_or(DARK)
        };
        let (skin, hair) = (pick(&SKIN, 1), pick(&HAIR, 4));
        let mixed = |a: Colour, b: Colour, share: u16| -> Colour {
            std::array::from_fn(|index| {
                ((u16::from(a[index]) * (100 - share) + u16::from(b[index]) * share) / 100) as u8
            })
        };
        let red = if look.word(2) == "woman" { 62 } else { 30 };
        Colours {
            skin,
            shade: mixed(skin, DARK, 16),
            deep: mixed(skin, DARK, 45),
            hair,
            brow: mixed(hair, DARK, 45),
            iris: pick(&IRIS, 3),
            lips: mixed(skin, [175, 60, 70], red),
        }
    }
}
