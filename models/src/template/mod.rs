//! Gives prompts the form that a model was trained on.
//!
//! The model's own chat template is rendered as Hugging Face renders it, under limits (see `sandbox`). A template is
//! tried when a [`Renderer`] is made: what it refuses or drops is found before the first item, and is the same for
//! every item. Item text is data throughout (see `shield`).

mod conversation;
mod error;
mod notation;
mod paid;
mod probe;
mod python;
mod reasoning;
mod sandbox;
mod shield;
mod source;

use std::path::Path;

use minijinja::Value;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::gguf::Header;
use crate::{Prompt, Role, Segment};

use sandbox::{Sandbox, Task};
use shield::Shield;

pub use error::TemplateError;
pub use python::TODAY;
pub use reasoning::{ReasoningBlock, marks};
pub use shield::ControlTexts;

/// What the model is told about reasoning before it answers, where its template has a switch for it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Thinking {
    /// The switch stays untouched.
    #[default]
    Default,
    /// Reasoning is asked for.
    On,
    /// Reasoning is switched off.
    Off,
}

/// How a template takes the text of a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ContentForm {
    /// As plain text.
    Text,
    /// As a list with one part of type `text`.
    Parts,
}

/// The tokens of a model that rendering depends on.
#[derive(Clone, Debug, Default)]
pub struct Tokens {
    /// Text of the begin-of-sequence token; empty where there is none.
    pub bos: String,
    /// Text of the end-of-sequence token; empty where there is none.
    pub eos: String,
    /// Whether the tokenizer puts a begin-of-sequence token first when it is asked for special tokens.
    pub adds_bos: bool,
    /// Spellings of control tokens.
    pub control: ControlTexts,
}

impl Tokens {
    /// What a model file says.
    pub fn of(header: &Header) -> Tokens {
        let named = |name| header.token_text(name).unwrap_or_default().to_owned();
        Tokens {
            bos: named("bos"),
            eos: named("eos"),
            adds_bos: header.adds_bos() && header.token_text("bos").is_some(),
            control: ControlTexts::new(header.vocabulary.control_texts.iter().map(String::as_str)),
        }
    }
}

/// What is known of a template once it has been tried; belongs into the log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TemplateFacts {
    /// Where it comes from: the model file, a template file, or `raw`.
    pub source: String,
    /// Its text; empty for raw prompts.
    pub text: String,
    /// SHA-256 of the text.
    pub sha256: String,
    /// How it takes the text of a turn.
    pub content: ContentForm,
    /// Whether system text is put into the user's turn, because the template refuses or drops it.
    pub folds_system: bool,
    /// Whether it keeps earlier turns.
    pub keeps_history: bool,
    /// The wish about reasoning.
    pub thinking: Thinking,
    /// Whether the wish changes what is rendered.
    pub thinking_switch: bool,
    /// The reasoning block that the generation prompt leaves open: the model's reply begins inside it.
    pub opens_reasoning: Option<ReasoningBlock>,
    /// Whether the template itself writes the begin-of-sequence token.
    pub writes_bos: bool,
    /// What goes into [`Job::add_bos`](crate::Job::add_bos).
    pub add_bos: bool,
    /// What stands between a question and its answer: empty where the template sees to it, a space in raw prompts.
    /// Scored continuations begin with it.
    pub answer_separator: String,
    /// The day that the template is told it is.
    pub today: String,
    /// A rendered example.
    pub example: String,
}

/// Renders prompts for one model.
#[derive(Debug)]
pub struct Renderer {
    facts: TemplateFacts,
    tokens: Tokens,
    template: Option<Sandbox>,
}

impl Renderer {
    /// With the template that the model file carries.
    pub fn of_model(header: &Header, thinking: Thinking) -> Result<Renderer, TemplateError> {
        let model = header.path.file_name().unwrap_or(header.path.as_os_str()).to_string_lossy().into_owned();
        match header.chat_template() {
            Some(text) => Renderer::of_text(&model, text, Tokens::of(header), thinking),
            None => Err(TemplateError::Missing { model }),
        }
    }

