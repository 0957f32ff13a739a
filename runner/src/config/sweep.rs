//! How several models take turns. The order changes no answer, so it makes no other run.

use serde::{Deserialize, Serialize};

/// How several models take turns.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct SweepChoice {
    /// Rounds over the models: there and back, each with its share of the groups.
    pub rounds: u32,
}

/// Every round loads every model: more than this only loads models.
const MOST_ROUNDS: u32 = 100;

impl Default for SweepChoice {
    fn default() -> Self {
        SweepChoice { rounds: 1 }
    }
}

impl SweepChoice {
    /// What is wrong with it.
    pub fn fault(&self) -> Option<String> {
        let message = format!("rounds is {}: give 1 to {MOST_ROUNDS}; an even number balances", self.rounds);
        (!(1..=MOST_ROUNDS).contains(&self.rounds)).then_some(message)
    }
}
