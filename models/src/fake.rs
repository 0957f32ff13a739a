//! A deterministic engine without a model, with faults on request: for tests, and for trying a configuration.
//!
//! Named where a model file would be named: `fake`, or with options `fake:context=4096,die-on=poison`.

mod answers;
mod faults;
mod made_up;
mod options;
mod planted;
mod states;

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::Path;

pub use options::OPTIONS;

use crate::{
    Advance, Buffers, Call, Engine, EngineError, EngineFacts, Job, LoadSpec, Phase, PhaseKind, Probe,
    ProbeReply, ProbeWork, PromptSize, Request, RoundReply, Shown, Span, Token, Tokenised, Usage,
};
use answers::words;
use faults::Fate;
use options::Options;

/// Tokens of the made-up vocabulary.
const VOCABULARY: u32 = 50_000;

/// Whether a model path names the fake engine.
pub fn is_fake(path: &Path) -> bool {
    path.to_str().is_some_and(|text| text == "fake" || text.starts_with("fake:"))
}

/// Whether the fake engine stands for a file that cannot be mapped.
pub fn is_unmappable(path: &Path) -> bool {
    is_fake(path)
        && path.to_str().is_some_and(|name| name.split([':', ',']).any(|option| option == "unmappable"))
}

/// The fake engine.
pub struct Fake {
    options: Options,
    fate: Fate,
    context_tokens: u32,
    /// Whether prompts may show pictures.
    eyes: bool,
    /// Width and height of the pictures at hand.
    shown: BTreeMap<String, (u32, u32)>,
    /// Those that the group has seen.
    seen: BTreeSet<String>,
}

impl Fake {
    /// Opens the engine that `name` describes; `context_tokens` is what the caller asks for.
    pub fn open(name: &str, context_tokens: u32) -> Result<Self, EngineError> {
        let mut fake = Fake::vocabulary(name, context_tokens)?;
        fake.fate.allocate();
        Ok(fake)
    }

    /// The same, with eyes for pictures or without.
    #[must_use]
    pub fn seeing(self, eyes: bool) -> Self {
        Fake { eyes, ..self }
    }

    /// The same without its ballast: what a vocabulary alone would be.
    pub fn vocabulary(name: &str, context_tokens: u32) -> Result<Self, EngineError> {
        let mut options = options::parse(name)?;
        Ok(Fake {
            context_tokens: options.context.map_or(context_tokens, |own| own.min(context_tokens)),
            fate: Fate::of(std::mem::take(&mut options.faults)),
            options,
            eyes: false,
            shown: BTreeMap::new(),
            seen: BTreeSet::new(),
        })
    }
}

/// A word as a token.
fn token(word: &str) -> Token {
    let id = (hash(&word) % u64::from(VOCABULARY)) as i32;
    Token { id, piece: word.to_owned(), control: false, ends_generation: false }
}

/// The labels of scored jobs, each once.
fn pieces(jobs: &[Job]) -> Vec<(i32, String)> {
    let labels = jobs.iter().filter_map(|job| match &job.request {
        Request::Score(score) => Some(&score.continuations),
        Request::Generate(_) => None,
    });
    let pieces: BTreeMap<i32, String> =
        labels.flatten().map(|label| (token(label).id, label.clone())).collect();
    pieces.into_iter().collect()
}

