//! One picture of a face: where its features lie in this view.

use serde::{Deserialize, Serialize};

use super::identity::{Identity, Look, Trait};
use crate::Stream;
use crate::drawing::{ONE, Point};

/// A picture of a person.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Portrait {
    /// What words can say.
    pub look: Look,
    /// Geometry.
    pub identity: Identity,
    /// Pose, light, expression.
    pub view: View,
    /// Side of the square picture in pixels.
    pub size_px: u16,
}

/// What differs between two pictures of one person; each from -100 to 100.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct View {
    /// Place of the head, to the right.
    pub across: i8,
    /// Place of the head, downwards.
    pub down: i8,
    /// Head turned: features move against the outline.
    pub turn: i8,
    /// Head tilted to a shoulder.
    pub tilt: i8,
    /// Brightness.
    pub light: i8,
    /// Side from which light comes.
    pub side: i8,
    /// Corners of the mouth.
    pub smile: i8,
    /// Brows raised.
    pub brows: i8,
    /// Lids.
    pub lids: i8,
}

impl View {
    /// Any view.
    pub fn draw(stream: &mut Stream) -> View {
        let mut any = || stream.within(-100, 100) as i8;
        View {
            across: any(),
            down: any(),
            turn: any(),
            tilt: any(),
            light: any(),
            side: any(),
            smile: any(),
            brows: any(),
            lids: any(),
        }
    }

    /// A view like this one, but for `share` per cent of the way to another.
    pub fn near(self, other: View, share: i32) -> View {
        let mix =
            |from: i8, to: i8| (i32::from(from) + (i32::from(to) - i32::from(from)) * share / 100) as i8;
        View {
            across: mix(self.across, other.across),
            down: mix(self.down, other.down),
            turn: mix(self.turn, other.turn),
            tilt: mix(self.tilt, other.tilt),
            light: mix(self.light, other.light),
            side: mix(self.side, other.side),
            smile: mix(self.smile, other.smile),
            brows: mix(self.brows, other.brows),
            lids: mix(self.lids, other.lids),
        }
    }
}

/// The measures of a face in thousandths of the picture's side, from the middle of the head.
#[derive(Clone, Copy, Debug)]
pub(super) struct Measures {
    pub(super) half_width: i32,
    pub(super) top: i32,
    pub(super) chin: i32,
    pub(super) jaw: i32,
    pub(super) chin_width: i32,
    pub(super) cheek: i32,
    pub(super) hairline: i32,
    pub(super) eye_at: i32,
    pub(super) eye_level: i32,
    pub(super) eye_width: i32,
    pub(super) eye_height: i32,
    pub(super) eye_tilt: i32,
    pub(super) brow: i32,
    pub(super) brow_tilt: i32,
    pub(super) brow_thickness: i32,
    pub(super) nose_tip: i32,
    pub(super) nose_width: i32,
    pub(super) mouth: i32,
    pub(super) mouth_width: i32,
    pub(super) lip: i32,
    pub(super) ear: i32,
    pub(super) ear_level: i32,
}

/// Height at which the jaw has its width.
pub(super) const JAW_LEVEL: i32 = 150;

impl Portrait {
    /// Width and height in pixels.
    pub fn size(&self) -> (u32, u32) {
        (u32::from(self.size_px), u32::from(self.size_px))
    }

    pub(super) fn measures(&self) -> Measures {
        let of = |which, base, swing| self.identity.measure(which, base, swing);
        let man = self.look.word(2) == "man";
        let eye_level = of(Trait::EyeLevel, -45, 30);
        let lids = 100 + i32::from(self.view.lids) / 4;
        Measures {
            half_width: of(Trait::FaceWidth, 232, 34),
            top: of(Trait::FaceLength, -300, -16),
            chin: of(Trait::FaceLength, 292, 36),
            jaw: of(Trait::JawWidth, if man { 178 } else { 168 }, 34),
            chin_width: of(Trait::ChinWidth, 82, 42),
            cheek: of(Trait::CheekLevel, -30, 55),
            hairline: of(Trait::Hairline, -195, 42),
            eye_at: of(Trait::EyeSpacing, 104, 24),
            eye_level,
            eye_width: of(Trait::EyeWidth, 50, 13),
            eye_height: of(Trait::EyeHeight, 27, 9) * lids / 100,
            eye_tilt: of(Trait::EyeTilt, 0, 15),
            brow: eye_level - of(Trait::BrowHeight, 66, 17) - i32::from(self.view.brows) / 8,
            brow_tilt: of(Trait::BrowTilt, 4, 17),
            brow_thickness: of(Trait::BrowThickness, if man { 17 } else { 13 }, 6),
            nose_tip: eye_level + of(Trait::NoseLength, 118, 32),
            nose_width: of(Trait::NoseWidth, 42, 16),
            mouth: of(Trait::MouthLevel, 182, 20),
            mouth_width: of(Trait::MouthWidth, 84, 27),
            lip: of(Trait::LipFullness, 15, 8),
            ear: of(Trait::EarSize, 50, 18),
            ear_level: of(Trait::EarLevel, -15, 40),
        }
    }

    /// Where a place of the head's outline lies on the canvas.
    pub(super) fn outer(&self, x: i32, y: i32) -> Point {
        let tilt = i32::from(self.view.tilt);
        // A small rotation by up to 0.09, and the place of the head.
        let (x, y) = (x * 1000 - y * tilt * 9 / 10, y * 1000 + x * tilt * 9 / 10);
        let (x, y) = (
            x + (500 + i32::from(self.view.across) / 3) * 1000,
            y + (540 + i32::from(self.view.down) / 4) * 1000,
        );
        let scaled = |thousandths: i32| {
            (i64::from(thousandths) * i64::from(self.size_px) * i64::from(ONE) / 1_000_000) as i32
        };
        Point::new(scaled(x), scaled(y))
    }

    /// Where a place of the features lies: they move against the outline when the head turns.
    pub(super) fn inner(&self, x: i32, y: i32) -> Point {
        self.outer(x + i32::from(self.view.turn) * 3 / 10, y)
    }

    /// A length on the canvas.
    pub(super) fn length(&self, thousandths: i32) -> i32 {
        (i64::from(thousandths) * i64::from(self.size_px) * i64::from(ONE) / 1000) as i32
    }

    /// Points that pose moves and neither light nor expression: of the features, and of the outline.
    pub fn landmarks(&self) -> [Vec<Point>; 2] {
        let m = self.measures();
        let mut inner = vec![self.inner(0, m.nose_tip)];
        let mut outer = vec![self.outer(0, m.chin), self.outer(0, m.hairline)];
        for side in [-1, 1] {
            inner.extend([
                self.inner(side * (m.eye_at - m.eye_width), m.eye_level + m.eye_tilt),
                self.inner(side * (m.eye_at + m.eye_width), m.eye_level - m.eye_tilt),
                self.inner(side * m.nose_width, m.nose_tip),
                self.inner(side * m.mouth_width, m.mouth),
            ]);
            outer.extend([
                self.outer(side * m.half_width, m.cheek),
                self.outer(side * m.jaw, JAW_LEVEL),
                self.outer(side * m.chin_width, m.chin),
                self.outer(side * m.half_width, m.ear_level - m.ear),
                self.outer(side * m.half_width, m.ear_level + m.ear),
            ]);
        }
        [inner, outer]
    }
}
