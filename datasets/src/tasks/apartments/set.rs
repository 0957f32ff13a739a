//! Sets of four apartments, drawn until the best one leads by as much as the band says.

use serde::Deserialize;

use super::features::{FEATURES, LEVELS, Statement};
use crate::Stream;

/// Apartments in a set.
pub(super) const SET_SIZE: usize = 4;

/// By how much the best mean rating leads the second one. Half-open, but for the last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub(super) enum Band {
    #[serde(rename = "0.1-0.3")]
    Close,
    #[serde(rename = "0.3-0.5")]
    Middle,
    #[serde(rename = "0.5-1")]
    Far,
}

impl Band {
    pub(super) fn name(self) -> &'static str {
        match self {
            Band::Close => "0.1-0.3",
            Band::Middle => "0.3-0.5",
            Band::Far => "0.5-1",
        }
    }

    pub(super) fn number(self) -> u8 {
        match self {
            Band::Close => 1,
            Band::Middle => 2,
            Band::Far => 3,
        }
    }

    /// Whether a lead of `points` in the sum over `features` is in the band; in tenths, so that nothing is rounded.
    pub(super) fn holds(self, points: i32, features: usize) -> bool {
        let (lead, unit) = (10 * i64::from(points), features as i64);
        match self {
            Band::Close => (unit..3 * unit).contains(&lead),
            Band::Middle => (3 * unit..5 * unit).contains(&lead),
            Band::Far => (5 * unit..=10 * unit).contains(&lead),
        }
    }
}

/// Four apartments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Set {
    /// Features used, in the order of the table.
    features: Vec<usize>,
    /// The level of each feature in each apartment.
    levels: [Vec<u8>; SET_SIZE],
}

impl Set {
    /// A set whose apartment `gold` is the best, with a lead that is in the band.
    pub(super) fn draw(stream: &mut Stream, band: Band, features: usize, gold: usize) -> Self {
        loop {
            let mut set = Set::any(stream, features);
            let (best, lead) = set.lead();
            if band.holds(lead, features) {
                set.levels.swap(best, gold);
                return set;
            }
        }
    }

    /// Four independent apartments.
    pub(super) fn any(stream: &mut Stream, features: usize) -> Self {
        let mut used = stream.distinct(FEATURES.len(), features);
        used.sort_unstable();
        let levels = std::array::from_fn(|_| (0..features).map(|_| stream.below(LEVELS) as u8).collect());
        Set { features: used, levels }
    }

    /// Statements with the index of their apartment, by apartment.
    pub(super) fn statements(&self) -> impl Iterator<Item = (usize, &'static Statement)> + '_ {
        let of = |levels: &[u8], place: usize| -> &'static Statement {
            &FEATURES[self.features[place]][usize::from(levels[place])]
        };
        self.levels.iter().enumerate().flat_map(move |(apartment, levels)| {
            (0..levels.len()).map(move |place| (apartment, of(levels, place)))
        })
    }

    /// The best apartment (the first one of equals) and its lead in the sum of ratings.
    pub(super) fn lead(&self) -> (usize, i32) {
        let mut sums = [0; SET_SIZE];
        for (apartment, statement) in self.statements() {
            sums[apartment] += statement.rating;
        }
        let mut best = 0;
        for apartment in 1..SET_SIZE {
            if sums[apartment] > sums[best] {
                best = apartment;
            }
        }
        let second =
            (0..SET_SIZE).filter(|&apartment| apartment != best).map(|apartment| sums[apartment]).max();
        (best, sums[best] - second.unwrap_or(sums[best]))
    }
}
