//! One group: all its items under all their conditions, round by round.

use std::collections::BTreeMap;
use std::sync::Arc;

use datasets::{Condition, Item, Loss, Picture, Script, Settings};
use models::template::{Renderer, TemplateError};
use models::{Advance, Encoded, HiddenStates, Job, Phase, Readout, Reply};

use super::link::{Link, LinkError};
use crate::clock::Clock;
use crate::entry::{DeathCause, GroupRef, ItemRecord};
use crate::prompting;
use crate::telemetry::phases::{PhaseSpan, placed};
use crate::track::Track;

/// What a group is made of.
#[derive(Clone, Copy)]
pub struct GroupSpec<'a> {
    /// Its place in the run.
    pub at: GroupRef,
    /// Its items.
    pub items: &'a [Item],
    /// The conditions that they are asked under.
    pub conditions: &'a [Condition],
    /// How questions are asked.
    pub settings: &'a Settings,
    /// Gives prompts their form.
    pub renderer: &'a Renderer,
}

/// What a group's rounds told beside its answers.
#[derive(Default)]
pub struct Account {
    /// How the engine spent its time.
    pub phases: Vec<Phase>,
    /// Texts of the label tokens, by id.
    pub pieces: BTreeMap<i32, String>,
    /// Tells the time, where phases are wanted on its clock.
    pub clock: Option<Arc<dyn Clock>>,
    /// When which phase was at hand.
    pub spans: Vec<PhaseSpan>,
    /// The pictures that were encoded, by address.
    pub pictures: BTreeMap<String, Encoded>,
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
    /// Name of the condition.
    pub condition: String,
    /// The turn, from 0.
    pub turn: usize,
    /// The request of the turn, from 0.
    pub request: usize,
    /// The states.
    pub states: HiddenStates,
}

impl Account {
    /// Forgets an attempt that came to nothing.
    pub fn start_anew(&mut self) {
        self.phases.clear();
        self.spans.clear();
        self.pictures.clear();
        self.states.clear();
    }

    fn see(&mut self, encoded: Encoded) {
        match self.pictures.get_mut(&encoded.address) {
            Some(known) => {
                known.times += encoded.times;
                known.encode_us += encoded.encode_us;
            }
            None => drop(self.pictures.insert(encoded.address.clone(), encoded)),
        }
    }
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
    /// Every item with every condition that fits it, in canonical order.
    pub fn pairs(&self) -> impl Iterator<Item = (&'a Item, &'a Condition)> + use<'a> {
        let conditions = self.conditions;
        self.items.iter().flat_map(move |item| {
            let fitting = conditions.iter().filter(move |condition| condition.fits(item));
            fitting.map(move |condition| (item, condition))
        })
    }

    /// The same, started.
    pub fn tracks(&self) -> Vec<Track<'a>> {
        self.pairs().map(|(item, condition)| Track::start(item, condition, self.settings)).collect()
    }

    /// The pictures that its items may show.
    pub fn pictures(&self) -> impl Iterator<Item = &'a Picture> + use<'a> {
        self.items.iter().flat_map(Item::pictures)
    }

    /// Whether a conversation of the group grows beyond what can be measured beforehand.
    pub fn grows(&self) -> bool {
        let asks_on = self.conditions.iter().any(|condition| condition.interface.asks_on);
        asks_on || self.items.iter().any(|item| !matches!(item.script, Script::One(_)))
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
        link.show(&jobs, tracks.iter().flat_map(Track::pictures)).await?;
        let now_us = |account: &Account| account.clock.as_ref().map(|clock| clock.now().mono_us);
        let sent = now_us(account);
        let reply = link.round(jobs, &mut hear).await?;
        if let Some((sent, received)) = sent.zip(now_us(account)) {
            account.spans.extend(placed(&reply.spans, reply.took_us, sent, received));
        }
        before.jobs += count;
        before.tokens += tokens;
        account.phases.extend(reply.phases);
        account.pieces.extend(reply.pieces);
        reply.pictures.into_iter().for_each(|encoded| account.see(encoded));
        account.readout.extend(reply.readout);
        let mut replies: Vec<Vec<Reply>> = vec![Vec::new(); tracks.len()];
        for (owner, mut reply) in owners.iter().zip(reply.replies) {
            if let Reply::Scored(scored) = &mut reply
                && let Some(states) = scored.states.take()
            {
                let track = &tracks[*owner];
                let (item, condition) = track.name();
                account.states.push(Held {
                    item: item.to_owned(),
                    condition: condition.to_owned(),
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
