//! Tilting glasses: at which tilt water reaches the rim, and how much another glass needs for the same tilt.

use serde::{Deserialize, Serialize};

use super::ratio::Ratio;

/// A rectangular glass; sides in units of 100 pixels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Glass {
    /// Inner width.
    pub width: u8,
    /// Inner height.
    pub height: u8,
}

/// One of the 243 problems: a glass with water and an empty one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Combination {
    /// The glass with water.
    pub source: Glass,
    /// Quarters of its height that the water takes.
    pub quarters: u8,
    /// The empty glass.
    pub target: Glass,
}

/// The shape that water has when it reaches the rim.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Regime {
    /// The surface meets both walls.
    Walls,
    /// The surface meets wall and base at the same corner.
    Border,
    /// The surface meets the base: a triangle is left.
    Base,
}

impl Regime {
    /// The word in tags.
    pub fn word(self) -> &'static str {
        match self {
            Regime::Walls => "walls",
            Regime::Border => "border",
            Regime::Base => "base",
        }
    }
}

impl Glass {
    fn sides(self) -> (Ratio, Ratio) {
        (Ratio::whole(self.width), Ratio::whole(self.height))
    }

    /// The tangent of the tilt at which water of this height reaches the rim.
    pub fn rim_tangent(self, water: Ratio) -> Ratio {
        let (width, height) = self.sides();
        let two = Ratio::whole(2);
        if water * two >= height {
            two * (height - water) / width
        } else {
            height * height / (two * width * water)
        }
    }

    /// The height of water that reaches the rim at this tangent.
    pub fn water_for(self, tangent: Ratio) -> Ratio {
        let (width, height) = self.sides();
        let two = Ratio::whole(2);
        if tangent * width <= height {
            height - width * tangent / two
        } else {
            height * height / (two * width * tangent)
        }
    }

    /// The heights that are right for this glass with any of the 27 glasses of water, each once, from the bottom up.
    pub(super) fn answers(self) -> Vec<Ratio> {
        let mut heights: Vec<Ratio> = Combination::all().map(|it| self.water_for(it.tangent())).collect();
        heights.sort_unstable();
        heights.dedup();
        heights
    }

    /// What shape the water has at this tangent.
    pub fn regime(self, tangent: Ratio) -> Regime {
        let (width, height) = self.sides();
        match (tangent * width).cmp(&height) {
            std::cmp::Ordering::Less => Regime::Walls,
            std::cmp::Ordering::Equal => Regime::Border,
            std::cmp::Ordering::Greater => Regime::Base,
        }
    }
}

impl Combination {
    /// All 243, in order: glass, water, empty glass.
    pub fn all() -> impl Iterator<Item = Combination> {
        let sources = (2..=4).flat_map(|width| (4..=6).map(move |height| Glass { width, height }));
        sources.flat_map(|source| {
            (1..=3).flat_map(move |quarters| {
                (0..9).map(move |change| Combination {
                    source,
                    quarters,
                    target: Glass {
                        width: source.width + change / 3 - 1,
                        height: source.height + change % 3 - 1,
                    },
                })
            })
        })
    }

    /// Height of the water.
    pub fn water(self) -> Ratio {
        Ratio::new(i64::from(self.quarters) * i64::from(self.source.height), 4)
    }

    /// The tangent at which the water reaches the rim.
    pub fn tangent(self) -> Ratio {
        self.source.rim_tangent(self.water())
    }

    /// The height that is asked for.
    pub fn answer(self) -> Ratio {
        self.target.water_for(self.tangent())
    }

    /// Heights that wrong shortcuts give, by name; some lie outside the glass.
    pub fn foils(self) -> [(&'static str, Ratio); 4] {
        let (width, height) = self.target.sides();
        let water = self.water();
        let two = Ratio::whole(2);
        let linear = two * (Ratio::whole(self.source.height) - water) / Ratio::whole(self.source.width);
        [
            ("same-height", water),
            ("same-fraction", Ratio::new(i64::from(self.quarters), 4) * height),
            ("equal-volume", water * Ratio::whole(self.source.width) / width),
            ("walls-formula", height - width * linear / two),
        ]
    }
}
