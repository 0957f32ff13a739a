//! For models that keep one state per sequence (recurrent and hybrid ones): such a state can be forked where it stands,
//! and can neither go back nor be shared token by token.
//!
//! The jobs of a round form a prefix tree, as in packed mode. Its leaves are answered one after the other, and at every
//! fork of the tree the state is kept until the last leaf below is done. So each token is evaluated once while there are
//! places for the states, and again from the nearest one where there are not. Nothing shares a batch: sequences of
//! different lengths in one batch have corrupted short-convolution states before.

use std::time::Instant;

use super::decoder::Decoder;
use super::leaves::Forest;
use super::state::{Jobs, State};
use super::vocabulary::Vocabulary;
use super::work::Task;
use super::writing::Next;
use crate::labels::common_prefix;
use crate::tree::NodeId;
use crate::{Advance, Finish, Phase, PhaseKind, Reply, RoundReply};

/// States that are kept at once: each takes memory of its own from the start.
pub(super) const STATES: u32 = 16;

/// A state kept at a fork of the tree.
struct Checkpoint {
    node: NodeId,
    sequence: i32,
    /// The leaf after the last one that needs it.
    until: usize,
}

struct Round<'a, 'j> {
    decoder: &'a mut Decoder,
    vocabulary: &'a Vocabulary,
    jobs: Jobs<'j>,
    follow_up: Vec<bool>,
    forest: Forest,
    /// From the root down; all lie above the leaf at hand.
    checkpoints: Vec<Checkpoint>,
    /// How the reply of each leaf begins, once its prompt is read.
    firsts: Vec<Option<Next>>,
    prefill: Phase,
    decode: Phase,
    done: Advance,
}

/// Answers the jobs of a round.
pub(super) fn round<'j>(
    decoder: &mut Decoder,
    vocabulary: &Vocabulary,
    tasks: Vec<Result<Task<'j>, Box<Reply>>>,
    follow_up: Vec<bool>,
    progress: &mut dyn FnMut(Advance),
) -> RoundReply {
    let jobs = Jobs::new(tasks);
    let forest = jobs.forest();
    let done = Advance { jobs: jobs.done(), tokens: 0 };
    let phase = |kind| Phase { kind, wall_us: 0, library_us: 0, tokens: 0 };
    let mut round = Round {
        firsts: (0..forest.leaves.len()).map(|_| None).collect(),
        decoder,
        vocabulary,
        jobs,
        follow_up,
        forest,
        checkpoints: Vec::new(),
        prefill: phase(PhaseKind::Prefill),
        decode: phase(PhaseKind::Decode),
        done,
    };
    for leaf in 0..round.forest.leaves.len() {
        if let Err(reason) = round.leaf(leaf, progress) {
            round.fail(leaf, &reason);
        }
        round.done.jobs += round.jobs.conclude_scores(&round.forest);
        progress(round.done);
    }
    let phases = vec![round.prefill, round.decode];
    RoundReply { replies: round.jobs.replies(), phases, ..RoundReply::default() }
}

impl Round<'_, '_> {
    fn leaf(&mut self, leaf: usize, progress: &mut dyn FnMut(Advance)) -> Result<(), String> {
        let started = Instant::now();
        let before = self.decoder.library_us();
        let chain = self.forest.tree.chain(self.forest.leaves[leaf].node);
        let (sequence, mut place) = self.begin(leaf, &chain)?;
        let mut evaluated = Vec::new();
        for &node in &chain {
            let here = self.forest.tree.node(node);
            let (depth, end) = (here.depth, here.end());
            if end > place {
                let payer = self.forest.payer(node, leaf, |job| self.jobs[job].is_open());
                evaluated.push((payer, end - place));
                let before = self.decoder.seen();
                self.run(node, place - depth, sequence, progress)?;
                let seen = self.decoder.seen();
                if let Some(usage) = self.jobs[payer].usage_mut() {
                    usage.count_pictures(before, seen);
                }
                place = end;
                self.keep(node, leaf, sequence)?;
            }
        }
        self.account(started, before, evaluated);
        if let (Some(job), Some(first)) = (self.forest.leaves[leaf].writer, self.firsts[leaf].take()) {
            self.write(job, sequence, place, first, progress)?;
        }
        self.end(leaf, sequence)
    }

