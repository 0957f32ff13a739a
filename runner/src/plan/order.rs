//! In which order models are worked on, so that what drifts during a run (heat, clocks, a battery) falls on all alike.
//!
//! Rounds go there and back: A B C, then C B A. After an even number of rounds every model has the same mean place, so
//! that a drift that is steady in time cancels out. A model that ends one round and begins the next is loaded once.

use super::{Group, Plan};
use crate::entry::Header;

/// A model's turn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Visit {
    /// Index of the model.
    pub model: usize,
    /// The rounds whose groups are worked on, from 0.
    pub rounds: Vec<u32>,
    /// Whether the model has no later turn.
    pub is_last: bool,
}

/// The turns of so many models in so many rounds.
pub fn visits(models: usize, rounds: u32) -> Vec<Visit> {
    let mut visits: Vec<Visit> = Vec::new();
    for round in 0..rounds {
        for place in 0..models {
            let model = if round % 2 == 0 { place } else { models - 1 - place };
            match visits.last_mut() {
                Some(last) if last.model == model => last.rounds.push(round),
                _ => visits.push(Visit { model, rounds: vec![round], is_last: false }),
            }
        }
    }
    for model in 0..models {
        if let Some(last) = visits.iter_mut().rfind(|visit| visit.model == model) {
            last.is_last = true;
        }
    }
    visits
}

/// The round, from 0, that a group of a run is dealt to: its place among its model's groups that are run here, in turn.
pub fn round_of(header: &Header, group: u32, rounds: u32) -> Option<u32> {
    let each = header.groups.checked_div(header.models.len() as u32)?;
    let first = group.checked_div(each)? * each;
    let is_own = |group: &u32| header.shard.is_none_or(|shard| shard.has(*group));
    dealt((first..group).filter(is_own).count() as u32, rounds)
}

/// The round of a place among a model's groups.
fn dealt(place: u32, rounds: u32) -> Option<u32> {
    place.checked_rem(rounds)
}

impl Plan {
    /// The turns of the models.
    pub fn visits(&self) -> Vec<Visit> {
        visits(self.models.len(), self.config.sweep.rounds)
    }

    /// The groups of a turn. A model's groups are dealt to the rounds in turn, so that every round has some of each task
    /// that has several.
    pub fn groups_of<'a>(&'a self, visit: &'a Visit) -> impl Iterator<Item = Group> + 'a {
        let rounds = self.config.sweep.rounds;
        (0..).zip(self.own_groups(visit.model)).filter_map(move |(place, group): (u32, Group)| {
            visit.rounds.contains(&dealt(place, rounds)?).then_some(group)
        })
    }

    /// The order in words, where there is one to tell: `order: a, b, b, a`.
    pub fn order_in_words(&self) -> Option<String> {
        let name = |visit: &Visit| self.models[visit.model].record.name.clone();
        (self.models.len() > 1).then(|| {
            let names: Vec<String> = self.visits().iter().map(name).collect();
            let rounds = match self.config.sweep.rounds {
                1 => "1 round".to_owned(),
                rounds => format!("{rounds} rounds, there and back"),
            };
            format!("order ({rounds}): {}", names.join(", "))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn even_rounds_give_every_model_the_same_mean_place_and_every_round_once() {
        for (models, rounds) in [(2, 2), (3, 2), (5, 4), (1, 6), (4, 8)] {
            let visits = visits(models, rounds);
            // Places in units of one model's share of one round.
            let mut places = vec![Vec::new(); models];
            let mut at = 0;
            for visit in &visits {
                for _ in &visit.rounds {
                    places[visit.model].push(at);
                    at += 1;
                }
            }
            let means: Vec<f64> =
                places.iter().map(|own| own.iter().sum::<i32>() as f64 / own.len() as f64).collect();
            assert!(
                means.iter().all(|mean| (mean - means[0]).abs() < 1e-9),
                "{models} x {rounds}: {means:?}"
            );
            for model in 0..models {
                let mut rounds_seen: Vec<u32> = visits
                    .iter()
                    .filter(|visit| visit.model == model)
                    .flat_map(|visit| visit.rounds.clone())
                    .collect();
                rounds_seen.sort_unstable();
                assert_eq!(rounds_seen, (0..rounds).collect::<Vec<_>>());
                assert_eq!(visits.iter().filter(|visit| visit.model == model && visit.is_last).count(), 1);
            }
        }
    }

    #[test]
    fn one_round_is_one_model_after_the_other_and_neighbours_are_one_turn() {
        let models = |rounds| visits(3, rounds).iter().map(|visit| visit.model).collect::<Vec<_>>();
        assert_eq!(models(1), [0, 1, 2]);
        assert_eq!(models(2), [0, 1, 2, 1, 0]);
        assert_eq!(models(3), [0, 1, 2, 1, 0, 1, 2]);
    }
}
