//! One group after the other, whatever happens to the workers.

use std::time::Instant;

use models::{Advance, LoadSpec, Readout};

use super::super::group::{Account, GroupError, GroupSpec, Held, converse, loss, records};
use super::super::link::{Link, LinkError};
use super::{Runner, Stop, failed};
use crate::entry::{Death, DeathCause, Entry, GroupEnd, GroupRef, ItemRecord, MemoryUse, Pictures, Pieces};
use crate::memory::Peaks;
use crate::states::Place;
use crate::telemetry::record::Stretch;

/// Tries of a group as a whole.
const TRIES_TOGETHER: u8 = 2;

impl Runner<'_> {
    /// Runs a group, writes it down. A worker that dies is replaced; the group is then tried once more as a whole, since
    /// the cause may have come from outside, and at last item by item, to lose only what kills.
    pub(super) async fn group(
        &mut self,
        spec: GroupSpec<'_>,
        load: &LoadSpec,
        link: &mut Link,
    ) -> Result<(), Stop> {
        let started = Instant::now();
        self.log.append(&Entry::GroupStart(spec.at))?;
        let window = self.measuring.begin(Stretch::Group, spec.at.model, Some(spec.at));
        let mut account = Account { clock: Some(self.measuring.clock()), ..Account::default() };
        let (mut items, mut tries) = (None, 0);
        while tries < TRIES_TOGETHER {
            tries += 1;
            account.start_anew();
            let mut tracks = spec.tracks();
            let (progress, measuring) = (&mut *self.progress, &mut self.measuring);
            let mut hear = |at| {
                progress.advance(at);
                measuring.drain();
            };
            match converse(link, spec.renderer, &mut tracks, &mut account, &mut hear).await {
                Ok(()) => {
                    items = Some(records(tracks, spec.at, tries));
                    break;
                }
                // It concerns those that ask for it.
                Err(GroupError::Link(LinkError::Unsendable(_))) => break,
                Err(error) => self.replace(error, &spec, None, load, link).await.map(drop)?,
            }
        }
        let items = match items {
            Some(items) => items,
            None => self.one_by_one(&spec, load, link, &mut account, tries + 1).await?,
        };
        self.measuring.add_phases(&window, std::mem::take(&mut account.spans));
        self.measuring.end(window);
        match link.end_group().await {
            Ok(peak) => self.worker_peak_bytes = self.worker_peak_bytes.max(peak),
            // Everything is answered; a worker that dies now costs a restart only.
            Err(error) => self.replace(error.into(), &spec, None, load, link).await.map(drop)?,
        }
        let memory = link.memory();
        self.write(spec.at, items, started, account, memory)
    }

    async fn one_by_one(
        &mut self,
        spec: &GroupSpec<'_>,
        load: &LoadSpec,
        link: &mut Link,
        account: &mut Account,
        tries: u8,
    ) -> Result<Vec<ItemRecord>, Stop> {
        account.start_anew();
        let mut items = Vec::new();
        let mut done = Advance::default();
        for mut track in spec.tracks() {
            let progress = &mut *self.progress;
            let mut own = Advance::default();
            let one = std::slice::from_mut(&mut track);
            let mut hear = |at: Advance| {
                own = at;
                progress.advance(Advance { jobs: done.jobs + at.jobs, tokens: done.tokens + at.tokens });
            };
            match converse(link, spec.renderer, one, account, &mut hear).await {
                Ok(()) => {}
                Err(GroupError::Link(LinkError::Unsendable(reason))) => {
                    let (item, interface) = track.name();
                    self.progress.say(&format!("{item} ({interface}) is lost: {reason}"));
                    track.lose(datasets::Loss::EngineError);
                }
                Err(error) => {
                    let (item, interface) = track.name();
                    let culprit = Some((item.to_owned(), interface.to_owned()));
                    let cause = self.replace(error, spec, culprit, load, link).await?;
                    track.lose(loss(cause));
                }
            }
            done = Advance { jobs: done.jobs + own.jobs.max(1), tokens: done.tokens + own.tokens };
            items.extend(track.record(spec.at, tries));
        }
        Ok(items)
    }

    /// Logs a death and starts the next worker. Failures that are none are passed on.
    pub(in crate::supervisor) async fn replace(
        &mut self,
        error: GroupError,
        spec: &GroupSpec<'_>,
        culprit: Option<(String, String)>,
        load: &LoadSpec,
        link: &mut Link,
    ) -> Result<DeathCause, Stop> {
        let model = usize::from(spec.at.model);
        match error {
            GroupError::Link(LinkError::Died { cause, last_words }) => {
                let place = match &culprit {
                    Some((item, interface)) => format!("on {item} ({interface})"),
                    None => format!("in group {}", spec.at.group),
                };
                if cause == DeathCause::IllegalInstruction && culprit.is_some() {
                    // The third one: every other item meets the instruction too.
                    let error = LinkError::Died { cause, last_words };
                    return Err(self.hopeless(error, model, &place));
                }
                self.progress.say(&format!("the worker {} {place}; starting another", cause.in_words()));
                self.log.append(&Entry::Death(Death { at: spec.at, culprit, cause, last_words }))?;
                *link = self.open(model, load).await?;
                Ok(cause)
            }
            GroupError::Link(error) => Err(self.hopeless(error, model, "at work")),
            GroupError::Template(error) => Err(failed(model, error.to_string())),
        }
    }

    fn write(
        &mut self,
        at: GroupRef,
        items: Vec<ItemRecord>,
        started: Instant,
        mut account: Account,
        memory: Option<Peaks>,
    ) -> Result<(), Stop> {
        let count = items.len() as u32;
        // Before the log says that the group is complete.
        self.write_states(at, std::mem::take(&mut account.states), &account.readout)?;
        for item in items {
            self.report.lost += u64::from(matches!(item.verdict, datasets::Verdict::Lost(_)));
            self.log.append(&Entry::Item(Box::new(item)))?;
        }
        let known = &mut self.known_pieces;
        let fresh = account.pieces.into_iter().filter(|(token, _)| known.insert((at.model, *token)));
        let fresh: Vec<(i32, String)> = fresh.collect();
        if !fresh.is_empty() {
            self.log.append(&Entry::Pieces(Pieces { model: at.model, pieces: fresh }))?;
        }
        if !account.pictures.is_empty() {
            let pictures = account.pictures.into_values().collect();
            self.log.append(&Entry::Pictures(Pictures { at, pictures }))?;
        }
        let phases = account.phases;
        self.library_us += phases.iter().map(|phase| phase.library_us).sum::<u64>();
        let wall_us = started.elapsed().as_micros() as u64;
        if let Some(peaks) = memory {
            let storm = peaks.is_storm(wall_us);
            self.log.append(&Entry::MemoryUse(MemoryUse { at, peaks, storm }))?;
        }
        self.log.append(&Entry::GroupEnd(GroupEnd { at, items: count, wall_us, phases }))?;
        self.write_ready(false)?;
        self.log.end_group()?;
        self.progress.done(u64::from(count));
        Ok(())
    }

    fn write_states(&mut self, at: GroupRef, held: Vec<Held>, readout: &Readout) -> Result<(), Stop> {
        let Some(writer) = &mut self.states else { return Ok(()) };
        let record = &self.plan.models[usize::from(at.model)].record;
        let fresh = writer.readout(at.model, record, readout).map_err(Stop::Fatal)?;
        for Held { item, condition, turn, request, states } in held {
            let place = Place {
                model: at.model,
                task: at.task,
                group: at.group,
                item,
                interface: condition,
                turn: turn as u16,
                request: request as u16,
                dimension: states.dimension,
                exponents: states.exponents.clone(),
            };
            writer.item(place, &states).map_err(Stop::Fatal)?;
        }
        writer.end_group().map_err(Stop::Fatal)?;
        for reason in fresh {
            self.progress.say(&format!("model {}: {reason}", record.name));
        }
        Ok(())
    }
}
