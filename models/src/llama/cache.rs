//! What the KV cache holds, as this side knows it: the tokens of every sequence, and how many cells they take.
//!
//! The library tells neither. Sequences share cells by forking, so cells are counted by who uses them.

use crate::labels::common_prefix;

/// The cache's books.
#[derive(Debug, Default)]
pub(super) struct Cache {
    /// By sequence number; `None` is free.
    sequences: Vec<Option<Sequence>>,
    /// Sequences that use each cell.
    uses: Vec<u32>,
    /// Cells that nobody uses.
    free: Vec<u32>,
}

#[derive(Debug, Default)]
struct Sequence {
    tokens: Vec<i32>,
    cells: Vec<u32>,
}

impl Cache {
    /// Books for that many sequences.
    pub(super) fn new(sequences: usize) -> Self {
        Cache { sequences: (0..sequences).map(|_| None).collect(), ..Cache::default() }
    }

    /// Cells in use.
    pub(super) fn taken(&self) -> usize {
        self.uses.len() - self.free.len()
    }

    /// A sequence that holds nothing and has no owner.
    pub(super) fn free_sequence(&self) -> Option<i32> {
        self.sequences.iter().position(Option::is_none).map(|id| id as i32)
    }

    /// Sequences in use, by number.
    pub(super) fn in_use(&self) -> impl Iterator<Item = i32> + '_ {
        let used = self.sequences.iter().enumerate().filter(|(_, sequence)| sequence.is_some());
        used.map(|(id, _)| id as i32)
    }

    /// Tokens of a sequence.
    pub(super) fn tokens(&self, id: i32) -> &[i32] {
        self.sequences[id as usize].as_ref().map_or(&[], |sequence| &sequence.tokens)
    }

    /// The sequence that shares most with a path, up to `most` tokens, and how many; the lowest number of equals, and none
    /// that cannot be gone on from there.
    pub(super) fn best(
        &self,
        path: &[i32],
        most: usize,
        goes_on: impl Fn(i32, usize) -> bool,
    ) -> Option<(i32, usize)> {
        let mut best: Option<(i32, usize)> = None;
        for id in self.in_use() {
            let tokens = common_prefix(self.tokens(id), path).min(most);
            if tokens > best.map_or(0, |(_, most)| most) && goes_on(id, tokens) {
                best = Some((id, tokens));
            }
        }
        best
    }

    /// Takes a sequence into use. `tokens` are expected, so that later additions need no memory.
    pub(super) fn claim(&mut self, id: i32, tokens: usize) {
        let sequence = self.sequences[id as usize].get_or_insert_default();
        sequence.tokens.reserve(tokens);
        sequence.cells.reserve(tokens);
    }

    /// `to`, which must hold nothing, shares the first `tokens` tokens of `from`.
    pub(super) fn fork(&mut self, from: i32, to: i32, tokens: usize) {
        let Some(source) = self.sequences[from as usize].take() else { return };
        let target = self.sequences[to as usize].get_or_insert_default();
        target.tokens.extend(&source.tokens[..tokens]);
        target.cells.extend(&source.cells[..tokens]);
        for &cell in &source.cells[..tokens] {
            self.uses[cell as usize] += 1;
        }
        self.sequences[from as usize] = Some(source);
    }

    /// A token is evaluated for some sequences: one cell for all of them.
    pub(super) fn push(&mut self, token: i32, sequences: &[i32]) {
        let cell = match self.free.pop() {
            Some(cell) => cell,
            None => {
                self.uses.push(0);
                (self.uses.len() - 1) as u32
            }
        };
        for &id in sequences {
            let sequence = self.sequences[id as usize].get_or_insert_default();
            sequence.tokens.push(token);
            sequence.cells.push(cell);
        }
        self.uses[cell as usize] = sequences.len() as u32;
    }

    /// Gives a sequence back.
    pub(super) fn remove(&mut self, id: i32) {
        let Some(sequence) = self.sequences[id as usize].take() else { return };
        for cell in sequence.cells {
            release(&mut self.uses, &mut self.free, cell);
        }
    }

    /// Forgets what every sequence has from a position on.
    pub(super) fn cut(&mut self, position: usize) {
        for sequence in self.sequences.iter_mut().flatten() {
            sequence.tokens.truncate(position);
            for cell in sequence.cells.drain(position.min(sequence.cells.len())..) {
                release(&mut self.uses, &mut self.free, cell);
            }
        }
    }

    /// Forgets everything.
    pub(super) fn clear(&mut self) {
        self.sequences.iter_mut().for_each(|sequence| *sequence = None);
        self.uses.clear();
        self.free.clear();
    }
}

fn release(uses: &mut [u32], free: &mut Vec<u32>, cell: u32) {
    uses[cell as usize] -= 1;
    if uses[cell as usize] == 0 {
        free.push(cell);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shared_cells_count_once_and_are_free_when_the_last_user_leaves() {
        let mut cache = Cache::new(4);
        // Two prompts of 3 shared and 1 own token each: 5 cells.
        [7, 8, 9].iter().for_each(|&token| cache.push(token, &[0, 1]));
        cache.push(1, &[0]);
        cache.push(2, &[1]);
        assert_eq!(
            (cache.taken(), cache.tokens(0), cache.tokens(1)),
            (5, &[7, 8, 9, 1][..], &[7, 8, 9, 2][..])
        );
        assert_eq!(cache.free_sequence(), Some(2));
        // A fork costs nothing, what follows it costs.
        cache.fork(1, 2, 3);
        assert_eq!(cache.taken(), 5);
        cache.push(5, &[2]);
        assert_eq!(cache.taken(), 6);
        cache.remove(1);
        assert_eq!(cache.taken(), 5, "only its own token is gone");
        cache.remove(0);
        assert_eq!(cache.taken(), 4, "the shared ones live on in the fork");
        cache.remove(2);
        assert_eq!((cache.taken(), cache.in_use().count()), (0, 0));
        cache.push(3, &[3]);
        assert_eq!(cache.taken(), 1);
        cache.push(4, &[3]);
        cache.cut(1);
        assert_eq!((cache.taken(), cache.tokens(3)), (1, &[3][..]));
    }

    #[test]
    fn the_best_source_is_the_longest_and_of_equals_the_lowest() {
        let mut cache = Cache::new(3);
        [1, 2, 3].iter().for_each(|&token| cache.push(token, &[1, 2]));
        cache.push(4, &[2]);
        let best = |path: &[i32], most| cache.best(path, most, |_, _| true);
        assert_eq!(best(&[1, 2, 3, 4, 5], usize::MAX), Some((2, 4)));
        assert_eq!(best(&[1, 2, 3, 4, 5], 3), Some((1, 3)));
        assert_eq!(best(&[9], usize::MAX), None);
        let others = |no: i32| cache.best(&[1, 2, 3, 4, 5], usize::MAX, |id, _| id != no);
        assert_eq!((others(2), others(1)), (Some((1, 3)), Some((2, 4))));
    }
}
