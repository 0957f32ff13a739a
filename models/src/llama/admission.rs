//! Who may enter a packed round when, and what of the cache is kept for whom.

use super::decoder::Decoder;
use super::leaves::{Forest, Leaf};
use super::packed::Round;
use super::state::{Flight, Seat, State};
use super::work::Doing;
use super::writing::{Next, Writing};
use crate::labels::common_prefix;
use crate::tree::NodeId;

/// A stretch of the tree that is to be evaluated for some sequences.
pub(super) struct Run {
    pub(super) node: NodeId,
    /// The next token of the node.
    pub(super) place: usize,
    pub(super) sequences: Vec<i32>,
    /// The job that the tokens are counted for.
    pub(super) payer: usize,
}

/// Where the admission of leaves stands.
pub(super) struct Admission {
    /// The leaf that is next.
    next: usize,
    leaves: usize,
    /// Replies that may be written side by side.
    places: usize,
    /// Tokens down to each leaf.
    paths: Vec<Vec<i32>>,
    /// Which jobs a later round may go on from.
    follow_up: Vec<bool>,
    /// Sequences that nobody works on, oldest first.
    idle: Vec<Idle>,
    /// Whether there may be room now that there was not before.
    is_worth_a_try: bool,
}

/// A sequence that is kept for what comes.
struct Idle {
    id: i32,
    /// Leaf until whose admission it is kept; [`LATER`] for the next round of the group.
    until: usize,
}

const LATER: usize = usize::MAX;

impl Admission {
    /// At the start of a round: of what earlier rounds left in the cache, that is kept which a leaf goes on from.
    pub(super) fn new(decoder: &Decoder, forest: &Forest, places: usize, follow_up: Vec<bool>) -> Self {
        let leaves = forest.leaves.len();
        let paths: Vec<Vec<i32>> = (0..leaves).map(|leaf| forest.path(leaf)).collect();
        let mut idle: Vec<Idle> = decoder.cache().in_use().map(|id| Idle { id, until: 0 }).collect();
        for (leaf, path) in paths.iter().enumerate() {
            let source = decoder.source(path, forest.first_unread(leaf));
            let kept = source.and_then(|(id, _)| idle.iter_mut().find(|idle| idle.id == id));
            if let Some(idle) = kept {
                // Needed while this leaf is not admitted.
                idle.until = leaf + 1;
            }
        }
        Admission { next: 0, leaves, places, paths, follow_up, idle, is_worth_a_try: true }
    }

    /// Whether every leaf was admitted.
    pub(super) fn is_over(&self) -> bool {
        self.next == self.leaves
    }
}

impl Round<'_, '_> {
    /// Admits the leaves that there is room for. Runs of earlier ones come first: what is being evaluated cannot be
    /// forked yet.
    pub(super) fn admit(&mut self) -> Result<(), String> {
        if !self.runs.is_empty() || self.admission.is_over() || !self.admission.is_worth_a_try {
            return Ok(());
        }
        self.admission.is_worth_a_try = false;
        self.sweep()?;
        let first = self.admission.next;
        let mut entered = self.enter()?;
        if entered.is_empty() && self.flights.is_empty() && !self.admission.is_over() {
            // What is kept leaves no room: evaluate again rather than not at all.
            self.forget();
            entered = self.enter()?;
            if entered.is_empty() {
                entered.push(self.open(first)?);
            }
        }
        if !entered.is_empty() {
            self.admission.next = first + entered.len();
            self.queue(first, &entered);
        }
        Ok(())
    }

    /// Takes sequences for as many leaves as fit; gives each one's sequence and the tokens that it has from others.
    fn enter(&mut self) -> Result<Vec<(i32, usize)>, String> {
        let mut entered = Vec::new();
        let mut counted = vec![false; self.forest.tree.len()];
        let mut room = self.decoder.cells().saturating_sub(self.decoder.cache().taken() + self.reserved());
        let mut writers = self.flights.iter().filter(|flight| flight.writer.is_some()).count();
        for leaf in self.admission.next..self.admission.leaves {
            writers += usize::from(self.forest.leaves[leaf].writer.is_some());
            if writers > self.admission.places {
                break;
            }
            let chain = self.forest.tree.chain(self.forest.leaves[leaf].node);
            loop {
                let source = self.source(leaf);
                let covered = source.map_or(0, |(_, tokens)| tokens);
                if entered.last().is_some_and(|&(_, before)| self.differs(leaf, before, covered)) {
                    self.admission.is_worth_a_try = true;
                    return Ok(entered);
                }
                let own = chain.iter().filter(|&&id| !counted[id]).map(|&id| {
                    let node = self.forest.tree.node(id);
                    node.tokens.len() - covered.saturating_sub(node.depth).min(node.tokens.len())
                });
                let cost = own.sum::<usize>() + self.reply_tokens(leaf);
                if cost <= room && self.decoder.cache().free_sequence().is_some() {
                    room -= cost;
                    break;
                }
                let before = self.decoder.cache().taken();
                let is_alone = entered.is_empty() && self.flights.is_empty();
                if !self.evict(source.map(|(id, _)| id), is_alone)? {
                    return Ok(entered);
                }
                room += before - self.decoder.cache().taken();
            }
            chain.iter().for_each(|&id| counted[id] = true);
            entered.push(self.open(leaf)?);
        }
        Ok(entered)
    }

