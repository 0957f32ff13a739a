//! A deterministic engine without a model, with faults on request: for tests, and for trying a configuration.
//!
//! Named where a model file would be named: `fake`, or with options `fake:context=4096,die-on=poison`.

mod made_up;
mod planted;
mod states;

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::Path;
use std::time::Duration;

use crate::{
    Advance, Buffers, Call, Encoded, Engine, EngineError, EngineFacts, Finish, Generate, Generated, Job,
    LoadSpec, Phase, PhaseKind, Probe, ProbeReply, ProbeWork, PromptSize, Reply, Request, RoundReply,
    Sampling, Scored, Segment, Shown, Span, Token, Tokenised, Usage, pictures,
};

/// The options, as `list models` shows them.
pub const OPTIONS: &str = "context=N, delay-us=N per job, die-after=N jobs, die-on=TEXT in a prompt, die-measuring=N prompts, \
    hang-after=N jobs, hang-on=TEXT, babble (noise on the worker's standard output), allocate=N MiB, fail-on=TEXT, unmappable, \
    say=TEXT as every generated reply, grow=N MiB per job, strike=KIND (abort, ill, bus, kill, hang, garbage, surplus) \
    after strike-after=N jobs, once=PATH (strike only if this file can be made), planted (logits of labels stand in the options: \
    `A. x {1.5}`), lean-on=TEXT in a planted prompt, lean=LOGIT of the first label then, talk=LOGIT of continuation tokens then, \
    states=N numbers, layers=N, knows=TEXT before the label that the states hold, knows-from=N layers, turn-on=TEXT of prompts \
    whose states hold the next label";

/// Tokens of the made-up vocabulary.
const VOCABULARY: u32 = 50_000;

/// What the fake engine does beside answering.
#[derive(Clone, Debug, Default, PartialEq)]
struct Faults {
    context: Option<u32>,
    delay_us: u64,
    die_after: Option<u64>,
    die_on: Option<String>,
    die_measuring: Option<u64>,
    hang_after: Option<u64>,
    hang_on: Option<String>,
    fail_on: Option<String>,
    babble: bool,
    allocate_mib: usize,
    say: Option<String>,
    grow_mib: usize,
    strike: Option<Strike>,
    strike_after: u64,
    once: Option<String>,
    truth: Option<planted::Planted>,
    held: states::PlantedStates,
}

/// What befalls a worker on request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Strike {
    Signal(rustix::process::Signal),
    Hang,
    /// Noise on the pipe of the frames.
    Garbage,
    /// An answer to a job that nobody asked.
    Surplus,
}

fn strike(word: &str) -> Option<Strike> {
    use rustix::process::Signal;
    Some(match word {
        "abort" => Strike::Signal(Signal::ABORT),
        "ill" => Strike::Signal(Signal::ILL),
        "bus" => Strike::Signal(Signal::BUS),
        "kill" => Strike::Signal(Signal::KILL),
        "hang" => Strike::Hang,
        "garbage" => Strike::Garbage,
        "surplus" => Strike::Surplus,
        _ => return None,
    })
}

/// Whether a model path names the fake engine.
pub fn is_fake(path: &Path) -> bool {
    path.to_str().is_some_and(|text| text == "fake" || text.starts_with("fake:"))
}

/// Whether the fake engine stands for a file that cannot be mapped.
pub fn is_unmappable(path: &Path) -> bool {
    is_fake(path)
        && path.to_str().is_some_and(|name| name.split([':', ',']).any(|option| option == "unmappable"))
}

