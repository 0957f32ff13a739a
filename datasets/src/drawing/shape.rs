//! Shapes: closed contours of points in 1/256 of a pixel.

/// A pixel in the unit of points.
pub const ONE: i32 = 256;

/// A place on a canvas, in 1/256 of a pixel from the top left corner.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Point {
    /// To the right.
    pub x: i32,
    /// Downwards.
    pub y: i32,
}

impl Point {
    /// The point at these 1/256 of a pixel.
    pub const fn new(x: i32, y: i32) -> Self {
        Point { x, y }
    }

    /// The point moved.
    pub const fn plus(self, x: i32, y: i32) -> Self {
        Point { x: self.x + x, y: self.y + y }
    }
}

/// Straight pieces that stand for one curve.
const PIECES: i64 = 12;

/// Straight pieces that stand for a quarter of the small discs at the corners of strokes.
const CORNER_PIECES: i64 = 3;

/// Parts in 10 000 of a quarter of an ellipse's axis at which its handles stand.
const KAPPA: i64 = 5523;

/// What is filled: all contours together, where they overlap once.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Shape(Vec<Vec<Point>>);

impl Shape {
    /// A polygon.
    pub fn polygon(points: Vec<Point>) -> Self {
        let mut shape = Shape::default();
        shape.add(points);
        shape
    }

    /// A rectangle between two corners.
    pub fn rectangle(from: Point, to: Point) -> Self {
        Shape::polygon(vec![from, Point::new(to.x, from.y), to, Point::new(from.x, to.y)])
    }

    /// An ellipse with these half axes.
    pub fn ellipse(centre: Point, across: i32, down: i32) -> Self {
        Shape::polygon(oval(centre, across, down, PIECES))
    }

    /// A closed curve through control points: a start, then two handles and an end for each piece.
    pub fn curve(start: Point, pieces: &[[Point; 3]]) -> Self {
        Shape::polygon(curve(start, pieces, PIECES))
    }

    /// A line along points, `width` wide, with round ends and corners.
    pub fn stroke(points: &[Point], width: i32) -> Self {
        let mut shape = Shape::default();
        let half = i64::from(width / 2);
        for pair in points.windows(2) {
            let (dx, dy) = (i64::from(pair[1].x - pair[0].x), i64::from(pair[1].y - pair[0].y));
            let length = isqrt((dx * dx + dy * dy) as u64) as i64;
            if length == 0 {
                continue;
            }
            let (nx, ny) = ((-dy * half / length) as i32, (dx * half / length) as i32);
            let [from, to] = [pair[0], pair[1]];
            shape.add(vec![from.plus(nx, ny), to.plus(nx, ny), to.plus(-nx, -ny), from.plus(-nx, -ny)]);
        }
        for &point in points {
            shape.add(oval(point, width / 2, width / 2, CORNER_PIECES));
        }
        shape
    }

    /// A line along a curve.
    pub fn curved_stroke(start: Point, pieces: &[[Point; 3]], width: i32) -> Self {
        Shape::stroke(&curve(start, pieces, PIECES), width)
    }

    /// Adds another shape's contours.
    pub fn join(&mut self, other: Shape) {
        self.0.extend(other.0);
    }

    /// The contours, each with three points at least, all turning the same way.
    pub(super) fn contours(&self) -> impl Iterator<Item = &[Point]> {
        self.0.iter().map(Vec::as_slice)
    }

    fn add(&mut self, mut points: Vec<Point>) {
        let area: i64 = (0..points.len())
            .map(|index| {
                let (from, to) = (points[index], points[(index + 1) % points.len()]);
                i64::from(from.x) * i64::from(to.y) - i64::from(to.x) * i64::from(from.y)
            })
            .sum();
        if area < 0 {
            points.reverse();
        }
        if points.len() >= 3 {
            self.0.push(points);
        }
    }
}

fn oval(centre: Point, across: i32, down: i32, count: i64) -> Vec<Point> {
    let handle = |axis: i32| (i64::from(axis) * KAPPA / 10_000) as i32;
    let (hx, hy) = (handle(across), handle(down));
    let at = |x, y| centre.plus(x, y);
    curve(
        at(across, 0),
        &[
            [at(across, hy), at(hx, down), at(0, down)],
            [at(-hx, down), at(-across, hy), at(-across, 0)],
            [at(-across, -hy), at(-hx, -down), at(0, -down)],
            [at(hx, -down), at(across, -hy), at(across, 0)],
        ],
        count,
    )
}

/// Points along a curve of cubic pieces, `count` for each.
fn curve(start: Point, pieces: &[[Point; 3]], count: i64) -> Vec<Point> {
    let mut points = vec![start];
    let mut from = start;
    for &[first, second, to] in pieces {
        for step in 1..=count {
            let (t, s) = (step, count - step);
            let weights = [s * s * s, 3 * s * s * t, 3 * s * t * t, t * t * t];
            let blend = |axis: fn(Point) -> i32| {
                let sum: i64 = [from, first, second, to]
                    .iter()
                    .zip(weights)
                    .map(|(&point, weight)| i64::from(axis(point)) * weight)
                    .sum();
                (sum + count.pow(3) / 2).div_euclid(count.pow(3)) as i32
            };
            points.push(Point::new(blend(|point| point.x), blend(|point| point.y)));
        }
        from = to;
    }
    points
}

/// The whole part of a square root.
pub fn isqrt(number: u64) -> u64 {
    number.isqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contours_all_turn_the_same_way() {
        let [a, b, c] = [Point::new(0, 0), Point::new(512, 0), Point::new(0, 512)];
        assert_eq!(Shape::polygon(vec![a, b, c]), Shape::polygon(vec![a, b, c]));
        let flipped = Shape::polygon(vec![c, b, a]);
        assert_eq!(flipped.0[0], [a, b, c]);
        assert_eq!(Shape::polygon(vec![a, b]), Shape::default());
    }

    #[test]
    fn a_curve_ends_where_it_should_and_a_stroke_has_its_width() {
        let end = Point::new(700, -300);
        let points = curve(Point::new(0, 0), &[[Point::new(100, 0), Point::new(600, 0), end]], 12);
        assert_eq!((points.len(), points[12]), (13, end));
        let stroke = Shape::stroke(&[Point::new(0, 0), Point::new(1000, 0)], 100);
        let reach = stroke
            .contours()
            .flatten()
            .map(|point| point.y)
            .fold((0, 0), |(low, high), y| (low.min(y), high.max(y)));
        assert_eq!(reach, (-50, 50));
    }
}
