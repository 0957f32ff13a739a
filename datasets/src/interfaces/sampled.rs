//! What interfaces with several drawn replies share: how a reply is asked for, read, and counted.

use models::{Finish, Generate, Generated, Prompt, Request};

use super::Settings;
use crate::item::Question;
use crate::reading::{self, Found, How};
use crate::verdict::{NoAnswer, Said};

/// The request for one drawn reply.
pub(super) fn draw(
    prompt: &Prompt,
    settings: &Settings,
    max_tokens: u32,
    purpose: &str,
    number: u16,
) -> (Prompt, Request) {
    let generate = Generate {
        max_tokens,
        stop: settings.stop.clone(),
        sampling: settings.drawn(purpose, number),
        loop_guard: settings.loop_guard(),
        thinking: settings.thinking_cap(),
    };
    (prompt.clone(), Request::Generate(generate))
}

/// A reply's text up to the stop texts, and what it says.
pub(super) fn read(question: &Question, settings: &Settings, reply: &Generated) -> (String, Found) {
    let text = reply.text();
    let text = reading::until_stop(&text, &settings.stop);
    let how = How {
        reading: question.reading,
        labels: &question.labels,
        options: &question.options,
        reasoned: true,
    };
    let found = reading::read(&how, text, reply.finish, settings.opens_in_reasoning);
    (text.to_owned(), found)
}

/// The place of the answer that most replies give; of several, the one that was given first. `Err` where no reply gives any.
pub(super) fn majority(said: &[&Said]) -> Result<usize, NoAnswer> {
    let votes = |place: usize| said.iter().filter(|other| **other == said[place]).count();
    let answers = (0..said.len()).filter(|place| !matches!(said[*place], Said::Nothing(_)));
    // `max_by_key` would keep the last of equals.
    let best = answers.rev().max_by_key(|place| votes(*place));
    best.ok_or_else(|| match said.first() {
        Some(Said::Nothing(reason)) => *reason,
        _ => NoAnswer::Empty,
    })
}

/// The number from 1 to `count` that a vote ends with.
pub(super) fn voted(text: &str, finish: Finish, count: usize, opens_in_reasoning: bool) -> Option<usize> {
    let numbers: Vec<String> = (1..=count).map(|number| number.to_string()).collect();
    let how = How { reading: reading::Reading::Statement, labels: &numbers, options: &[], reasoned: true };
    match reading::read(&how, text, finish, opens_in_reasoning).said {
        Said::Choice(place) => Some(usize::from(place)),
        Said::Text(_) | Said::Nothing(_) => None,
    }
}
