//! `self-consistency`: several drawn chains of thought, and the answer that most of them give.

use models::Reply;

use super::sampled::{draw, majority, read};
use super::{Endings, Exchange, Interface, Move, Settings, prompt};
use crate::item::Question;
use crate::verdict::{Loss, Said, Skip};

/// The interface.
pub(super) static SELF_CONSISTENCY: Interface = Interface {
    name: "self-consistency",
    summary: "draws several chains of thought and takes the answer of the majority",
    generates: true,
    scores_labels: false,
    scores_texts: false,
    asks_on: false,
    cued: true,
    capped: false,
    endings: Endings::None,
    fits: |question| !question.ask.reason.is_empty(),
    open,
};

fn open(question: &Question, settings: &Settings) -> Box<dyn Exchange + Send> {
    Box::new(SelfConsistency { question: question.clone(), settings: settings.clone(), asked: false })
}

struct SelfConsistency {
    question: Question,
    settings: Settings,
    asked: bool,
}

impl Exchange for SelfConsistency {
    fn step(&mut self, replies: &[Reply]) -> Move {
        let (question, settings) = (&self.question, &self.settings);
        if !std::mem::replace(&mut self.asked, true) {
            let prompt = prompt::to_write(question, settings);
            let one = |number| draw(&prompt, settings, settings.max_tokens, "self-consistency", number);
            return Move::Ask((0..settings.samples).map(one).collect());
        }
        let mut chains = Vec::new();
        for reply in replies {
            match reply {
                Reply::Generated(generated) => chains.push(read(question, settings, generated)),
                Reply::TooLong { .. } => return Move::Skipped(Skip::TooLong),
                Reply::Scored(_) | Reply::Failed { .. } => return Move::Lost(Loss::EngineError),
            }
        }
        if chains.len() != usize::from(settings.samples) {
            return Move::Lost(Loss::EngineError);
        }
        let said: Vec<&Said> = chains.iter().map(|(_, found)| &found.said).collect();
        let (place, said) = match majority(&said) {
            Ok(place) => (place, said[place].clone()),
            Err(reason) => (0, Said::Nothing(reason)),
        };
        let (reply, found) = chains.swap_remove(place);
        Move::Said { said, reply, found: Some(Box::new(found)), rescued: false }
    }
}
