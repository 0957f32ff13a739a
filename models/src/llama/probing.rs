//! Measuring: made-up tokens through a context of their own, as the reference tool does it.
//!
//! The context is opened like the one that answers jobs (same decoder, same cache layout), but only as large as the
//! probe needs, and with the threads that the probe asks for. It is closed afterwards, so that nothing of a probe is left.

use std::time::Instant;

use llama_cpp_2::model::LlamaModel;

use super::decoder::{Decoder, keeps_state};
use super::shape::{MAX_SEQUENCES, Shape};
use crate::{Advance, EngineError, LoadSpec, Probe, ProbeReply, ProbeWork};

/// A probe at work.
struct Probing<'a> {
    decoder: Decoder,
    tokens: MadeUp,
    done: Advance,
    progress: &'a mut dyn FnMut(Advance),
}

/// Times a probe.
pub(super) fn probe(
    model: &'static LlamaModel,
    loaded: &LoadSpec,
    probe: &Probe,
    progress: &mut dyn FnMut(Advance),
) -> Result<ProbeReply, EngineError> {
    let refused = |reason: String| EngineError(format!("probe: {reason}"));
    if let Some(reason) = probe.refusal() {
        return Err(refused(reason));
    }
    let or = |asked: u32, loaded: u32| if asked == 0 { loaded } else { asked };
    let cells = probe.cells().unwrap_or(u32::MAX);
    let spec = LoadSpec {
        // A batch is no larger than the cache, and llama.cpp aborts where it holds fewer tokens than there are sequences.
        cells: cells.max(loaded.batch_tokens).max(MAX_SEQUENCES),
        context_tokens: probe.depth_tokens + probe.work.tokens_per_sequence(),
        sequences: probe.work.sequences(),
        threads: or(probe.threads, loaded.threads),
        threads_batch: or(probe.threads_batch, loaded.threads_batch),
        ..loaded.clone()
    };
    let sequences = probe.work.sequences();
    let shared = Shape::of(&spec, keeps_state(model));
    if sequences >= shared.sequences {
        let most = shared.sequences - 1;
        return Err(refused(format!("{sequences} sequences: llama.cpp takes at most {most}")));
    }
    // Replies side by side are written in a cache of their own, one alone beside prompts.
    let alone = Shape::alone(sequences, spec.context_tokens).filter(|_| sequences > 1 && !keeps_state(model));
    let shape = alone.map_or(shared, |alone| Shape { batch_tokens: shared.batch_tokens, ..alone });
    let decoder = Decoder::new(model, &spec, shape)?;
    let tokens = MadeUp { state: 1, vocabulary: model.n_vocab().max(1) as u32 };
    let mut probing = Probing { decoder, tokens, done: Advance::default(), progress };
    let samples_us = probing.samples(probe).map_err(refused)?;
    let (batch_tokens, micro_batch_tokens) = probing.decoder.batch_sizes();
    Ok(ProbeReply {
        samples_us,
        threads: spec.threads,
        threads_batch: spec.threads_batch,
        batch_tokens,
        micro_batch_tokens,
    })
}

impl Probing<'_> {
    fn samples(&mut self, probe: &Probe) -> Result<Vec<u64>, String> {
        self.fill(probe)?;
        // The first run touches pages and caches that later ones find warm.
        match probe.work {
            ProbeWork::Prefill { tokens } => self.prefill(&[0], probe.depth_tokens, tokens)?,
            ProbeWork::Decode { sequences, .. } => self.decode(sequences, probe.depth_tokens, 1)?,
        }
        let budget = Instant::now();
        let mut samples_us = Vec::with_capacity(probe.repetitions as usize);
        for _ in 0..probe.repetitions {
            // What came before stays where the cache can let go of the rest.
            if probe.depth_tokens == 0 || !self.decoder.cut(probe.depth_tokens as usize) {
                self.decoder.clear();
                self.fill(probe)?;
            }
            let started = Instant::now();
            match probe.work {
                ProbeWork::Prefill { tokens } => self.prefill(&[0], probe.depth_tokens, tokens)?,
                ProbeWork::Decode { steps, sequences } => {
                    self.decode(sequences, probe.depth_tokens, steps)?
                }
            }
            samples_us.push((started.elapsed().as_micros() as u64).max(1));
            self.done.jobs += 1;
            if probe.budget_us.is_some_and(|us| budget.elapsed().as_micros() >= u128::from(us)) {
                break;
            }
        }
        Ok(samples_us)
    }

    /// Gives every sequence the tokens that it has before.
    fn fill(&mut self, probe: &Probe) -> Result<(), String> {
        let sequences: Vec<i32> = (0..probe.work.sequences() as i32).collect();
        match probe.depth_tokens {
            0 => Ok(()),
            depth => self.prefill(&sequences, 0, depth),
        }
    }

    /// Evaluates a prompt of each sequence, one after the other, and reads the logits behind the last token.
    fn prefill(&mut self, sequences: &[i32], start: u32, tokens: u32) -> Result<(), String> {
        for (index, &sequence) in sequences.iter().enumerate() {
            for place in 0..tokens {
                let token = self.tokens.next();
                if self.decoder.is_full_for(token) {
                    self.call()?;
                }
                let last = index + 1 == sequences.len() && place + 1 == tokens;
                self.add(token, start + place, sequence, last)?;
            }
        }
        self.call()
    }

    /// Generates: each step evaluates one token of every sequence and reads the logits behind it.
    fn decode(&mut self, sequences: u32, start: u32, steps: u32) -> Result<(), String> {
        for step in 0..steps {
            for sequence in 0..sequences as i32 {
                let token = self.tokens.next();
                if self.decoder.is_full_for(token) {
                    self.call()?;
                }
                self.add(token, start + step, sequence, true)?;
            }
            self.call()?;
        }
        Ok(())
    }

    fn add(&mut self, token: i32, position: u32, sequence: i32, wanted: bool) -> Result<(), String> {
        self.done.tokens += 1;
        self.decoder.add(token, position as usize, &[sequence], wanted)
    }

    fn call(&mut self) -> Result<(), String> {
        // Reading a row waits for the calculation.
        self.decoder.decode(|_, row| {
            std::hint::black_box(row);
        })?;
        (self.progress)(self.done);
        Ok(())
    }
}

/// Tokens that mean nothing: a fixed walk through the vocabulary.
struct MadeUp {
    state: u64,
    vocabulary: u32,
}

impl MadeUp {
    fn next(&mut self) -> i32 {
        // Knuth's MMIX generator; the high bits are the good ones.
        self.state =
            self.state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.state >> 33) % u64::from(self.vocabulary)) as i32
    }
}
