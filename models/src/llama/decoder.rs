//! The context: evaluates tokens, keeps the KV cache, hands out rows of logits.

use std::num::NonZeroU32;
use std::time::Instant;

use llama_cpp_2::DecodeError;
use llama_cpp_2::context::LlamaContext;
use llama_cpp_2::context::kv_cache::KvCacheConversionError;
use llama_cpp_2::context::params::{KvCacheType, LlamaContextParams};
use llama_cpp_2::llama_backend::LlamaBackend;
use llama_cpp_2::llama_batch::LlamaBatch;
use llama_cpp_2::model::LlamaModel;
use llama_cpp_2::token::LlamaToken;

use super::cache::Cache;
use super::capture::{self, Capture};
use super::checkpointed::STATES;
use crate::logits::Row;
use crate::{Call, EngineError, KvType, LoadSpec, States};

/// Tokens computed at once inside the library; part of what a logit depends on, hence fixed.
const MICRO_BATCH_TOKENS: u32 = 512;
/// Sequences that llama.cpp can tell apart.
const MAX_SEQUENCES: u32 = 256;
/// Bytes that the rows of logits of one call may take: a large vocabulary gets fewer rows, not more memory.
const ROWS_BYTES: usize = 32 << 20;

/// What a spec asks of the library.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Shape {
    pub(super) cells: u32,
    pub(super) batch_tokens: u32,
    /// One more than the sequences that are worked on: forks need a place.
    pub(super) sequences: u32,
}

impl Shape {
    /// `keeps_state`: sequences have a state of their own each, and only few fit.
    pub(super) fn of(spec: &LoadSpec, keeps_state: bool) -> Self {
        let most = if keeps_state { STATES } else { MAX_SEQUENCES - 1 };
        let cells = spec.cells.max(spec.context_tokens).max(1);
        Shape {
            cells,
            batch_tokens: spec.batch_tokens.clamp(1, cells),
            sequences: spec.sequences.clamp(1, most) + 1,
        }
    }

    pub(super) fn micro_batch_tokens(self) -> u32 {
        self.batch_tokens.min(MICRO_BATCH_TOKENS)
    }
}

/// Rows of logits of one call.
pub(super) fn rows(vocab_tokens: usize) -> usize {
    (ROWS_BYTES / (4 * vocab_tokens.max(1))).max(1)
}

/// An open context.
pub(super) struct Decoder {
    context: LlamaContext<'static>,
    batch: LlamaBatch<'static>,
    batch_tokens: usize,
    rows: usize,
    /// Places in the batch whose logits are wanted.
    wanted: Vec<i32>,
    /// What the cache holds once the batch is evaluated.
    cache: Cache,
    context_tokens: u32,
    cells: u32,
    library_us: u64,
    /// Calls of the round with their ends, while they are wanted.
    calls: Option<Vec<(u32, Instant)>>,
    /// Where hidden states are copied to; it outlives the context, which is dropped first.
    capture: Option<capture::Shared>,
}

impl Decoder {
    pub(super) fn new(
        backend: &LlamaBackend,
        model: &'static LlamaModel,
        spec: &LoadSpec,
    ) -> Result<Self, EngineError> {
        Decoder::open(backend, model, spec, None)
    }

    /// The same, able to tell hidden states.
    pub(super) fn listening(
        backend: &LlamaBackend,
        model: &'static LlamaModel,
        spec: &LoadSpec,
    ) -> Result<Self, EngineError> {
        let capture = Capture::new(model.n_embd().max(0) as usize, model.n_layer() as usize);
        Decoder::open(backend, model, spec, Some(capture))
    }

