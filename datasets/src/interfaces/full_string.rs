//! `full-string`: the whole texts of the options are scored, and not their labels.
//!
//! Each option is scored twice: after the question, and after the same terminal text alone. The second is what the
//! unconditional normalisation (PMI) takes off. It does not see the options, so it cannot depend on their order. All of
//! it is logged, so that a log can be read again under another normalisation.

use models::{Prompt, Reply, Request, Scored, Turn};
use serde::Serialize;

use super::label_scores::request;
use super::{Endings, Exchange, Interface, Move, Settings, TextNormalisation, prompt};
use crate::item::Question;
use crate::verdict::{Loss, NoAnswer, Said, Skip};

/// The interface.
pub(super) static FULL_STRING: Interface = Interface {
    name: "full-string",
    summary: "scores the whole text of every option: summed, per token, per byte, or against its own likelihood",
    generates: false,
    scores_labels: false,
    scores_texts: true,
    asks_on: false,
    cued: false,
    capped: false,
    endings: Endings::All,
    fits: |question| {
        question.labels.len() >= 2
            && question.options.len() == question.labels.len()
            && question.options.iter().all(|option| !option.trim().is_empty())
    },
    open,
};

fn open(question: &Question, settings: &Settings) -> Box<dyn Exchange + Send> {
    Box::new(FullString { question: question.clone(), settings: settings.clone(), asked: false })
}

struct FullString {
    question: Question,
    settings: Settings,
    asked: bool,
}

/// The scores of an option's text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct TextScores {
    /// Log-probability of the whole text.
    pub sum: f64,
    /// The same per token.
    pub per_token: f64,
    /// The same per byte.
    pub per_byte: f64,
    /// The sum less the sum without the question.
    pub unconditional: f64,
    /// Tokens.
    pub tokens: usize,
}

impl TextScores {
    /// One of the scores.
    pub fn by(&self, normalisation: TextNormalisation) -> f64 {
        match normalisation {
            TextNormalisation::Sum => self.sum,
            TextNormalisation::PerToken => self.per_token,
            TextNormalisation::PerByte => self.per_byte,
            TextNormalisation::Unconditional => self.unconditional,
        }
    }
}

/// The scores of every option; what there is nothing to make of is NaN.
pub fn text_scores(given: &Scored, alone: Option<&Scored>, texts: &[String]) -> Vec<TextScores> {
    let each = given.labels.iter().zip(texts).enumerate().map(|(place, (score, text))| {
        let sum = if score.logprobs.is_empty() { f64::NAN } else { score.sum() };
        let alone =
            alone.and_then(|alone| alone.labels.get(place)).filter(|score| !score.logprobs.is_empty());
        TextScores {
            sum,
            per_token: sum / score.logprobs.len() as f64,
            per_byte: sum / text.len() as f64,
            unconditional: alone.map_or(f64::NAN, |alone| sum - alone.sum()),
            tokens: score.logprobs.len(),
        }
    });
    each.collect()
}

impl FullString {
    /// The question, and what is left of the prompt without it.
    fn asks(&self) -> Vec<(Prompt, Request)> {
        let given = prompt::asked_at_once(&self.question, &self.settings);
        let terminal = match (self.settings.ending, given.lead.is_empty()) {
            (Some(ending), _) => ending.text(&self.question.labels),
            (None, true) => self.question.ask.direct.trim_start().to_owned(),
            (None, false) => String::new(),
        };
        // An empty turn is no prompt.
        let terminal = if terminal.is_empty() { "Answer:".to_owned() } else { terminal };
        let alone = Prompt { turns: vec![Turn::user(terminal)], ..given.clone() };
        let options = &self.question.options;
        vec![request(given, options, &self.settings), request(alone, options, &self.settings)]
    }

    fn read(&self, given: &Scored, alone: &Scored) -> Move {
        let scores: Vec<f64> = text_scores(given, Some(alone), &self.question.options)
            .iter()
            .map(|scores| scores.by(self.settings.full_string))
            .collect();
        let said = best(&scores);
        let reply = match said {
            Said::Choice(choice) => {
                self.question.options.get(usize::from(choice)).cloned().unwrap_or_default()
            }
            Said::Text(_) | Said::Nothing(_) => String::new(),
        };
        Move::Said { said, reply, found: None, rescued: false }
    }
}

impl Exchange for FullString {
    fn step(&mut self, replies: &[Reply]) -> Move {
        if !std::mem::replace(&mut self.asked, true) {
            return Move::Ask(self.asks());
        }
        let count = self.question.options.len();
        match replies {
            [Reply::Scored(given), Reply::Scored(alone)]
                if given.labels.len() == count && alone.labels.len() == count =>
            {
                self.read(given, alone)
            }
            [Reply::TooLong { .. }, _] | [_, Reply::TooLong { .. }] => Move::Skipped(Skip::TooLong),
            _ => Move::Lost(Loss::EngineError),
        }
    }
}

/// The best of some scores, under the rule for labels: an exact tie is no answer, and neither is what is no number.
pub fn best(scores: &[f64]) -> Said {
    if scores.is_empty() || scores.iter().any(|score| !score.is_finite()) {
        return Said::Nothing(NoAnswer::Nonfinite);
    }
    let best = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let mut winners = (0u16..).zip(scores).filter(|(_, score)| **score == best).map(|(index, _)| index);
    match (winners.next(), winners.next()) {
        (Some(winner), None) => Said::Choice(winner),
        _ => Said::Nothing(NoAnswer::Tie),
    }
}
