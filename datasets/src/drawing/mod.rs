//! Drawing in whole numbers, so that a picture has the same pixels on every machine.
//!
//! Pictures are part of items, and items never change. Drawing libraries work in floating point and by vector
//! instructions whose last bits differ between processors, and an update may move an edge by a fraction of a pixel;
//! so the few shapes that tasks need are filled here: lines, curves, strokes and letters, smoothed at their edges.

mod canvas;
pub mod letters;
mod shape;

pub use canvas::{Canvas, Colour};
pub use shape::{ONE, Point, Shape, isqrt};
