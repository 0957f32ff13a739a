//! `direct`: the labels are scored right after the question.

use super::label_scores::LabelScores;
use super::{Endings, Exchange, Interface, Settings, prompt};
use crate::item::Question;

/// The interface.
pub(super) static DIRECT: Interface = Interface {
    name: "direct",
    summary: "asks for the answer at once and takes the label with the highest score",
    generates: false,
    scores_labels: true,
    scores_texts: false,
    asks_on: false,
    cued: false,
    capped: false,
    endings: Endings::Others,
    fits: |question| question.labels.len() >= 2,
    open,
};

fn open(question: &Question, settings: &Settings) -> Box<dyn Exchange + Send> {
    Box::new(LabelScores::new(prompt::asked_at_once(question, settings), &question.labels, settings))
}
