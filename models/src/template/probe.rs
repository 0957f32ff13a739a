//! Tries a template on small conversations, to learn what it takes before items depend on it.

use super::error::TemplateError;
use super::{ContentForm, Renderer, Thinking, reasoning};
use crate::Role;

/// Plain words that no template holds itself.
const SYSTEM: &str = "qsystemprobe";
const FIRST: &str = "qfirstprobe";
const REPLY: &str = "qreplyprobe";
const LAST: &str = "qlastprobe";

/// Fills in what is to be known of the renderer's template.
pub(crate) fn run(renderer: &mut Renderer) -> Result<(), TemplateError> {
    let single = [(Role::User, LAST.to_owned())];
    let example = question(renderer, &single)?;
    let tail = example.split_once(LAST).map_or("", |(_, tail)| tail);
    renderer.facts.opens_reasoning = reasoning::open_block(tail);
    renderer.facts.writes_bos = renderer.begins_with_bos(&example);
    renderer.facts.add_bos = renderer.tokens.adds_bos && !renderer.facts.writes_bos;
    check_bos_once(renderer, &example)?;
    let with_system = [(Role::System, SYSTEM.to_owned()), (Role::User, LAST.to_owned())];
    renderer.facts.folds_system = !keeps(renderer, &with_system)?;
    let turns = [(Role::User, FIRST), (Role::Assistant, REPLY), (Role::User, LAST)];
    let turns = turns.map(|(role, text)| (role, text.to_owned()));
    renderer.facts.keeps_history = keeps(renderer, &turns)?;
    let on = with(renderer, &single, Thinking::On)?;
    renderer.facts.thinking_switch = on != with(renderer, &single, Thinking::Off)?;
    renderer.facts.example = example;
    Ok(())
}

/// Renders a plain question, finding the form of content that brings its text through exactly once.
fn question(renderer: &mut Renderer, single: &[(Role, String)]) -> Result<String, TemplateError> {
    let mut reasons = Vec::new();
    for (form, shown) in [(ContentForm::Text, "text"), (ContentForm::Parts, "a list of parts")] {
        renderer.facts.content = form;
        match attempt(renderer, single) {
            Ok(text) => match text.matches(LAST).count() {
                1 => return Ok(text),
                times => reasons.push(format!("content as {shown} appears {times} times")),
            },
            Err(error @ TemplateError::Limit { .. }) => return Err(error),
            Err(TemplateError::Failed { line, column, message, .. }) => {
                reasons.push(format!("content as {shown} fails in line {line}, column {column} ({message})"));
            }
            Err(error) => reasons.push(format!("content as {shown}: {error}")),
        }
    }
    Err(TemplateError::Unfit { source_name: renderer.facts.source.clone(), reason: reasons.join("; ") })
}

/// Whether every turn comes through exactly once and in order. Refusing a conversation is an answer; being stopped
/// by a limit is an error.
fn keeps(renderer: &Renderer, turns: &[(Role, String)]) -> Result<bool, TemplateError> {
    let text = match attempt(renderer, turns) {
        Ok(text) => text,
        Err(TemplateError::Failed { .. }) => return Ok(false),
        Err(error) => return Err(error),
    };
    let places: Vec<usize> = turns.iter().filter_map(|(_, probe)| text.find(probe.as_str())).collect();
    let once = turns.iter().all(|(_, probe)| text.matches(probe.as_str()).count() == 1);
    Ok(once && places.is_sorted())
}

/// A template may write one begin-of-sequence token at its start; two would stand before every prompt.
fn check_bos_once(renderer: &Renderer, example: &str) -> Result<(), TemplateError> {
    let bos = renderer.tokens.bos.as_str();
    let twice = renderer.facts.writes_bos && example[bos.len()..].starts_with(bos);
    match twice {
        false => Ok(()),
        true => {
            let reason = format!("it begins with the token {bos:?} twice"); // escaped: the text is the file's
            Err(TemplateError::Unfit { source_name: renderer.facts.source.clone(), reason })
        }
    }
}

fn attempt(renderer: &Renderer, turns: &[(Role, String)]) -> Result<String, TemplateError> {
    with(renderer, turns, renderer.facts.thinking)
}

fn with(renderer: &Renderer, turns: &[(Role, String)], thinking: Thinking) -> Result<String, TemplateError> {
    match &renderer.template {
        Some(template) => template.render(renderer.task(turns, thinking)),
        None => Ok(String::new()),
    }
}