    /// Gives a leaf a sequence that begins with the longest state which lies on its way, and tells its length.
    fn begin(&mut self, leaf: usize, chain: &[NodeId]) -> Result<(i32, usize), String> {
        // A state serves where all of it lies on the way, and before what is still to be read.
        let path = self.forest.path(leaf);
        let unread = self.forest.first_unread(leaf);
        let is_before = |kept: &&Checkpoint| {
            chain.contains(&kept.node) && self.forest.tree.node(kept.node).end() <= unread
        };
        let near = self.checkpoints.iter().rev().find(is_before);
        let near = near.map(|kept| (kept.sequence, self.forest.tree.node(kept.node).end()));
        let cache = self.decoder.cache();
        let whole = |&id: &i32| {
            let tokens = cache.tokens(id);
            tokens.len() <= unread && common_prefix(tokens, &path) == tokens.len()
        };
        let earlier = cache.in_use().filter(whole).map(|id| (id, cache.tokens(id).len()));
        let source = near.into_iter().chain(earlier).max_by_key(|(_, tokens)| *tokens).filter(|it| it.1 > 0);
        if cache.free_sequence().is_none() {
            self.forget_earlier()?;
        }
        let kept = source.filter(|(from, _)| self.decoder.cache().in_use().any(|id| id == *from));
        let sequence = self.decoder.claim(path.len())?;
        if let Some((from, tokens)) = kept {
            self.decoder.copy(from, sequence, tokens)?;
            let is_own = self.checkpoints.iter().any(|kept| kept.sequence == from);
            let is_needed = |other: usize| self.forest.path(other).starts_with(&path[..tokens]);
            if !is_own && !(leaf + 1..self.forest.leaves.len()).any(is_needed) {
                self.decoder.remove(from)?;
            }
        }
        Ok((sequence, kept.map_or(0, |(_, tokens)| tokens)))
    }

    /// Gives back the states of earlier rounds.
    fn forget_earlier(&mut self) -> Result<(), String> {
        let own: Vec<i32> = self.checkpoints.iter().map(|kept| kept.sequence).collect();
        let others: Vec<i32> = self.decoder.cache().in_use().filter(|id| !own.contains(id)).collect();
        others.into_iter().try_for_each(|id| self.decoder.remove(id))
    }

    /// Evaluates the tokens of a node from a place on.
    fn run(
        &mut self,
        node: NodeId,
        from: usize,
        sequence: i32,
        progress: &mut dyn FnMut(Advance),
    ) -> Result<(), String> {
        let (depth, tokens) = {
            let here = self.forest.tree.node(node);
            (here.depth, here.tokens.clone())
        };
        let mut spots = Vec::new();
        for (place, &token) in tokens.iter().enumerate().skip(from) {
            if self.decoder.is_full_for(token) {
                self.flush(&mut spots, progress)?;
            }
            let spot = self.forest.spot_at(node, place);
            spots.extend(spot);
            self.decoder.add(token, depth + place, &[sequence], spot.is_some())?;
        }
        self.flush(&mut spots, progress)
    }

    /// Hands every row to all that wait for it, leaves that are still to come among them.
    fn flush(&mut self, spots: &mut Vec<usize>, progress: &mut dyn FnMut(Advance)) -> Result<(), String> {
        let tokens = self.decoder.waiting();
        let (forest, jobs, firsts) = (&mut self.forest, &mut self.jobs, &mut self.firsts);
        let (vocabulary, mut failed) = (self.vocabulary, Vec::new());
        self.decoder.decode(|number, row| {
            for read in forest.take_reads(spots[number], |_| true) {
                match jobs.read(read, row, vocabulary) {
                    Some((leaf, Ok(first))) => firsts[leaf] = Some(first),
                    Some((_, Err(reason))) => failed.push((read.job(), reason)),
                    None => {}
                }
            }
        })?;
        spots.clear();
        for (job, reason) in failed {
            self.finish(job, Err(reason));
        }
        self.done.tokens += tokens as u64;
        progress(self.done);
        Ok(())
    }

