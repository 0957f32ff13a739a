//! llama.cpp behind the [`Engine`] contract. The only module that knows the binding.
//!
//! llama.cpp aborts the process on what it holds for impossible, so this module must only ever run in the worker.

mod admission;
mod cache;
mod capture;
mod checkpointed;
mod context;
mod decoder;
mod exact;
mod eyes;
mod leaves;
mod packed;
mod probing;
mod quantise;
mod scoring;
mod shape;
mod sizing;
mod state;
mod streams;
mod unembedding;
mod vision;
mod vocabulary;
mod work;
mod writing;

use std::collections::BTreeSet;
use std::sync::OnceLock;
use std::time::Instant;

use llama_cpp_2::llama_backend::LlamaBackend;
use llama_cpp_2::model::LlamaModel;
use llama_cpp_2::model::params::LlamaModelParams;

use crate::hidden::NO_STATES;
use crate::{
    Advance, Buffers, Engine, EngineError, EngineFacts, Job, LoadSpec, Mode, Phase, PhaseKind, Probe,
    ProbeReply, PromptSize, Readout, Reply, Request, RoundReply, Shown, States, Tokenised,
};
use decoder::{Decoder, keeps_state};
use eyes::Eyes;
use shape::Shape;
use streams::Streams;
use unembedding::Unembedding;
use vision::Vision;
use vocabulary::{Impossible, Vocabulary};

pub use quantise::{FileType, file_types, quantise};

/// A loaded GGUF model.
pub struct Llama {
    vocabulary: Vocabulary,
    /// `None` when only the vocabulary was loaded.
    decoder: Option<Decoder>,
    /// Where replies are written, unless they stay with the prompts.
    streams: Option<Streams>,
    /// The context of prompts.
    shape: Shape,
    parallel: usize,
    facts: EngineFacts,
    model: &'static LlamaModel,
    spec: LoadSpec,
    /// What reads pictures; where the vocabulary alone is loaded, from the first picture on.
    vision: Option<Vision>,
    /// The model's end, read when states are wanted for the first time.
    unembedding: Option<Result<Unembedding, String>>,
}

impl Llama {
    /// Loads the model. It stays in memory until the process ends: a worker loads one.
    pub fn open(spec: &LoadSpec) -> Result<Self, EngineError> {
        let started = Instant::now();
        let backend = backend()?;
        let params = LlamaModelParams::default().with_vocab_only(spec.vocab_only).with_use_mmap(spec.mmap);
        let model = LlamaModel::load_from_file(backend, &spec.model, &params).map_err(|error| {
            EngineError(format!("{}: llama.cpp cannot load it: {error}", spec.model.display()))
        })?;
        let model: &'static LlamaModel = Box::leak(Box::new(model));
        let vocabulary = Vocabulary::new(model);
        let (shape, decoder, streams) = match spec.vocab_only {
            true => (Shape::of(spec, keeps_state(model)), None, None),
            false => {
                let (shape, decoder, streams) = open_contexts(model, spec)?;
                (shape, Some(decoder), streams)
            }
        };
        let vision = match (&spec.mmproj, spec.vocab_only) {
            (Some(_), false) => Some(open_vision(model, spec, true)?),
            _ => None,
        };
        let facts = EngineFacts {
            engine: format!("llama.cpp by llama-cpp-2 {}", crate::LLAMA_CPP_2_VERSION),
            system: system_info(),
            context_tokens: decoder.as_ref().map_or(0, Decoder::context_tokens),
            trained_context_tokens: model.n_ctx_train(),
            vocab_tokens: vocabulary.size(),
            adds_bos: vocabulary.adds_bos(),
            packs: spec.mode == Mode::Packed && !keeps_state(model),
            checkpoints: spec.mode == Mode::Packed && keeps_state(model),
            load_us: started.elapsed().as_micros() as u64,
            level: crate::CPU_LEVEL.to_owned(),
            shows_pictures: spec.mmproj.is_some(),
        };
        let parallel = spec.parallel.max(1) as usize;
        Ok(Llama {
            vocabulary,
            decoder,
            streams,
            shape,
            parallel,
            facts,
            model,
            spec: spec.clone(),
            vision,
            unembedding: None,
        })
    }
}

/// The context of prompts, and that of replies where they have one.
fn open_contexts(
    model: &'static LlamaModel,
    spec: &LoadSpec,
) -> Result<(Shape, Decoder, Option<Streams>), EngineError> {
    let keeps_state = keeps_state(model);
    if let Some((prompts, replies)) = Shape::apart(spec, keeps_state) {
        let mut decoder = Decoder::new(model, spec, prompts)?;
        if let Some(streams) = Streams::open(model, spec, replies, &mut decoder)? {
            return Ok((prompts, decoder, Some(streams)));
        }
    }
    let shape = Shape::of(spec, keeps_state);
    Ok((shape, Decoder::new(model, spec, shape)?, None))
}

