//! Puts a question into a conversation: history, then the stem with the terminal text of the interface.

use models::{PictureAt, Prompt, Turn};

use super::{CuePlace, Settings};
use crate::item::{Cue, Part, Question};

/// The conversation that ends with the question asked by this terminal text.
pub(super) fn turns(question: &Question, stem: &[Part], terminal: &str) -> Vec<Turn> {
    let mut text = String::new();
    let mut pictures = Vec::new();
    for part in stem {
        match part {
            Part::Text(piece) => text.push_str(piece),
            Part::Picture(picture) => {
                // A prompt that does not fit 32 bits fits no context either.
                let at = u32::try_from(text.len()).unwrap_or(u32::MAX);
                pictures.push(PictureAt { at, address: picture.address() });
            }
        }
    }
    text.push_str(terminal);
    let mut turns = question.history.clone();
    turns.push(Turn::shown(text, pictures));
    turns
}

/// The cue that the settings name, or the question's first one.
pub(super) fn cue<'a>(question: &'a Question, settings: &Settings) -> Option<&'a Cue> {
    let cues = &question.ask.reason;
    let named = settings.cue.as_ref().and_then(|name| cues.iter().find(|cue| cue.name == *name));
    named.or(cues.first())
}

/// The question as `direct` asks it: its own instruction at the end, or the ending of the settings at its place.
pub(super) fn asked_at_once(question: &Question, settings: &Settings) -> Prompt {
    match settings.ending {
        Some(_) => ended(question, &question.stem, settings, ""),
        None => {
            let turns = turns(question, &question.stem, &question.ask.direct);
            Prompt { turns, lead: question.ask.direct_lead.clone(), raw: settings.is_raw() }
        }
    }
}

/// The question with its reasoning cue, or the ending of the settings in place of it, where a label will be scored.
pub(super) fn asked_to_reason(question: &Question, settings: &Settings) -> Prompt {
    let cue = cue(question, settings);
    let stem = cue.and_then(|cue| cue.stem.as_deref()).unwrap_or(&question.stem);
    ended(question, stem, settings, cue.map_or("", |cue| &cue.text))
}

/// A prompt for labels that ends with an ending, or with `own` where the settings have none, at the settings' place.
fn ended(question: &Question, stem: &[Part], settings: &Settings, own: &str) -> Prompt {
    let text = match settings.ending {
        Some(ending) => ending.terminal(&question.labels),
        None => own.to_owned(),
    };
    let direct_lead = question.ask.direct_lead.as_str();
    if settings.cue_place == CuePlace::AssistantLead {
        let parts = [text.trim_start(), direct_lead];
        let lead = parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\n");
        return Prompt { turns: turns(question, stem, ""), lead, raw: false };
    }
    Prompt { turns: turns(question, stem, &text), lead: direct_lead.to_owned(), raw: settings.is_raw() }
}

/// The question with its reasoning cue, or the ending of the settings in place of it, where a reply will be written.
pub(super) fn to_write(question: &Question, settings: &Settings) -> Prompt {
    let cue = cue(question, settings);
    let turns = match settings.ending {
        Some(ending) => {
            let stem = cue.and_then(|cue| cue.stem.as_deref()).unwrap_or(&question.stem);
            turns(question, stem, &ending.terminal(&question.labels))
        }
        None => reasoned(question, cue),
    };
    Prompt { turns, ..Prompt::default() }
}

/// The conversation that ends with a cue, at its usual place.
fn reasoned(question: &Question, cue: Option<&Cue>) -> Vec<Turn> {
    match cue {
        Some(cue) => turns(question, cue.stem.as_deref().unwrap_or(&question.stem), &cue.text),
        None => turns(question, &question.stem, ""),
    }
}

/// The text of the last turn.
pub(super) fn last_text(prompt: &Prompt) -> &str {
    prompt.turns.last().map_or("", |turn| &turn.text)
}
