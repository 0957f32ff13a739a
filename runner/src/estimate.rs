//! What a plan costs, before anything is run: prompts are tokenised with the vocabulary alone.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use models::LoadSpec;
use serde::Serialize;

use crate::count::counted;
use crate::exit::{Exit, Failure};
use crate::levels::Program;
use crate::memory::{self, Counts, Ground, Kind, Limit, Prediction, Refusal, Rung, Step, System};
use crate::plan::Plan;
use crate::supervisor::group::GroupSpec;
use crate::supervisor::{Interrupt, Link, LinkError, Need, load_spec};

/// What one model is asked.
#[derive(Clone, Debug, Serialize)]
pub struct Estimate {
    /// Name of the model.
    pub model: String,
    /// Context that the run would open.
    pub context_tokens: u32,
    /// Context that the model was trained for, where its file tells.
    pub trained_context_tokens: Option<u32>,
    /// Cap of generated tokens per reply.
    pub generation_cap_tokens: u32,
    /// Groups of the run.
    pub groups: usize,
    /// Task by task, interface by interface.
    pub rows: Vec<Row>,
    /// What it takes of the memory.
    pub memory: Memory,
}

/// What a model takes of the memory, and how it is loaded to fit.
#[derive(Clone, Debug, Serialize)]
pub struct Memory {
    /// The budget, if there is one.
    pub limit: Option<Limit>,
    /// Why the model would not be loaded.
    pub refusal: Option<Refusal>,
    /// How it would be loaded; absent when it is refused.
    pub load: Option<LoadSpec>,
    /// What was lowered to fit.
    pub steps: Vec<Step>,
    /// Line by line; when it is refused, of the way to load it that needs least.
    pub prediction: Prediction,
    /// Private memory at the peak.
    pub private_bytes: u64,
    /// Mapped file memory at the peak.
    pub file_bytes: u64,
}

/// One task through one interface.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// Name of the task.
    pub task: String,
    /// Name of the interface.
    pub interface: String,
    /// Items.
    pub items: u64,
    /// Tokens of their first prompts; later questions of a conversation cannot be known.
    pub prompt_tokens: u64,
    /// The longest of them.
    pub longest_prompt_tokens: u32,
    /// Items whose prompt does not fit the context: they will be recorded as skipped.
    pub too_long: Vec<String>,
}

/// Measures every first prompt of a plan.
pub fn estimate(plan: &Plan, program: Program) -> Result<Vec<Estimate>, Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| Failure::new(Exit::Failed, format!("cannot start the runtime: {error}")))?;
    runtime.block_on(async {
        let mut estimates = Vec::new();
        for model in 0..plan.models.len() {
            estimates.push(of_model(plan, model, &program).await?);
        }
        Ok(estimates)
    })
}

/// Items with the tokens of their prompt and the least that they need.
type Sizes = Vec<(String, u32, u32)>;

pub(crate) async fn of_model(plan: &Plan, model: usize, program: &Program) -> Result<Estimate, Failure> {
    let planned = &plan.models[model];
    let name = planned.record.name.clone();
    let failed = |error: LinkError| {
        Failure::input(format!("model {name}: {}", error.in_words("while prompts were measured")))
    };
    let settings = plan.settings(planned);
    let deadline = Duration::from_secs(plan.config.engine.deadline_s);
    let mut link = Link::start(program, deadline, Interrupt::never()).map_err(failed)?;
    let spec = load_spec(plan, model);
    let facts = link.open(LoadSpec { vocab_only: true, ..spec.clone() }).await.map_err(failed)?;
    let ground = Ground::of(&link, &facts);
    let mut need = Need::default();
    let mut sizes: BTreeMap<(u16, usize), Sizes> = BTreeMap::new();
    let groups: Vec<_> = plan.groups().filter(|group| usize::from(group.at.model) == model).collect();
    for group in &groups {
        let group_spec = GroupSpec {
            at: group.at,
            items: plan.items(*group),
            conditions: &plan.task(*group).conditions,
            settings: &settings[usize::from(group.at.task)],
            renderer: &planned.renderer,
        };
        let jobs = group_spec.first_jobs().map_err(|error| Failure::input(error.to_string()))?;
        link.show(&jobs, group_spec.pictures()).await.map_err(failed)?;
        let measured = link.measure(jobs).await.map_err(failed)?;
        need.add(&measured, group_spec.grows());
        need.see(group_spec.pictures());
        let mut measured = measured.into_iter();
        for track in group_spec.tracks() {
            let (item, condition) = track.name();
            let place = group_spec.conditions.iter().position(|known| known.name() == condition).unwrap_or(0);
            for size in measured.by_ref().take(track.asks().len()) {
                let least = match track.asks()[0].1 {
                    models::Request::Score(_) => size.prompt_tokens + size.extra_tokens,
                    models::Request::Generate(_) => size.prompt_tokens + 1,
                };
                sizes.entry((group.at.task, place)).or_default().push((
                    item.to_owned(),
                    size.prompt_tokens,
                    least,
                ));
            }
        }
    }
    let context_tokens = match plan.config.engine.context_tokens {
        0 => need.context_tokens(plan, model),
        chosen => chosen,
    };
    let wanted = Rung::planned(plan, planned, LoadSpec { context_tokens, ..spec });
    let memory = memory_of(plan, model, &mut link, &ground, &wanted, &need).await.map_err(failed)?;
    let row = |((task, place), sizes): ((u16, usize), Sizes)| {
        let task = &plan.tasks[usize::from(task)];
        Row {
            task: task.record.name.clone(),
            interface: task.conditions[place].name().to_owned(),
            items: asked(&sizes),
            prompt_tokens: sizes.iter().map(|(_, prompt, _)| u64::from(*prompt)).sum(),
            longest_prompt_tokens: sizes.iter().map(|(_, prompt, _)| *prompt).max().unwrap_or(0),
            too_long: too_long(sizes, context_tokens),
        }
    };
    Ok(Estimate {
        model: planned.record.name.clone(),
        context_tokens,
        trained_context_tokens: planned.trained_context_tokens(),
        generation_cap_tokens: plan.config.asking.max_tokens,
        groups: groups.len(),
        rows: sizes.into_iter().map(row).collect(),
        memory,
    })
}

