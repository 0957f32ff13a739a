//! A round's jobs as a prefix tree with its leaves, and what is to be read where.

use std::ops::Range;

use super::work::Doing;
use crate::tree::{NodeId, Tree};

/// What a row of logits is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Read {
    /// The first tokens of a job's labels.
    First { job: usize },
    /// A later token of one label.
    Later { job: usize, label: usize, token: usize },
    /// The first token of a job's reply; the leaf is where it goes on.
    Begin { job: usize, leaf: usize },
}

impl Read {
    pub(super) fn job(self) -> usize {
        let (Read::First { job } | Read::Later { job, .. } | Read::Begin { job, .. }) = self;
        job
    }
}

/// An end of the tree: it needs a sequence of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Leaf {
    pub(super) node: NodeId,
    /// The job that writes on from here; `None` where only labels end.
    pub(super) writer: Option<usize>,
}

/// Rows that are wanted at one token.
#[derive(Debug)]
struct Spot {
    place: usize,
    reads: Vec<Read>,
    is_read: bool,
}

/// The tree of a round.
#[derive(Debug)]
pub(super) struct Forest {
    pub(super) tree: Tree,
    /// In the order of the tree: what is next to each other shares most.
    pub(super) leaves: Vec<Leaf>,
    /// Nodes, the root left out, each before those below it.
    order: Vec<NodeId>,
    /// Leaves below each node.
    below: Vec<Range<usize>>,
    spots: Vec<Spot>,
    /// Spots of each node by place.
    spots_of: Vec<Vec<usize>>,
    /// Reads that each job still waits for.
    pending: Vec<usize>,
    /// The job of each path.
    job_of: Vec<usize>,
}