    /// Whether a leaf has more or less than the one before it of what they share. A run is evaluated for all below it alike,
    /// so that such leaves cannot enter together. It comes about where a sequence serves one leaf, and has lost to a window
    /// what the other needs.
    fn differs(&self, leaf: usize, covered_before: usize, covered: usize) -> bool {
        let paths = &self.admission.paths;
        let shared = common_prefix(&paths[leaf - 1], &paths[leaf]);
        covered_before.min(shared) != covered.min(shared)
    }

    /// Gives a leaf its sequence.
    fn open(&mut self, leaf: usize) -> Result<(i32, usize), String> {
        let source = self.source(leaf);
        let prompt_tokens = self.admission.paths[leaf].len();
        let id = self.decoder.claim(prompt_tokens + self.reply_tokens(leaf))?;
        let covered = source.map_or(0, |(_, tokens)| tokens);
        if let Some((from, tokens)) = source {
            self.decoder.copy(from, id, tokens)?;
        }
        let Leaf { node, writer } = self.forest.leaves[leaf];
        self.flights.push(Flight {
            leaf,
            node,
            seat: Seat::Prompts(id),
            writer,
            prompt_tokens,
            steps: 0,
            is_read: false,
            next: None,
        });
        Ok((id, covered))
    }

    /// Queues what the cache does not have yet of the leaves from `first` on, each run once for all below it.
    fn queue(&mut self, first: usize, entered: &[(i32, usize)]) {
        let leaves = first..first + entered.len();
        for node in self.forest.nodes_above(leaves.clone()) {
            let below = self.forest.leaves_below(node);
            let payer = self.forest.payer(node, below.start.max(first), |job| self.jobs[job].is_open());
            let below = &entered[below.start.max(first) - first..below.end.min(leaves.end) - first];
            let here = self.forest.tree.node(node);
            // What the first one has of a shared run, all have that entered together.
            let place = below[0].1.saturating_sub(here.depth).min(here.tokens.len());
            if place < here.tokens.len() {
                let sequences = below.iter().map(|(id, _)| *id).collect();
                self.runs.push(Run { node, place, sequences, payer });
            }
        }
        self.runs.reverse();
    }

    /// The sequence that a leaf can go on from, with how many tokens of it: up to the first one whose logits are still
    /// to be read.
    fn source(&self, leaf: usize) -> Option<(i32, usize)> {
        self.decoder.source(&self.admission.paths[leaf], self.forest.first_unread(leaf))
    }

    /// Whether a leaf's reply moves to the cache of replies. One that a later round may go on from must be able to return.
    fn parts(&self, leaf: usize) -> bool {
        let Some(job) = self.forest.leaves[leaf].writer else { return false };
        self.streams.as_ref().is_some_and(|streams| streams.can_return() || !self.is_asked(job))
    }

    /// Tokens that a leaf's reply may have in the cache of prompts.
    fn reply_tokens(&self, leaf: usize) -> usize {
        if self.parts(leaf) { 0 } else { self.most_tokens(leaf) }
    }

    /// Tokens that a leaf's reply may have.
    fn most_tokens(&self, leaf: usize) -> usize {
        let writing = self.forest.leaves[leaf].writer.and_then(|job| self.jobs[job].writing());
        writing.map_or(0, Writing::most_tokens)
    }

    /// Cells that the replies at hand may still need.
    fn reserved(&self) -> usize {
        self.flights.iter().map(|flight| self.reply_tokens(flight.leaf).saturating_sub(flight.steps)).sum()
    }

    /// Moves replies that have begun to their own cache; their prompts are kept for the next leaf.
    pub(super) fn part(&mut self) -> Result<(), String> {
        for index in 0..self.flights.len() {
            let Flight { leaf, seat, .. } = self.flights[index];
            let Seat::Prompts(from) = seat else { continue };
            if !matches!(self.flights[index].next, Some(Next::Token(_))) || !self.parts(leaf) {
                continue;
            }
            let tokens = self.most_tokens(leaf);
            let Some(streams) = &mut self.streams else { break };
            self.flights[index].seat = Seat::Streams(streams.take(self.decoder, from, tokens)?);
            self.admission.idle.push(Idle { id: from, until: leaf + 2 });
            self.admission.is_worth_a_try = true;
        }
        self.sweep()
    }

