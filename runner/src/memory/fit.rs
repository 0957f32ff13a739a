//! How a model is loaded when it does not fit: one thing after the other is lowered, what harms least first.

use std::fmt;

use models::gguf::Header;
use models::{KvType, LoadSpec, Mode};
use serde::{Deserialize, Serialize};

use super::Limit;
use super::budget::Counts;
use super::prediction::Prediction;
use super::repack::{Features, Places};
use crate::plan::{Plan, PlannedModel};
use crate::supervisor::Need;

/// What a step does to answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Effect {
    /// Scores and replies stay the same, bit for bit.
    Identical,
    /// Batches get another shape: scores move within the noise floor of quantised models.
    Noise,
    /// Answers are others. Only where the configuration allows it.
    Changes,
}

/// What a configuration may allow beyond the steps that keep results.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Allow {
    /// Keys and values in 8-bit blocks, then in 4-bit blocks.
    QuantisedKv,
    /// Replies are cut where a smaller context ends.
    ShorterGeneration,
    /// Items whose prompt does not fit a smaller context are skipped.
    SkipTooLong,
}

/// One thing that was lowered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Step {
    /// The key of the configuration.
    pub what: String,
    /// What was wanted.
    pub from: String,
    /// What is done.
    pub to: String,
    /// What that does to answers.
    pub effect: Effect,
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let effect = match self.effect {
            Effect::Identical => "answers stay the same bit for bit",
            Effect::Noise => "scores move within the noise floor",
            Effect::Changes => "ANSWERS CHANGE, as the configuration allows",
        };
        write!(f, "{} {} instead of {} ({effect})", self.what, self.to, self.from)
    }
}

/// A way to load a model, with what was lowered to get there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rung {
    /// How it is loaded.
    pub spec: LoadSpec,
    /// What was lowered, in order.
    pub steps: Vec<Step>,
}

/// A way to load a model that fits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fitted {
    /// How it is loaded.
    pub spec: LoadSpec,
    /// What was lowered.
    pub steps: Vec<Step>,
    /// What it takes.
    pub prediction: Prediction,
}

impl Fitted {
    /// A rung that fits.
    pub fn of(rung: Rung, prediction: Prediction) -> Self {
        Fitted { spec: rung.spec, steps: rung.steps, prediction }
    }
}

impl Rung {
    /// Nothing is lowered.
    pub fn wanted(spec: &LoadSpec) -> Self {
        Rung { spec: spec.clone(), steps: Vec::new() }
    }

    /// What a plan wants of a model, and what its file does not allow of that: every way to load it begins here.
    pub fn planned(plan: &Plan, model: &PlannedModel, spec: LoadSpec) -> Self {
        Rung { spec, steps: unmapped(model, plan.config.engine.mmap).into_iter().collect() }
    }
}

/// What is done about a model that was to be mapped and cannot be: its weights are read.
fn unmapped(model: &PlannedModel, wanted: bool) -> Option<Step> {
    let reason = model.unmappable.as_ref().filter(|_| wanted)?;
    let to = format!("false, since the file cannot be mapped here ({reason}),");
    Some(Step { what: "mmap".into(), from: "true".into(), to, effect: Effect::Identical })
}

