//! Letters and digits as strokes, for marks in pictures: a font would be one more thing that differs by machine.

use super::{Point, Shape};

/// Height of a capital in the unit of the tables below.
const CAPITAL: i32 = 140;

type Stroke = &'static [(i16, i16)];

/// A sign, drawn with its middle at a point and so high; nothing for signs that are not in the table.
pub fn sign(sign: char, middle: Point, height: i32) -> Option<Shape> {
    let (width, strokes) = strokes(sign)?;
    let scaled = |unit: i32| unit * height / CAPITAL;
    let place = |&(x, y): &(i16, i16)| {
        middle.plus(scaled(i32::from(x)) - scaled(width) / 2, scaled(i32::from(y)) - height / 2)
    };
    let mut shape = Shape::default();
    for stroke in strokes {
        let points: Vec<Point> = stroke.iter().map(place).collect();
        shape.join(Shape::stroke(&points, scaled(20)));
    }
    Some(shape)
}

/// Width and strokes of a sign.
fn strokes(sign: char) -> Option<(i32, &'static [Stroke])> {
    const LOOP: Stroke = &[
        (10, 0),
        (50, 0),
        (72, 6),
        (88, 22),
        (96, 46),
        (98, 70),
        (96, 94),
        (88, 118),
        (72, 134),
        (50, 140),
        (10, 140),
    ];
    Some(match sign {
        'A' => (100, &[&[(0, 140), (50, 0), (100, 140)], &[(20, 90), (80, 90)]]),
        'B' => (
            90,
            &[
                &[(10, 0), (10, 140)],
                &[(10, 0), (50, 0), (68, 6), (76, 20), (76, 46), (68, 60), (50, 66), (10, 66)],
                &[(50, 66), (74, 74), (84, 90), (84, 116), (74, 132), (50, 140), (10, 140)],
            ],
        ),
        'C' => (
            96,
            &[&[
                (92, 28),
                (80, 10),
                (60, 0),
                (42, 0),
                (22, 10),
                (8, 32),
                (2, 58),
                (2, 82),
                (8, 108),
                (22, 130),
                (42, 140),
                (60, 140),
                (80, 130),
                (92, 112),
            ]],
        ),
        'D' => (98, &[&[(10, 0), (10, 140)], LOOP]),
        'M' => (120, &[&[(5, 140), (5, 0), (60, 90), (115, 0), (115, 140)]]),
        'N' => (100, &[&[(5, 140), (5, 0), (95, 140), (95, 0)]]),
        'W' => (140, &[&[(0, 0), (35, 140), (70, 30), (105, 140), (140, 0)]]),
        'X' => (96, &[&[(0, 0), (96, 140)], &[(96, 0), (0, 140)]]),
        'Y' => (96, &[&[(0, 0), (48, 66), (96, 0)], &[(48, 66), (48, 140)]]),
        'Z' => (92, &[&[(2, 0), (90, 0), (2, 140), (90, 140)]]),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::drawing::{Canvas, ONE};

    fn drawn(letter: char) -> Canvas {
        let mut canvas = Canvas::new(40, 40, [255; 3]);
        canvas.fill(&sign(letter, Point::new(20 * ONE, 20 * ONE), 28 * ONE).unwrap(), [0; 3]);
        canvas
    }

    #[test]
    fn letters_are_told_apart_and_stand_in_the_middle() {
        let letters = ['A', 'B', 'C', 'D', 'M', 'N', 'W', 'X', 'Y', 'Z'];
        let canvases: Vec<Canvas> = letters.iter().map(|&letter| drawn(letter)).collect();
        for (index, one) in canvases.iter().enumerate() {
            for other in &canvases[index + 1..] {
                let apart = one.rgb.iter().zip(&other.rgb).filter(|(a, b)| a.abs_diff(**b) > 100).count() / 3;
                assert!(apart > 25, "{apart} pixels");
            }
            let rows: Vec<u32> =
                (0..40).filter(|&y| (0..40).any(|x| one.at(x, y).unwrap()[0] < 128)).collect();
            // Half a stroke reaches beyond the capital's height on both sides.
            assert!((3..=6).contains(&rows[0]) && (33..=36).contains(rows.last().unwrap()), "{rows:?}");
        }
        assert_eq!(sign('?', Point::default(), 100), None);
    }
}