    fn open(
        backend: &LlamaBackend,
        model: &'static LlamaModel,
        spec: &LoadSpec,
        capture: Option<capture::Shared>,
    ) -> Result<Self, EngineError> {
        let Shape { cells, batch_tokens, sequences } = Shape::of(spec, keeps_state(model));
        let kv = match spec.kv {
            KvType::F16 => KvCacheType::F16,
            KvType::Q8_0 => KvCacheType::Q8_0,
            KvType::Q4_0 => KvCacheType::Q4_0,
        };
        let mut params = LlamaContextParams::default()
            .with_n_ctx(NonZeroU32::new(cells))
            // llama.cpp aborts where a batch has no place for one row of every sequence.
            .with_n_batch(batch_tokens.max(sequences))
            .with_type_k(kv)
            .with_type_v(kv)
            .with_n_ubatch(batch_tokens.min(MICRO_BATCH_TOKENS))
            .with_n_seq_max(sequences)
            .with_kv_unified(true)
            // A window that forgets would make forks and roll-backs fail.
            .with_swa_full(true)
            .with_n_threads(spec.threads as i32)
            .with_n_threads_batch(spec.threads_batch as i32)
            .with_no_perf(true);
        if let Some(capture) = &capture {
            capture::listen(&mut params, capture);
        }
        let context = model.new_context(backend, params).map_err(|error| {
            EngineError(format!("no context of {cells} tokens could be opened (out of memory?): {error}"))
        })?;
        Ok(Decoder {
            cells: context.n_ctx(),
            context,
            batch: LlamaBatch::new(batch_tokens as usize, sequences as i32),
            batch_tokens: batch_tokens as usize,
            rows: rows(model.n_vocab().max(1) as usize),
            wanted: Vec::with_capacity(batch_tokens as usize),
            cache: Cache::new(sequences as usize),
            context_tokens: spec.context_tokens,
            library_us: 0,
            calls: None,
            capture,
        })
    }

    /// Whether hidden states can be told.
    pub(super) fn listens(&self) -> bool {
        self.capture.is_some()
    }

    /// Which hidden states rows come with from now on.
    pub(super) fn set_states(&self, wish: States) {
        if let Some(mut capture) = self.capture.as_ref().and_then(|capture| capture.lock().ok()) {
            capture.set_wish(wish);
        }
    }

    /// Why hidden states are missing, where something is known.
    pub(super) fn states_fault(&self) -> Option<String> {
        self.capture.as_ref()?.lock().ok()?.fault().map(str::to_owned)
    }

    /// Tokens that one sequence may have.
    pub(super) fn context_tokens(&self) -> u32 {
        self.context_tokens
    }

    /// Tokens that all sequences together may have, shared ones counted once.
    pub(super) fn cells(&self) -> usize {
        self.cells as usize
    }

    /// What the cache holds.
    pub(super) fn cache(&self) -> &Cache {
        &self.cache
    }

    /// Rows of logits that one call can give.
    pub(super) fn rows(&self) -> usize {
        self.rows
    }

    /// Time spent inside the library so far.
    pub(super) fn library_us(&self) -> u64 {
        self.library_us
    }

    /// Notes calls from now on, or no longer; gives those that were noted since `started`.
    pub(super) fn note_calls(&mut self, wanted: bool, started: Instant) -> Vec<Call> {
        let noted = std::mem::replace(&mut self.calls, wanted.then(Vec::new)).unwrap_or_default();
        let call = |(tokens, end): (u32, Instant)| Call {
            tokens,
            end_us: end.saturating_duration_since(started).as_micros() as u64,
        };
        noted.into_iter().map(call).collect()
    }

    /// Forgets every sequence, and what is waiting to be evaluated.
    pub(super) fn clear(&mut self) {
        self.timed(|context| context.clear_kv_cache());
        self.cache.clear();
        self.batch.clear();
        self.wanted.clear();
    }

    /// Takes a free sequence into use; about so many tokens are expected.
    pub(super) fn claim(&mut self, tokens: usize) -> Result<i32, String> {
        let id = self.cache.free_sequence().ok_or("no sequence of the KV cache is free")?;
        self.cache.claim(id, tokens);
        Ok(id)
    }