    /// A leaf is done: its sequence is kept for the next leaf, for a later round, or given back.
    pub(super) fn leave(&mut self, flight: Flight) -> Result<(), String> {
        self.admission.is_worth_a_try = true;
        let is_followed = self.is_followed(&flight);
        let room = self.decoder.cells().saturating_sub(self.decoder.cache().taken() + self.reserved());
        match (flight.seat, &mut self.streams) {
            (Seat::Prompts(id), _) => {
                let until = if is_followed { LATER } else { flight.leaf + 2 };
                self.admission.idle.push(Idle { id, until });
            }
            (Seat::Streams(place), Some(streams)) => {
                // It comes back with cells of its own, also for the prompt that it shared before.
                if is_followed && streams.decoder.cache().tokens(place).len() <= room {
                    let id = streams.give(place, self.decoder)?;
                    self.admission.idle.extend(id.map(|id| Idle { id, until: LATER }));
                }
                streams.decoder.remove(place)?;
            }
            (Seat::Streams(_), None) => {}
        }
        self.sweep()
    }

    /// Whether a later round may go on from a leaf, and from no sequence that is kept already.
    fn is_followed(&self, flight: &Flight) -> bool {
        if let Some(job) = flight.writer {
            return self.is_asked(job) && matches!(self.jobs[job], State::Done(crate::Reply::Generated(_)));
        }
        let path = &self.admission.paths[flight.leaf];
        let Some(job) = self.forest.ends_at(flight.node).find(|&job| self.is_asked(job)) else {
            return false;
        };
        // One of several labels stands for the prompt that they share.
        let prompt = match &self.jobs[job] {
            State::Open(task) => match &task.doing {
                Doing::Score(scoring) => scoring.labels().stem.len(),
                Doing::Write(prompt, _) => prompt.len(),
            },
            State::Done(reply) => reply.usage().prompt_tokens as usize,
        };
        let later = self.admission.idle.iter().filter(|idle| idle.until == LATER);
        !later
            .map(|idle| common_prefix(self.decoder.cache().tokens(idle.id), path))
            .any(|kept| kept >= prompt)
    }

    /// Whether a later round may go on from a job.
    fn is_asked(&self, job: usize) -> bool {
        self.admission.follow_up.get(job).copied().unwrap_or(false)
    }

    /// Gives back what nobody needs any more.
    fn sweep(&mut self) -> Result<(), String> {
        let Admission { next, leaves, .. } = self.admission;
        let mut swept = Ok(());
        let decoder = &mut *self.decoder;
        self.admission.idle.retain(|idle| {
            let keep = idle.until == LATER || (next < idle.until && next < leaves);
            if !keep {
                swept = std::mem::replace(&mut swept, Ok(())).and_then(|()| decoder.remove(idle.id));
            }
            keep
        });
        swept
    }

    /// Gives back the kept sequence that is needed last, to make room; what leaves of this round need only when `all`
    /// else has failed. Tells whether there was one.
    fn evict(&mut self, needed: Option<i32>, all: bool) -> Result<bool, String> {
        let idle = &self.admission.idle;
        let may = |idle: &Idle| Some(idle.id) != needed && (all || idle.until == LATER);
        let last = (0..idle.len()).filter(|&index| may(&idle[index])).max_by_key(|&index| idle[index].until);
        match last {
            Some(index) => {
                let idle = self.admission.idle.remove(index);
                self.decoder.remove(idle.id).map(|()| true)
            }
            None => Ok(false),
        }
    }

    /// Empties the caches.
    pub(super) fn forget(&mut self) {
        self.decoder.clear();
        if let Some(streams) = &mut self.streams {
            streams.decoder.clear();
        }
        self.admission.idle.clear();
    }

    /// Passes over the leaves that were on their way when a call failed, or else the next one; gives them.
    pub(super) fn pass_over(&mut self) -> Vec<usize> {
        let mut leaves: Vec<usize> = self.flights.drain(..).map(|flight| flight.leaf).collect();
        if leaves.is_empty() && !self.admission.is_over() {
            leaves.push(self.admission.next);
        }
        let past = leaves.iter().max().map_or(0, |last| last + 1);
        self.admission.next = self.admission.next.max(past);
        self.admission.is_worth_a_try = true;
        leaves
    }
}
