//! The context: evaluates tokens, keeps the KV cache, hands out rows of logits.

use std::time::Instant;

use llama_cpp_2::model::LlamaModel;

use super::cache::Cache;
use super::capture::{self, Capture};
use super::context::{Batch, Context, directions, window_tokens};
use super::shape::Shape;
use super::vision::{Seen, Vision, is_of_picture};
use crate::logits::Row;
use crate::{Call, EngineError, LoadSpec, Mode, PhaseKind, Span, Spans, States};

/// Bytes that the rows of logits of one call may take: a large vocabulary gets fewer rows, not more memory.
const ROWS_BYTES: usize = 32 << 20;

/// The same of a job alone: what is read before its last token are labels of several tokens.
const EXACT_ROWS: usize = 8;

/// Rows of logits of one call.
pub(super) fn rows(mode: Mode, vocab_tokens: usize) -> usize {
    match mode {
        Mode::Packed => (ROWS_BYTES / (4 * vocab_tokens.max(1))).max(1),
        Mode::Exact => EXACT_ROWS,
    }
}

/// An open context.
pub(super) struct Decoder {
    context: Context,
    batch: Batch,
    batch_tokens: usize,
    rows: usize,
    /// Places in the batch whose logits are wanted.
    wanted: Vec<i32>,
    /// What the cache holds once the batch is evaluated.
    cache: Cache,
    context_tokens: u32,
    cells: u32,
    window_tokens: usize,
    library_us: u64,
    /// Calls of the round with their ends, while they are wanted.
    calls: Option<Vec<(u32, Instant)>>,
    /// The last element of a picture in the batch.
    tile: Option<i32>,
    spans: Spans,
    /// What reads pictures, where there is something.
    pub(super) vision: Option<Vision>,
    /// Where hidden states are copied to; it outlives the context, which is dropped first.
    capture: Option<capture::Shared>,
}

impl Decoder {
    pub(super) fn new(
        model: &'static LlamaModel,
        spec: &LoadSpec,
        shape: Shape,
    ) -> Result<Self, EngineError> {
        Decoder::open(model, spec, shape, None)
    }

    /// The same, able to tell hidden states.
    pub(super) fn listening(
        model: &'static LlamaModel,
        spec: &LoadSpec,
        shape: Shape,
    ) -> Result<Self, EngineError> {
        let capture = Capture::new(model.n_embd().max(0) as usize, model.n_layer() as usize);
        Decoder::open(model, spec, shape, Some(capture))
    }

    fn open(
        model: &'static LlamaModel,
        spec: &LoadSpec,
        shape: Shape,
        capture: Option<capture::Shared>,
    ) -> Result<Self, EngineError> {
        let mut params = shape.params(spec);
        let Shape { cells, batch_tokens, sequences, shares: _ } = shape;
        if let Some(capture) = &capture {
            capture::listen(&mut params, capture);
        }
        let context = Context::open(model, params).ok_or_else(|| {
            EngineError(format!("no context of {cells} tokens could be opened (out of memory?)"))
        })?;
        Ok(Decoder {
            cells: context.cells(),
            context,
            batch: Batch::new(batch_tokens as usize, sequences as usize, directions(model)),
            batch_tokens: batch_tokens as usize,
            rows: rows(spec.mode, model.n_vocab().max(1) as usize),
            wanted: Vec::with_capacity(batch_tokens as usize),
            cache: Cache::new(sequences as usize),
            context_tokens: spec.context_tokens,
            window_tokens: window_tokens(model),
            library_us: 0,
            calls: None,
            tile: None,
            spans: Spans::since(Instant::now()),
            vision: None,
            capture,
        })
    }

    /// Whether hidden states can be told.
    pub(super) fn listens(&self) -> bool {
        self.capture.is_some()
    }

    /// A round begins: which hidden states its rows come with.
    pub(super) fn begin_states(&self, wish: States) {
        if let Some(mut capture) = self.capture.as_ref().and_then(|capture| capture.lock().ok()) {
            capture.begin_round(wish);
        }
    }

    /// Why hidden states of this round are missing, where something is known.
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

    /// Rows of logits that one call can give: at most one for every token.
    pub(super) fn rows(&self) -> usize {
        self.rows.min(self.batch_tokens)
    }

