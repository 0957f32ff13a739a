//! The library's context and the batches that it evaluates. The binding's own wrapper takes tokens alone; pictures are
//! vectors.

use std::ptr::NonNull;

use llama_cpp_2::model::LlamaModel;
use llama_cpp_sys_2 as sys;

/// What is saved of a sequence: everything, or what layers hold that see a window alone. Macros of the library, which the
/// binding leaves out.
const WHOLE: sys::llama_state_seq_flags = 0;
const WINDOWS_ONLY: sys::llama_state_seq_flags = 1;

/// An open context.
pub(super) struct Context {
    context: NonNull<sys::llama_context>,
    vocab_tokens: usize,
}

/// Directions that the places of a model's vectors have.
#[allow(unsafe_code)]
pub(super) fn directions(model: &LlamaModel) -> usize {
    // SAFETY: the model lives.
    match unsafe { sys::llama_model_rope_type(pointer(model)) } {
        sys::LLAMA_ROPE_TYPE_MROPE | sys::LLAMA_ROPE_TYPE_IMROPE => 4,
        _ => 1,
    }
}

/// Tokens that the layers of a model see which see a window alone; 0 where there are none.
#[allow(unsafe_code)]
pub(super) fn window_tokens(model: &LlamaModel) -> usize {
    // SAFETY: the model lives.
    unsafe { sys::llama_model_n_swa(pointer(model)) }.max(0) as usize
}

/// The library's own pointer to a model.
#[allow(unsafe_code)]
pub(super) fn pointer(model: &LlamaModel) -> *mut sys::llama_model {
    // SAFETY: the wrapper is declared to be nothing but this pointer (`repr(transparent)` down to it).
    unsafe { *std::ptr::from_ref(model).cast::<*mut sys::llama_model>() }
}

#[allow(unsafe_code)]
impl Context {
    /// The library's defaults, to be changed.
    pub(super) fn defaults() -> sys::llama_context_params {
        // SAFETY: gives plain data.
        unsafe { sys::llama_context_default_params() }
    }

    /// Opens a context; `None` where the library cannot.
    pub(super) fn open(model: &'static LlamaModel, params: sys::llama_context_params) -> Option<Self> {
        // SAFETY: the model lives for ever.
        let context = unsafe { sys::llama_init_from_model(pointer(model), params) };
        let vocab_tokens = model.n_vocab().max(0) as usize;
        Some(Context { context: NonNull::new(context)?, vocab_tokens })
    }

    /// Cells of its cache.
    pub(super) fn cells(&self) -> u32 {
        // SAFETY: the context lives as long as `self`; so in all that follows.
        unsafe { sys::llama_n_ctx(self.context.as_ptr()) }
    }

    /// Tokens of one call, and those that are computed at once.
    pub(super) fn batch_sizes(&self) -> (u32, u32) {
        // SAFETY: as above.
        unsafe { (sys::llama_n_batch(self.context.as_ptr()), sys::llama_n_ubatch(self.context.as_ptr())) }
    }

    /// Evaluates a batch; `Err` has the library's code.
    pub(super) fn decode(&mut self, batch: &mut Batch) -> Result<(), i32> {
        // SAFETY: the batch's pointers lead to as many values as it says, and live during the call.
        match unsafe { sys::llama_decode(self.context.as_ptr(), batch.raw()) } {
            0 => Ok(()),
            code => Err(code),
        }
    }

    /// The logits behind a token of the last batch that asked for them.
    pub(super) fn logits(&self, place: i32) -> Option<&[f32]> {
        // SAFETY: as above; the row has a logit for every token and stays until the next call that changes `self`.
        unsafe {
            let row = sys::llama_get_logits_ith(self.context.as_ptr(), place);
            (!row.is_null()).then(|| std::slice::from_raw_parts(row, self.vocab_tokens))
        }
    }

    /// Whether tokens of a call see only those before them.
    pub(super) fn set_causal(&mut self, causal: bool) {
        // SAFETY: as above.
        unsafe { sys::llama_set_causal_attn(self.context.as_ptr(), causal) }
    }

    /// Forgets every sequence.
    pub(super) fn clear(&mut self) {
        // SAFETY: as above.
        unsafe { sys::llama_memory_clear(sys::llama_get_memory(self.context.as_ptr()), true) }
    }

    /// Forgets what a sequence, or every one, has from a position on; `false` where the cache cannot.
    pub(super) fn cut(&mut self, sequence: Option<i32>, position: usize) -> bool {
        let memory = self.memory();
        // SAFETY: as above.
        unsafe { sys::llama_memory_seq_rm(memory, sequence.unwrap_or(-1), position as i32, -1) }
    }

    /// Lets `to` begin with the first positions of `from`.
    pub(super) fn copy(&mut self, from: i32, to: i32, positions: usize) {
        let memory = self.memory();
        // SAFETY: as above.
        unsafe { sys::llama_memory_seq_cp(memory, from, to, 0, positions as i32) }
    }

    /// The first position that the cache holds of a sequence in all of its layers; negative for none.
    pub(super) fn first_position(&self, sequence: i32) -> i32 {
        // SAFETY: as above.
        unsafe { sys::llama_memory_seq_pos_min(self.memory(), sequence) }
    }

    /// Bytes of what the cache holds of a sequence; of the layers that see a window alone, where it keeps those apart.
    pub(super) fn state_bytes(&mut self, sequence: i32, windows: bool) -> usize {
        let flags = if windows { WINDOWS_ONLY } else { WHOLE };
        // SAFETY: as above.
        unsafe { sys::llama_state_seq_get_size_ext(self.context.as_ptr(), sequence, flags) }
    }

