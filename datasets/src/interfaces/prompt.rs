//! Puts a question into a conversation: history, then the stem with the terminal text of the interface.

use models::{PictureAt, Prompt, Turn};

use super::Settings;
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

/// The conversation that ends with a cue, at its usual place.
pub(super) fn reasoned(question: &Question, cue: Option<&Cue>) -> Vec<Turn> {
    match cue {
        Some(cue) => turns(question, cue.stem.as_deref().unwrap_or(&question.stem), &cue.text),
        None => turns(question, &question.stem, ""),
    }
}

/// The text of the last turn.
pub(super) fn last_text(prompt: &Prompt) -> &str {
    prompt.turns.last().map_or("", |turn| &turn.text)
}
