//! Packed mode: what the prompts of a round share is evaluated once, and many sequences share a batch.
//!
//! The round's token sequences form a prefix tree. Its leaves are worked on in waves, as many as sequences and cells
//! allow, in the order of the tree; a token of a shared run is evaluated once for all leaves below it. What a wave
//! leaves behind is kept where a later wave, or the next round of the same group, goes on from it. All of this depends
//! on the jobs of the group alone, so a repeated group gives the same bits.

use std::time::Instant;

use super::decoder::Decoder;
use super::leaves::{Forest, Read};
use super::state::{State, Writer};
use super::vocabulary::Vocabulary;
use super::work::{Doing, Task};
use super::writing::{Next, Writing};
use crate::{Advance, Finish, Phase, PhaseKind, Reply, RoundReply, Usage};

/// What the cache holds of earlier work of the group.
#[derive(Debug, Default)]
pub(super) struct Kept(Vec<Sequence>);

#[derive(Debug)]
struct Sequence {
    id: i32,
    tokens: Vec<i32>,
}

struct Round<'a, 'j> {
    decoder: &'a mut Decoder,
    vocabulary: &'a Vocabulary,
    kept: &'a mut Kept,
    parallel: usize,
    jobs: Vec<State<'j>>,
    forest: Forest,
    prefill: Phase,
    decode: Phase,
    done: Advance,
}

/// Forgets everything.
pub(super) fn end_group(decoder: &mut Decoder, kept: &mut Kept) {
    decoder.clear();
    kept.0.clear();
}

/// Answers the jobs of a round.
pub(super) fn round<'j>(
    decoder: &mut Decoder,
    vocabulary: &Vocabulary,
    kept: &mut Kept,
    parallel: usize,
    tasks: Vec<Result<Task<'j>, Reply>>,
    progress: &mut dyn FnMut(Advance),
) -> RoundReply {
    let jobs: Vec<State<'j>> = tasks
        .into_iter()
        .map(|task| task.map_or_else(State::Done, |task| State::Open(Box::new(task))))
        .collect();
    let forest = Forest::grow(jobs.iter().map(|job| match job {
        State::Open(task) => Some(&task.doing),
        State::Done(_) => None,
    }));
    let empty = Phase { kind: PhaseKind::Prefill, wall_us: 0, library_us: 0, tokens: 0 };
    let done =
        Advance { jobs: jobs.iter().filter(|job| matches!(job, State::Done(_))).count() as u32, tokens: 0 };
    let mut round = Round {
        decoder,
        vocabulary,
        kept,
        parallel: parallel.max(1),
        jobs,
        forest,
        prefill: empty,
        decode: Phase { kind: PhaseKind::Decode, ..empty },
        done,
    };
    round.run(progress);
    let phases = vec![round.prefill, round.decode];
    let lost = || Reply::Failed { reason: "the job was never reached".into(), usage: Usage::default() };
    let replies = round.jobs.into_iter().map(|job| match job {
        State::Done(reply) => reply,
        State::Open(_) => lost(),
    });
    RoundReply { replies: replies.collect(), phases, ..RoundReply::default() }
}

