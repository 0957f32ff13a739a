//! One reply in the making: chooses tokens and decides when it is over.

use std::collections::VecDeque;

use rand::rngs::ChaCha20Rng;
use rand::{Rng, SeedableRng};

use super::vocabulary::Vocabulary;
use crate::logits::Row;
use crate::stopping::{StopTexts, ThinkingWatch, loops};
use crate::{Finish, Generate, Generated, Sampling, Usage};

/// A reply in the making.
pub(super) struct Writing<'a> {
    request: &'a Generate,
    stop: StopTexts<'a>,
    stream: ChaCha20Rng,
    /// Tokens that the context still has room for.
    room: u32,
    bytes: Vec<u8>,
    tokens: Vec<i32>,
    thinking: Option<ThinkingWatch<'a>>,
    /// Tokens that close a reasoning block, still to be written.
    forced: VecDeque<i32>,
    thinking_cut: bool,
}

/// What happens after a row.
pub(super) enum Next {
    /// This token is evaluated next.
    Token(i32),
    /// The reply is over.
    Over(Finish),
}

impl<'a> Writing<'a> {
    pub(super) fn new(request: &'a Generate, room: u32) -> Self {
        let seed = match request.sampling {
            Sampling::Greedy => 0,
            Sampling::Temperature { seed, .. } => seed,
        };
        let mut key = [0; 32];
        key[..8].copy_from_slice(&seed.to_le_bytes());
        Writing {
            request,
            stop: StopTexts::new(&request.stop),
            stream: ChaCha20Rng::from_seed(key),
            room,
            bytes: Vec::new(),
            tokens: Vec::with_capacity(request.max_tokens.min(4096) as usize),
            thinking: request.thinking.as_ref().map(ThinkingWatch::new),
            forced: VecDeque::new(),
            thinking_cut: false,
        }
    }

    /// Takes the logits behind the last token.
    pub(super) fn row(&mut self, row: Row<'_>, vocabulary: &Vocabulary) -> Result<Next, String> {
        let token = match self.forced.pop_front() {
            Some(token) => token,
            None => {
                let token =
                    self.choose(row).ok_or("the model's logits are not finite: no token can be chosen")?;
                if vocabulary.ends_generation(token) {
                    return Ok(Next::Over(Finish::Stop));
                }
                token
            }
        };
        // Only now is it known that the model would have gone on.
        if self.tokens.len() as u32 >= self.request.max_tokens {
            return Ok(Next::Over(Finish::Length));
        }
        self.tokens.push(token);
        vocabulary.append_piece(token, &mut self.bytes);
        if let Some(close) = self.thinking.as_mut().and_then(|watch| watch.see(&self.bytes)) {
            self.thinking_cut = true;
            self.forced = vocabulary.parse(&format!("\n{close}\n\n")).into();
        }
        if let Some(end) = self.stop.find(&self.bytes) {
            self.bytes.truncate(end);
            return Ok(Next::Over(Finish::StopText));
        }
        if self.request.loop_guard.is_some_and(|guard| loops(&self.tokens, guard)) {
            return Ok(Next::Over(Finish::Loop));
        }
        if self.tokens.len() as u32 >= self.room {
            return Ok(Next::Over(Finish::ContextFull));
        }
        Ok(Next::Token(token))
    }

    fn choose(&mut self, row: Row<'_>) -> Option<i32> {
        match self.request.sampling {
            Sampling::Greedy => row.best_if_finite(),
            Sampling::Temperature { temperature, .. } => {
                row.best_if_finite()?;
                let unit = (self.stream.next_u64() >> 11) as f64 / (1u64 << 53) as f64;
                row.draw(temperature, unit)
            }
        }
    }

    /// Tokens that the reply may have.
    pub(super) fn most_tokens(&self) -> usize {
        self.request.max_tokens.min(self.room) as usize
    }

    /// Tokens written so far.
    pub(super) fn tokens(&self) -> &[i32] {
        &self.tokens
    }

    pub(super) fn finish(self, finish: Finish, mut usage: Usage) -> Generated {
        usage.output_tokens = self.tokens.len() as u32;
        Generated { bytes: self.bytes, tokens: self.tokens, finish, thinking_cut: self.thinking_cut, usage }
    }
}