fn open_vision(model: &'static LlamaModel, spec: &LoadSpec, warm: bool) -> Result<Vision, EngineError> {
    let path = spec.mmproj.as_ref();
    let path = path.ok_or_else(|| EngineError("no picture projector was given with the model".into()))?;
    let at_once = Shape::of(spec, keeps_state(model)).micro_batch_tokens();
    Eyes::open(path, model, spec.threads_batch, warm).map(|eyes| Vision::new(eyes, at_once))
}

/// Lets warnings and errors of the library through to standard error, where the supervisor collects a worker's last
/// words; the rest would drown them.
#[allow(unsafe_code)]
fn quiet() {
    use std::ffi::{CStr, c_char, c_void};
    use std::sync::atomic::{AtomicBool, Ordering};
    static SHOWN: AtomicBool = AtomicBool::new(false);
    unsafe extern "C" fn hear(level: llama_cpp_sys_2::ggml_log_level, text: *const c_char, _: *mut c_void) {
        let shown = match level {
            llama_cpp_sys_2::GGML_LOG_LEVEL_CONT => SHOWN.load(Ordering::Relaxed),
            llama_cpp_sys_2::GGML_LOG_LEVEL_WARN | llama_cpp_sys_2::GGML_LOG_LEVEL_ERROR => true,
            _ => false,
        };
        SHOWN.store(shown, Ordering::Relaxed);
        if shown && !text.is_null() {
            use std::io::Write;
            // SAFETY: the library passes a string that ends in zero and lives during the call.
            let text = unsafe { CStr::from_ptr(text) };
            let _ = std::io::stderr().write_all(text.to_bytes());
        }
    }
    // SAFETY: the function is static and takes no data.
    unsafe {
        llama_cpp_sys_2::llama_log_set(Some(hear), std::ptr::null_mut());
        llama_cpp_sys_2::mtmd_log_set(Some(hear), std::ptr::null_mut());
    }
}

fn backend() -> Result<&'static LlamaBackend, EngineError> {
    static BACKEND: OnceLock<Result<LlamaBackend, String>> = OnceLock::new();
    BACKEND
        .get_or_init(|| {
            quiet();
            LlamaBackend::init().map_err(|error| error.to_string())
        })
        .as_ref()
        .map_err(|error| EngineError(format!("llama.cpp does not start: {error}")))
}

/// The processor features that the library uses.
fn system_info() -> String {
    // SAFETY: returns a pointer to a static string of the library, written by this very call; the worker is the only
    // caller and has one thread at this point.
    #[allow(unsafe_code)]
    let text = unsafe { std::ffi::CStr::from_ptr(llama_cpp_sys_2::llama_print_system_info()) };
    text.to_string_lossy().trim().to_owned()
}

impl Llama {
    /// Makes the context able to tell hidden states, where a job wants some; it is opened anew for the first one that does.
    fn listen(&mut self, jobs: &[Job]) -> Result<States, EngineError> {
        let wish = |job: &Job| match &job.request {
            Request::Score(score) => score.states,
            Request::Generate(_) => States::None,
        };
        let wish = jobs.iter().map(wish).max().unwrap_or_default();
        if wish != States::None && self.decoder.as_ref().is_some_and(|decoder| !decoder.listens()) {
            // The first context's memory is needed for the second.
            self.decoder = None;
            self.decoder = Some(Decoder::listening(self.model, &self.spec, self.shape)?);
        }
        if let Some(decoder) = &self.decoder {
            decoder.begin_states(wish);
        }
        Ok(wish)
    }

    /// What reads labels out of the states of a round, and why states are missing.
    fn readout(&mut self, jobs: &[Job], replies: &[Reply]) -> Readout {
        let path = &self.spec.model;
        let end = self.unembedding.get_or_insert_with(|| Unembedding::open(path));
        let mut readout = match end {
            Ok(end) => end.readout(replies),
            Err(reason) => {
                Readout { refusals: vec![format!("no logit lens: {reason}")], ..Readout::default() }
            }
        };
        let is_missing = |(job, reply): (&Job, &Reply)| {
            let wanted = matches!(&job.request, Request::Score(score) if score.states != States::None);
            wanted && matches!(reply, Reply::Scored(scored) if scored.states.is_none())
        };
        if jobs.iter().zip(replies).any(is_missing) {
            let fault = self.decoder.as_ref().and_then(Decoder::states_fault);
            readout.refusals.push(match fault {
                Some(fault) => format!("{NO_STATES}: {fault}"),
                None => format!(
                    "{NO_STATES}: this architecture does not name the states of its layers, or they are not finite"
                ),
            });
        }
        readout
    }