fn hash(value: &impl Hash) -> u64 {
    // The default hasher with its fixed keys: the same in every process of one build.
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

/// The prompt at once, then token by token, all done at the end.
fn calls(usage: Usage, end_us: u64) -> Vec<Call> {
    let prompt = (usage.evaluated_tokens > 0).then_some(Call { tokens: usage.evaluated_tokens, end_us });
    let written = (0..usage.output_tokens).map(|_| Call { tokens: 1, end_us });
    prompt.into_iter().chain(written).collect()
}

impl Engine for Fake {
    fn facts(&self) -> EngineFacts {
        EngineFacts {
            engine: "fake".into(),
            system: "no model is evaluated".into(),
            context_tokens: self.context_tokens,
            trained_context_tokens: self.options.context.unwrap_or(8192),
            vocab_tokens: VOCABULARY,
            adds_bos: false,
            packs: false,
            load_us: 0,
            checkpoints: false,
            level: crate::CPU_LEVEL.to_owned(),
            shows_pictures: self.eyes,
        }
    }

    fn show(&mut self, forget: &[String], pictures: Vec<Shown>) -> Result<(), EngineError> {
        if !self.eyes && !pictures.is_empty() {
            return Err(EngineError("fake engine: pictures need mmproj = \"fake\"".into()));
        }
        self.shown.retain(|address, _| !forget.contains(address));
        self.shown.extend(pictures.into_iter().map(|it| (it.address, (it.width, it.height))));
        Ok(())
    }

    fn measure(&mut self, jobs: &[Job]) -> Result<Vec<PromptSize>, EngineError> {
        self.fate.measure(jobs.len());
        Ok(jobs.iter().map(|job| self.size(job)).collect())
    }

    fn tokenise(&mut self, jobs: &[Job]) -> Result<Vec<Tokenised>, EngineError> {
        let tokenised = |job: &Job| {
            let prompt: String = job.prompt.iter().map(words).collect();
            let labels = match &job.request {
                Request::Score(score) => score.continuations.iter().map(|label| vec![token(label)]).collect(),
                Request::Generate(_) => Vec::new(),
            };
            Tokenised { prompt: prompt.split_whitespace().map(token).collect(), labels, refusal: None }
        };
        Ok(jobs.iter().map(tokenised).collect())
    }

    /// What a real engine would keep in a cache, the fake one holds as ballast: it grows with neither.
    fn buffers(&mut self, specs: &[LoadSpec]) -> Result<Vec<Buffers>, EngineError> {
        let cache_bytes = self.fate.allocated_bytes();
        Ok(vec![Buffers { cache_bytes, ..Buffers::default() }; specs.len()])
    }

    fn round(&mut self, jobs: &[Job], progress: &mut dyn FnMut(Advance)) -> Result<RoundReply, EngineError> {
        let started = std::time::Instant::now();
        let encoded = self.encoded(jobs);
        let mut replies = Vec::with_capacity(jobs.len());
        let mut tokens = 0;
        for (job, index) in jobs.iter().zip(1..) {
            let reply = self.answer(job);
            tokens += u64::from(reply.usage().prompt_tokens + reply.usage().output_tokens);
            progress(Advance { jobs: index, tokens });
            replies.push(reply);
        }
        if self.fate.take_surplus() {
            replies.extend(replies.last().cloned());
        }
        let wall_us = started.elapsed().as_micros() as u64;
        let phase = Phase { kind: PhaseKind::Prefill, wall_us, library_us: wall_us, tokens: tokens as u32 };
        let calls = match &replies[..] {
            [reply] => calls(reply.usage(), wall_us),
            _ => Vec::new(),
        };
        let spans = vec![Span { kind: phase.kind, begin_us: 0, end_us: wall_us }];
        let readout = self.options.held.readout(jobs, |label| token(label).id);
        Ok(RoundReply {
            replies,
            phases: vec![phase],
            pieces: pieces(jobs),
            calls,
            spans,
            took_us: wall_us,
            pictures: encoded,
            readout,
        })
    }

    fn end_group(&mut self) {
        self.seen.clear();
    }

    /// Made-up durations of a machine with four cores, on which eight sequences side by side cost as much as one.
    fn probe(&mut self, probe: &Probe, _: &mut dyn FnMut(Advance)) -> Result<ProbeReply, EngineError> {
        if let Some(reason) = probe.refusal() {
            return Err(EngineError(format!("fake engine: {reason}")));
        }
        self.fate.befall(&format!("probe {:?}", probe.work));
        let or_two = |threads: u32| if threads == 0 { 2 } else { threads };
        let (threads, threads_batch) = (or_two(probe.threads), or_two(probe.threads_batch));
        // More threads than cores wait for each other.
        let speed = |threads: u32| u64::from(if threads > 4 { 2 } else { threads });
        let once_us = match probe.work {
            ProbeWork::Prefill { tokens } => 400 * u64::from(tokens) / speed(threads_batch),
            ProbeWork::Decode { steps, sequences } => {
                4_000 * u64::from(steps) * u64::from(sequences.max(8)) / 8 / speed(threads)
            }
        };
        let samples_us =
            (0..u64::from(probe.repetitions)).map(|place| once_us + 10 * (place % 3) + 1).collect();
        Ok(ProbeReply { samples_us, threads, threads_batch, batch_tokens: 512, micro_batch_tokens: 512 })
    }
}

#[cfg(test)]
mod tests;
