//! The context: evaluates tokens, keeps the KV cache, hands out rows of logits.

use std::num::NonZeroU32;
use std::time::Instant;

use llama_cpp_2::context::LlamaContext;
use llama_cpp_2::context::params::LlamaContextParams;
use llama_cpp_2::llama_backend::LlamaBackend;
use llama_cpp_2::llama_batch::LlamaBatch;
use llama_cpp_2::model::LlamaModel;
use llama_cpp_2::token::LlamaToken;
use llama_cpp_2::{DecodeError, context::kv_cache::KvCacheConversionError};

use crate::logits::Row;
use crate::{EngineError, LoadSpec};

/// The sequence of the prompt at hand.
pub(super) const MAIN: i32 = 0;
/// A fork of it, for labels of several tokens.
pub(super) const FORK: i32 = 1;
const SEQUENCES: u32 = 2;
/// Tokens computed at once inside the library; part of what a logit depends on, hence fixed.
const MICRO_BATCH_TOKENS: u32 = 512;

/// An open context.
pub(super) struct Decoder {
    context: LlamaContext<'static>,
    batch: LlamaBatch<'static>,
    batch_tokens: usize,
    context_tokens: u32,
    library_us: u64,
}

/// Which tokens of a stretch need their logits.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Wanted {
    Last,
    All,
}

impl Decoder {
    pub(super) fn new(
        backend: &LlamaBackend,
        model: &'static LlamaModel,
        spec: &LoadSpec,
    ) -> Result<Self, EngineError> {
        let batch_tokens = spec.batch_tokens.clamp(1, spec.context_tokens.max(1));
        let params = LlamaContextParams::default()
            .with_n_ctx(NonZeroU32::new(spec.context_tokens))
            .with_n_batch(batch_tokens)
            .with_n_ubatch(batch_tokens.min(MICRO_BATCH_TOKENS))
            .with_n_seq_max(SEQUENCES)
            .with_kv_unified(true)
            .with_n_threads(spec.threads as i32)
            .with_n_threads_batch(spec.threads_batch as i32)
            .with_no_perf(true);
        let context = model.new_context(backend, params).map_err(|error| {
            EngineError(format!("no context of {} tokens could be opened: {error}", spec.context_tokens))
        })?;
        let context_tokens = context.n_ctx();
        let batch = LlamaBatch::new(batch_tokens as usize, 1);
        Ok(Decoder { context, batch, batch_tokens: batch_tokens as usize, context_tokens, library_us: 0 })
    }

    pub(super) fn context_tokens(&self) -> u32 {
        self.context_tokens
    }

    /// Time spent inside the library so far.
    pub(super) fn library_us(&self) -> u64 {
        self.library_us
    }

    /// Forgets every sequence.
    pub(super) fn clear(&mut self) {
        let started = Instant::now();
        self.context.clear_kv_cache();
        self.library_us += started.elapsed().as_micros() as u64;
    }

    /// Makes [`FORK`] a copy of [`MAIN`].
    pub(super) fn fork(&mut self) -> Result<(), String> {
        let removed = self.context.clear_kv_cache_seq(Some(FORK as u32), None, None).map_err(cache_error)?;
        if !removed {
            return Err("the KV cache refuses to drop a sequence".into());
        }
        self.context.copy_kv_cache_seq(MAIN, FORK, None, None).map_err(cache_error)
    }

    /// Evaluates `tokens` at the end of a sequence, in batches. `read` gets the logits of the wanted tokens, with the
    /// index of the token, in order.
    pub(super) fn evaluate(
        &mut self,
        sequence: i32,
        start: usize,
        tokens: &[i32],
        wanted: Wanted,
        mut read: impl FnMut(usize, Row<'_>),
    ) -> Result<(), String> {
        for (chunk_index, chunk) in tokens.chunks(self.batch_tokens).enumerate() {
            let offset = chunk_index * self.batch_tokens;
            self.batch.clear();
            let is_wanted = |index: usize| wanted == Wanted::All || offset + index + 1 == tokens.len();
            for (index, &token) in chunk.iter().enumerate() {
                let position = (start + offset + index) as i32;
                self.batch
                    .add(LlamaToken(token), position, &[sequence], is_wanted(index))
                    .map_err(|error| error.to_string())?;
            }
            let started = Instant::now();
            let decoded = self.context.decode(&mut self.batch);
            self.library_us += started.elapsed().as_micros() as u64;
            decoded.map_err(decode_error)?;
            for index in (0..chunk.len()).filter(|&index| is_wanted(index)) {
                read(offset + index, Row::new(self.context.get_logits_ith(index as i32)));
            }
        }
        Ok(())
    }
}

fn decode_error(error: DecodeError) -> String {
    match error {
        DecodeError::NoKvCacheSlot => "llama.cpp finds no room in its KV cache".into(),
        DecodeError::NTokensZero => "llama.cpp was given no token".into(),
        DecodeError::Unknown(code) => format!("llama.cpp could not evaluate the tokens (code {code})"),
    }
}

fn cache_error(error: KvCacheConversionError) -> String {
    format!("KV cache: {error}")
}
