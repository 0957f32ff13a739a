//! The exchange that scores labels once, and the choice among their scores.

use models::{Prompt, Reply, Request, Score, Scored};

use super::full_string::best;
use super::separator::continuations;
use super::{Exchange, Move, Normalisation, Settings, prompt};
use crate::ending::CONTINUATION_TOKENS;
use crate::verdict::{Loss, Said, Skip};

/// The score by which each label is judged: its log-probability, per unit of the normalisation. NaN where there is
/// nothing to divide by.
pub fn normalised(scored: &Scored, labels: &[String], normalisation: Normalisation) -> Vec<f64> {
    let each = scored.labels.iter().zip(labels).map(|(score, label)| {
        let units = match normalisation {
            Normalisation::Sum => 1,
            Normalisation::PerToken => score.logprobs.len(),
            Normalisation::PerByte => label.len(),
        };
        // 0/0 is not finite, as it should be.
        if score.logprobs.is_empty() { f64::NAN } else { score.sum() / units as f64 }
    });
    each.collect()
}

/// The best label by its score.
///
/// An exact tie of the best is no answer, and neither is any score that is not a finite number: taking the first
/// label would count a broken model as one that likes A.
pub fn choose(scored: &Scored, labels: &[String], normalisation: Normalisation) -> Said {
    best(&normalised(scored, labels, normalisation))
}

/// The request that scores these labels after a prompt. Beside them it watches two sets of tokens: words that begin a
/// rationale, and the labels with and without a space, whichever of the two was scored.
pub(super) fn request(prompt: Prompt, labels: &[String], settings: &Settings) -> (Prompt, Request) {
    let continuations = continuations(labels, &prompt.lead, prompt::last_text(&prompt), settings);
    let variants = labels.iter().flat_map(|label| [label.clone(), format!(" {label}")]).collect();
    let watch = vec![CONTINUATION_TOKENS.clone(), variants];
    (
        prompt,
        Request::Score(Score { continuations, top: settings.top, watch, states: settings.hidden_states }),
    )
}

/// Asks for the scores of the labels, once.
pub(super) struct LabelScores {
    ask: Option<(Prompt, Request)>,
    labels: Vec<String>,
    normalisation: Normalisation,
}

impl LabelScores {
    pub(super) fn new(prompt: Prompt, labels: &[String], settings: &Settings) -> Self {
        let ask = Some(request(prompt, labels, settings));
        LabelScores { ask, labels: labels.to_vec(), normalisation: settings.normalisation }
    }
}

impl Exchange for LabelScores {
    fn step(&mut self, replies: &[Reply]) -> Move {
        if let Some(ask) = self.ask.take() {
            return Move::Ask(vec![ask]);
        }
        match replies {
            [Reply::Scored(scored)] if scored.labels.len() == self.labels.len() => {
                let said = choose(scored, &self.labels, self.normalisation);
                let reply = match said {
                    Said::Choice(choice) => self.labels.get(usize::from(choice)).cloned().unwrap_or_default(),
                    Said::Text(_) | Said::Nothing(_) => String::new(),
                };
                Move::Said { said, reply, found: None, rescued: false }
            }
            [Reply::TooLong { .. }] => Move::Skipped(Skip::TooLong),
            _ => Move::Lost(Loss::EngineError),
        }
    }
}
