//! `cot-prefix`: the request to reason stands in the prompt, and the labels are scored at once nevertheless. It
//! separates what the words "step by step" do to the next token from what reasoning does.

use super::label_scores::LabelScores;
use super::{Endings, Exchange, Interface, Settings, prompt};
use crate::item::Question;

/// The interface.
pub(super) static COT_PREFIX: Interface = Interface {
    name: "cot-prefix",
    summary: "asks for step-by-step reasoning but scores the labels before any of it",
    generates: false,
    scores_labels: true,
    scores_texts: false,
    asks_on: false,
    cued: true,
    capped: false,
    endings: Endings::Reasoning,
    fits: |question| question.labels.len() >= 2 && !question.ask.reason.is_empty(),
    open,
};

fn open(question: &Question, settings: &Settings) -> Box<dyn Exchange + Send> {
    Box::new(LabelScores::new(prompt::asked_to_reason(question, settings), &question.labels, settings))
}
