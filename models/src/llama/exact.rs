//! Exact mode: each job alone, from an empty cache, in batches whose shapes depend on the job alone.

use std::time::Instant;

use super::decoder::Decoder;
use super::scoring::Scoring;
use super::vocabulary::Vocabulary;
use super::work::{Doing, Task};
use super::writing::{Next, Writing};
use crate::{Advance, Generated, Phase, PhaseKind, Reply, RoundReply, Scored, Usage};

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
    let mut prefill = Phase { kind: PhaseKind::Prefill, wall_us: 0, library_us: 0, tokens: 0 };
    let mut decode = Phase { kind: PhaseKind::Decode, ..prefill };
    let mut done = Advance::default();
    let mut replies = Vec::with_capacity(tasks.len());
    for task in tasks {
        let before = decoder.library_us();
        let reply = task.map_or_else(|reply| *reply, |task| answer(decoder, vocabulary, task));
        let usage = reply.usage();
        // A job's calls are not told apart: their time goes to the phase that the job is for.
        let phase = if matches!(reply, Reply::Generated(_)) { &mut decode } else { &mut prefill };
        phase.library_us += decoder.library_us() - before;
        prefill.wall_us += usage.prefill_us;
        prefill.tokens += usage.evaluated_tokens;
        decode.wall_us += usage.decode_us;
        decode.tokens += usage.output_tokens;
        done.jobs += 1;
        done.tokens += u64::from(usage.evaluated_tokens + usage.output_tokens);
        progress(done);
        replies.push(reply);
    }
    RoundReply { replies, phases: vec![prefill, decode], ..RoundReply::default() }
}

/// Answers one job.
fn answer(decoder: &mut Decoder, vocabulary: &Vocabulary, task: Task<'_>) -> Reply {
    let mut usage = task.usage;
    let before = decoder.seen();
    decoder.clear();
    let answered = match task.doing {
        Doing::Score(scoring) => scored(decoder, vocabulary, scoring, &mut usage).map(Reply::Scored),
        Doing::Write(prompt, writing) => {
            written(decoder, vocabulary, &prompt, *writing, &mut usage).map(Reply::Generated)
        }
    };
    let mut reply = answered.unwrap_or_else(|reason| {
        decoder.clear();
        Reply::Failed { reason, usage }
    });
    if let Some(usage) = reply.usage_mut() {
        usage.count_pictures(before, decoder.seen());
    }
    reply
}

fn scored(
    decoder: &mut Decoder,
    vocabulary: &Vocabulary,
    mut scoring: Scoring,
    usage: &mut Usage,
) -> Result<Scored, String> {
    let started = Instant::now();
    let labels = scoring.labels().clone();
    evaluate(decoder, MAIN, 0, &labels.stem, |_| false, &mut |_, row| scoring.first(row, vocabulary))?;
    usage.evaluated_tokens += labels.stem.len() as u32;
    for (label, tail) in labels.tails.iter().enumerate().filter(|(_, tail)| tail.len() > 1) {
        let before_last = &tail[..tail.len() - 1];
        decoder.remove(FORK)?;
        decoder.copy(MAIN, FORK, labels.stem.len())?;
        evaluate(decoder, FORK, labels.stem.len(), before_last, |_| true, &mut |place, row| {
            let place = if place == LAST { before_last.len() - 1 } else { place };
            scoring.later(label, place + 1, row);
        })?;
        usage.evaluated_tokens += before_last.len() as u32;
    }
    usage.prefill_us = started.elapsed().as_micros() as u64;
    decoder.note_span(PhaseKind::Prefill, started);
    Ok(scoring.finish(*usage))
}

fn written(
    decoder: &mut Decoder,
    vocabulary: &Vocabulary,
    prompt: &[i32],
    mut writing: Writing<'_>,
    usage: &mut Usage,
) -> Result<Generated, String> {
    let started = Instant::now();
    let mut next = None;
    evaluate(decoder, MAIN, 0, prompt, |_| false, &mut |_, row| next = Some(writing.row(row, vocabulary)))?;
    usage.evaluated_tokens += prompt.len() as u32;
    usage.prefill_us = started.elapsed().as_micros() as u64;
    decoder.note_span(PhaseKind::Prefill, started);
    let decoding = Instant::now();
    let finish = loop {
        match next.take().ok_or("the last token has no logits")?? {
            Next::Over(finish) => break finish,
            Next::Token(token) => {
                let position = prompt.len() + writing.tokens().len() - 1;
                decoder.add(token, position, &[MAIN], true)?;
                decoder.decode(|_, row| next = Some(writing.row(row, vocabulary)))?;
            }
        }
    };
    usage.decode_us = decoding.elapsed().as_micros() as u64;
    decoder.note_span(PhaseKind::Decode, decoding);
    Ok(writing.finish(finish, *usage))
}

/// Evaluates `tokens` at the end of a sequence, in batches. The last token's logits are always read, as [`LAST`].
fn evaluate(
    decoder: &mut Decoder,
    sequence: i32,
    start: usize,
    tokens: &[i32],
    wanted: impl Fn(usize) -> bool,
    read: &mut dyn FnMut(usize, crate::logits::Row<'_>),
) -> Result<(), String> {
    let mut purposes = Vec::new();
    for (place, &token) in tokens.iter().enumerate() {
        if decoder.is_full_for(token) {
            decoder.decode(|number, row| read(purposes[number], row))?;
            purposes.clear();
        }
        let is_last = place + 1 == tokens.len();
        let is_wanted = is_last || wanted(place);
        if is_wanted {
            purposes.push(if is_last { LAST } else { place });
        }
        decoder.add(token, start + place, &[sequence], is_wanted)?;
    }
    decoder.decode(|number, row| read(purposes[number], row))
}