    /// Gives a sequence back.
    pub(super) fn remove(&mut self, sequence: i32) -> Result<(), String> {
        self.cache.remove(sequence);
        match self.timed(|context| context.clear_kv_cache_seq(Some(sequence as u32), None, None)) {
            Ok(true) => Ok(()),
            Ok(false) => Err(format!("the KV cache refuses to drop sequence {sequence}")),
            Err(error) => Err(cache_error(error)),
        }
    }

    /// Lets `to`, which must be empty, begin with the first `tokens` tokens of `from`. The tokens are shared.
    pub(super) fn copy(&mut self, from: i32, to: i32, tokens: usize) -> Result<(), String> {
        self.timed(|context| context.copy_kv_cache_seq(from, to, Some(0), Some(tokens as u32)))
            .map_err(cache_error)?;
        self.cache.fork(from, to, tokens);
        Ok(())
    }

    /// Forgets what every sequence has from a position on; `false` when the cache cannot (some models keep one state).
    pub(super) fn cut(&mut self, position: usize) -> bool {
        let is_cut = self
            .timed(|context| context.clear_kv_cache_seq(None, Some(position as u32), None))
            .unwrap_or(false);
        if is_cut {
            self.cache.cut(position);
        }
        is_cut
    }

    /// Numbers that sequences may have are below this.
    pub(super) fn sequences(&self) -> i32 {
        self.cache.sequences() as i32
    }

    /// Tokens that the library takes in one call, and those that it computes at once.
    pub(super) fn batch_sizes(&self) -> (u32, u32) {
        (self.context.n_batch(), self.context.n_ubatch())
    }

    /// Whether another token must wait for [`Decoder::decode`].
    pub(super) fn is_full(&self) -> bool {
        self.batch.n_tokens() as usize >= self.batch_tokens || self.wanted.len() >= self.rows
    }

    /// Adds a token at a position of one or more sequences.
    pub(super) fn add(
        &mut self,
        token: i32,
        position: usize,
        sequences: &[i32],
        wanted: bool,
    ) -> Result<(), String> {
        if wanted {
            self.wanted.push(self.batch.n_tokens());
        }
        self.cache.push(token, sequences);
        self.batch
            .add(LlamaToken(token), position as i32, sequences, wanted)
            .map_err(|error| error.to_string())
    }

    /// Evaluates what was added. `read` gets the wanted rows, numbered in the order in which they were added.
    pub(super) fn decode(&mut self, mut read: impl FnMut(usize, Row<'_>)) -> Result<(), String> {
        if self.batch.n_tokens() == 0 {
            return Ok(());
        }
        if let Some(mut capture) = self.capture.as_ref().and_then(|capture| capture.lock().ok()) {
            let tokens = self.batch.n_tokens() as usize;
            capture.begin(&self.wanted, tokens, self.context.n_ubatch() as usize);
        }
        let started = Instant::now();
        let decoded = self.context.decode(&mut self.batch);
        self.library_us += started.elapsed().as_micros() as u64;
        if let Some(calls) = &mut self.calls {
            calls.push((self.batch.n_tokens() as u32, Instant::now()));
        }
        self.batch.clear();
        if let Err(error) = decoded {
            self.wanted.clear();
            return Err(decode_error(error));
        }
        let mut capture = self.capture.as_ref().and_then(|capture| capture.lock().ok());
        if let Some(capture) = &mut capture {
            capture.end();
        }
        for (number, &place) in self.wanted.iter().enumerate() {
            let hidden = capture.as_ref().and_then(|capture| capture.hidden(number));
            read(number, Row::new(self.context.get_logits_ith(place)).with_hidden(hidden));
        }
        self.wanted.clear();
        Ok(())
    }

    fn timed<T>(&mut self, call: impl FnOnce(&mut LlamaContext<'static>) -> T) -> T {
        let started = Instant::now();
        let result = call(&mut self.context);
        self.library_us += started.elapsed().as_micros() as u64;
        result
    }
}

/// Whether the model keeps one state per sequence, which cannot go back.
pub(super) fn keeps_state(model: &LlamaModel) -> bool {
    model.is_recurrent() || model.is_hybrid()
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
