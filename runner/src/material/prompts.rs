//! The first prompt of a logged item, made anew.

use std::collections::HashMap;

use datasets::{Condition, Item, Picture};
use models::Prompt;

use super::Choices;
use crate::entry::{Header, ItemRecord};
use crate::track::Track;

/// The items of a run's tasks, as far as this version of the program makes the same.
pub struct Prompts<'a> {
    header: &'a Header,
    choices: Option<Choices>,
    tasks: Vec<HashMap<String, Item>>,
}

impl<'a> Prompts<'a> {
    /// Makes the items of a run anew. Tasks whose items are now others have no prompts.
    pub fn of(header: &'a Header) -> Prompts<'a> {
        let choices = Choices::of(header).ok();
        let of_task = |index: usize| {
            let items = choices.as_ref().and_then(|choices| choices.items(header, index).ok());
            items.unwrap_or_default().into_iter().map(|item| (item.id.clone(), item)).collect()
        };
        let tasks = (0..header.tasks.len()).map(of_task).collect();
        Prompts { header, choices, tasks }
    }

    /// A picture that a logged item shows.
    pub fn picture(&self, record: &ItemRecord, address: &str) -> Option<Picture> {
        let item = self.tasks.get(usize::from(record.at.task))?.get(&record.item)?;
        item.pictures().find(|picture| picture.address() == address).cloned()
    }

    /// What a logged item was asked first, before the chat template.
    pub fn first(&self, record: &ItemRecord) -> Option<Prompt> {
        let (model, task) = (usize::from(record.at.model), usize::from(record.at.task));
        let item = self.tasks.get(task)?.get(&record.item)?;
        let settings = self.choices.as_ref()?.settings(self.header, model, task).ok()?;
        let condition = Condition::named(&record.interface)?;
        let track = Track::start(item, &condition, &settings);
        track.asks().first().map(|(prompt, _)| prompt.clone())
    }
}
