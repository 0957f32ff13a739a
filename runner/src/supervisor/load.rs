//! How a model is loaded: threads, cache, and the context that a plan's prompts need.

use std::collections::BTreeMap;

use datasets::Picture;
use models::{LoadSpec, PromptSize};

use super::showing::{HELD_BYTES, pixel_bytes};
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
        // Places for replies would take cells from the prompts.
        parallel: if plan.generates() { engine.parallel } else { 1 },
        batch_tokens: engine.batch_tokens,
        threads,
        threads_batch: match engine.threads_batch {
            0 => threads,
            chosen => chosen,
        },
        mmap: engine.mmap && plan.models[model].unmappable.is_none(),
        kv: models::KvType::F16,
        mmproj: plan.models[model].mmproj.as_ref().map(|mmproj| mmproj.path.clone()),
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
    /// Pixels of the group that shows most, in bytes.
    pub most_pixel_bytes: u64,
    /// Pixels of all groups.
    pub pixel_bytes: u64,
    /// Pixels of the largest picture.
    pub largest_pixel_bytes: u64,
    /// Most pictures of a group.
    pub most_pictures: u64,
    /// Most tokens of the pictures of one prompt.
    pub most_picture_tokens: u32,
}

impl Need {
    /// Adds measured prompts.
    pub fn add(&mut self, sizes: &[PromptSize], grows: bool) {
        for size in sizes {
            self.prompts += 1;
            self.prompt_tokens += u64::from(size.prompt_tokens);
            self.most_picture_tokens = self.most_picture_tokens.max(size.picture_tokens);
            self.longest_prompt_tokens = self.longest_prompt_tokens.max(size.prompt_tokens);
            self.longest_tokens =
                self.longest_tokens.max(size.prompt_tokens.saturating_add(size.extra_tokens));
        }
        self.grows |= grows;
    }

    /// Adds the pictures of a group.
    pub fn see<'p>(&mut self, pictures: impl Iterator<Item = &'p Picture>) {
        let sizes: BTreeMap<String, u64> =
            pictures.map(|picture| (picture.address(), pixel_bytes(picture))).collect();
        let bytes: u64 = sizes.values().sum();
        self.most_pictures = self.most_pictures.max(sizes.len() as u64);
        let largest = sizes.values().copied().max().unwrap_or(0);
        self.largest_pixel_bytes = self.largest_pixel_bytes.max(largest);
        self.most_pixel_bytes = self.most_pixel_bytes.max(bytes);
        self.pixel_bytes = self.pixel_bytes.saturating_add(bytes);
    }

    /// Pixels that a worker holds at the most.
    pub fn held_pixel_bytes(&self) -> u64 {
        self.pixel_bytes.min(HELD_BYTES.max(self.most_pixel_bytes))
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