impl Forest {
    /// Builds the tree; `None` stands for a job that is done already.
    pub(super) fn grow<'a>(doings: impl Iterator<Item = Option<&'a Doing<'a>>>) -> Forest {
        let mut tree = Tree::default();
        let mut job_of = Vec::new();
        // (path, position, read); the leaf of a writer is known later.
        let mut wanted: Vec<(usize, usize, Read)> = Vec::new();
        let mut jobs = 0;
        for (job, doing) in doings.enumerate() {
            jobs = job + 1;
            let mut add = |path: &[i32]| {
                job_of.push(job);
                tree.add(path)
            };
            match doing {
                None => {}
                Some(Doing::Score(scoring)) => {
                    let labels = scoring.labels();
                    wanted.push((add(&labels.stem), labels.stem.len() - 1, Read::First { job }));
                    for (label, tail) in labels.tails.iter().enumerate().filter(|(_, tail)| tail.len() > 1) {
                        let path = add(&[&labels.stem[..], &tail[..tail.len() - 1]].concat());
                        let read =
                            |token| (path, labels.stem.len() + token - 1, Read::Later { job, label, token });
                        wanted.extend((1..tail.len()).map(read));
                    }
                }
                Some(Doing::Write(prompt, _)) => {
                    wanted.push((add(prompt), prompt.len() - 1, Read::Begin { job, leaf: usize::MAX }));
                }
            }
        }
        let mut writers: Vec<Vec<usize>> = vec![Vec::new(); tree.len()];
        for &(path, _, read) in &wanted {
            if let Read::Begin { job, .. } = read {
                writers[tree.end_of(path)].push(job);
            }
        }
        let mut forest = Forest {
            leaves: Vec::new(),
            order: Vec::new(),
            below: vec![0..0; tree.len()],
            spots: Vec::new(),
            spots_of: vec![Vec::new(); tree.len()],
            pending: vec![0; jobs],
            job_of,
            tree,
        };
        forest.find_leaves(&writers);
        for (path, position, read) in wanted {
            forest.want(path, position, read);
        }
        for node in 0..forest.spots_of.len() {
            let mut spots = std::mem::take(&mut forest.spots_of[node]);
            spots.sort_by_key(|&spot| forest.spots[spot].place);
            forest.spots_of[node] = spots;
        }
        forest
    }

    /// Walks the tree without recursion: conversations make it deep.
    fn find_leaves(&mut self, writers: &[Vec<usize>]) {
        enum Visit {
            Enter(NodeId),
            Leave(NodeId),
        }
        let mut stack = vec![Visit::Enter(Tree::ROOT)];
        while let Some(visit) = stack.pop() {
            match visit {
                Visit::Enter(node) => {
                    if node != Tree::ROOT {
                        self.order.push(node);
                    }
                    self.below[node].start = self.leaves.len();
                    let children = &self.tree.node(node).children;
                    self.leaves.extend(writers[node].iter().map(|&job| Leaf { node, writer: Some(job) }));
                    if children.is_empty() && writers[node].is_empty() && node != Tree::ROOT {
                        self.leaves.push(Leaf { node, writer: None });
                    }
                    stack.push(Visit::Leave(node));
                    stack.extend(children.iter().rev().map(|&child| Visit::Enter(child)));
                }
                Visit::Leave(node) => self.below[node].end = self.leaves.len(),
            }
        }
    }

    fn want(&mut self, path: usize, position: usize, mut read: Read) {
        if let Read::Begin { job, leaf } = &mut read {
            let own = |candidate: &Leaf| candidate.writer == Some(*job);
            *leaf = self.leaves.iter().position(own).unwrap_or(usize::MAX);
        }
        // A position of a path always lies on its chain.
        let Some((node, place)) = self.tree.locate(self.tree.end_of(path), position) else { return };
        self.pending[read.job()] += 1;
        let known = self.spots_of[node].iter().copied().find(|&spot| self.spots[spot].place == place);
        match known {
            Some(spot) => self.spots[spot].reads.push(read),
            None => {
                self.spots_of[node].push(self.spots.len());
                self.spots.push(Spot { place, reads: vec![read], is_read: false });
            }
        }
    }

    /// The tokens down to a leaf.
    pub(super) fn path(&self, leaf: usize) -> Vec<i32> {
        let chain = self.tree.chain(self.leaves[leaf].node);
        chain.iter().flat_map(|&node| self.tree.node(node).tokens.iter().copied()).collect()
    }

    /// Position of the first token on the way to a leaf whose logits are still to be read.
    pub(super) fn first_unread(&self, leaf: usize) -> usize {
        let chain = self.tree.chain(self.leaves[leaf].node);
        let unread = chain.iter().find_map(|&node| {
            let spot =
                self.spots_of[node].iter().map(|&spot| &self.spots[spot]).find(|spot| !spot.is_read)?;
            Some(self.tree.node(node).depth + spot.place)
        });
        unread.unwrap_or(usize::MAX)
    }

    /// Nodes above some leaves, each before those below it.
    pub(super) fn nodes_above(&self, leaves: Range<usize>) -> Vec<NodeId> {
        let is_above = |node: &NodeId| {
            let below = &self.below[*node];
            below.start < leaves.end && leaves.start < below.end
        };
        self.order.iter().copied().filter(is_above).collect()
    }

    /// Leaves below a node.
    pub(super) fn leaves_below(&self, node: NodeId) -> Range<usize> {
        self.below[node].clone()
    }

    /// The spot to read at a token of a node, unless it is read.
    pub(super) fn spot_at(&self, node: NodeId, place: usize) -> Option<usize> {
        self.spots_of[node]
            .iter()
            .copied()
            .find(|&spot| self.spots[spot].place == place && !self.spots[spot].is_read)
    }

    /// What a spot's row is for. It counts as read from now on, unless replies begin there whose leaves are not admitted yet:
    /// more of them may share a prompt than can be written side by side.
    pub(super) fn take_reads(&mut self, spot: usize, is_admitted: impl Fn(usize) -> bool) -> Vec<Read> {
        let is_due = |read: &Read| !matches!(read, Read::Begin { leaf, .. } if !is_admitted(*leaf));
        let reads = std::mem::take(&mut self.spots[spot].reads);
        let (due, later): (Vec<Read>, Vec<Read>) = reads.into_iter().partition(is_due);
        self.spots[spot].is_read = later.is_empty();
        self.spots[spot].reads = later;
        due.iter().for_each(|read| self.pending[read.job()] -= 1);
        due
    }

    /// Whether a job waits for no more rows.
    pub(super) fn is_read(&self, job: usize) -> bool {
        self.pending[job] == 0
    }

    /// The job that a node's tokens are counted for when they are evaluated for a leaf: the one that brought them, or
    /// where that is done already, one that ends at the leaf.
    pub(super) fn payer(&self, node: NodeId, leaf: usize, is_open: impl Fn(usize) -> bool) -> usize {
        let owner = self.job_of[self.tree.node(node).owner];
        let Leaf { node, writer } = self.leaves[leaf];
        let others = writer.into_iter().chain(self.ends_at(node));
        std::iter::once(owner).chain(others).find(|&job| is_open(job)).unwrap_or(owner)
    }

    /// Jobs of which some path ends at a node.
    pub(super) fn ends_at(&self, node: NodeId) -> impl Iterator<Item = usize> + '_ {
        let ends_here = move |path: &usize| self.tree.end_of(*path) == node;
        (0..self.job_of.len()).filter(ends_here).map(|path| self.job_of[path])
    }

    /// Jobs that have an end above or at some leaves.
    pub(super) fn jobs_of(&self, leaves: Range<usize>) -> Vec<usize> {
        let ends_there = |path: &usize| {
            let below = &self.below[self.tree.end_of(*path)];
            below.start < leaves.end && leaves.start < below.end
        };
        let mut jobs: Vec<usize> =
            (0..self.job_of.len()).filter(ends_there).map(|path| self.job_of[path]).collect();
        jobs.dedup();
        jobs
    }
}