impl<'j> Round<'_, 'j> {
    fn run(&mut self, progress: &mut dyn FnMut(Advance)) {
        let mut first = 0;
        while first < self.forest.leaves.len() {
            self.drop_unneeded(first);
            let mut last = self.wave_from(first);
            if last == first {
                // What is kept leaves no room: evaluate again rather than not at all.
                self.forget();
                last = self.wave_from(first).max(first + 1);
            }
            if let Err(reason) = self.wave(first..last, progress) {
                self.fail(first..last, &reason);
            }
            progress(self.done);
            first = last;
        }
    }

    /// Keeps the sequences that a leaf from `first` on goes on from.
    fn drop_unneeded(&mut self, first: usize) {
        let mut needed = vec![false; self.kept.0.len()];
        for leaf in first..self.forest.leaves.len() {
            if let Some((index, _)) = self.source(leaf) {
                needed[index] = true;
            }
        }
        let mut needed = needed.into_iter();
        let decoder = &mut *self.decoder;
        let mut broken = false;
        self.kept.0.retain(|sequence| {
            let keep = needed.next().unwrap_or(false);
            broken |= !keep && decoder.remove(sequence.id).is_err();
            keep
        });
        if broken {
            self.forget();
        }
    }

    fn forget(&mut self) {
        end_group(self.decoder, self.kept);
    }

    /// The kept sequence that a leaf can go on from, with how many tokens of it: up to the first token whose logits
    /// are still to be read.
    fn source(&self, leaf: usize) -> Option<(usize, usize)> {
        let path = self.forest.path(leaf);
        let unread = self.forest.first_unread(leaf);
        let shared = |sequence: &Sequence| crate::labels::common_prefix(&sequence.tokens, &path).min(unread);
        let best = self.kept.0.iter().enumerate().map(|(index, sequence)| (index, shared(sequence)));
        // The first of equals, so that the choice does not depend on the order of ties.
        best.rev().max_by_key(|(_, shared)| *shared).filter(|(_, shared)| *shared > 0)
    }

    /// End of the wave that begins with a leaf: as many leaves as there are sequences, cells and places to write in.
    fn wave_from(&self, first: usize) -> usize {
        let ids = self.decoder.sequences() as usize - self.kept.0.len();
        let held: usize = {
            let mut tree = crate::tree::Tree::default();
            for sequence in &self.kept.0 {
                tree.add(&sequence.tokens);
            }
            tree.tokens()
        };
        let mut room = self.decoder.cells().saturating_sub(held);
        let mut counted = vec![false; self.forest.tree.len()];
        let (mut end, mut writers) = (first, 0);
        for leaf in first..self.forest.leaves.len() {
            let covered = self.source(leaf).map_or(0, |(_, tokens)| tokens);
            let mut cost = self.reserve(leaf);
            let chain = self.forest.tree.chain(self.forest.leaves[leaf].node);
            for &id in chain.iter().filter(|&&id| !counted[id]) {
                let node = self.forest.tree.node(id);
                cost += node.tokens.len() - covered.saturating_sub(node.depth).min(node.tokens.len());
            }
            let writes = usize::from(self.forest.leaves[leaf].writer.is_some());
            if end - first >= ids || writers + writes > self.parallel || cost > room {
                break;
            }
            room -= cost;
            writers += writes;
            chain.iter().for_each(|&id| counted[id] = true);
            end = leaf + 1;
        }
        end
    }

    /// Cells that a leaf's reply may need.
    fn reserve(&self, leaf: usize) -> usize {
        let writing = self.forest.leaves[leaf].writer.and_then(|job| self.jobs[job].writing());
        writing.map_or(0, Writing::most_tokens)
    }

    fn wave(
        &mut self,
        leaves: std::ops::Range<usize>,
        progress: &mut dyn FnMut(Advance),
    ) -> Result<(), String> {
        let started = Instant::now();
        let before = self.decoder.library_us();
        let ids = self.free_ids(leaves.len());
        let mut covered = vec![0; leaves.len()];
        for (place, leaf) in leaves.clone().enumerate() {
            if let Some((index, tokens)) = self.source(leaf) {
                self.decoder.copy(self.kept.0[index].id, ids[place], tokens)?;
                covered[place] = tokens;
            }
        }
        let mut writers = self.evaluate_tree(leaves.clone(), &ids, &covered)?;
        let wall_us = started.elapsed().as_micros() as u64;
        self.account(wall_us);
        self.prefill.library_us += self.decoder.library_us() - before;
        self.conclude_scores();
        progress(self.done);
        self.write(&mut writers, progress)?;
        self.keep(leaves, &ids, writers)
    }

    fn free_ids(&self, count: usize) -> Vec<i32> {
        let taken = |id: &i32| self.kept.0.iter().any(|sequence| sequence.id == *id);
        (0..self.decoder.sequences()).filter(|id| !taken(id)).take(count).collect()
    }

    /// Evaluates every run that the cache does not have yet, each once for all leaves below it.
    fn evaluate_tree(
        &mut self,
        leaves: std::ops::Range<usize>,
        ids: &[i32],
        covered: &[usize],
    ) -> Result<Vec<Writer>, String> {
        let mut firsts: Vec<(usize, Next)> = Vec::new();
        for node in self.forest.nodes_above(leaves.clone()) {
            let below = self.forest.leaves_below(node);
            let below = below.start.max(leaves.start)..below.end.min(leaves.end);
            let sequences = &ids[below.start - leaves.start..below.end - leaves.start];
            let known = covered[below.start - leaves.start];
            let here = self.forest.tree.node(node).clone();
            let skip = known.saturating_sub(here.depth).min(here.tokens.len());
            self.forest.note_evaluated(node, here.tokens.len() - skip);
            for (place, &token) in here.tokens.iter().enumerate().skip(skip) {
                if self.decoder.is_full() {
                    self.flush(&mut firsts)?;
                }
                let purpose = self.forest.spot_at(node, place);
                self.decoder.add(token, here.depth + place, sequences, purpose)?;
            }
        }
        self.flush(&mut firsts)?;
        let position = |leaf: usize| self.forest.path_tokens(leaf);
        let writer = |(leaf, next): (usize, Next)| Writer {
            leaf,
            sequence: ids[leaf - leaves.start],
            prompt_tokens: position(leaf),
            next: Some(next),
        };
        Ok(firsts.into_iter().map(writer).collect())
    }

    /// Evaluates the batch and hands every row to all that wait for it.
    fn flush(&mut self, firsts: &mut Vec<(usize, Next)>) -> Result<(), String> {
        let (forest, jobs, vocabulary) = (&mut self.forest, &mut self.jobs, self.vocabulary);
        let mut failed = Vec::new();
        self.decoder.decode(|purpose, row| {
            for read in forest.take_reads(purpose) {
                let (Read::First { job } | Read::Later { job, .. } | Read::Begin { job, .. }) = read;
                let State::Open(task) = &mut jobs[job] else { continue };
                match (&mut task.doing, read) {
                    (Doing::Score(scoring), Read::First { .. }) => scoring.first(row, vocabulary),
                    (Doing::Score(scoring), Read::Later { label, token, .. }) => {
                        scoring.later(label, token, row)
                    }
                    (Doing::Write(_, writing), Read::Begin { leaf, .. }) => {
                        match writing.row(row, vocabulary) {
                            Ok(next) => firsts.push((leaf, next)),
                            Err(reason) => failed.push((job, reason)),
                        }
                    }
                    _ => {}
                }
            }
        })?;
        for (job, reason) in failed {
            self.finish(job, Err(reason));
        }
        Ok(())
    }

    /// Shares the time of a wave out by the tokens that each job brought.
    fn account(&mut self, wall_us: u64) {
        let shares = self.forest.take_evaluated();
        let total: u64 = shares.iter().map(|(_, tokens)| *tokens as u64).sum();
        for (job, tokens) in shares {
            if let State::Open(task) = &mut self.jobs[job] {
                task.usage.evaluated_tokens += tokens as u32;
                task.usage.prefill_us += wall_us * tokens as u64 / total.max(1);
            }
        }
        self.prefill.wall_us += wall_us;
        self.prefill.tokens += total as u32;
        self.done.tokens += total;
    }

    /// Ends the score jobs whose logits are all read.
    fn conclude_scores(&mut self) {
        for job in 0..self.jobs.len() {
            if self.jobs[job].scores() && self.forest.is_read(job) {
                self.finish(job, Ok(Finish::Stop));
            }
        }
    }

    /// Generates for all writers of a wave side by side, until the last one is done.
    fn write(&mut self, writers: &mut [Writer], progress: &mut dyn FnMut(Advance)) -> Result<(), String> {
        let started = Instant::now();
        let before = self.decoder.library_us();
        let mut active: Vec<usize> = (0..writers.len()).collect();
        let mut share_us = vec![0u64; writers.len()];
        loop {
            let step = Instant::now();
            let mut going = Vec::with_capacity(active.len());
            for &index in &active {
                let writer = &mut writers[index];
                let Some(job) = self.forest.leaves[writer.leaf].writer else { continue };
                match writer.next.take() {
                    Some(Next::Token(token)) => {
                        let Some(writing) = self.jobs[job].writing() else { continue };
                        let position = writer.prompt_tokens + writing.tokens().len() - 1;
                        self.decoder.add(token, position, &[writer.sequence], Some(index))?;
                        going.push(index);
                    }
                    Some(Next::Over(finish)) => {
                        if let State::Open(task) = &mut self.jobs[job] {
                            task.usage.decode_us = share_us[index];
                        }
                        self.finish(job, Ok(finish));
                    }
                    None => {}
                }
            }
            if going.is_empty() {
                break;
            }
            let (forest, jobs, vocabulary) = (&self.forest, &mut self.jobs, self.vocabulary);
            let mut failed = Vec::new();
            self.decoder.decode(|index, row| {
                let writer = &mut writers[index];
                let Some(job) = forest.leaves[writer.leaf].writer else { return };
                if let Some(writing) = jobs[job].writing_mut() {
                    match writing.row(row, vocabulary) {
                        Ok(next) => writer.next = Some(next),
                        Err(reason) => failed.push((job, reason)),
                    }
                }
            })?;
            for (job, reason) in failed {
                self.finish(job, Err(reason));
            }
            let each_us = step.elapsed().as_micros() as u64 / going.len() as u64;
            going.iter().for_each(|&index| share_us[index] += each_us);
            self.decode.tokens += going.len() as u32;
            self.done.tokens += going.len() as u64;
            progress(self.done);
            active = going;
        }
        if !writers.is_empty() {
            self.decode.wall_us += started.elapsed().as_micros() as u64;
            self.decode.library_us += self.decoder.library_us() - before;
        }
        Ok(())
    }

    fn finish(&mut self, job: usize, outcome: Result<Finish, String>) {
        let nothing = Reply::Failed { reason: String::new(), usage: Usage::default() };
        let State::Open(task) = std::mem::replace(&mut self.jobs[job], State::Done(nothing)) else { return };
        let reply = match (task.doing, outcome) {
            (Doing::Score(scoring), Ok(_)) => Reply::Scored(scoring.finish(task.usage)),
            (Doing::Write(_, writing), Ok(finish)) => Reply::Generated(writing.finish(finish, task.usage)),
            (_, Err(reason)) => Reply::Failed { reason, usage: task.usage },
        };
        self.jobs[job] = State::Done(reply);
        self.done.jobs += 1;
    }

    /// What the wave leaves in the cache: the way to the next leaf, or after the last wave all ends, for the next
    /// round of the group.
    fn keep(
        &mut self,
        leaves: std::ops::Range<usize>,
        ids: &[i32],
        writers: Vec<Writer>,
    ) -> Result<(), String> {
        let is_last = leaves.end == self.forest.leaves.len();
        for (place, leaf) in leaves.clone().enumerate() {
            let mut tokens = self.forest.path(leaf);
            let is_way = leaf + 1 == leaves.end;
            if !is_last && !is_way {
                self.decoder.remove(ids[place])?;
                continue;
            }
            if let Some(writer) = writers.iter().find(|writer| writer.leaf == leaf)
                && let Some(State::Done(Reply::Generated(text))) =
                    self.forest.leaves[writer.leaf].writer.map(|job| &self.jobs[job])
            {
                // The last token that was chosen has not been evaluated.
                tokens.extend(&text.tokens[..text.tokens.len().saturating_sub(1)]);
            }
            self.kept.0.push(Sequence { id: ids[place], tokens });
        }
        Ok(())
    }

    /// A call failed: the cache can no longer be trusted, and the jobs of the wave have no answer.
    fn fail(&mut self, leaves: std::ops::Range<usize>, reason: &str) {
        self.forget();
        for job in self.forest.jobs_of(leaves) {
            self.finish(job, Err(reason.to_owned()));
        }
    }
}
