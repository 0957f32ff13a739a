//! Draws a plot. Colours are stand-ins that are replaced by the style sheet's when the drawing is done, so that one
//! drawing serves light, dark and paper.

use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::style::{Marker, colour, marker};
use super::{Axis, Join, Plot, Point, Series};
use crate::report::html::markup::{Markup, element, raw, text};

const WIDTH: i32 = 340;
const HEIGHT: i32 = 230;
const LEFT: i32 = 42;
const RIGHT: i32 = 10;
const TOP: i32 = 10;
const BOTTOM: i32 = 44;
const FONT: i32 = 12;

const INK: RGBColor = RGBColor(1, 0, 0);
const GRID: RGBColor = RGBColor(1, 0, 1);

/// A plot with its words below.
pub(in crate::report::html) fn figure(plot: &Plot) -> Markup {
    let drawing = svg(plot).unwrap_or_else(|_| text("this plot could not be drawn"));
    element("figure", &[], [drawing, element("figcaption", &[], [text(&plot.title)])])
}

type Drawn<T> = Result<T, DrawingAreaErrorKind<std::io::Error>>;
type Sheet<'a> = DrawingArea<SVGBackend<'a>, Shift>;

fn svg(plot: &Plot) -> Result<Markup, String> {
    let mut out = String::new();
    {
        let sheet = SVGBackend::with_string(&mut out, (WIDTH as u32, HEIGHT as u32)).into_drawing_area();
        draw(plot, &sheet).and_then(|()| sheet.present()).map_err(|error| error.to_string())?;
    }
    let size = format!("width=\"{WIDTH}\" height=\"{HEIGHT}\" ");
    let described = format!("role=\"img\" aria-label=\"{}\" ", text(&plot.title));
    let mut out = out.replacen(&size, &described, 1);
    // What is so without being said.
    out = out.replace(" opacity=\"1\"", "");
    out = out.replace("\"#010000\"", "\"currentColor\"").replace("\"#010001\"", "\"var(--grid)\"");
    for number in 0..8 {
        out = out.replace(&format!("\"#0200{number:02X}\""), &format!("\"var(--s{number})\""));
    }
    Ok(raw(&out))
}

fn draw(plot: &Plot, sheet: &Sheet<'_>) -> Drawn<()> {
    let (x, y) = (plot.x.range(), plot.y.range());
    let right = |value: f64| {
        let share = (plot.x.place(value) - x.start) / (x.end - x.start);
        LEFT + (share.clamp(0.0, 1.0) * f64::from(WIDTH - LEFT - RIGHT)).round() as i32
    };
    let down = |value: f64| {
        let share = (plot.y.place(value) - y.start) / (y.end - y.start);
        HEIGHT - BOTTOM - (share.clamp(0.0, 1.0) * f64::from(HEIGHT - TOP - BOTTOM)).round() as i32
    };
    axes(plot, sheet)?;
    for series in &plot.series {
        let ink = series.style.map_or(INK, |style| RGBColor(2, 0, colour(style) as u8));
        let at = |point: &Point| (right(point.x), down(point.y));
        join(series, &at, ink, sheet)?;
        for point in &series.points {
            if let Some((low, high)) = point.ends {
                let across = right(point.x);
                sheet.draw(&PathElement::new(
                    [(across, down(low)), (across, down(high))],
                    ink.stroke_width(2),
                ))?;
            }
            if series.marked {
                mark(series.style.map_or(Marker::Diamond, marker), at(point), ink, sheet)?;
            }
        }
    }
    Ok(())
}

fn join(series: &Series, at: &dyn Fn(&Point) -> (i32, i32), ink: RGBColor, sheet: &Sheet<'_>) -> Drawn<()> {
    let places: Vec<(i32, i32)> = series.points.iter().map(at).collect();
    let path = match series.join {
        Join::Nothing => return Ok(()),
        Join::Line => places,
        Join::Steps => {
            let mut path: Vec<(i32, i32)> = Vec::new();
            for place in places {
                path.extend(path.last().copied().map(|(_, before)| (place.0, before)));
                path.push(place);
            }
            path
        }
    };
    // What the others are held against is a thin line.
    let width = if series.style.is_some() { 2 } else { 1 };
    if path.len() > 1 { sheet.draw(&PathElement::new(path, ink.stroke_width(width))) } else { Ok(()) }
}

fn mark(shape: Marker, (x, y): (i32, i32), ink: RGBColor, sheet: &Sheet<'_>) -> Drawn<()> {
    match shape {
        Marker::Circle => sheet.draw(&Circle::new((x, y), 4, ink.filled())),
        Marker::Triangle => sheet.draw(&TriangleMarker::new((x, y), 5, ink.filled())),
        Marker::Square => sheet.draw(&Rectangle::new([(x - 4, y - 4), (x + 4, y + 4)], ink.filled())),
        Marker::Diamond => {
            sheet.draw(&Polygon::new([(x, y - 5), (x + 5, y), (x, y + 5), (x - 5, y)], ink.filled()))
        }
    }
}

fn axes(plot: &Plot, sheet: &Sheet<'_>) -> Drawn<()> {
    let (x, y) = (plot.x.range(), plot.y.range());
    let (floor, end) = (HEIGHT - BOTTOM, WIDTH - RIGHT);
    let words = |h, v| ("sans-serif", FONT).into_font().color(&INK).pos(Pos::new(h, v));
    for (place, word) in plot.y.marks(5) {
        let share = (place - y.start) / (y.end - y.start);
        let at = floor - (share * f64::from(floor - TOP)).round() as i32;
        sheet.draw(&PathElement::new([(LEFT, at), (end, at)], GRID.stroke_width(1)))?;
        sheet.draw(&Text::new(word, (LEFT - 5, at), words(HPos::Right, VPos::Center)))?;
    }
    let marks = plot.x.marks(6);
    let room = f64::from(end - LEFT) / marks.len().max(1) as f64;
    for (place, word) in marks {
        let share = (place - x.start) / (x.end - x.start);
        let at = LEFT + (share * f64::from(end - LEFT)).round() as i32;
        if !matches!(plot.x, Axis::Names(_)) {
            sheet.draw(&PathElement::new([(at, TOP), (at, floor)], GRID.stroke_width(1)))?;
        }
        // A character is about as wide as half its height.
        let fits = ((room / (f64::from(FONT) * 0.5)) as usize).max(3);
        sheet.draw(&Text::new(shortened(&word, fits), (at, floor + 6), words(HPos::Center, VPos::Top)))?;
    }
    sheet.draw(&PathElement::new([(LEFT, TOP), (LEFT, floor), (end, floor)], INK.stroke_width(1)))?;
    let below = (LEFT + (end - LEFT) / 2, HEIGHT - 4);
    sheet.draw(&Text::new(plot.x.name().to_owned(), below, words(HPos::Center, VPos::Bottom)))
}

fn shortened(word: &str, most: usize) -> String {
    if word.chars().count() <= most {
        return word.to_owned();
    }
    let kept: String = word.chars().take(most.saturating_sub(1)).collect();
    format!("{kept}\u{2026}")
}