    /// Keeps the state behind a node, where other leaves go on from it and there is a place.
    fn keep(&mut self, node: NodeId, leaf: usize, sequence: i32) -> Result<(), String> {
        let until = self.forest.leaves_below(node).end;
        if until == leaf + 1 || self.decoder.cache().free_sequence().is_none() {
            return Ok(());
        }
        let tokens = self.forest.tree.node(node).end();
        let kept = self.decoder.claim(tokens)?;
        self.decoder.copy(sequence, kept, tokens)?;
        self.checkpoints.push(Checkpoint { node, sequence: kept, until });
        Ok(())
    }

    fn write(
        &mut self,
        job: usize,
        sequence: i32,
        prompt_tokens: usize,
        first: Next,
        progress: &mut dyn FnMut(Advance),
    ) -> Result<(), String> {
        let started = Instant::now();
        let before = self.decoder.library_us();
        let mut next = Ok(first);
        let mut steps = 0;
        let outcome = loop {
            match next {
                Err(reason) => break Err(reason),
                Ok(Next::Over(finish)) => break Ok(finish),
                Ok(Next::Token(token)) => {
                    self.decoder.add(token, prompt_tokens + steps, &[sequence], true)?;
                    steps += 1;
                    let (jobs, vocabulary) = (&mut self.jobs, self.vocabulary);
                    next = Err("the last token has no logits".into());
                    self.decoder.decode(|_, row| {
                        if let Some(writing) = jobs[job].writing_mut() {
                            next = writing.row(row, vocabulary);
                        }
                    })?;
                    self.done.tokens += 1;
                    progress(self.done);
                }
            }
        };
        let wall_us = started.elapsed().as_micros() as u64;
        self.decoder.note_span(PhaseKind::Decode, started);
        self.decode.wall_us += wall_us;
        self.decode.library_us += self.decoder.library_us() - before;
        self.decode.tokens += steps as u32;
        if let State::Open(task) = &mut self.jobs[job] {
            task.usage.decode_us = wall_us;
        }
        self.finish(job, outcome);
        Ok(())
    }

    /// A leaf is done: what only it needed is given back, what a later round may go on from is not.
    fn end(&mut self, leaf: usize, sequence: i32) -> Result<(), String> {
        let node = self.forest.leaves[leaf].node;
        let followed = match self.forest.leaves[leaf].writer {
            Some(job) => self.follow_up[job],
            None => self.forest.ends_at(node).any(|job| self.follow_up[job]),
        };
        // The leaf that comes needs a place, and a state behind one label of several serves nobody.
        if !followed || self.decoder.cache().free_sequence().is_none() {
            self.decoder.remove(sequence)?;
        }
        while let Some(kept) = self.checkpoints.pop_if(|kept| kept.until <= leaf + 1) {
            self.decoder.remove(kept.sequence)?;
        }
        Ok(())
    }

    fn account(&mut self, started: Instant, library_before: u64, shares: Vec<(usize, usize)>) {
        let wall_us = started.elapsed().as_micros() as u64;
        let total: u64 = shares.iter().map(|(_, tokens)| *tokens as u64).sum();
        for (job, tokens) in shares {
            if let State::Open(task) = &mut self.jobs[job] {
                task.usage.evaluated_tokens += tokens as u32;
                task.usage.prefill_us += wall_us * tokens as u64 / total.max(1);
            }
        }
        self.decoder.note_span(PhaseKind::Prefill, started);
        self.prefill.wall_us += wall_us;
        self.prefill.library_us += self.decoder.library_us() - library_before;
        self.prefill.tokens += total as u32;
    }

    fn finish(&mut self, job: usize, outcome: Result<Finish, String>) {
        self.done.jobs += u32::from(self.jobs.finish(job, outcome));
    }

    /// A call failed: no state can be trusted any more, and the leaf has no answer.
    fn fail(&mut self, leaf: usize, reason: &str) {
        self.decoder.clear();
        self.checkpoints.clear();
        for job in self.forest.jobs_of(leaf..leaf + 1) {
            self.finish(job, Err(reason.to_owned()));
        }
    }
}
