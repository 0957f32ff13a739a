//! Exact mode: each job alone, from an empty cache, in batches whose shapes depend on the job alone.

use std::time::Instant;

use super::decoder::Decoder;
use super::scoring::Scoring;
use super::vocabulary::Vocabulary;
use super::work::{Doing, Task};
use super::writing::{Next, Writing};
use crate::logits::Row;
use crate::{Advance, Finish, Generated, Phase, PhaseKind, Reply, RoundReply, Scored, Usage};

/// The sequence of the prompt at hand.
const MAIN: i32 = 0;
/// A fork of it, for labels of several tokens.
const FORK: i32 = 1;
/// What the logits of the last token are for, and of others.
const LAST: usize = usize::MAX;

/// Answers the jobs of a round.
pub(super) fn round(
    decoder: &mut Decoder,
    vocabulary: &Vocabulary,
    tasks: Vec<Result<Task<'_>, Box<Reply>>>,
    progress: &mut dyn FnMut(Advance),
) -> RoundReply {
    let phase = |kind| Phase { kind, wall_us: 0, library_us: 0, tokens: 0 };
    let (prefill, decode) = (phase(PhaseKind::Prefill), phase(PhaseKind::Decode));
    let mut round = Round { decoder, vocabulary, prefill, decode, done: Advance::default(), progress };
    let mut replies = Vec::with_capacity(tasks.len());
    for task in tasks {
        replies.push(task.map_or_else(|reply| *reply, |task| round.answer(task)));
        round.done.jobs += 1;
        round.tell();
    }
    RoundReply { replies, phases: vec![round.prefill, round.decode], ..RoundReply::default() }
}

struct Round<'a> {
    decoder: &'a mut Decoder,
    vocabulary: &'a Vocabulary,
    prefill: Phase,
    decode: Phase,
    done: Advance,
    progress: &'a mut dyn FnMut(Advance),
}

impl Round<'_> {
    /// Answers one job.
    fn answer(&mut self, task: Task<'_>) -> Reply {
        let mut usage = task.usage;
        let before = self.decoder.seen();
        self.decoder.clear();
        let answered = match task.doing {
            Doing::Score(scoring) => self.scored(scoring, &mut usage).map(Reply::Scored),
            Doing::Write(prompt, writing) => {
                self.written(&prompt, *writing, &mut usage).map(Reply::Generated)
            }
        };
        let mut reply = answered.unwrap_or_else(|reason| {
            self.decoder.clear();
            Reply::Failed { reason, usage }
        });
        if let Some(usage) = reply.usage_mut() {
            usage.count_pictures(before, self.decoder.seen());
        }
        reply
    }

    fn scored(&mut self, mut scoring: Scoring, usage: &mut Usage) -> Result<Scored, String> {
        let (started, before_us) = (Instant::now(), self.decoder.library_us());
        let vocabulary = self.vocabulary;
        let labels = scoring.labels().clone();
        let mut tokens = labels.stem.len();
        let first = &mut |_, row: Row<'_>| scoring.first(row, vocabulary);
        let mut read = self.evaluate(MAIN, 0, &labels.stem, |_| false, first);
        for (label, tail) in labels.tails.iter().enumerate().filter(|(_, tail)| tail.len() > 1) {
            let before_last = &tail[..tail.len() - 1];
            tokens += before_last.len();
            read = read.and_then(|()| {
                self.decoder.remove(FORK)?;
                self.decoder.copy(MAIN, FORK, labels.stem.len())?;
                self.evaluate(FORK, labels.stem.len(), before_last, |_| true, &mut |place, row| {
                    let place = if place == LAST { before_last.len() - 1 } else { place };
                    scoring.later(label, place + 1, row);
                })
            });
        }
        usage.evaluated_tokens += tokens as u32;
        usage.prefill_us = self.account(PhaseKind::Prefill, started, before_us, tokens);
        read.map(|()| scoring.finish(*usage))
    }

    fn written(
        &mut self,
        prompt: &[i32],
        mut writing: Writing<'_>,
        usage: &mut Usage,
    ) -> Result<Generated, String> {
        let (started, before_us) = (Instant::now(), self.decoder.library_us());
        let vocabulary = self.vocabulary;
        let mut next = None;
        let first = &mut |_, row: Row<'_>| next = Some(writing.row(row, vocabulary));
        let read = self.evaluate(MAIN, 0, prompt, |_| false, first);
        usage.evaluated_tokens += prompt.len() as u32;
        usage.prefill_us = self.account(PhaseKind::Prefill, started, before_us, prompt.len());
        read?;
        let (started, before_us) = (Instant::now(), self.decoder.library_us());
        let finish = self.write(prompt.len(), &mut writing, next);
        usage.decode_us = self.account(PhaseKind::Decode, started, before_us, writing.tokens().len());
        finish.map(|finish| writing.finish(finish, *usage))
    }

    /// Writes a reply to its end.
    fn write(
        &mut self,
        prompt_tokens: usize,
        writing: &mut Writing<'_>,
        mut next: Option<Result<Next, String>>,
    ) -> Result<Finish, String> {
        loop {
            match next.take().ok_or("the last token has no logits")?? {
                Next::Over(finish) => return Ok(finish),
                Next::Token(token) => {
                    let position = prompt_tokens + writing.tokens().len() - 1;
                    self.decoder.add(token, position, &[MAIN], true)?;
                    self.decode(&mut |_, row| next = Some(writing.row(row, self.vocabulary)))?;
                }
            }
        }
    }

    /// Evaluates `tokens` at the end of a sequence, in batches. The last token's logits are always read, as [`LAST`].
    fn evaluate(
        &mut self,
        sequence: i32,
        start: usize,
        tokens: &[i32],
        wanted: impl Fn(usize) -> bool,
        read: &mut dyn FnMut(usize, Row<'_>),
    ) -> Result<(), String> {
        let mut purposes = Vec::new();
        for (place, &token) in tokens.iter().enumerate() {
            if self.decoder.is_full_for(token) {
                self.decode(&mut |number, row| read(purposes[number], row))?;
                purposes.clear();
            }
            let is_last = place + 1 == tokens.len();
            let is_wanted = is_last || wanted(place);
            if is_wanted {
                purposes.push(if is_last { LAST } else { place });
            }
            self.decoder.add(token, start + place, &[sequence], is_wanted)?;
        }
        self.decode(&mut |number, row| read(purposes[number], row))
    }

    /// Evaluates what was added, and says that it goes on: a slow machine's reply outlasts any deadline.
    fn decode(&mut self, read: &mut dyn FnMut(usize, Row<'_>)) -> Result<(), String> {
        let tokens = self.decoder.waiting();
        self.decoder.decode(read)?;
        self.done.tokens += tokens as u64;
        self.tell();
        Ok(())
    }

    fn tell(&mut self) {
        (self.progress)(self.done);
    }

    /// Notes what a job's work of a kind took; gives its wall time.
    fn account(&mut self, kind: PhaseKind, started: Instant, before_us: u64, tokens: usize) -> u64 {
        let wall_us = started.elapsed().as_micros() as u64;
        let phase = if kind == PhaseKind::Decode { &mut self.decode } else { &mut self.prefill };
        phase.wall_us += wall_us;
        phase.library_us += self.decoder.library_us() - before_us;
        phase.tokens += tokens as u32;
        self.decoder.note_span(kind, started);
        wall_us
    }
}