    /// Copies what the cache holds of a sequence; `false` where the library cannot.
    pub(super) fn read_state(&mut self, sequence: i32, into: &mut Vec<u8>) -> bool {
        let bytes = self.state_bytes(sequence, false);
        into.clear();
        into.reserve_exact(bytes);
        into.resize(bytes, 0);
        // SAFETY: as above; the library writes at most `bytes`.
        let read = unsafe {
            sys::llama_state_seq_get_data_ext(
                self.context.as_ptr(),
                into.as_mut_ptr(),
                bytes,
                sequence,
                WHOLE,
            )
        };
        read > 0 && read == bytes
    }

    /// Gives a sequence what was read of another one; `false` where the library refuses it.
    pub(super) fn write_state(&mut self, sequence: i32, state: &[u8]) -> bool {
        // SAFETY: as above; the library reads at most as many bytes as there are.
        let written = unsafe {
            sys::llama_state_seq_set_data_ext(
                self.context.as_ptr(),
                state.as_ptr(),
                state.len(),
                sequence,
                WHOLE,
            )
        };
        written > 0 && written == state.len()
    }

    fn memory(&self) -> sys::llama_memory_t {
        // SAFETY: as above.
        unsafe { sys::llama_get_memory(self.context.as_ptr()) }
    }
}

#[allow(unsafe_code)]
impl Drop for Context {
    fn drop(&mut self) {
        // SAFETY: it was opened by the library and is freed once.
        unsafe { sys::llama_free(self.context.as_ptr()) }
    }
}

/// What one call evaluates: tokens, or vectors in their place, never both.
pub(super) struct Batch {
    most: usize,
    most_sequences: usize,
    tokens: Vec<i32>,
    vectors: Vec<f32>,
    positions: Vec<[i32; 4]>,
    /// Directions that the places of vectors have; tokens have one.
    directions: usize,
    /// Positions as the library takes them, direction by direction.
    flat: Vec<i32>,
    counts: Vec<i32>,
    /// Sequences of each place, in rows of `most_sequences`.
    sequences: Vec<i32>,
    rows: Vec<*mut i32>,
    wanted: Vec<i8>,
}

impl Batch {
    /// Room for so many tokens, each of so many sequences.
    pub(super) fn new(most: usize, most_sequences: usize, directions: usize) -> Self {
        Batch {
            most,
            most_sequences,
            tokens: Vec::with_capacity(most),
            vectors: Vec::new(),
            positions: Vec::with_capacity(most),
            directions,
            flat: Vec::with_capacity(most),
            counts: Vec::with_capacity(most),
            sequences: vec![0; most * most_sequences],
            rows: vec![std::ptr::null_mut(); most + 1],
            wanted: Vec::with_capacity(most),
        }
    }

    /// Tokens or vectors in it.
    pub(super) fn len(&self) -> usize {
        self.positions.len()
    }

    /// Whether it holds vectors.
    pub(super) fn has_vectors(&self) -> bool {
        !self.vectors.is_empty()
    }

    pub(super) fn clear(&mut self) {
        self.tokens.clear();
        self.vectors.clear();
        self.positions.clear();
        self.counts.clear();
        self.wanted.clear();
    }

    /// Adds a token.
    pub(super) fn add(
        &mut self,
        token: i32,
        position: usize,
        sequences: &[i32],
        wanted: bool,
    ) -> Result<(), String> {
        if self.has_vectors() {
            return Err("a token cannot share a call with a picture".into());
        }
        self.place([position as i32; 4], sequences, wanted)?;
        self.tokens.push(token);
        Ok(())
    }

    /// Adds what stands in a token's place.
    pub(super) fn add_vector(
        &mut self,
        vector: &[f32],
        position: [i32; 4],
        sequences: &[i32],
        wanted: bool,
    ) -> Result<(), String> {
        if !self.tokens.is_empty() {
            return Err("a picture cannot share a call with a token".into());
        }
        self.place(position, sequences, wanted)?;
        self.vectors.extend_from_slice(vector);
        Ok(())
    }

    fn place(&mut self, position: [i32; 4], sequences: &[i32], wanted: bool) -> Result<(), String> {
        let place = self.len();
        if place == self.most || sequences.len() > self.most_sequences {
            return Err(format!(
                "a call has room for {} tokens of {} sequences",
                self.most, self.most_sequences
            ));
        }
        let row = place * self.most_sequences;
        self.sequences[row..row + sequences.len()].copy_from_slice(sequences);
        self.positions.push(position);
        self.counts.push(sequences.len() as i32);
        self.wanted.push(i8::from(wanted));
        Ok(())
    }

    /// The batch as the library takes it; good until the next change.
    fn raw(&mut self) -> sys::llama_batch {
        let count = self.len();
        for (row, ids) in self.rows.iter_mut().zip(self.sequences.chunks_mut(self.most_sequences)).take(count)
        {
            *row = ids.as_mut_ptr();
        }
        // The library takes the list to end here.
        self.rows[count] = std::ptr::null_mut();
        let directions = if self.has_vectors() { self.directions } else { 1 };
        self.flat.clear();
        for direction in 0..directions {
            self.flat.extend(self.positions.iter().map(|position| position[direction]));
        }
        let (token, embd) = match self.has_vectors() {
            true => (std::ptr::null_mut(), self.vectors.as_mut_ptr()),
            false => (self.tokens.as_mut_ptr(), std::ptr::null_mut()),
        };
        sys::llama_batch {
            n_tokens: count as i32,
            token,
            embd,
            pos: self.flat.as_mut_ptr(),
            n_seq_id: self.counts.as_mut_ptr(),
            seq_id: self.rows.as_mut_ptr(),
            logits: self.wanted.as_mut_ptr(),
        }
    }
}
