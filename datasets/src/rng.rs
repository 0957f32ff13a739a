//! Random numbers that are the same everywhere, for ever.
//!
//! A [`Stream`] is ChaCha20 keyed by the SHA-256 of what it is for. The derived draws are written out here and not
//! taken from a library, because a library may change how it maps bits to ranges, and items must not change.

use rand::Rng;
use rand::SeedableRng;
use rand::rngs::ChaCha20Rng;
use sha2::{Digest, Sha256};

/// A portable stream of random numbers.
#[derive(Debug)]
pub struct Stream(ChaCha20Rng);

impl Stream {
    /// The stream for a purpose: `Stream::new(seed, &["grammar", "letters", "17"])`.
    pub fn new(seed: u64, purpose: &[&str]) -> Self {
        let mut hash = Sha256::new();
        hash.update(seed.to_le_bytes());
        for word in purpose {
            hash.update((word.len() as u64).to_le_bytes());
            hash.update(word.as_bytes());
        }
        Stream(ChaCha20Rng::from_seed(hash.finalize().into()))
    }

    /// 64 random bits.
    pub fn bits(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// Uniform in `0..bound`; unbiased by rejection.
    ///
    /// # Panics
    /// When `bound` is 0.
    pub fn below(&mut self, bound: usize) -> usize {
        assert!(bound > 0, "a draw needs at least one value");
        let bound = bound as u64;
        let spare = bound.wrapping_neg() % bound; // 2^64 mod bound: that many low draws are one too many
        loop {
            let bits = self.bits();
            if bits >= spare {
                return (bits % bound) as usize;
            }
        }
    }

    /// Uniform in `low..=high`.
    pub fn within(&mut self, low: i64, high: i64) -> i64 {
        low + self.below((high - low + 1) as usize) as i64
    }

    /// Uniform in [0, 1), 53 bits.
    pub fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// True with probability one half.
    pub fn coin(&mut self) -> bool {
        self.bits() >> 63 == 1
    }

    /// One of the values.
    pub fn pick<'a, T>(&mut self, values: &'a [T]) -> &'a T {
        &values[self.below(values.len())]
    }

    /// Fisher-Yates shuffle.
    pub fn shuffle<T>(&mut self, values: &mut [T]) {
        for last in (1..values.len()).rev() {
            values.swap(last, self.below(last + 1));
        }
    }

    /// `count` distinct values of `0..bound` in random order (all of them when there are fewer).
    pub fn distinct(&mut self, bound: usize, count: usize) -> Vec<usize> {
        let mut all: Vec<usize> = (0..bound).collect();
        let count = count.min(bound);
        for place in 0..count {
            let other = place + self.below(bound - place);
            all.swap(place, other);
        }
        all.truncate(count);
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_differ_by_seed_and_purpose_and_word_borders() {
        let first = |seed, purpose: &[&str]| Stream::new(seed, purpose).bits();
        assert_eq!(first(1, &["a", "b"]), first(1, &["a", "b"]));
        assert_ne!(first(1, &["a", "b"]), first(2, &["a", "b"]));
        assert_ne!(first(1, &["a", "b"]), first(1, &["ab"]));
    }

    #[test]
    fn draws_stay_in_range_and_reach_every_value() {
        let mut stream = Stream::new(7, &["test"]);
        let mut seen = [0usize; 5];
        for _ in 0..5000 {
            seen[stream.below(5)] += 1;
        }
        // 1000 expected each, standard deviation 28.
        assert!(seen.iter().all(|&n| (850..1150).contains(&n)), "{seen:?}");
        let mut order = stream.distinct(30, 30);
        order.sort_unstable();
        assert_eq!(order, (0..30).collect::<Vec<_>>());
    }
}
