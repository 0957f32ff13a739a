//! Hidden states of the fake engine, with a linear code that is known: what probes must find, and where they must not.
//!
//! The answer is told by the prompt itself (`knows=gold:` reads the label behind `gold:`), and stands in the states as one
//! raised number per label, above noise, from a layer on. In prompts with the turning text the number of the next label is raised,
//! so that a readout learnt on the one kind is always wrong on the other. Scores of labels know nothing of all this.

use std::hash::{DefaultHasher, Hash, Hasher};

use crate::hidden::NO_STATES;
use crate::{FinalNorm, HiddenStates, Job, OutputRow, Readout, Request, Score, States};

/// How far a raised number stands above noise between -1 and 1.
const RAISED: f32 = 3.0;
/// Labels that have a number of their own.
const LABELS: usize = 32;

/// What is planted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct PlantedStates {
    /// Numbers of a state; 0 for no states.
    pub(super) dimension: usize,
    /// Layers.
    pub(super) layers: usize,
    /// Stands before the label that the states hold; empty for none.
    pub(super) knows: String,
    /// The first layer whose state holds it.
    pub(super) from_layer: usize,
    /// Prompts with this text hold it as the next label.
    pub(super) turned_by: Option<String>,
}

impl PlantedStates {
    /// The states of a prompt, as wanted.
    pub(super) fn states(&self, text: &str, score: &Score) -> Option<HiddenStates> {
        if self.dimension == 0 || score.states == States::None {
            return None;
        }
        let known = self.known(text, score);
        let turned = self.turned_by.as_ref().is_some_and(|by| text.contains(by.as_str()));
        let layers =
            if score.states == States::Layers { 0..self.layers + 1 } else { self.layers..self.layers + 1 };
        let mut values = Vec::with_capacity(layers.len() * self.dimension);
        for layer in layers {
            // The state behind the norm is that of the last layer: the norm changes its size alone.
            let drawn_as = layer.min(self.layers.saturating_sub(1));
            let start = values.len();
            values.extend((0..self.dimension).map(|place| noise(text, drawn_as, place)));
            if let Some(label) = known.filter(|_| layer >= self.from_layer) {
                let place = if turned { (label + 1) % score.continuations.len() } else { label };
                if let Some(value) = values.get_mut(start + place) {
                    *value += RAISED;
                }
            }
        }
        HiddenStates::pack(self.dimension, &values)
    }

    /// Rows that read the unturned code: one number each.
    pub(super) fn readout(&self, jobs: &[Job], token: impl Fn(&str) -> i32) -> Readout {
        let wanting = jobs.iter().filter_map(|job| match &job.request {
            Request::Score(score) if score.states != States::None => Some(score),
            _ => None,
        });
        let mut readout = Readout::default();
        for score in wanting {
            if self.dimension == 0 {
                readout.refusals = vec![format!("{NO_STATES}: the fake engine has none (states=N)")];
                break;
            }
            let norm = FinalNorm { centred: false, epsilon: 0.0, weight: Vec::new(), bias: Vec::new() };
            readout.norm = Some(norm);
            for (place, label) in score.continuations.iter().enumerate().take(LABELS.min(self.dimension)) {
                let token = token(label);
                let mut row = vec![0.0; self.dimension];
                row[place] = 1.0;
                let Some(row) = HiddenStates::pack(self.dimension, &row) else { continue };
                if !readout.rows.iter().any(|known| known.token == token) {
                    readout.rows.push(OutputRow { token, row });
                }
            }
        }
        readout
    }

    /// The place among the labels of the one that the prompt names.
    fn known(&self, text: &str, score: &Score) -> Option<usize> {
        if self.knows.is_empty() {
            return None;
        }
        let behind = text.split_once(self.knows.as_str())?.1.trim_start();
        let label = behind.split(|c: char| c.is_whitespace()).next()?;
        score.continuations.iter().position(|continuation| continuation.trim() == label)
    }
}

/// Between -1 and 1.
fn noise(text: &str, layer: usize, place: usize) -> f32 {
    let mut hasher = DefaultHasher::new();
    (text, "state", layer, place).hash(&mut hasher);
    (hasher.finish() >> 40) as f32 / (1u64 << 23) as f32 - 1.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_code_stands_where_it_was_planted() {
        let planted = PlantedStates {
            dimension: 80,
            layers: 3,
            knows: "gold:".into(),
            from_layer: 2,
            turned_by: Some("step by step".into()),
        };
        let score = Score {
            continuations: vec![" A".into(), " B".into(), " C".into()],
            states: States::Layers,
            ..Score::default()
        };
        for (text, raised) in [("x gold:B y", 1), ("x gold:C step by step", 0)] {
            let states = planted.states(text, &score).unwrap();
            assert_eq!(states.count(), 4);
            for layer in 0..4 {
                let state = states.state(layer);
                let above: Vec<usize> = (0..80).filter(|&place| state[place] > 1.5).collect();
                assert_eq!(above, if layer < 2 { vec![] } else { vec![raised] }, "{text}, layer {layer}");
            }
            assert_eq!(states.state(2), states.state(3));
        }
        let last = planted.states("gold:A", &Score { states: States::Final, ..score.clone() }).unwrap();
        assert_eq!(last.count(), 1);
        assert_eq!(planted.states("gold:A", &Score { states: States::None, ..score }), None);
    }
}