/// Items of a row. An item may ask several things at once: their sizes stand behind each other.
fn asked(sizes: &[(String, u32, u32)]) -> u64 {
    sizes.chunk_by(|one, other| one.0 == other.0).count() as u64
}

/// Items of which something does not fit, each once.
fn too_long(sizes: Sizes, context_tokens: u32) -> Vec<String> {
    let too_long = sizes.into_iter().filter(|(_, _, least)| *least > context_tokens);
    let mut items: Vec<String> = too_long.map(|(item, _, _)| item).collect();
    items.dedup();
    items
}

async fn memory_of(
    plan: &Plan,
    model: usize,
    link: &mut Link,
    ground: &Ground,
    wanted: &Rung,
    need: &Need,
) -> Result<Memory, LinkError> {
    let planned = &plan.models[model];
    let choice = &plan.config.memory;
    let limit = choice.limit(planned.memory_budget, &crate::device::facts().model, &System::default());
    let allow = Some(choice.allow.as_slice());
    let outcome = memory::fitted(link, planned, ground, wanted, need, limit.as_ref(), allow).await?;
    let (load, steps, prediction, refusal) = match outcome {
        Ok(fitted) => (Some(fitted.spec), fitted.steps, fitted.prediction, None),
        Err(refusal) => (None, wanted.steps.clone(), refusal.prediction.clone(), Some(*refusal)),
    };
    let (private_bytes, file_bytes) = (prediction.of(Kind::Private), prediction.of(Kind::File));
    Ok(Memory { limit, refusal, load, steps, prediction, private_bytes, file_bytes })
}

impl fmt::Display for Estimate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let trained = self.trained_context_tokens.map_or("unknown".to_owned(), |tokens| tokens.to_string());
        writeln!(
            f,
            "{}: {}, context {} tokens (trained for {trained}), generation cap {} tokens",
            self.model,
            counted(self.groups, "group"),
            self.context_tokens,
            self.generation_cap_tokens
        )?;
        let names = self.rows.iter().map(|row| row.interface.len());
        let width = names.max().unwrap_or(0).max(12);
        writeln!(
            f,
            "  {:<16} {:<width$} {:>7} {:>14} {:>9}",
            "task", "interface", "items", "prompt tokens", "longest"
        )?;
        for row in &self.rows {
            writeln!(
                f,
                "  {:<16} {:<width$} {:>7} {:>14} {:>9}",
                row.task, row.interface, row.items, row.prompt_tokens, row.longest_prompt_tokens
            )?;
            if let Some(first) = row.too_long.first() {
                writeln!(
                    f,
                    "    {} not fit the context and would be skipped: {first}{}",
                    match row.too_long.len() {
                        1 => "1 item does".to_owned(),
                        count => format!("{count} items do"),
                    },
                    if row.too_long.len() > 1 { " ..." } else { "" }
                )?;
            }
        }
        let limit = self.memory.limit.as_ref();
        let counts = limit.map_or(Counts::Resident, |limit| limit.counts);
        f.write_str(&memory::table(&self.memory.prediction, counts, limit.map(|limit| limit.bytes)))?;
        if let Some(limit) = limit {
            writeln!(f, "  budget {}: {}", memory::in_words(limit.bytes), limit.origin)?;
        }
        for step in &self.memory.steps {
            writeln!(f, "  to fit the budget: {step}")?;
        }
        if let Some(refusal) = &self.memory.refusal {
            writeln!(f, "  REFUSED: {}", refusal.line())?;
        }
        Ok(())
    }
}