/// The rungs below what is wanted, each with what the one above it lowered too.
pub fn ladder(
    wanted: &Rung,
    need: &Need,
    allow: &[Allow],
    counts: Counts,
    header: &Header,
    features: &Features,
    mappable: bool,
) -> Vec<Rung> {
    let mut ladder = Ladder { first: wanted, wanted: &wanted.spec, rungs: Vec::new() };
    let wanted = &wanted.spec;
    let exact = wanted.mode == Mode::Exact;
    let shape = if exact { Effect::Identical } else { Effect::Noise };
    if exact {
        ladder.sequences(1, shape);
        ladder.cells(wanted.context_tokens, shape);
    }
    let copies: u64 = Places::of(header, features).copied.values().sum();
    match counts {
        // A mapping keeps the original beside the copy.
        Counts::Resident if wanted.mmap && copies > 0 => ladder.mapping(false),
        Counts::Private if !wanted.mmap && mappable => ladder.mapping(true),
        _ => {}
    }
    for sequences in [64, 32] {
        ladder.sequences(sequences, shape);
    }
    let mut cells = wanted.cells / 2;
    while cells > wanted.context_tokens {
        ladder.cells(cells, shape);
        cells /= 2;
    }
    ladder.cells(wanted.context_tokens, shape);
    for batch in [256, 128] {
        ladder.batch(batch);
    }
    for sequences in [16, 8] {
        ladder.sequences(sequences, shape);
    }
    for batch in [64, 32] {
        ladder.batch(batch);
    }
    let blocks = header.key_width().is_some_and(|width| width.is_multiple_of(32))
        && header.value_width().is_some_and(|width| width.is_multiple_of(32));
    if allow.contains(&Allow::QuantisedKv) && blocks {
        for kv in [KvType::Q8_0, KvType::Q4_0] {
            ladder.kv(kv);
        }
    }
    let (prompt, whole) = (need.longest_prompt_tokens, need.longest_tokens);
    if allow.contains(&Allow::ShorterGeneration) && whole > prompt {
        for part in [2, 4, 8] {
            ladder.context(prompt + (whole - prompt) / part, "context-tokens (shorter replies)");
        }
    }
    if allow.contains(&Allow::SkipTooLong) && prompt > 0 {
        for eighths in [6, 4, 2] {
            ladder.context(prompt * eighths / 8, "context-tokens (long items are skipped)");
        }
    }
    ladder.rungs
}

struct Ladder<'a> {
    first: &'a Rung,
    wanted: &'a LoadSpec,
    rungs: Vec<Rung>,
}

impl Ladder<'_> {
    fn lowest(&self) -> Rung {
        self.rungs.last().unwrap_or(self.first).clone()
    }

    fn step(
        &mut self,
        what: &str,
        from: impl fmt::Display,
        to: impl fmt::Display,
        effect: Effect,
        change: impl FnOnce(&mut LoadSpec),
    ) {
        let mut rung = self.lowest();
        change(&mut rung.spec);
        let step = Step { what: what.to_owned(), from: from.to_string(), to: to.to_string(), effect };
        // A figure that is lowered again is one step from what was wanted.
        rung.steps.retain(|known| known.what != step.what);
        rung.steps.push(step);
        self.rungs.push(rung);
    }

    fn sequences(&mut self, to: u32, effect: Effect) {
        if to < self.lowest().spec.sequences {
            self.step("sequences", self.wanted.sequences, to, effect, |spec| spec.sequences = to);
        }
    }

    fn cells(&mut self, to: u32, effect: Effect) {
        if to < self.lowest().spec.cells {
            self.step("cells", self.wanted.cells, to, effect, |spec| spec.cells = to);
        }
    }

    fn batch(&mut self, to: u32) {
        if to < self.lowest().spec.batch_tokens {
            self.step("batch-tokens", self.wanted.batch_tokens, to, Effect::Noise, |spec| {
                spec.batch_tokens = to;
            });
        }
    }

    fn mapping(&mut self, to: bool) {
        self.step("mmap", self.wanted.mmap, to, Effect::Identical, |spec| spec.mmap = to);
    }

    fn kv(&mut self, to: KvType) {
        let wanted = self.wanted.kv;
        self.step("KV cache", format!("{wanted:?}"), format!("{to:?}"), Effect::Changes, |spec| spec.kv = to);
    }

    fn context(&mut self, to: u32, what: &str) {
        let to = to.max(1).div_ceil(256) * 256;
        if to < self.lowest().spec.context_tokens {
            self.step(what, self.wanted.context_tokens, to, Effect::Changes, |spec| {
                spec.context_tokens = to;
                spec.cells = spec.cells.min(to);
            });
        }
    }
}

/// The first rung that fits; otherwise the prediction of the one that needs least.
pub fn choose(rungs: Vec<Rung>, predictions: Vec<Prediction>, limit: &Limit) -> Result<Fitted, Prediction> {
    let mut smallest: Option<Prediction> = None;
    for (rung, prediction) in rungs.into_iter().zip(predictions) {
        let needed = prediction.budget_bytes(limit.counts);
        if needed <= limit.bytes {
            return Ok(Fitted::of(rung, prediction));
        }
        if smallest.as_ref().is_none_or(|least| needed < least.budget_bytes(limit.counts)) {
            smallest = Some(prediction);
        }
    }
    Err(smallest.unwrap_or_default())
}