    /// Texts of the tokens of all scored labels, each once.
    fn label_pieces(&self, replies: &[Reply]) -> Vec<(i32, String)> {
        let labels = replies.iter().filter_map(|reply| match reply {
            Reply::Scored(scored) => Some(&scored.labels),
            _ => None,
        });
        let ids: BTreeSet<i32> = labels.flatten().flat_map(|label| label.tokens.iter().copied()).collect();
        ids.into_iter().map(|id| (id, self.vocabulary.token(id).piece)).collect()
    }
}

impl Engine for Llama {
    fn facts(&self) -> EngineFacts {
        self.facts.clone()
    }

    fn show(&mut self, forget: &[String], pictures: Vec<Shown>) -> Result<(), EngineError> {
        if self.vision.is_none() && !pictures.is_empty() {
            self.vision = Some(open_vision(self.model, &self.spec, false)?);
        }
        let Some(vision) = &mut self.vision else { return Ok(()) };
        forget.iter().for_each(|address| vision.forget(address));
        pictures.into_iter().try_for_each(|picture| vision.hold(picture)).map_err(EngineError)
    }

    fn measure(&mut self, jobs: &[Job]) -> Result<Vec<PromptSize>, EngineError> {
        let size = |job: &Job| match self.vocabulary.prepare(job, self.vision.as_ref()) {
            Ok(work) => work.size(job),
            Err(Impossible { prompt_tokens, .. }) => PromptSize { prompt_tokens, ..PromptSize::default() },
        };
        Ok(jobs.iter().map(size).collect())
    }

    fn tokenise(&mut self, jobs: &[Job]) -> Result<Vec<Tokenised>, EngineError> {
        Ok(jobs.iter().map(|job| self.vocabulary.tokenised(job, self.vision.as_ref())).collect())
    }

    fn buffers(&mut self, specs: &[LoadSpec]) -> Result<Vec<Buffers>, EngineError> {
        sizing::buffers(specs)
    }

    fn round(&mut self, jobs: &[Job], progress: &mut dyn FnMut(Advance)) -> Result<RoundReply, EngineError> {
        let wish = self.listen(jobs)?;
        let Some(decoder) = &mut self.decoder else {
            return Err(EngineError("only the vocabulary is loaded: jobs cannot be answered".into()));
        };
        let started = Instant::now();
        decoder.note_calls(jobs.len() == 1, started);
        decoder.begin_spans(started);
        let context_tokens = decoder.context_tokens();
        let tasks: Vec<_> = jobs
            .iter()
            .map(|job| work::task(&self.vocabulary, self.vision.as_ref(), job, context_tokens))
            .collect();
        decoder.vision = self.vision.take();
        let spent = started.elapsed().as_micros() as u64;
        let tokens = tasks.iter().flatten().map(|task| task.usage.prompt_tokens).sum();
        let tokenize = Phase { kind: PhaseKind::Tokenize, wall_us: spent, library_us: spent, tokens };
        let vocabulary = &self.vocabulary;
        let mut reply = if self.facts.packs {
            let streams = self.streams.as_mut();
            packed::round(decoder, streams, vocabulary, self.parallel, (jobs, tasks), progress)
        } else if self.facts.checkpoints {
            let follow_up = jobs.iter().map(|job| job.follow_up).collect();
            checkpointed::round(decoder, vocabulary, tasks, follow_up, progress)
        } else {
            exact::round(decoder, vocabulary, tasks, progress)
        };
        reply.calls = decoder.note_calls(false, started);
        reply.spans = decoder.take_spans();
        self.vision = decoder.vision.take();
        reply.pictures = self.vision.as_mut().map(Vision::report).unwrap_or_default();
        reply.phases.insert(0, tokenize);
        reply.pieces = self.label_pieces(&reply.replies);
        if wish != States::None {
            reply.readout = self.readout(jobs, &reply.replies);
        }
        reply.took_us = started.elapsed().as_micros() as u64;
        Ok(reply)
    }

    fn end_group(&mut self) {
        if let Some(decoder) = &mut self.decoder {
            decoder.clear();
        }
        if let Some(vision) = &mut self.vision {
            vision.end_group();
        }
    }

    fn probe(&mut self, probe: &Probe, progress: &mut dyn FnMut(Advance)) -> Result<ProbeReply, EngineError> {
        if self.decoder.is_none() {
            return Err(EngineError("only the vocabulary is loaded: nothing can be measured".into()));
        }
        probing::probe(self.model, &self.spec, probe, progress)
    }
}
