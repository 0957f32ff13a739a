//! Packed mode: what the prompts of a round share is evaluated once, and many sequences share a batch.
//!
//! The round's token sequences form a prefix tree. Its leaves are admitted in the order of the tree, as many as
//! sequences, cells and places to write in allow, and leave when they are done, so that others follow at any step. A
//! token of a shared run is evaluated once for all admitted leaves below it; later ones fork.
//!
//! Replies move to a cache of their own once their prompt is evaluated, where there is one ([`Streams`]): their next
//! tokens are one call of the library, made while no prompt waits, so that it holds as many of them as there are places.
//! Replies that stay with the prompts share a call with prompt tokens. All of this depends on the jobs of the group alone,
//! so a repeated group gives the same bits.

use std::time::Instant;

use super::admission::{Admission, Run};
use super::decoder::Decoder;
use super::leaves::Forest;
use super::state::{Flight, Jobs, Seat, State};
use super::streams::Streams;
use super::vision::is_of_picture;
use super::vocabulary::Vocabulary;
use super::work::{self, Task};
use super::writing::Next;
use crate::{Advance, Finish, Job, Phase, PhaseKind, Reply, RoundReply};

/// What a row of logits is for.
#[derive(Clone, Copy)]
enum Purpose {
    /// A place in the tree.
    Spot(usize),
    /// The reply of a flight.
    Reply(usize),
}

pub(super) struct Round<'a, 'j> {
    pub(super) decoder: &'a mut Decoder,
    /// Where replies are written, unless they stay with the prompts.
    pub(super) streams: Option<&'a mut Streams>,
    vocabulary: &'a Vocabulary,
    pub(super) jobs: Jobs<'j>,
    pub(super) forest: Forest,
    pub(super) admission: Admission,
    /// Admitted leaves that are not done.
    pub(super) flights: Vec<Flight>,
    /// Runs of admitted leaves that are still to be evaluated, the next one last.
    pub(super) runs: Vec<Run>,
    /// What the rows of the batch at hand are for.
    purposes: Vec<Purpose>,
    /// Prompt tokens of the step at hand, by the jobs that they are counted for.
    evaluated: Vec<(usize, usize)>,
    /// Jobs that could not go on, with the reason.
    failed: Vec<(usize, String)>,
    /// Jobs that were on their way when a call failed.
    struck: Vec<usize>,
    prefill: Phase,
    mixed: Phase,
    decode: Phase,
    done: Advance,
}

/// Answers the jobs of a round, of which these are the tasks. Where a call fails, all that were on their way are asked again,
/// each alone: one of them may be to blame.
pub(super) fn round<'j>(
    decoder: &mut Decoder,
    mut streams: Option<&mut Streams>,
    vocabulary: &Vocabulary,
    parallel: usize,
    (jobs, tasks): (&'j [Job], Vec<Result<Task<'j>, Box<Reply>>>),
    progress: &mut dyn FnMut(Advance),
) -> RoundReply {
    let mut answer = |decoder: &mut Decoder, tasks, jobs: &[Job], progress: &mut dyn FnMut(Advance)| {
        let follow_up = jobs.iter().map(|job| job.follow_up).collect();
        together(decoder, streams.as_deref_mut(), vocabulary, parallel, tasks, follow_up, progress)
    };
    let mut done = Advance::default();
    let mut hear = |advance| {
        done = advance;
        progress(advance);
    };
    let (mut reply, struck) = answer(decoder, tasks, jobs, &mut hear);
    for index in struck.into_iter().filter(|_| jobs.len() > 1) {
        let job = &jobs[index..=index];
        let task = work::task(vocabulary, decoder.vision.as_ref(), &job[0], decoder.context_tokens());
        let before = done;
        let mut hear = |advance: Advance| {
            done.tokens = before.tokens + advance.tokens;
            progress(done);
        };
        let (again, _) = answer(decoder, vec![task], job, &mut hear);
        reply.phases.extend(again.phases);
        reply.replies.splice(index..=index, again.replies);
    }
    reply
}

