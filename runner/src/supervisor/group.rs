//! One group: all its items through all their interfaces, round by round.

use std::collections::BTreeMap;

use datasets::interfaces::Interface;
use datasets::{Item, Loss, Script, Settings};
use models::template::{Renderer, TemplateError};
use models::{Advance, HiddenStates, Job, Phase, Readout, Reply};

use super::link::{Link, LinkError};
use crate::entry::{DeathCause, GroupRef, ItemRecord};
use crate::plan::fits;
use crate::prompting;
use crate::track::Track;

/// What a group is made of.
#[derive(Clone, Copy)]
pub struct GroupSpec<'a> {
    /// Its place in the run.
    pub at: GroupRef,
    /// Its items.
    pub items: &'a [Item],
    /// The ways of asking.
    pub interfaces: &'a [&'static Interface],
    /// How questions are asked.
    pub settings: &'a Settings,
    /// Gives prompts their form.
    pub renderer: &'a Renderer,
}

/// What a group's rounds told beside its answers.
#[derive(Debug, Default)]
pub struct Account {
    /// How the engine spent its time.
    pub phases: Vec<Phase>,
    /// Texts of the label tokens, by id.
    pub pieces: BTreeMap<i32, String>,
    /// Hidden states, where they were wanted.
    pub states: Vec<Held>,
    /// What reads labels out of them.
    pub readout: Readout,
}

/// Hidden states of one request.
#[derive(Debug)]
pub struct Held {
    /// The item.
    pub item: String,
    /// The interface.
    pub interface: &'static str,
    /// The turn, from 0.
    pub turn: usize,
    /// The request of the turn, from 0.
    pub request: usize,
    /// The states.
    pub states: HiddenStates,
}

/// Why a group came to no end.
#[derive(Debug)]
pub enum GroupError {
    /// The worker failed.
    Link(LinkError),
    /// A prompt could not be rendered.
    Template(TemplateError),
}

impl From<LinkError> for GroupError {
    fn from(error: LinkError) -> Self {
        GroupError::Link(error)
    }
}

impl<'a> GroupSpec<'a> {
    /// Every item with every interface that fits it, in canonical order.
    pub fn pairs(&self) -> impl Iterator<Item = (&'a Item, &'static Interface)> + use<'a> {
        let interfaces = self.interfaces;
        self.items.iter().flat_map(move |item| {
            interfaces
                .iter()
                .filter(move |interface| fits(item, interface))
                .map(move |interface| (item, *interface))
        })
    }

    /// The same, started.
    pub fn tracks(&self) -> Vec<Track<'a>> {
        self.pairs().map(|(item, interface)| Track::start(item, interface, self.settings)).collect()
    }

    /// Whether a conversation of the group grows beyond its first question.
    pub fn grows(&self) -> bool {
        self.items.iter().any(|item| !matches!(item.script, Script::One(_)))
    }

    /// The jobs with which the group begins: what can be measured beforehand.
    pub fn first_jobs(&self) -> Result<Vec<Job>, TemplateError> {
        let tracks = self.tracks();
        let mut jobs = Vec::new();
        for (prompt, request) in tracks.iter().flat_map(|track| track.asks()) {
            jobs.push(prompting::job(self.renderer, jobs.len() as u32, prompt, request)?.job);
        }
        Ok(jobs)
    }
}

/// Runs tracks to their end, side by side. What the rounds tell beside answers is added to `account`.
pub async fn converse(
    link: &mut Link,
    renderer: &Renderer,
    tracks: &mut [Track<'_>],
    account: &mut Account,
    progress: &mut dyn FnMut(Advance),
) -> Result<(), GroupError> {
    let mut before = Advance::default();
    loop {
        let mut jobs = Vec::new();
        let mut owners = Vec::new();
        for (index, track) in tracks.iter_mut().enumerate() {
            let mut hash = None;
            for (prompt, request) in track.asks() {
                let mut rendered = prompting::job(renderer, jobs.len() as u32, prompt, request)
                    .map_err(GroupError::Template)?;
                rendered.job.follow_up = track.may_ask_on();
                hash.get_or_insert(rendered.prompt_hash);
                jobs.push(rendered.job);
                owners.push(index);
            }
            if let Some(hash) = hash {
                track.note_prompt(hash);
            }
        }
        if jobs.is_empty() {
            return Ok(());
        }
        let count = jobs.len() as u32;
        let mut tokens = 0;
        let mut hear = |advance: Advance| {
            tokens = advance.tokens;
            progress(Advance { jobs: before.jobs + advance.jobs, tokens: before.tokens + advance.tokens });
        };
        let reply = link.round(jobs, &mut hear).await?;
        before.jobs += count;
        before.tokens += tokens;
        account.phases.extend(reply.phases);
        account.pieces.extend(reply.pieces);
        account.readout.extend(reply.readout);
        let mut replies: Vec<Vec<Reply>> = vec![Vec::new(); tracks.len()];
        for (owner, mut reply) in owners.iter().zip(reply.replies) {
            if let Reply::Scored(scored) = &mut reply
                && let Some(states) = scored.states.take()
            {
                let track = &tracks[*owner];
                let (item, interface) = track.name();
                account.states.push(Held {
                    item: item.to_owned(),
                    interface,
                    turn: track.turns().len(),
                    request: track.answered_requests() + replies[*owner].len(),
                    states,
                });
            }
            replies[*owner].push(reply);
        }
        for (track, replies) in tracks.iter_mut().zip(replies) {
            if !replies.is_empty() {
                track.answer(replies);
            }
        }
    }
}

/// The records of tracks that are over.
pub fn records(tracks: Vec<Track<'_>>, at: GroupRef, tries: u8) -> Vec<ItemRecord> {
    tracks.into_iter().filter_map(|track| track.record(at, tries)).collect()
}

/// How an item is lost that a worker died on.
pub fn loss(cause: DeathCause) -> Loss {
    match cause {
        DeathCause::Deadline => Loss::Deadline,
        _ => Loss::WorkerDied,
    }
}