fn parse(name: &str) -> Result<Faults, EngineError> {
    let mut faults = Faults::default();
    let options = name.strip_prefix("fake").unwrap_or_default().trim_start_matches(':');
    for option in options.split(',').filter(|option| !option.is_empty()) {
        let (key, value) = option.split_once('=').unwrap_or((option, ""));
        let number = || {
            value
                .parse::<u64>()
                .map_err(|_| EngineError(format!("fake engine: {key} needs a number, got {value:?}")))
        };
        match key {
            "context" => faults.context = Some(number()?.min(u64::from(u32::MAX)) as u32),
            "delay-us" => faults.delay_us = number()?,
            "die-after" => faults.die_after = Some(number()?),
            "die-measuring" => faults.die_measuring = Some(number()?),
            "die-on" => faults.die_on = Some(value.to_owned()),
            "hang-after" => faults.hang_after = Some(number()?),
            "hang-on" => faults.hang_on = Some(value.to_owned()),
            "fail-on" => faults.fail_on = Some(value.to_owned()),
            "say" => faults.say = Some(value.to_owned()),
            "babble" => faults.babble = true,
            // Seen by whoever plans: there is no file.
            "unmappable" => {}
            "grow" => faults.grow_mib = number()? as usize,
            "strike" => {
                faults.strike = Some(
                    strike(value)
                        .ok_or_else(|| EngineError(format!("fake engine: unknown strike {value:?}")))?,
                );
            }
            "planted" | "lean-on" | "lean" | "talk" => {
                let planted = faults.truth.get_or_insert_default();
                planted.set(key, value).map_err(|message| EngineError(format!("fake engine: {message}")))?;
            }
            "strike-after" => faults.strike_after = number()?,
            "once" => faults.once = Some(value.to_owned()),
            "allocate" => faults.allocate_mib = number()? as usize,
            "states" => faults.held.dimension = number()?.min(1 << 16) as usize,
            "layers" => faults.held.layers = number()?.min(1 << 10) as usize,
            "knows" => faults.held.knows = value.to_owned(),
            "knows-from" => faults.held.from_layer = number()?.min(1 << 10) as usize,
            "turn-on" => faults.held.turned_by = Some(value.to_owned()),
            _ => {
                return Err(EngineError(format!("fake engine: unknown option {key:?}; known: {OPTIONS}")));
            }
        }
    }
    Ok(faults)
}