    /// With the template in a file, in place of the model's own.
    pub fn of_file(path: &Path, tokens: Tokens, thinking: Thinking) -> Result<Renderer, TemplateError> {
        let text = source::read(path)?;
        let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy();
        Renderer::of_text(&name, &text, tokens, thinking)
    }

    /// With a template from elsewhere; `source` names it in messages.
    pub fn of_text(
        source: &str,
        text: &str,
        tokens: Tokens,
        thinking: Thinking,
    ) -> Result<Renderer, TemplateError> {
        let sandbox = Sandbox::new(source, &source::prepare(source, text)?)?;
        let mut facts = TemplateFacts { source: source.to_owned(), ..raw_facts(&tokens, thinking) };
        facts.text = text.to_owned();
        facts.sha256 = crate::gguf::hex(&Sha256::digest(text.as_bytes()));
        facts.answer_separator = String::new();
        let mut renderer = Renderer { facts, tokens, template: Some(sandbox) };
        probe::run(&mut renderer)?;
        Ok(renderer)
    }

    /// Without a template: the texts as they are. A history is written as it would continue: a question, a space,
    /// its answer, an empty line.
    pub fn raw(tokens: Tokens) -> Renderer {
        Renderer { facts: raw_facts(&tokens, Thinking::Default), tokens, template: None }
    }

    /// What is known of the template.
    pub fn facts(&self) -> &TemplateFacts {
        &self.facts
    }

    /// How many control tokens a text spells; they are kept from acting, but a person may want to know.
    pub fn control_spellings(&self, text: &str) -> usize {
        self.tokens.control.count(text)
    }

    /// Renders a prompt up to where the model goes on. Where the generation prompt opens a reasoning block, the
    /// prompt ends inside it.
    pub fn render(&self, prompt: &Prompt) -> Result<Vec<Segment>, TemplateError> {
        self.rendered(prompt, "")
    }

    /// Renders a prompt up to where an answer is due: a reasoning block that the generation prompt opens is closed
    /// first. Labels must be scored after this, never inside a block.
    pub fn render_for_answer(&self, prompt: &Prompt) -> Result<Vec<Segment>, TemplateError> {
        let block = self.facts.opens_reasoning.as_ref().filter(|_| !prompt.raw);
        self.rendered(prompt, block.map_or("", |block| block.closing.as_str()))
    }

    fn rendered(&self, prompt: &Prompt, closing: &str) -> Result<Vec<Segment>, TemplateError> {
        let texts = prompt.turns.iter().map(|turn| turn.text.as_str());
        let all = texts.chain([prompt.lead.as_str(), self.facts.text.as_str()]);
        let mut shield = Shield::new(&self.tokens.control, all);
        let crowded = || TemplateError::Prompt("it spells too many different control tokens".to_owned());
        let shown: Vec<&str> =
            prompt.turns.iter().flat_map(|turn| &turn.pictures).map(|it| it.address.as_str()).collect();
        let with_stand_ins;
        let prompt = match shown.is_empty() {
            true => prompt,
            false => {
                let mut prompt = prompt.clone();
                for turn in &mut prompt.turns {
                    let pictures = std::mem::take(&mut turn.pictures);
                    turn.text = shield.place(&turn.text, &pictures).ok_or_else(crowded)?;
                }
                with_stand_ins = prompt;
                &with_stand_ins
            }
        };
        let mut turns = conversation::shape(prompt, prompt.raw || self.facts.folds_system)?;
        if !prompt.raw && !self.facts.keeps_history && turns.iter().any(|(role, _)| *role == Role::Assistant)
        {
            return Err(TemplateError::NoHistory { source_name: self.facts.source.clone() });
        }
        for (_, text) in &mut turns {
            *text = shield.cover(text).ok_or_else(crowded)?;
        }
        let lead = shield.cover(&prompt.lead).ok_or_else(crowded)?;
        let mut text = match self.template.as_ref().filter(|_| !prompt.raw) {
            Some(template) => template.render(self.task(&turns, self.facts.thinking))?,
            None => raw_text(&turns, !lead.is_empty()),
        };
        text.push_str(closing);
        text.push_str(&lead);
        let segments = shield.uncover(&text);
        if !crate::pictures(&segments).eq(shown.iter().copied()) {
            // Never asked silently without them, or with others.
            return Err(TemplateError::Pictures {
                source_name: self.facts.source.clone(),
                shown: shown.len(),
                rendered: crate::pictures(&segments).count(),
            });
        }
        self.check_bos(prompt, &segments)?;
        Ok(segments)
    }

