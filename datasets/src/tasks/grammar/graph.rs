//! The graphs behind the grammars: six nodes, some edges fixed, fifteen free.
//!
//! Nodes are the source s, the sink t and x1 to x4 between them. The edges s-x1, s-x3, x2-t, x4-t and x1-x2 are in
//! every graph; the other eleven edges between different x and the four self-loops may be.

/// A graph, given by its edges among x1 to x4: bit `4 * from + to`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Graph(u16);

/// Nodes numbered for edge lists: s, x1, x2, x3, x4, t.
pub(super) const SOURCE: usize = 0;
/// The sink.
pub(super) const SINK: usize = 5;
/// Number of nodes.
pub(super) const NODES: usize = 6;

const X1_X2: u16 = 1 << 1;

/// Where x1 to x4 go in the relabellings that keep the entries {x1, x3} and the exits {x2, x4}.
const RELABELLINGS: [[u16; 4]; 4] = [[0, 1, 2, 3], [2, 1, 0, 3], [0, 3, 2, 1], [2, 3, 0, 1]];

impl Graph {
    /// Every graph that obeys the rules: 2^15.
    pub(super) fn all() -> impl Iterator<Item = Graph> {
        (0..=u16::MAX).filter(|edges| edges & X1_X2 != 0).map(Graph)
    }

    fn has(self, from: u16, to: u16) -> bool {
        self.0 >> (4 * from + to) & 1 == 1
    }

    fn relabelled(self, places: [u16; 4]) -> Graph {
        let mut edges = 0;
        for from in 0..4 {
            for to in 0..4 {
                if self.has(from, to) {
                    edges |= 1 << (4 * places[usize::from(from)] + places[usize::from(to)]);
                }
            }
        }
        Graph(edges)
    }

    /// The smallest of the graphs that differ from this one by names alone and obey the rules: one per class.
    pub(super) fn canonical(self) -> Graph {
        let images = RELABELLINGS.iter().map(|&places| self.relabelled(places));
        images.filter(|image| image.0 & X1_X2 != 0).min().unwrap_or(self)
    }

    /// Walks from source to sink of at most `max_letters` edges: the most strings that any letters can give.
    pub(super) fn walks(self, max_letters: usize) -> u64 {
        let mut ending = [1u64, 0, 1, 0]; // after one letter
        let mut walks = 0;
        for _ in 1..max_letters {
            walks += ending[1] + ending[3];
            let mut next = [0; 4];
            for from in 0..4 {
                for to in 0..4 {
                    if self.has(from, to) {
                        next[usize::from(to)] += ending[usize::from(from)];
                    }
                }
            }
            ending = next;
        }
        walks
    }

    /// All edges as (from, to), in a fixed order.
    pub(super) fn edges(self) -> Vec<(usize, usize)> {
        let mut edges = vec![(SOURCE, 1), (SOURCE, 3)];
        for from in 0..4 {
            for to in 0..4 {
                if self.has(from, to) {
                    edges.push((usize::from(from) + 1, usize::from(to) + 1));
                }
            }
        }
        edges.extend([(2, SINK), (4, SINK)]);
        edges
    }

    /// Number of edges, the four at source and sink included.
    pub(super) fn edge_count(self) -> u32 {
        4 + self.0.count_ones()
    }
}

/// One graph per class that can give at least `strings` strings of at most `max_letters` letters and has at most
/// `max_edges` edges.
pub(super) fn classes(strings: u64, max_letters: usize, max_edges: u32) -> Vec<Graph> {
    Graph::all()
        .filter(|graph| graph.edge_count() <= max_edges)
        .filter(|graph| graph.walks(max_letters) >= strings)
        .filter(|&graph| graph.canonical() == graph)
        .collect()
}
