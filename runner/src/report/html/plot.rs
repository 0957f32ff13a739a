//! Plots: what is drawn, and the drawing, as SVG that takes its colours from the page.

mod axis;
mod draw;
mod style;

pub(super) use axis::Axis;
pub(super) use draw::figure;
pub(super) use style::legend;

/// A plot.
pub(super) struct Plot {
    /// What it shows; also its description for those who cannot see it.
    pub(super) title: String,
    /// What is named along the bottom.
    pub(super) x: Axis,
    /// What is named along the side.
    pub(super) y: Axis,
    /// The data.
    pub(super) series: Vec<Series>,
}

/// Data of one colour and marker.
pub(super) struct Series {
    /// Number of its colour and marker; `None` for what the others are held against.
    pub(super) style: Option<usize>,
    /// The points.
    pub(super) points: Vec<Point>,
    /// How they are joined.
    pub(super) join: Join,
    /// Whether they are marked.
    pub(super) marked: bool,
}

/// A point with its interval.
#[derive(Clone, Copy, Debug)]
pub(super) struct Point {
    pub(super) x: f64,
    pub(super) y: f64,
    pub(super) ends: Option<(f64, f64)>,
}

/// How points are joined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Join {
    /// Not at all.
    Nothing,
    /// By straight lines.
    Line,
    /// By steps, each height held until the next point.
    Steps,
}

impl Point {
    /// A point without an interval.
    pub(super) fn at(x: f64, y: f64) -> Point {
        Point { x, y, ends: None }
    }
}
