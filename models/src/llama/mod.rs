//! llama.cpp behind the [`Engine`] contract. The only module that knows the binding.
//!
//! llama.cpp aborts the process on what it holds for impossible, so this module must only ever run in the worker.

mod decoder;
mod exact;
mod vocabulary;

use std::sync::OnceLock;
use std::time::Instant;

use llama_cpp_2::llama_backend::LlamaBackend;
use llama_cpp_2::model::LlamaModel;
use llama_cpp_2::model::params::LlamaModelParams;

use crate::{
    Advance, Engine, EngineError, EngineFacts, Job, LoadSpec, Phase, PhaseKind, PromptSize, Request,
    RoundReply,
};
use decoder::Decoder;
use vocabulary::Vocabulary;

/// A loaded GGUF model.
pub struct Llama {
    vocabulary: Vocabulary,
    /// `None` when only the vocabulary was loaded.
    decoder: Option<Decoder>,
    facts: EngineFacts,
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
        let decoder = match spec.vocab_only {
            true => None,
            false => Some(Decoder::new(backend, model, spec)?),
        };
        let facts = EngineFacts {
            engine: format!("llama.cpp by llama-cpp-2 {}", crate::LLAMA_CPP_2_VERSION),
            system: system_info(),
            context_tokens: decoder.as_ref().map_or(0, Decoder::context_tokens),
            trained_context_tokens: model.n_ctx_train(),
            vocab_tokens: vocabulary.size(),
            adds_bos: vocabulary.adds_bos(),
            load_us: started.elapsed().as_micros() as u64,
        };
        Ok(Llama { vocabulary, decoder, facts })
    }
}

fn backend() -> Result<&'static LlamaBackend, EngineError> {
    static BACKEND: OnceLock<Result<LlamaBackend, String>> = OnceLock::new();
    BACKEND
        .get_or_init(|| LlamaBackend::init().map_err(|error| error.to_string()))
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

impl Engine for Llama {
    fn facts(&self) -> EngineFacts {
        self.facts.clone()
    }

    fn measure(&mut self, jobs: &[Job]) -> Result<Vec<PromptSize>, EngineError> {
        let size = |job: &Job| match self.vocabulary.prepare(job) {
            Ok(work) => work.size(job),
            Err(impossible) => PromptSize { prompt_tokens: impossible.prompt_tokens, extra_tokens: 0 },
        };
        Ok(jobs.iter().map(size).collect())
    }

    fn round(&mut self, jobs: &[Job], progress: &mut dyn FnMut(Advance)) -> Result<RoundReply, EngineError> {
        let Some(decoder) = &mut self.decoder else {
            return Err(EngineError("only the vocabulary is loaded: jobs cannot be answered".into()));
        };
        let mut reply = RoundReply::default();
        let mut tokenize = Phase { kind: PhaseKind::Tokenize, wall_us: 0, library_us: 0, tokens: 0 };
        let mut prefill = Phase { kind: PhaseKind::Prefill, ..tokenize };
        let mut decode = Phase { kind: PhaseKind::Decode, ..tokenize };
        let mut done = Advance::default();
        for job in jobs {
            let started = Instant::now();
            let work = self.vocabulary.prepare(job);
            let spent = started.elapsed().as_micros() as u64;
            tokenize.wall_us += spent;
            tokenize.library_us += spent;
            let before = decoder.library_us();
            let answered = Instant::now();
            let answer = exact::answer(decoder, &self.vocabulary, job, work);
            let usage = answer.usage();
            tokenize.tokens += usage.prompt_tokens;
            let phase = match job.request {
                Request::Score(_) => &mut prefill,
                Request::Generate(_) => &mut decode,
            };
            phase.wall_us += (answered.elapsed().as_micros() as u64).saturating_sub(usage.prefill_us);
            phase.library_us += decoder.library_us() - before;
            phase.tokens += usage.output_tokens;
            prefill.wall_us += usage.prefill_us;
            prefill.tokens += usage.evaluated_tokens;
            done.jobs += 1;
            done.tokens += u64::from(usage.evaluated_tokens + usage.output_tokens);
            progress(done);
            reply.replies.push(answer);
        }
        reply.phases = vec![tokenize, prefill, decode];
        Ok(reply)
    }

    fn end_group(&mut self) {
        // Every job of the exact mode starts from an empty cache: nothing is kept between groups.
    }
}
