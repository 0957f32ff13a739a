//! The prefix tree of token sequences: what many prompts share is there once.

use crate::labels::common_prefix;

/// Index of a node.
pub type NodeId = usize;

/// A run of tokens that all paths below it share.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Node {
    /// The node above; the root is its own.
    pub parent: NodeId,
    /// Tokens before this node's first one.
    pub depth: usize,
    /// The run; empty for the root alone.
    pub tokens: Vec<i32>,
    /// Nodes below, in the order in which they came.
    pub children: Vec<NodeId>,
    /// The path that brought the run first.
    pub owner: usize,
}

impl Node {
    /// Tokens up to and including this node.
    pub fn end(&self) -> usize {
        self.depth + self.tokens.len()
    }
}

/// A prefix tree. Paths are numbered in the order in which they are added.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tree {
    nodes: Vec<Node>,
    /// The last node of each path.
    ends: Vec<NodeId>,
}

impl Default for Tree {
    fn default() -> Self {
        Tree { nodes: vec![Node::default()], ends: Vec::new() }
    }
}

impl Tree {
    /// The node above all others.
    pub const ROOT: NodeId = 0;

    /// Adds a path; gives its number.
    pub fn add(&mut self, path: &[i32]) -> usize {
        let owner = self.ends.len();
        let mut node = Tree::ROOT;
        let mut left = path;
        while !left.is_empty() {
            let next = self.nodes[node]
                .children
                .iter()
                .copied()
                .find(|&child| self.nodes[child].tokens[0] == left[0]);
            match next {
                None => {
                    let depth = self.nodes[node].end();
                    let leaf =
                        Node { parent: node, depth, tokens: left.to_vec(), children: Vec::new(), owner };
                    node = self.link(node, leaf);
                    left = &[];
                }
                Some(child) => {
                    let shared = common_prefix(&self.nodes[child].tokens, left);
                    if shared < self.nodes[child].tokens.len() {
                        self.split(child, shared);
                    }
                    node = child;
                    left = &left[shared..];
                }
            }
        }
        self.ends.push(node);
        owner
    }

    fn link(&mut self, parent: NodeId, node: Node) -> NodeId {
        let id = self.nodes.len();
        self.nodes.push(node);
        self.nodes[parent].children.push(id);
        id
    }

    /// Cuts a node after `at` tokens: it keeps the upper part, so that its parent's children stay as they are.
    fn split(&mut self, node: NodeId, at: usize) {
        let id = self.nodes.len();
        let upper = &mut self.nodes[node];
        let lower = Node {
            parent: node,
            depth: upper.depth + at,
            tokens: upper.tokens.split_off(at),
            children: std::mem::replace(&mut upper.children, vec![id]),
            owner: upper.owner,
        };
        for &child in &lower.children {
            self.nodes[child].parent = id;
        }
        self.nodes.push(lower);
        self.ends.iter_mut().filter(|end| **end == node).for_each(|end| *end = id);
    }

    /// A node.
    pub fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id]
    }

    /// Number of nodes, the root included.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Whether there is nothing but the root.
    pub fn is_empty(&self) -> bool {
        self.nodes.len() == 1
    }

    /// The last node of a path.
    pub fn end_of(&self, path: usize) -> NodeId {
        self.ends[path]
    }

    /// Distinct tokens: the least that must be evaluated.
    pub fn tokens(&self) -> usize {
        self.nodes.iter().map(|node| node.tokens.len()).sum()
    }

    /// The nodes from below the root to a node.
    pub fn chain(&self, node: NodeId) -> Vec<NodeId> {
        let mut chain = Vec::new();
        let mut at = node;
        while at != Tree::ROOT {
            chain.push(at);
            at = self.nodes[at].parent;
        }
        chain.reverse();
        chain
    }

    /// The node that holds the token at a position of the path that ends in `node`, and its place in the node's run.
    pub fn locate(&self, node: NodeId, position: usize) -> Option<(NodeId, usize)> {
        let mut at = node;
        while at != Tree::ROOT {
            let here = &self.nodes[at];
            if position >= here.depth {
                let place = position - here.depth;
                return (place < here.tokens.len()).then_some((at, place));
            }
            at = here.parent;
        }
        None
    }

    /// How many of the leading tokens of `path` lie on the chain down to `node`.
    pub fn shared_with(&self, node: NodeId, path: &[i32]) -> usize {
        let mut shared = 0;
        for id in self.chain(node) {
            let run = &self.nodes[id].tokens;
            let common = common_prefix(run, &path[shared..]);
            shared += common;
            if common < run.len() {
                break;
            }
        }
        shared
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn shared_runs_are_there_once_and_belong_to_who_came_first() {
        let mut tree = Tree::default();
        for path in [&[1, 2, 3, 4][..], &[1, 2, 5], &[1, 2, 3, 6], &[1, 2], &[9]] {
            tree.add(path);
        }
        // 1 2 | 3 | 4, 6 | 5 and 9.
        assert_eq!(tree.tokens(), 7);
        let run = |path: usize| tree.node(tree.end_of(path)).tokens.clone();
        assert_eq!(
            [run(0), run(1), run(2), run(3), run(4)],
            [vec![4], vec![5], vec![6], vec![1, 2], vec![9]]
        );
        let owner = |path: usize| tree.node(tree.end_of(path)).owner;
        assert_eq!([owner(0), owner(1), owner(2), owner(3), owner(4)], [0, 1, 2, 0, 4]);
        assert_eq!(tree.locate(tree.end_of(2), 2), Some((tree.node(tree.end_of(2)).parent, 0)));
        assert_eq!(tree.shared_with(tree.end_of(0), &[1, 2, 3, 7]), 3);
    }

    proptest! {
        #[test]
        fn every_path_reads_back_and_the_count_is_that_of_distinct_prefixes(
            paths in prop::collection::vec(prop::collection::vec(0i32..3, 1..8), 1..20)
        ) {
            let mut tree = Tree::default();
            for path in &paths {
                tree.add(path);
            }
            let mut prefixes = std::collections::BTreeSet::new();
            for (number, path) in paths.iter().enumerate() {
                prefixes.extend((1..=path.len()).map(|length| path[..length].to_vec()));
                let end = tree.end_of(number);
                let read: Vec<i32> = tree.chain(end).iter().flat_map(|&id| tree.node(id).tokens.clone()).collect();
                prop_assert_eq!(&read, path);
                for (position, &token) in path.iter().enumerate() {
                    let (node, place) = tree.locate(end, position).unwrap();
                    prop_assert_eq!(tree.node(node).tokens[place], token);
                }
                prop_assert_eq!(tree.locate(end, path.len()), None);
                prop_assert_eq!(tree.shared_with(end, path), path.len());
            }
            // Independent count: a set of all prefixes.
            prop_assert_eq!(tree.tokens(), prefixes.len());
        }
    }
}