    /// Tokens that wait for [`Decoder::decode`].
    pub(super) fn waiting(&self) -> usize {
        self.batch.len()
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

    /// A round begins: stretches of work are told since then.
    pub(super) fn begin_spans(&mut self, started: Instant) {
        self.spans = Spans::since(started);
    }

    /// Work of a kind went on from a moment until now.
    pub(super) fn note_span(&mut self, kind: PhaseKind, started: Instant) {
        self.spans.add(kind, started, Instant::now());
    }

    /// The stretches of the round.
    pub(super) fn take_spans(&mut self) -> Vec<Span> {
        self.spans.take()
    }

    /// Forgets every sequence, and what is waiting to be evaluated.
    pub(super) fn clear(&mut self) {
        self.timed(Context::clear);
        self.cache.clear();
        self.batch.clear();
        self.tile = None;
        self.wanted.clear();
    }

    /// Takes a free sequence into use; about so many tokens are expected.
    pub(super) fn claim(&mut self, tokens: usize) -> Result<i32, String> {
        let id = self.cache.free_sequence().ok_or("no sequence of the KV cache is free")?;
        self.cache.claim(id, tokens);
        Ok(id)
    }

    /// Bytes that the library saves of the layers of a sequence that see a window alone; of all where it has no such.
    pub(super) fn window_bytes(&mut self, sequence: i32) -> usize {
        self.timed(|context| context.state_bytes(sequence, true))
    }

    /// Copies what the cache holds of a sequence; `false` where the library cannot.
    pub(super) fn read_state(&mut self, sequence: i32, into: &mut Vec<u8>) -> bool {
        self.timed(|context| context.read_state(sequence, into))
    }

    /// Takes a free sequence into use with what was read of another cache: these tokens, more to come.
    pub(super) fn restore(&mut self, tokens: &[i32], more: usize, state: &[u8]) -> Result<i32, String> {
        let id = self.claim(tokens.len() + more)?;
        tokens.iter().for_each(|&token| self.cache.push(token, &[id]));
        if self.timed(|context| context.write_state(id, state)) {
            return Ok(id);
        }
        self.remove(id)?;
        Err(format!("the KV cache does not take {} tokens of another one", tokens.len()))
    }

    /// Gives a sequence back.
    pub(super) fn remove(&mut self, sequence: i32) -> Result<(), String> {
        self.cache.remove(sequence);
        match self.timed(|context| context.cut(Some(sequence), 0)) {
            true => Ok(()),
            false => Err(format!("the KV cache refuses to drop sequence {sequence}")),
        }
    }

    /// The sequence that shares most with a path, up to `most` tokens, and how many.
    ///
    /// Where layers see a window alone, the library gives the cells that a sequence has left behind to others, and takes
    /// what lies before them from the sequence, also where its cache has room for all. Such a sequence is no source for
    /// what parts from it earlier than a window behind that.
    pub(super) fn source(&self, path: &[i32], most: usize) -> Option<(i32, usize)> {
        self.cache.best(path, most, |id, tokens| {
            let first = self.context.first_position(id).max(0) as usize;
            // Places of pictures are no number of tokens.
            first == 0 || (self.vision.is_none() && first + self.window_tokens <= tokens + 1)
        })
    }

    /// Lets `to`, which must be empty, begin with the first `tokens` tokens of `from`. The tokens are shared.
    pub(super) fn copy(&mut self, from: i32, to: i32, tokens: usize) -> Result<(), String> {
        let end = match &self.vision {
            Some(vision) => vision.end(&self.cache.tokens(from)[..tokens]) as usize,
            None => tokens,
        };
        self.timed(|context| context.copy(from, to, end));
        self.cache.fork(from, to, tokens);
        Ok(())
    }

    /// Forgets what every sequence has from a position on; `false` when the cache cannot (some models keep one state).
    pub(super) fn cut(&mut self, position: usize) -> bool {
        let is_cut = self.timed(|context| context.cut(None, position));
        if is_cut {
            self.cache.cut(position);
        }
        is_cut
    }

    /// Tokens that the library takes in one call, and those that it computes at once.
    pub(super) fn batch_sizes(&self) -> (u32, u32) {
        self.context.batch_sizes()
    }

    /// Whether an element must wait for [`Decoder::decode`]: there is no room, or the other kind is in the batch.
    pub(super) fn is_full_for(&self, element: i32) -> bool {
        let is_other = self.batch.len() > 0 && self.batch.has_vectors() != is_of_picture(element);
        let is_apart = |vision: &Vision| {
            vision.is_mutual() && self.tile.is_some_and(|last| !vision.is_one_tile(last, element))
        };
        is_other
            || self.vision.as_ref().is_some_and(is_apart)
            || self.batch.len() >= self.batch_tokens
            || self.wanted.len() >= self.rows
    }

    /// Adds a token, or an element of a picture, at a position of one or more sequences. A picture is encoded when its
    /// first element comes.
    pub(super) fn add(
        &mut self,
        element: i32,
        position: usize,
        sequences: &[i32],
        wanted: bool,
    ) -> Result<(), String> {
        // The library takes a sequence that lacks tokens for one that has forgotten them, and answers.
        if let Some(&id) = sequences.iter().find(|&&id| self.cache.tokens(id).len() != position) {
            let has = self.cache.tokens(id).len();
            return Err(format!("sequence {id} has {has} tokens where {position} come before"));
        }
        let place = self.batch.len() as i32;
        // What the sequences have before it is the same for all of them.
        let before = || sequences.first().map_or(&[][..], |&id| self.cache.tokens(id));
        if is_of_picture(element) {
            let vision = self.vision.as_mut().ok_or("there is nothing that reads pictures")?;
            let spent = vision.seen().encode_us;
            let position = vision.place(element, before());
            let vector = vision.vector(element)?;
            self.batch.add_vector(vector, position, sequences, wanted)?;
            self.library_us += vision.seen().encode_us - spent;
            self.tile = Some(element);
        } else {
            let position = match &self.vision {
                Some(vision) => vision.place(element, before())[0] as usize,
                None => position,
            };
            self.batch.add(element, position, sequences, wanted)?;
        }
        if wanted {
            self.wanted.push(place);
        }
        self.cache.push(element, sequences);
        Ok(())
    }

    /// Pictures encoded so far.
    pub(super) fn seen(&self) -> Seen {
        self.vision.as_ref().map(Vision::seen).unwrap_or_default()
    }

    /// Evaluates what was added. `read` gets the wanted rows, numbered in the order in which they were added.
    pub(super) fn decode(&mut self, mut read: impl FnMut(usize, Row<'_>)) -> Result<(), String> {
        if self.batch.len() == 0 {
            return Ok(());
        }
        let is_mutual = self.tile.take().is_some() && self.vision.as_ref().is_some_and(Vision::is_mutual);
        if let Some(mut capture) = self.capture.as_ref().and_then(|capture| capture.lock().ok()) {
            let (tokens, micro_batch_tokens) = (self.batch.len(), self.context.batch_sizes().1);
            capture.begin(&self.wanted, tokens, micro_batch_tokens as usize);
        }
        let started = Instant::now();
        if is_mutual {
            self.context.set_causal(false);
        }
        let decoded = self.context.decode(&mut self.batch);
        if is_mutual {
            self.context.set_causal(true);
        }
        self.library_us += started.elapsed().as_micros() as u64;
        if let Some(calls) = &mut self.calls {
            calls.push((self.batch.len() as u32, Instant::now()));
        }
        self.batch.clear();
        let mut capture = self.capture.as_ref().and_then(|capture| capture.lock().ok());
        if let Some(capture) = &mut capture {
            // A call that failed is over too.
            capture.end();
        }
        if let Err(code) = decoded {
            self.wanted.clear();
            return Err(decode_error(code));
        }
        let mut rows = Ok(());
        for (number, &place) in self.wanted.iter().enumerate() {
            let hidden = capture.as_ref().and_then(|capture| capture.hidden(number));
            match self.context.logits(place) {
                Some(row) => read(number, Row::new(row).with_hidden(hidden)),
                None => rows = Err("llama.cpp has no logits where they were asked for".to_owned()),
            }
        }
        self.wanted.clear();
        rows
    }

    fn timed<T>(&mut self, call: impl FnOnce(&mut Context) -> T) -> T {
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

fn decode_error(code: i32) -> String {
    match code {
        1 => "llama.cpp finds no room in its KV cache".into(),
        -1 => "llama.cpp refuses the batch".into(),
        code => format!("llama.cpp could not evaluate the tokens (code {code})"),
    }
}