    /// What goes into [`Job::add_bos`](crate::Job::add_bos) with a prompt.
    pub fn add_bos(&self, prompt: &Prompt) -> bool {
        if prompt.raw { self.tokens.adds_bos } else { self.facts.add_bos }
    }

    /// Exactly one begin-of-sequence token: the template's, or the tokenizer's, never both.
    fn check_bos(&self, prompt: &Prompt, segments: &[Segment]) -> Result<(), TemplateError> {
        if segments.is_empty() && !self.add_bos(prompt) {
            return Err(TemplateError::Empty);
        }
        let written =
            segments.first().is_some_and(|first| first.control && self.begins_with_bos(&first.text));
        if self.template.is_some() && !prompt.raw && written != self.facts.writes_bos {
            return Err(TemplateError::BosVaries { source_name: self.facts.source.clone() });
        }
        Ok(())
    }

    fn begins_with_bos(&self, text: &str) -> bool {
        !self.tokens.bos.is_empty() && text.starts_with(&self.tokens.bos)
    }

    /// The variables of one rendering, as Hugging Face passes them.
    fn task(&self, turns: &[(Role, String)], thinking: Thinking) -> Task {
        let content = |text: &String| match self.facts.content {
            ContentForm::Text => Value::from(text.as_str()),
            ContentForm::Parts => {
                let part = Value::from_pairs([("type", "text"), ("text", text.as_str())]);
                Value::from(vec![part])
            }
        };
        let message = |(role, text): &(Role, String)| {
            Value::from_pairs([("role", Value::from(role.as_str())), ("content", content(text))])
        };
        let messages: Vec<Value> = turns.iter().map(message).collect();
        let mut variables = vec![
            ("messages", Value::from(messages)),
            ("tools", Value::from(())),
            ("documents", Value::from(())),
            ("add_generation_prompt", Value::from(true)),
            ("bos_token", Value::from(self.tokens.bos.as_str())),
            ("eos_token", Value::from(self.tokens.eos.as_str())),
        ];
        if thinking != Thinking::Default {
            let on = Value::from(thinking == Thinking::On);
            variables.extend([("enable_thinking", on.clone()), ("thinking", on)]);
        }
        let bytes = turns.iter().map(|(_, text)| text.len()).sum();
        Task { variables: Value::from_pairs(variables), turns: turns.len(), bytes }
    }
}

fn raw_facts(tokens: &Tokens, thinking: Thinking) -> TemplateFacts {
    TemplateFacts {
        source: "raw".to_owned(),
        text: String::new(),
        sha256: crate::gguf::hex(&Sha256::digest(b"")),
        content: ContentForm::Text,
        folds_system: true,
        keeps_history: true,
        thinking,
        thinking_switch: false,
        opens_reasoning: None,
        writes_bos: false,
        add_bos: tokens.adds_bos,
        answer_separator: " ".to_owned(),
        today: TODAY.to_owned(),
        example: String::new(),
    }
}

fn raw_text(turns: &[(Role, String)], led: bool) -> String {
    let mut text = String::new();
    for (index, (role, turn)) in turns.iter().enumerate() {
        text.push_str(turn);
        match role {
            Role::User if index + 1 < turns.len() || led => text.push(' '),
            Role::User => {}
            Role::Assistant | Role::System => text.push_str(conversation::JOINT),
        }
    }
    text
}

#[cfg(test)]
mod tests;
