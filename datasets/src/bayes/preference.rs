//! The model of inverse reasoning: which preference orders an observer takes to be possible after an exploration.
//!
//! Cost plays no part and only the last step counts: what was seen, and what was picked, and whether at once.

use super::System;
use crate::tasks::ir::scene::{ABSENT, Preference, Scene};

/// An exploration, reduced to what signals: the trucks in order of first sight, and the pick.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exploration {
    /// Trucks seen, in order of first sight.
    pub seen: Vec<u8>,
    /// The truck picked.
    pub pick: u8,
    /// The agent went straight to the pick when it first saw it.
    pub direct: bool,
}

impl Exploration {
    /// The exploration of a walk. `None` for a walk that does not end at a truck.
    pub fn of(scene: &Scene, cells: &[crate::grid::Cell], pick: u8) -> Option<Exploration> {
        let mut seen = Vec::new();
        for cell in cells {
            let news: Vec<u8> = scene.in_view(*cell).filter(|truck| !seen.contains(truck)).collect();
            seen.extend(news);
        }
        let goal = *scene.trucks.get(usize::from(pick))?;
        let first = cells.iter().position(|cell| cell.chebyshev(goal) <= 1)?;
        let walked = cells.len() - 1 - first;
        let direct = walked == usize::from(scene.grid.distances(goal).to(cells[first]));
        Some(Exploration { seen, pick, direct })
    }

    /// How strongly the exploration speaks for a preference.
    fn signal(&self, preference: &Preference) -> f64 {
        // Trucks that were seen and not gone to at once.
        let passed = if self.direct { self.seen.len() - 1 } else { self.seen.len() };
        let favourite = passed < 4 && preference[0] == self.pick;
        let second = self.seen.len() == 4 && preference[0] == ABSENT && preference[1] == self.pick;
        f64::from(u8::from(favourite)) + f64::from(u8::from(second))
    }

    /// Every exploration that there can be: one to four trucks seen and the last one picked, or all four seen and an
    /// earlier one picked.
    pub fn all() -> Vec<Exploration> {
        let mut all = Vec::new();
        let mut open: Vec<Vec<u8>> = vec![Vec::new()];
        while let Some(seen) = open.pop() {
            if let Some(&pick) = seen.last() {
                all.push(Exploration { seen: seen.clone(), pick, direct: true });
            }
            if seen.len() == 4 {
                all.extend(seen[..3].iter().map(|&pick| Exploration {
                    seen: seen.clone(),
                    pick,
                    direct: false,
                }));
            }
            let nexts = (0..4).filter(|truck| !seen.contains(truck)).collect::<Vec<u8>>();
            open.extend(nexts.into_iter().map(|truck| [seen.clone(), vec![truck]].concat()));
        }
        all
    }
}

/// All 120 strict preferences over the five trucks.
pub fn preferences() -> Vec<Preference> {
    let mut all = Vec::with_capacity(120);
    let mut open: Vec<Vec<u8>> = vec![Vec::new()];
    while let Some(order) = open.pop() {
        match <Preference>::try_from(order.as_slice()) {
            Ok(whole) => all.push(whole),
            Err(_) => {
                let nexts = (0..5).filter(|truck| !order.contains(truck)).collect::<Vec<u8>>();
                open.extend(nexts.into_iter().map(|truck| [order.clone(), vec![truck]].concat()));
            }
        }
    }
    all
}

/// What the observer of an odd order believes after an exploration: every preference with its probability.
pub fn posterior(exploration: &Exploration, order: usize) -> Vec<(Preference, f64)> {
    let preferences = preferences();
    let mut explorations = Exploration::all();
    // Seen in passing on the way to the pick: the same signal as an exploration of the list, or one more row.
    let row = explorations.iter().position(|other| other == exploration).unwrap_or_else(|| {
        explorations.push(exploration.clone());
        explorations.len() - 1
    });
    let system = System {
        likelihood: explorations
            .iter()
            .map(|exploration| preferences.iter().map(|preference| exploration.signal(preference)).collect())
            .collect(),
        routes: vec![1.0; explorations.len()],
        hypotheses: vec![1.0; preferences.len()],
    };
    let belief = system.belief(order).swap_remove(row);
    preferences.into_iter().zip(belief).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn support(seen: &[u8], pick: u8, direct: bool) -> usize {
        let exploration = Exploration { seen: seen.to_vec(), pick, direct };
        posterior(&exploration, 1).iter().filter(|(_, chance)| *chance > 0.0).count()
    }

    #[test]
    fn there_are_120_preferences_and_136_explorations() {
        let mut preferences = preferences();
        preferences.sort_unstable();
        preferences.dedup();
        assert_eq!(preferences.len(), 120);
        // 4 + 12 + 24 + 24 direct ones, and 24 orders with three returns each.
        assert_eq!(Exploration::all().len(), 136);
    }

    #[test]
    fn the_support_has_24_30_or_6_preferences() {
        assert_eq!(support(&[0], 0, true), 24);
        assert_eq!(support(&[3, 1, 2], 2, true), 24);
        assert_eq!(support(&[3, 1, 2, 0], 0, true), 30);
        assert_eq!(support(&[3, 1, 2, 0], 1, false), 6);
    }

    #[test]
    fn a_posterior_sums_to_one_at_every_odd_order() {
        let exploration = Exploration { seen: vec![0, 1, 2, 3], pick: 3, direct: true };
        for order in [1, 3, 5] {
            let sum: f64 = posterior(&exploration, order).iter().map(|(_, chance)| chance).sum();
            assert!((sum - 1.0).abs() < 1e-12);
        }
    }
}
