//! `cot-prefix`: the request to reason stands in the prompt, and the labels are scored at once nevertheless. It
//! separates what the words "step by step" do to the next token from what reasoning does.

use models::Prompt;

use super::label_scores::LabelScores;
use super::{CuePlace, Exchange, Interface, Settings, prompt};
use crate::item::Question;

/// The interface.
pub(super) static COT_PREFIX: Interface = Interface {
    name: "cot-prefix",
    summary: "asks for step-by-step reasoning but scores the labels before any of it",
    generates: false,
    fits: |question| question.labels.len() >= 2 && !question.ask.reason.is_empty(),
    open,
};

fn open(question: &Question, settings: &Settings) -> Box<dyn Exchange + Send> {
    let cue = prompt::cue(question, settings);
    let direct_lead = &question.ask.direct_lead;
    let prompt = match (settings.cue_place, cue) {
        (CuePlace::AssistantLead, Some(cue)) => {
            let stem = cue.stem.as_deref().unwrap_or(&question.stem);
            let mut lead = cue.text.trim_start().to_owned();
            if !direct_lead.is_empty() {
                lead.push('\n');
                lead.push_str(direct_lead);
            }
            Prompt { turns: prompt::turns(question, stem, ""), lead }
        }
        (CuePlace::UserTurn, _) | (_, None) => {
            Prompt { turns: prompt::reasoned(question, cue), lead: direct_lead.clone() }
        }
    };
    Box::new(LabelScores::new(prompt, &question.labels, settings))
}