/// Answers jobs; gives also those that were on their way when a call failed.
fn together<'j>(
    decoder: &mut Decoder,
    streams: Option<&mut Streams>,
    vocabulary: &Vocabulary,
    parallel: usize,
    tasks: Vec<Result<Task<'j>, Box<Reply>>>,
    follow_up: Vec<bool>,
    progress: &mut dyn FnMut(Advance),
) -> (RoundReply, Vec<usize>) {
    let jobs = Jobs::new(tasks);
    let forest = jobs.forest();
    let phase = |kind| Phase { kind, wall_us: 0, library_us: 0, tokens: 0 };
    let done = Advance { jobs: jobs.done(), tokens: 0 };
    // One reply alone meets no other.
    let are_several = forest.leaves.iter().filter(|leaf| leaf.writer.is_some()).nth(1).is_some();
    let streams = streams.filter(|_| are_several);
    let places = streams.as_ref().map_or(parallel, |streams| streams.number()).clamp(1, decoder.rows());
    let mut round = Round {
        admission: Admission::new(decoder, &forest, places, follow_up),
        decoder,
        streams,
        vocabulary,
        jobs,
        forest,
        flights: Vec::new(),
        runs: Vec::new(),
        purposes: Vec::new(),
        evaluated: Vec::new(),
        failed: Vec::new(),
        struck: Vec::new(),
        prefill: phase(PhaseKind::Prefill),
        mixed: phase(PhaseKind::Mixed),
        decode: phase(PhaseKind::Decode),
        done,
    };
    round.run(progress);
    let phases = [round.prefill, round.mixed, round.decode].into_iter().filter(|phase| phase.tokens > 0);
    let phases = phases.collect();
    (RoundReply { replies: round.jobs.replies(), phases, ..RoundReply::default() }, round.struck)
}

impl Round<'_, '_> {
    fn run(&mut self, progress: &mut dyn FnMut(Advance)) {
        loop {
            let stepped = self.admit().and_then(|()| self.step());
            let settled = stepped.and_then(|()| self.settle());
            if let Err(reason) = settled {
                self.fail(&reason);
            }
            progress(self.done);
            if self.flights.is_empty() && self.admission.is_over() {
                break;
            }
        }
    }

    /// Goes on with the prompts; replies that have a cache of their own go on when no prompt waits.
    fn step(&mut self) -> Result<(), String> {
        let started = Instant::now();
        let before = self.library_us();
        self.purposes.clear();
        // Pictures and tokens cannot share a call. Pictures go first: replies that waited for them go on together with
        // those that they lead to.
        let written = if self.next_is_of_picture() { 0 } else { self.add_replies()? };
        let read = self.add_prompts()?;
        self.evaluate(false)?;
        let parted = self.part();
        self.account(started, before, written, read);
        parted?;
        if !self.runs.is_empty() {
            return Ok(());
        }
        let started = Instant::now();
        let before = self.library_us();
        self.purposes.clear();
        let written = self.add_streams()?;
        self.evaluate(true)?;
        self.account(started, before, written, 0);
        Ok(())
    }

    fn library_us(&self) -> u64 {
        self.decoder.library_us() + self.streams.as_ref().map_or(0, |streams| streams.decoder.library_us())
    }

    /// Adds the last token of every reply that stays with the prompts; gives their number.
    fn add_replies(&mut self) -> Result<usize, String> {
        for (index, flight) in self.flights.iter_mut().enumerate() {
            let Seat::Prompts(sequence) = flight.seat else { continue };
            let Some((token, position)) = flight.advance() else { continue };
            self.decoder.add(token, position, &[sequence], true)?;
            self.purposes.push(Purpose::Reply(index));
        }
        Ok(self.purposes.len())
    }

    /// The same of every reply in the cache of replies, by their places there: the library computes at once only what lies
    /// side by side.
    fn add_streams(&mut self) -> Result<usize, String> {
        let Some(streams) = &mut self.streams else { return Ok(0) };
        while let Some((from, to)) = streams.close_up()? {
            let moved = self.flights.iter_mut().find(|flight| flight.seat == Seat::Streams(from));
            moved.into_iter().for_each(|flight| flight.seat = Seat::Streams(to));
        }
        for place in 0..streams.number() as i32 {
            let index = self.flights.iter().position(|flight| flight.seat == Seat::Streams(place));
            let Some(index) = index else { break };
            let Some((token, position)) = self.flights[index].advance() else { continue };
            streams.decoder.add(token, position, &[place], true)?;
            self.purposes.push(Purpose::Reply(index));
        }
        Ok(self.purposes.len())
    }

    /// Whether the next element of a prompt belongs to a picture.
    fn next_is_of_picture(&self) -> bool {
        let next = |run: &Run| self.forest.tree.node(run.node).tokens.get(run.place).copied();
        self.runs.last().and_then(next).is_some_and(is_of_picture)
    }

    /// Fills the batch with prompt tokens; gives their number.
    fn add_prompts(&mut self) -> Result<usize, String> {
        let mut count = 0;
        while let Some(run) = self.runs.last_mut() {
            let here = self.forest.tree.node(run.node);
            let (depth, end) = (here.depth, here.tokens.len());
            let from = run.place;
            let before = self.decoder.seen();
            while run.place < end {
                let token = self.forest.tree.node(run.node).tokens[run.place];
                if self.decoder.is_full_for(token) {
                    break;
                }
                let spot = self.forest.spot_at(run.node, run.place);
                if let Some(spot) = spot {
                    self.purposes.push(Purpose::Spot(spot));
                }
                self.decoder.add(token, depth + run.place, &run.sequences, spot.is_some())?;
                run.place += 1;
            }
            let (node, is_over) = (run.node, run.place == end);
            count += run.place - from;
            self.evaluated.push((run.payer, run.place - from));
            if let Some(usage) = self.jobs[run.payer].usage_mut() {
                usage.count_pictures(before, self.decoder.seen());
            }
            if !is_over {
                break;
            }
            self.runs.pop();
            let ended = self.flights.iter_mut().filter(|flight| flight.node == node);
            ended.for_each(|flight| flight.is_read = true);
        }
        Ok(count)
    }