/// The fake engine.
pub struct Fake {
    faults: Faults,
    context_tokens: u32,
    jobs_done: u64,
    prompts_measured: u64,
    /// Memory held on request.
    ballast: Vec<u8>,
    /// The next round has one answer too many.
    surplus: bool,
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
        let faults = parse(name)?;
        let mut ballast = vec![0u8; faults.allocate_mib << 20];
        // Untouched pages are not memory yet.
        ballast.iter_mut().step_by(4096).for_each(|byte| *byte = 1);
        let context_tokens = faults.context.map_or(context_tokens, |own| own.min(context_tokens));
        Ok(Fake { ballast, ..Fake::bare(faults, context_tokens) })
    }

    fn bare(faults: Faults, context_tokens: u32) -> Self {
        Fake {
            faults,
            context_tokens,
            jobs_done: 0,
            prompts_measured: 0,
            ballast: Vec::new(),
            surplus: false,
            eyes: false,
            shown: BTreeMap::new(),
            seen: BTreeSet::new(),
        }
    }

    /// The same, with eyes for pictures or without.
    #[must_use]
    pub fn seeing(self, eyes: bool) -> Self {
        Fake { eyes, ..self }
    }

    /// The same without its ballast: what a vocabulary alone would be.
    pub fn vocabulary(name: &str, context_tokens: u32) -> Result<Self, EngineError> {
        let faults = parse(name)?;
        let context_tokens = faults.context.map_or(context_tokens, |own| own.min(context_tokens));
        Ok(Fake::bare(faults, context_tokens))
    }

    /// Whether it is time for the fault that was asked for; with `once`, one process of all has it.
    fn is_struck(&self) -> Option<Strike> {
        let strike = self.faults.strike.filter(|_| self.jobs_done == self.faults.strike_after)?;
        let mine = |path: &String| std::fs::File::create_new(path).is_ok();
        self.faults.once.as_ref().is_none_or(mine).then_some(strike)
    }

    fn suffer(&mut self, strike: Strike) {
        match strike {
            Strike::Signal(signal) => {
                // Twice: the language's own handler takes a first bus error for a look at the stack's guard.
                for _ in 0..2 {
                    let _ = rustix::process::kill_process(rustix::process::getpid(), signal);
                }
            }
            Strike::Hang => loop {
                std::thread::sleep(Duration::from_secs(3600));
            },
            // The worker has its frames on the first free descriptor (Linux names it so).
            Strike::Garbage => {
                use std::io::Write;
                if let Ok(mut pipe) = std::fs::OpenOptions::new().write(true).open("/proc/self/fd/3") {
                    let _ = pipe.write_all(b"what is this?\0\x01\x02\0\0garbage\0");
                }
            }
            Strike::Surplus => self.surplus = true,
        }
    }

    fn misbehave(&mut self, text: &str) {
        let on = |pattern: &Option<String>| {
            pattern.as_ref().is_some_and(|pattern| text.contains(pattern.as_str()))
        };
        if self.faults.babble {
            // On purpose: a library that prints to the standard output must not disturb the frames.
            #[allow(clippy::print_stdout)]
            {
                println!("fake engine babbles: {} \u{0} job {}", self.ballast.len(), self.jobs_done);
            }
        }
        if on(&self.faults.die_on) || self.faults.die_after == Some(self.jobs_done) {
            std::process::abort();
        }
        if on(&self.faults.hang_on) || self.faults.hang_after == Some(self.jobs_done) {
            loop {
                std::thread::sleep(Duration::from_secs(3600));
            }
        }
        if let Some(strike) = self.is_struck() {
            self.suffer(strike);
        }
        if self.faults.grow_mib > 0 {
            let before = self.ballast.len();
            self.ballast.resize(before + (self.faults.grow_mib << 20), 0);
            self.ballast[before..].iter_mut().step_by(4096).for_each(|byte| *byte = 1);
        }
        std::thread::sleep(Duration::from_micros(self.faults.delay_us));
        self.jobs_done += 1;
    }

    fn answer(&mut self, job: &Job) -> Reply {
        if let Some(missing) = pictures(&job.prompt).find(|&address| !self.shown.contains_key(address)) {
            let reason = format!("fake engine: picture {missing} is not there");
            return Reply::Failed { reason, usage: Usage::default() };
        }
        let text: String = job.prompt.iter().map(words).collect();
        let size = self.size(job);
        let needed = size.prompt_tokens + size.extra_tokens.min(1);
        if needed > self.context_tokens {
            return Reply::TooLong { needed, context: self.context_tokens };
        }
        self.misbehave(&text);
        let fresh = pictures(&job.prompt).filter(|&address| self.seen.insert(address.to_owned())).count();
        let usage = Usage {
            prompt_tokens: size.prompt_tokens,
            evaluated_tokens: size.prompt_tokens,
            picture_tokens: size.picture_tokens,
            pictures_encoded: fresh as u32,
            ..Usage::default()
        };
        if self.faults.fail_on.as_ref().is_some_and(|pattern| text.contains(pattern.as_str())) {
            return Reply::Failed { reason: "fake engine: told to fail on this prompt".into(), usage };
        }
        match &job.request {
            Request::Score(score) => {
                let scored = match &self.faults.truth {
                    Some(planted) => planted.scored(&text, score, usage),
                    None => made_up::scored(&text, score, usage),
                };
                Reply::Scored(Scored { states: self.faults.held.states(&text, score), ..scored })
            }
            Request::Generate(generate) => Reply::Generated(self.generated(&text, generate, usage)),
        }
    }

    /// One token per word: good enough for plans, and the same everywhere.
    fn size(&self, job: &Job) -> PromptSize {
        let words: usize = job.prompt.iter().map(|segment| segment.text.split_whitespace().count()).sum();
        let size = |address| self.shown.get(address).copied().unwrap_or_default();
        let picture_tokens = pictures(&job.prompt).map(|address| squares(size(address))).sum();
        let extra_tokens = match &job.request {
            Request::Score(_) => 1,
            Request::Generate(generate) => generate.max_tokens,
        };
        let prompt_tokens = words as u32 + picture_tokens + u32::from(job.add_bos);
        PromptSize { prompt_tokens, extra_tokens, picture_tokens }
    }

    /// What became of the pictures that the group sees for the first time.
    fn encoded(&self, jobs: &[Job]) -> Vec<Encoded> {
        let fresh: BTreeSet<&str> = jobs
            .iter()
            .flat_map(|job| pictures(&job.prompt))
            .filter(|&address| self.shown.contains_key(address) && !self.seen.contains(address))
            .collect();
        let one = |address: &str| {
            let size = self.shown.get(address).copied().unwrap_or_default();
            let address = address.to_owned();
            Encoded { address, size, tiles: vec![size], tokens: squares(size), times: 1, encode_us: 1 }
        };
        fresh.into_iter().map(one).collect()
    }

    fn generated(&self, text: &str, generate: &Generate, mut usage: Usage) -> Generated {
        const WORDS: [&str; 12] =
            ["First", "we", "look", "at", "the", "rule", "so", "the", "answer", "is", "[[left]]", "Yes"];
        let room = (self.context_tokens - usage.prompt_tokens).min(generate.max_tokens) as usize;
        let planted = self.faults.truth.as_ref().map(|planted| planted.says(text));
        let reply: String = match self.faults.say.clone().or(planted) {
            Some(say) => say,
            None => {
                // Drawn replies differ by their seed; greedy ones by the prompt alone.
                let seed = match generate.sampling {
                    Sampling::Greedy => String::new(),
                    Sampling::Temperature { seed, .. } => seed.to_string(),
                };
                let salt = format!("{text}{seed}");
                let length = 4 + hash(&(salt.as_str(), "length")) as usize % 20;
                let word = |place: usize| WORDS[hash(&(salt.as_str(), place)) as usize % WORDS.len()];
                (0..length).map(word).collect::<Vec<_>>().join(" ")
            }
        };
        let words: Vec<&str> = reply.split_inclusive(' ').collect();
        let finish = if words.len() > room { Finish::Length } else { Finish::Stop };
        let kept = &words[..words.len().min(room)];
        usage.output_tokens = kept.len() as u32;
        let tokens = kept.iter().map(|word| (hash(word) % u64::from(VOCABULARY)) as i32).collect();
        Generated { bytes: kept.concat().into_bytes(), tokens, finish, thinking_cut: false, usage }
    }
}

