//! What pictures take of a worker's memory.

use models::{Buffers, LoadSpec};

use super::prediction::{Kind, Line};
use crate::plan::PlannedModel;
use crate::supervisor::Need;

/// Vectors that the engine keeps at once.
const VECTORS_BYTES: u64 = 64 << 20;

/// What an open projector takes beside weights and buffers.
const DESCRIPTION_BYTES: u64 = 2 << 20;

/// The lines of a prediction for a model that is asked with pictures.
pub(super) fn lines(
    model: &PlannedModel,
    spec: &LoadSpec,
    need: &Need,
    buffers: Option<Buffers>,
) -> Vec<Line> {
    if spec.mmproj.is_none() {
        return Vec::new();
    }
    let header = model.mmproj.as_ref().and_then(|mmproj| mmproj.header.as_ref());
    let width = model.header.as_ref().and_then(|header| header.width()).unwrap_or(0);
    let vectors = need.most_pictures * u64::from(need.most_picture_tokens) * width * 4;
    let lines = [
        // The library reads a projector into memory; it maps none.
        ("picture projector, read", header.map_or(0, |header| header.weight_bytes())),
        // Names, shapes, and the description of a graph, which is made for the largest there may be.
        ("picture projector, its description", header.map_or(0, |_| DESCRIPTION_BYTES)),
        ("encoding a picture", buffers.map_or(0, |buffers| buffers.picture_bytes)),
        ("pixels of pictures", need.held_pixel_bytes()),
        // The frame that it comes in, and what the library copies of it twice before it is resized.
        ("a picture on its way", 3 * need.largest_pixel_bytes),
        ("encoded pictures", vectors.min(VECTORS_BYTES)),
    ];
    let line = |(what, bytes): (&str, u64)| Line { what: what.to_owned(), bytes, kind: Kind::Private };
    lines.into_iter().filter(|(_, bytes)| *bytes > 0).map(line).collect()
}
