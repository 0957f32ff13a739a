//! Replies in a cache of their own, where every sequence has a stretch of cells to itself.
//!
//! The cache of the prompts is one stretch for all sequences, so that they can share tokens; the price is that a token's
//! attention passes over the cells of all the others. A reply shares nothing, so it is moved to where it meets none but
//! its own: eight of them are written a fifth faster behind prompts of 110 tokens.
//!
//! A sequence moves as the bytes that the library saves and restores it by. These say how many stretches the cache has,
//! which is all that differs between the two caches; [`Streams::open`] looks whether they are laid out as known here.

use llama_cpp_2::model::LlamaModel;

use super::decoder::Decoder;
use super::shape::Shape;
use crate::{EngineError, LoadSpec};

/// The library's mark and the sequence's number, before all else.
const HEAD: usize = 8;
/// A number of stretches, or of the cells of one.
const WORD: usize = 4;

/// The cache of replies.
pub(super) struct Streams {
    pub(super) decoder: Decoder,
    number: usize,
    /// Caches that the bytes of a sequence tell of, one after the other: layers that see a window have their own.
    caches: usize,
    /// The sequence that is on its way.
    bytes: Vec<u8>,
}

impl Streams {
    /// Opens the cache beside that of the prompts; `None` where sequences cannot be moved between the two.
    pub(super) fn open(
        model: &'static LlamaModel,
        spec: &LoadSpec,
        shape: Shape,
        prompts: &mut Decoder,
    ) -> Result<Option<Self>, EngineError> {
        let mut decoder = Decoder::new(model, spec, shape)?;
        let number = shape.sequences as usize;
        let caches = caches(&mut decoder, number).filter(|&found| caches(prompts, 1) == Some(found));
        Ok(caches.map(|caches| Streams { decoder, number, caches, bytes: Vec::new() }))
    }

    /// Replies that have a place.
    pub(super) fn number(&self) -> usize {
        self.number
    }

    /// Whether a reply can go back to the prompts: what a window has passed is not in the bytes, and a later prompt might
    /// part from the reply there.
    pub(super) fn can_return(&self) -> bool {
        self.caches == 1
    }

    /// Copies a sequence of the prompts to a place of its own; `tokens` more are expected there.
    pub(super) fn take(&mut self, prompts: &mut Decoder, from: i32, tokens: usize) -> Result<i32, String> {
        if !prompts.read_state(from, &mut self.bytes) {
            return Err(format!("the KV cache does not give sequence {from}"));
        }
        // The stretches that the reply does not get have no cells.
        let others = (self.number - 1) * WORD;
        self.bytes.reserve_exact(self.caches * others);
        if self.caches > 1 {
            let windows = prompts.window_bytes(from).saturating_sub(HEAD);
            let split = self.bytes.len().checked_sub(windows).filter(|&split| split > HEAD && windows > WORD);
            let split = split.ok_or("the KV cache gives a sequence of no length")?;
            self.bytes[split..split + WORD].copy_from_slice(&word(self.number));
            self.bytes.splice(split..split, std::iter::repeat_n(0, others));
        }
        self.bytes[HEAD..HEAD + WORD].copy_from_slice(&word(self.number));
        self.bytes.resize(self.bytes.len() + others, 0);
        self.decoder.restore(prompts.cache().tokens(from), tokens, &self.bytes)
    }

    /// Copies a reply that is over to the prompts, for a later round to go on from; `None` where nothing is free there.
    pub(super) fn give(&mut self, from: i32, prompts: &mut Decoder) -> Result<Option<i32>, String> {
        if prompts.cache().free_sequence().is_none() {
            return Ok(None);
        }
        self.read(from)?;
        let before = from as usize * WORD;
        let after = (self.number - 1) * WORD - before;
        self.bytes.truncate(self.bytes.len().saturating_sub(after));
        if self.bytes.len() < HEAD + WORD + before {
            return Err("the KV cache gives a reply of no length".into());
        }
        self.bytes.drain(HEAD + WORD..HEAD + WORD + before);
        self.bytes[HEAD..HEAD + WORD].copy_from_slice(&word(1));
        prompts.restore(self.decoder.cache().tokens(from), 0, &self.bytes).map(Some)
    }

    /// Moves the last reply to a place before it that is free, if there is one; gives both. The library computes at once
    /// only what lies side by side.
    pub(super) fn close_up(&mut self) -> Result<Option<(i32, i32)>, String> {
        let last = self.decoder.cache().in_use().last();
        let (Some(from), Some(free)) = (last, self.decoder.cache().free_sequence()) else { return Ok(None) };
        if free > from {
            return Ok(None);
        }
        self.read(from)?;
        let known = self.decoder.cache().tokens(from).to_vec();
        let to = self.decoder.restore(&known, 0, &self.bytes)?;
        self.decoder.remove(from)?;
        Ok(Some((from, to)))
    }

    fn read(&mut self, from: i32) -> Result<(), String> {
        match self.decoder.read_state(from, &mut self.bytes) {
            true => Ok(()),
            false => Err(format!("the KV cache does not give reply {from}")),
        }
    }
}

/// A number as the library saves it.
fn word(number: usize) -> [u8; WORD] {
    (number as u32).to_ne_bytes()
}

/// How many caches the bytes of a sequence tell of, by those of one that holds nothing; `None` where they are not as this
/// module knows them.
fn caches(decoder: &mut Decoder, stretches: usize) -> Option<usize> {
    let one = (1 + stretches) * WORD;
    let window = decoder.window_bytes(0);
    let mut empty = Vec::new();
    let is_read = decoder.read_state(0, &mut empty);
    let caches = match empty.len().checked_sub(HEAD)? {
        all if all == one => 1,
        all if all == 2 * one => 2,
        _ => return None,
    };
    let is_known =
        |cache: &[u8]| cache[..WORD] == word(stretches) && cache[WORD..].iter().all(|&byte| byte == 0);
    (is_read && window == HEAD + one && empty[HEAD..].chunks(one).all(is_known)).then_some(caches)
}
