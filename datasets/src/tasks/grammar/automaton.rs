//! A graph with letters on its edges: a non-deterministic automaton, and the language of its short strings.
//!
//! Letters repeat, so two edges out of one node often share one. Membership therefore follows the set of nodes that
//! a string can lead to, and strings are counted on those sets: two paths that spell the same string count once.

use super::graph::{Graph, NODES, SINK, SOURCE};
use crate::Stream;

const LETTERS: usize = 26;
const SETS: usize = 1 << NODES;

/// Longest strings that can be asked for.
pub(super) const LONGEST: usize = 16;

/// A graph with letters.
#[derive(Clone, Debug)]
pub(super) struct Automaton {
    /// Edges as (from, to, letter), the letter as 0 to 25.
    pub(super) edges: Vec<(usize, usize, usize)>,
    /// The set of nodes after a letter, for every set of nodes before it; sets are bit masks.
    after: Vec<[u8; LETTERS]>,
}

impl Automaton {
    /// Puts letters on the edges: each drawn by itself, or all different.
    pub(super) fn lettered(graph: Graph, distinct: bool, stream: &mut Stream) -> Self {
        let edges = graph.edges();
        let letters: Vec<usize> = if distinct {
            stream.distinct(LETTERS, edges.len())
        } else {
            edges.iter().map(|_| stream.below(LETTERS)).collect()
        };
        Automaton::new(
            edges.into_iter().zip(letters).map(|((from, to), letter)| (from, to, letter)).collect(),
        )
    }

    fn new(edges: Vec<(usize, usize, usize)>) -> Self {
        let mut after = vec![[0u8; LETTERS]; SETS];
        for (set, after) in after.iter_mut().enumerate() {
            for &(from, to, letter) in edges.iter().filter(|edge| set >> edge.0 & 1 == 1) {
                debug_assert!(from < NODES);
                after[letter] |= 1 << to;
            }
        }
        Automaton { edges, after }
    }

    /// The letters that occur on some edge, in alphabetical order.
    pub(super) fn alphabet(&self) -> Vec<usize> {
        (0..LETTERS).filter(|&letter| self.edges.iter().any(|edge| edge.2 == letter)).collect()
    }

    /// Whether a string leads from the source to the sink.
    pub(super) fn accepts(&self, string: &[usize]) -> bool {
        let end = string.iter().fold(1u8 << SOURCE, |set, &letter| self.after[usize::from(set)][letter]);
        end >> SINK & 1 == 1
    }

    /// Whether no node has two edges out of it with the same letter.
    pub(super) fn deterministic(&self) -> bool {
        let doubled = |edge: &(usize, usize, usize)| {
            self.edges.iter().filter(|other| (other.0, other.2) == (edge.0, edge.2)).count() > 1
        };
        !self.edges.iter().any(doubled)
    }

    /// A string from a random walk that takes each edge out of a node with equal probability; `None` where the walk
    /// gets stuck or grows too long.
    pub(super) fn walk(&self, max_letters: usize, stream: &mut Stream) -> Option<Vec<usize>> {
        let mut node = SOURCE;
        let mut string = Vec::new();
        while node != SINK {
            let out: Vec<_> = self.edges.iter().filter(|edge| edge.0 == node).collect();
            if out.is_empty() || string.len() == max_letters {
                return None;
            }
            let &&(_, to, letter) = stream.pick(&out);
            string.push(letter);
            node = to;
        }
        Some(string)
    }
}

/// The different strings of limited length that an automaton accepts, countable and numbered.
#[derive(Clone, Debug)]
pub(super) struct Language<'a> {
    automaton: &'a Automaton,
    max_letters: usize,
    /// `from[n][set]`: accepted strings of at most n letters that start in a set of nodes.
    from: Vec<[u64; SETS]>,
}

impl<'a> Language<'a> {
    pub(super) fn new(automaton: &'a Automaton, max_letters: usize) -> Self {
        let ends = |set: usize| (set >> SINK & 1) as u64;
        let mut from = vec![std::array::from_fn(ends)];
        for length in 1..=max_letters.min(LONGEST) {
            let shorter = &from[length - 1];
            let count = |set: usize| {
                ends(set) + automaton.after[set].iter().map(|&next| shorter[usize::from(next)]).sum::<u64>()
            };
            let counts = std::array::from_fn(count);
            from.push(counts);
        }
        Language { automaton, max_letters: from.len() - 1, from }
    }

    /// Number of strings.
    pub(super) fn len(&self) -> u64 {
        self.from[self.max_letters][1 << SOURCE]
    }

    /// The string of a number below [`Language::len`].
    pub(super) fn string(&self, mut number: u64) -> Vec<usize> {
        let mut set = 1usize << SOURCE;
        let mut string = Vec::new();
        for left in (0..self.max_letters).rev() {
            // Nothing leaves the sink alone, but a set may hold the sink and other nodes.
            let ends = (set >> SINK & 1) as u64;
            if number < ends {
                break;
            }
            number -= ends;
            for letter in 0..LETTERS {
                let next = usize::from(self.automaton.after[set][letter]);
                let strings = self.from[left][next];
                if number < strings {
                    string.push(letter);
                    set = next;
                    break;
                }
                number -= strings;
            }
        }
        string
    }
}
