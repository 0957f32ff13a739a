//! What a spec asks of the library: how large its caches are, and how they are divided.

use llama_cpp_sys_2 as sys;

use super::checkpointed::STATES;
use super::context::Context;
use crate::{KvType, LoadSpec, Mode};

/// Tokens computed at once inside the library; part of what a logit depends on, hence fixed.
const MICRO_BATCH_TOKENS: u32 = 512;
/// Sequences that llama.cpp can tell apart.
pub(super) const MAX_SEQUENCES: u32 = 256;
/// So many replies in a cache of their own were written faster than twice as many beside the prompts.
const ENOUGH: u32 = 8;
/// The library rounds the cells of a sequence up to such blocks.
const BLOCK_CELLS: u32 = 256;

/// A context with its cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Shape {
    /// Of all sequences.
    pub(super) cells: u32,
    pub(super) batch_tokens: u32,
    pub(super) sequences: u32,
    /// Whether sequences share cells, or have as many each.
    pub(super) shares: bool,
}

impl Shape {
    /// One cache for all. `keeps_state`: sequences have a state of their own each, and only few fit.
    pub(super) fn of(spec: &LoadSpec, keeps_state: bool) -> Self {
        let most = if keeps_state { STATES } else { MAX_SEQUENCES - 1 };
        let cells = spec.cells.max(spec.context_tokens).max(1);
        Shape {
            cells,
            batch_tokens: spec.batch_tokens.clamp(1, cells),
            // One more than are worked on: forks need a place.
            sequences: spec.sequences.clamp(1, most) + 1,
            shares: true,
        }
    }

    /// One cache for prompts and one for the replies that are written side by side, with the same cells in all; `None` where
    /// replies stay with the prompts. They get half of the cells at the most, since prompts share what is left. Where that
    /// is too little for all, [`ENOUGH`] of them are still better off; fewer are not. Of pictures only the cache of prompts
    /// knows the places.
    pub(super) fn apart(spec: &LoadSpec, keeps_state: bool) -> Option<(Self, Self)> {
        let all = Shape::of(spec, keeps_state);
        if spec.mode == Mode::Exact || keeps_state || spec.mmproj.is_some() || spec.parallel < 2 {
            return None;
        }
        let each = spec.context_tokens.max(1).checked_next_multiple_of(BLOCK_CELLS)?;
        let number = (all.cells / 2 / each).min(spec.parallel);
        let replies = Shape::alone(number, each).filter(|_| number == spec.parallel || number >= ENOUGH)?;
        let cells = all.cells - replies.cells;
        Some((Shape { cells, batch_tokens: all.batch_tokens.min(cells), ..all }, replies))
    }

    /// Sequences that share nothing, with so many cells each; `None` for more than there can be.
    pub(super) fn alone(sequences: u32, cells: u32) -> Option<Self> {
        let cells = cells.checked_next_multiple_of(BLOCK_CELLS)?.checked_mul(sequences)?;
        let fits = sequences <= MAX_SEQUENCES;
        fits.then_some(Shape { cells, batch_tokens: sequences, sequences, shares: false })
    }

    pub(super) fn micro_batch_tokens(self) -> u32 {
        self.batch_tokens.min(MICRO_BATCH_TOKENS)
    }

    /// The shape as the library takes it, with what else a spec says of a context.
    pub(super) fn params(self, spec: &LoadSpec) -> sys::llama_context_params {
        let kv = match spec.kv {
            KvType::F16 => sys::GGML_TYPE_F16,
            KvType::Q8_0 => sys::GGML_TYPE_Q8_0,
            KvType::Q4_0 => sys::GGML_TYPE_Q4_0,
        };
        let mut params = Context::defaults();
        params.n_ctx = self.cells;
        // llama.cpp aborts where a batch has no place for one row of every sequence.
        params.n_batch = self.batch_tokens.max(self.sequences);
        params.n_ubatch = self.micro_batch_tokens();
        params.n_seq_max = self.sequences;
        params.kv_unified = self.shares;
        // A window that forgets would make forks and roll-backs fail.
        params.swa_full = true;
        params.type_k = kv;
        params.type_v = kv;
        params.n_threads = spec.threads as i32;
        params.n_threads_batch = spec.threads_batch as i32;
        params.no_perf = true;
        params
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spec(cells: u32, context_tokens: u32, parallel: u32) -> LoadSpec {
        LoadSpec {
            mode: Mode::Packed,
            cells,
            context_tokens,
            parallel,
            sequences: 64,
            ..LoadSpec::plain("m")
        }
    }

    #[test]
    fn replies_get_half_of_the_cells_at_the_most_and_prompts_the_rest() {
        let (prompts, replies) = Shape::apart(&spec(8192, 500, 8), false).expect("8 x 512 are half");
        assert_eq!((prompts.cells, prompts.sequences, prompts.shares), (4096, 65, true));
        assert_eq!((replies.cells, replies.sequences, replies.shares), (4096, 8, false));
        assert_eq!(Shape::apart(&spec(8192, 513, 8), false), None, "8 x 768 are more than half");
        let (prompts, replies) = Shape::apart(&spec(8192, 513, 5), false).expect("5 x 768 are less");
        assert_eq!((prompts.cells, replies.cells, replies.sequences), (8192 - 3840, 3840, 5));
        let (_, replies) = Shape::apart(&spec(8192, 500, 16), false).expect("8 of 16 are enough");
        assert_eq!((replies.cells, replies.sequences), (4096, 8));
    }

    #[test]
    fn replies_stay_with_the_prompts_where_a_cache_of_their_own_is_of_no_use_or_cannot_be() {
        let many = spec(8192, 256, 8);
        assert!(Shape::apart(&many, false).is_some());
        assert_eq!(Shape::apart(&many, true), None, "a state of its own each already");
        for one in [0, 1] {
            assert_eq!(Shape::apart(&LoadSpec { parallel: one, ..many.clone() }, false), None);
        }
        assert_eq!(Shape::apart(&LoadSpec { mode: Mode::Exact, ..many.clone() }, false), None);
        assert_eq!(Shape::apart(&LoadSpec { mmproj: Some("p".into()), ..many.clone() }, false), None);
        for wrong in [u32::MAX, u32::MAX / 8] {
            assert_eq!(Shape::apart(&LoadSpec { context_tokens: wrong, ..many.clone() }, false), None);
        }
    }
}
