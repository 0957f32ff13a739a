//! How a model is loaded: threads, cache, and the context that a plan's prompts need.

use models::{LoadSpec, PromptSize};

use crate::plan::Plan;
use crate::threads;

/// How a model is loaded, but for the context where the plan decides it.
pub fn load_spec(plan: &Plan, model: usize) -> LoadSpec {
    let engine = &plan.config.engine;
    let threads = threads::chosen(engine.threads);
    LoadSpec {
        model: plan.models[model].path.clone(),
        vocab_only: false,
        context_tokens: match engine.context_tokens {
            0 => engine.context_cap_tokens,
            chosen => chosen,
        },
        mode: engine.mode,
        cells: match engine.cells {
            0 => plan.models[model].modest_cells(),
            chosen => chosen,
        },
        sequences: engine.sequences,
        parallel: engine.parallel,
        batch_tokens: engine.batch_tokens,
        threads,
        threads_batch: match engine.threads_batch {
            0 => threads,
            chosen => chosen,
        },
        mmap: engine.mmap && plan.models[model].unmappable.is_none(),
        kv: models::KvType::F16,
    }
}

/// What the prompts of a plan need of a context.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Need {
    /// Prompts measured.
    pub prompts: u64,
    /// Their tokens.
    pub prompt_tokens: u64,
    /// The longest prompt.
    pub longest_prompt_tokens: u32,
    /// The longest prompt with what its request may add.
    pub longest_tokens: u32,
    /// Whether some conversations grow beyond what can be measured.
    pub grows: bool,
}

impl Need {
    /// Adds measured prompts.
    pub fn add(&mut self, sizes: &[PromptSize], grows: bool) {
        for size in sizes {
            self.prompts += 1;
            self.prompt_tokens += u64::from(size.prompt_tokens);
            self.longest_prompt_tokens = self.longest_prompt_tokens.max(size.prompt_tokens);
            self.longest_tokens =
                self.longest_tokens.max(size.prompt_tokens.saturating_add(size.extra_tokens));
        }
        self.grows |= grows;
    }

    /// The context to open: what is needed, at most what the model was trained for, in whole blocks.
    pub fn context_tokens(&self, plan: &Plan, model: usize) -> u32 {
        /// llama.cpp pads a context to such blocks by itself.
        const BLOCK: u32 = 256;
        let cap = plan.config.engine.context_cap_tokens;
        let wanted = if self.grows { self.longest_tokens.max(cap) } else { self.longest_tokens };
        let wanted = wanted.max(1).div_ceil(BLOCK).saturating_mul(BLOCK);
        plan.models[model].trained_context_tokens().map_or(wanted, |trained| wanted.min(trained.max(1)))
    }
}