/// What a stretch of a prompt says; of a picture, which one it is.
fn words(segment: &Segment) -> &str {
    segment.picture.as_deref().unwrap_or(&segment.text)
}

/// A picture of the made-up engine takes a token for every square of 32 pixels.
fn squares((width, height): (u32, u32)) -> u32 {
    width.div_ceil(32).saturating_mul(height.div_ceil(32))
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
            trained_context_tokens: self.faults.context.unwrap_or(8192),
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
        self.prompts_measured += jobs.len() as u64;
        if self.faults.die_measuring.is_some_and(|most| self.prompts_measured > most) {
            std::process::abort();
        }
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
        let cache_bytes = (self.faults.allocate_mib as u64) << 20;
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
        if std::mem::take(&mut self.surplus) {
            replies.extend(replies.last().cloned());
        }
        let wall_us = started.elapsed().as_micros() as u64;
        let phase = Phase { kind: PhaseKind::Prefill, wall_us, library_us: wall_us, tokens: tokens as u32 };
        let calls = match &replies[..] {
            [reply] => calls(reply.usage(), wall_us),
            _ => Vec::new(),
        };
        let spans = vec![Span { kind: phase.kind, begin_us: 0, end_us: wall_us }];
        let readout = self.faults.held.readout(jobs, |label| token(label).id);
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
        self.misbehave(&format!("probe {:?}", probe.work));
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
