//! `direct`: the labels are scored right after the question.

use models::Prompt;

use super::label_scores::LabelScores;
use super::{Exchange, Interface, Settings, prompt};
use crate::item::Question;

/// The interface.
pub(super) static DIRECT: Interface = Interface {
    name: "direct",
    summary: "asks for the answer at once and takes the label with the highest score",
    generates: false,
    fits: |question| question.labels.len() >= 2,
    open,
};

fn open(question: &Question, settings: &Settings) -> Box<dyn Exchange + Send> {
    let turns = prompt::turns(question, &question.stem, &question.ask.direct);
    let prompt = Prompt { turns, lead: question.ask.direct_lead.clone() };
    Box::new(LabelScores::new(prompt, &question.labels, settings))
}
