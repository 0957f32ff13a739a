//! Colours and markers: eight colours that people who see few can tell apart, each with a shape of its own for paper.

use crate::report::html::markup::{Markup, element, text};

/// Colours of the style sheet.
const COLOURS: usize = 8;

/// Shapes of markers, with the signs that stand for them in words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Marker {
    Circle,
    Triangle,
    Square,
    Diamond,
}

const SIGNS: [(Marker, &str); 4] = [
    (Marker::Circle, "\u{25cf}"),
    (Marker::Triangle, "\u{25b2}"),
    (Marker::Square, "\u{25a0}"),
    (Marker::Diamond, "\u{25c6}"),
];

/// Colour and marker of a series.
pub(super) fn marker(style: usize) -> Marker {
    SIGNS[(style + style / COLOURS) % SIGNS.len()].0
}

/// Number of its colour.
pub(super) fn colour(style: usize) -> usize {
    style % COLOURS
}

/// A CSS colour for the style.
fn marker_style(style: usize) -> String {
    format!("color:var(--s{})", colour(style))
}

/// What the colours and markers stand for.
pub(in crate::report::html) fn legend(names: impl Iterator<Item = String>) -> Markup {
    let entry = |(style, name): (usize, String)| {
        let shape = marker(style);
        let sign = SIGNS.iter().find(|(known, _)| *known == shape).map_or("", |(_, sign)| sign);
        let sign = element("span", &[("style", &marker_style(style)), ("aria-hidden", "true")], [text(sign)]);
        element("li", &[], [sign, text(&format!(" {name}"))])
    };
    element("ul", &[("class", "legend")], names.enumerate().map(entry))
}