    /// Evaluates the batch of prompts, or that of replies, and hands every row to all that wait for it.
    fn evaluate(&mut self, replies: bool) -> Result<(), String> {
        let decoder = match &mut self.streams {
            Some(streams) if replies => &mut streams.decoder,
            _ => &mut *self.decoder,
        };
        let (forest, jobs, flights) = (&mut self.forest, &mut self.jobs, &mut self.flights);
        let (vocabulary, purposes, failed) = (self.vocabulary, &self.purposes, &mut self.failed);
        decoder.decode(|number, row| match purposes[number] {
            Purpose::Reply(index) => {
                let Some(job) = flights[index].writer else { return };
                match jobs[job].writing_mut().map(|writing| writing.row(row, vocabulary)) {
                    Some(Ok(next)) => flights[index].next = Some(next),
                    Some(Err(reason)) => failed.push((job, reason)),
                    None => {}
                }
            }
            Purpose::Spot(spot) => {
                let is_admitted = |leaf| flights.iter().any(|flight| flight.leaf == leaf);
                for read in forest.take_reads(spot, is_admitted) {
                    let Some((leaf, next)) = jobs.read(read, row, vocabulary) else { continue };
                    let flight = flights.iter_mut().find(|flight| flight.leaf == leaf);
                    match (next, flight) {
                        (Ok(next), Some(flight)) => flight.next = Some(next),
                        (Ok(_), None) => failed.push((read.job(), "its place in the batch is lost".into())),
                        (Err(reason), _) => failed.push((read.job(), reason)),
                    }
                }
            }
        })
    }

    /// Notes what a call took, and shares its time out by tokens.
    fn account(&mut self, started: Instant, before_us: u64, written: usize, read: usize) {
        if written + read == 0 {
            return;
        }
        let wall_us = started.elapsed().as_micros() as u64;
        let library_us = self.library_us() - before_us;
        let phase = match (written, read) {
            (0, _) => &mut self.prefill,
            (_, 0) => &mut self.decode,
            _ => &mut self.mixed,
        };
        self.decoder.note_span(phase.kind, started);
        phase.wall_us += wall_us;
        phase.library_us += library_us;
        phase.tokens += (written + read) as u32;
        self.done.tokens += (written + read) as u64;
        let total = (written + read) as u64;
        let (jobs, wanted) = (&mut self.jobs, self.purposes.iter().take(written));
        for purpose in wanted {
            let Purpose::Reply(index) = purpose else { continue };
            if let Some(State::Open(task)) = self.flights[*index].writer.map(|job| &mut jobs[job]) {
                task.usage.decode_us += wall_us / total;
            }
        }
        if read == 0 {
            return;
        }
        for (job, tokens) in self.evaluated.drain(..) {
            if let State::Open(task) = &mut self.jobs[job] {
                task.usage.evaluated_tokens += tokens as u32;
                task.usage.prefill_us += wall_us * tokens as u64 / total;
            }
        }
        self.done.jobs += self.jobs.conclude_scores(&self.forest);
    }

    /// Lets those leave that are done.
    fn settle(&mut self) -> Result<(), String> {
        while let Some((job, reason)) = self.failed.pop() {
            self.finish(job, Err(reason));
        }
        let mut index = 0;
        while index < self.flights.len() {
            let flight = &self.flights[index];
            let is_over = match (flight.writer, &flight.next) {
                (None, _) => flight.is_read,
                (Some(job), Some(Next::Over(finish))) => {
                    let finish = *finish;
                    self.finish(job, Ok(finish));
                    true
                }
                (Some(job), _) => matches!(self.jobs[job], State::Done(_)),
            };
            if is_over {
                let flight = self.flights.remove(index);
                self.leave(flight)?;
            } else {
                index += 1;
            }
        }
        Ok(())
    }

    fn finish(&mut self, job: usize, outcome: Result<Finish, String>) {
        self.done.jobs += u32::from(self.jobs.finish(job, outcome));
    }

    /// A call failed: the cache can no longer be trusted, and those that were on their way have no answer.
    fn fail(&mut self, reason: &str) {
        while let Some((job, own_reason)) = self.failed.pop() {
            self.finish(job, Err(own_reason));
        }
        for leaf in self.pass_over() {
            for job in self.forest.jobs_of(leaf..leaf + 1) {
                if self.jobs[job].is_open() {
                    self.struck.push(job);
                    self.finish(job, Err(reason.to_owned()));
                }
            }
        }
        self.runs.clear();
        self.evaluated.clear();
        self.forget();
    }
}
