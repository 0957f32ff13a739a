//! Who a face belongs to: what can be said of it in words, and the geometry that words do not reach.

use serde::{Deserialize, Serialize};

use crate::Stream;

/// The seven features of the paper's descriptions with their values.
pub const FEATURES: [(&str, &[&str]); 7] = [
    ("age", &["young", "middle-aged", "old"]),
    ("race", &["asian", "black", "hispanic", "white"]),
    ("gender", &["man", "woman"]),
    ("eye-color", &["brown", "blue", "green"]),
    ("hair-color", &["brown", "black", "blonde", "red", "gray"]),
    ("hair-length", &["long", "short"]),
    ("hair-type", &["curly", "wavy", "straight"]),
];

/// What a description says: an index into the values of each of [`FEATURES`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Look(pub [u8; 7]);

impl Look {
    /// One of the combinations that are used; the only one that the paper names as left out is red hair with asian.
    pub fn draw(stream: &mut Stream) -> Look {
        loop {
            let look = Look(FEATURES.map(|(_, values)| stream.below(values.len()) as u8));
            if look.is_used() {
                return look;
            }
        }
    }

    /// Whether this combination is used.
    pub fn is_used(self) -> bool {
        !(self.word(1) == "asian" && self.word(4) == "red")
    }

    /// The value of a feature.
    pub fn word(self, feature: usize) -> &'static str {
        let values = FEATURES[feature].1;
        values.get(usize::from(self.0[feature])).copied().unwrap_or(values[0])
    }

    /// `a young asian woman with long straight black hair and brown eyes`.
    pub fn description(self) -> String {
        let article = if self.word(0) == "old" { "an" } else { "a" };
        format!(
            "{article} {} {} {} with {} {} {} hair and {} eyes",
            self.word(0),
            self.word(1),
            self.word(2),
            self.word(5),
            self.word(6),
            self.word(4),
            self.word(3)
        )
    }
}

/// The measures of a face.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(usize)]
pub(super) enum Trait {
    FaceWidth,
    FaceLength,
    JawWidth,
    ChinWidth,
    CheekLevel,
    Hairline,
    EyeSpacing,
    EyeWidth,
    EyeHeight,
    EyeTilt,
    EyeLevel,
    BrowHeight,
    BrowTilt,
    BrowThickness,
    NoseLength,
    NoseWidth,
    MouthWidth,
    LipFullness,
    MouthLevel,
    EarSize,
    EarLevel,
}

/// Number of measures.
pub const TRAITS: usize = Trait::EarLevel as usize + 1;

/// Added to a distance before measures are rounded, so that it is kept: a quarter of a per cent.
const ROUNDING: u32 = TRAITS as u32 / 2;

/// A face's measures, each from -100 to 100.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Identity(pub [i8; TRAITS]);

impl Identity {
    /// Any face.
    pub fn draw(stream: &mut Stream) -> Identity {
        Identity(std::array::from_fn(|_| stream.within(-100, 100) as i8))
    }

    /// How different two faces are: the mean over all measures, in per cent of a measure's range; rounded down.
    pub fn distance(self, other: Identity) -> u32 {
        self.apart(other) / (2 * TRAITS as u32)
    }

    /// The same as a sum over all measures.
    pub(super) fn apart(self, other: Identity) -> u32 {
        self.0.iter().zip(other.0).map(|(a, b)| u32::from(a.abs_diff(b))).sum()
    }

    /// People who are alike, none of them more than another: the nearest two at this distance, no two more than a third
    /// farther apart. They lie around a face that is not shown, so that none of them is the one that the others were made
    /// from. `None` where the draw gives none such.
    pub fn alike<const PEOPLE: usize>(per_cent: u32, stream: &mut Stream) -> Option<[Identity; PEOPLE]> {
        let middle = Identity::draw(stream);
        let drawn: [Identity; PEOPLE] = std::array::from_fn(|_| Identity::draw(stream));
        let apart = || {
            let pairs = drawn.iter().enumerate();
            pairs.flat_map(|(index, one)| drawn[index + 1..].iter().map(|other| one.apart(*other)))
        };
        let (nearest, farthest) = (apart().min()?, apart().max()?);
        let wanted = per_cent * 2 * TRAITS as u32 + ROUNDING;
        if nearest < wanted || 3 * farthest > 4 * nearest {
            return None;
        }
        // Brought towards the middle until the nearest two are as near as wanted.
        let (wanted, nearest) = (i32::try_from(wanted).ok()?, i32::try_from(nearest).ok()?);
        let moved = |from: i8, to: i8| {
            let step = i32::from(to) - i32::from(from);
            let part = (step.abs() * wanted + nearest / 2) / nearest * step.signum();
            (i32::from(from) + part) as i8
        };
        let people =
            drawn.map(|face| Identity(std::array::from_fn(|index| moved(middle.0[index], face.0[index]))));
        let far_enough = people
            .iter()
            .enumerate()
            .all(|(index, one)| people[index + 1..].iter().all(|other| one.distance(*other) >= per_cent));
        far_enough.then_some(people)
    }

    /// How far all measures together lie from the mean face.
    pub fn extremeness(self) -> u32 {
        self.0.iter().map(|measure| u32::from(measure.unsigned_abs())).sum()
    }

    /// `base` changed by up to `swing` either way.
    pub(super) fn measure(self, which: Trait, base: i32, swing: i32) -> i32 {
        base + swing * i32::from(self.0[which as usize]) / 100
    }
}
