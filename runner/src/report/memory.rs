//! Memory of a run: what each model was said to take, what its workers took, and whether durations can be believed.

use serde::Serialize;

use super::load::RunLog;
use crate::entry::DeathCause;
use crate::memory::{Kind, Line, in_words};

/// One model.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ModelMemory {
    /// Its name.
    pub model: String,
    /// The budget, in bytes; absent when there is none.
    pub budget_bytes: Option<u64>,
    /// Which memory counts against it, and where it comes from.
    pub budget: Option<String>,
    /// What was lowered to fit it.
    pub steps: Vec<String>,
    /// Predicted private memory.
    pub predicted_private_bytes: Option<u64>,
    /// Predicted mapped file memory.
    pub predicted_file_bytes: Option<u64>,
    /// The prediction, line by line.
    pub lines: Vec<Line>,
    /// The most that was resident at one time.
    pub peak_bytes: Option<u64>,
    /// The most private memory.
    pub peak_private_bytes: Option<u64>,
    /// The most mapped file memory.
    pub peak_file_bytes: Option<u64>,
    /// The most in the swap.
    pub peak_swap_bytes: Option<u64>,
    /// The most that the worker's own memory group used, where it had one.
    pub peak_group_bytes: Option<u64>,
    /// What remained of the budget.
    pub headroom_bytes: Option<i64>,
    /// The least memory that the system had left.
    pub least_available_bytes: Option<u64>,
    /// Pages fetched from a disk while groups ran.
    pub major_faults: u64,
    /// Pages fetched from the swap meanwhile, whole system.
    pub swapped_in_pages: u64,
    /// Groups in which so much was fetched again that their durations say little of the model.
    pub storms: u64,
    /// Mapped weights were known not to fit.
    pub overcommitted: bool,
    /// Why it could not be run, if it could not.
    pub failed: Option<String>,
}

/// Every model of a run.
pub fn memory(run: &RunLog) -> Vec<ModelMemory> {
    run.header
        .models
        .iter()
        .enumerate()
        .map(|(index, model)| of_model(run, index as u16, &model.name))
        .collect()
}

fn of_model(run: &RunLog, model: u16, name: &str) -> ModelMemory {
    let plan = run.memory_plans.iter().rev().find(|plan| plan.model == model);
    let uses: Vec<_> = run.memory_uses.iter().filter(|used| used.at.model == model).collect();
    let most = |figure: fn(&crate::memory::Peaks) -> u64| uses.iter().map(|used| figure(&used.peaks)).max();
    let limit = plan.and_then(|plan| plan.limit.as_ref());
    let counted = match limit.map(|limit| limit.counts) {
        Some(crate::memory::Counts::Private) => most(|peaks| peaks.private_bytes + peaks.swap_bytes),
        _ => most(|peaks| peaks.high_water_bytes),
    };
    let headroom = |(limit, used): (u64, u64)| i64::try_from(i128::from(limit) - i128::from(used)).ok();
    ModelMemory {
        model: name.to_owned(),
        budget_bytes: limit.map(|limit| limit.bytes),
        budget: limit.map(|limit| {
            let counts = format!("{:?}", limit.counts).to_lowercase();
            format!("{counts} memory, {}", limit.origin)
        }),
        steps: plan.map(|plan| plan.steps.iter().map(ToString::to_string).collect()).unwrap_or_default(),
        predicted_private_bytes: plan.map(|plan| plan.prediction.of(Kind::Private)),
        predicted_file_bytes: plan.map(|plan| plan.prediction.of(Kind::File)),
        lines: plan.map(|plan| plan.prediction.lines.clone()).unwrap_or_default(),
        // A system that does not tell gives 0.
        peak_bytes: most(|peaks| peaks.high_water_bytes).filter(|&bytes| bytes > 0),
        peak_private_bytes: most(|peaks| peaks.private_bytes),
        peak_file_bytes: most(|peaks| peaks.file_bytes),
        peak_swap_bytes: most(|peaks| peaks.swap_bytes),
        peak_group_bytes: uses.iter().filter_map(|used| used.peaks.group_bytes).max(),
        headroom_bytes: limit.map(|limit| limit.bytes).zip(counted).and_then(headroom),
        least_available_bytes: uses.iter().map(|used| used.peaks.available_bytes).filter(|&b| b > 0).min(),
        major_faults: uses.iter().map(|used| used.peaks.major_faults).sum(),
        swapped_in_pages: uses.iter().map(|used| used.peaks.swapped_in_pages).sum(),
        storms: uses.iter().filter(|used| used.storm).count() as u64,
        overcommitted: plan.is_some_and(|plan| plan.overcommitted),
        failed: run
            .failed
            .iter()
            .rev()
            .find(|failed| failed.model == model)
            .map(|failed| failed.reason.clone()),
    }
}

/// What a reader must know of it before believing the table, one line each.
pub(super) fn memory_notes(run: &RunLog) -> Vec<String> {
    let mut notes = Vec::new();
    for model in memory(run) {
        if let Some(reason) = &model.failed
            && run.complete.is_none()
        {
            notes.push(format!("FAILED: {reason}"));
        }
        for step in &model.steps {
            notes.push(format!("{}: to fit the memory budget, {step}", model.model));
        }
        if model.overcommitted {
            notes.push(format!(
                "{}: its mapped weights exceed the memory: durations are those of the disk",
                model.model
            ));
        }
        if model.storms > 0 {
            notes.push(format!(
                "{}: in {} groups pages were fetched again from disk or swap in masses: their durations say little of the model",
                model.model, model.storms
            ));
        }
    }
    let short = |cause: &DeathCause| {
        matches!(
            cause,
            DeathCause::OverBudget { .. }
                | DeathCause::SystemLow { .. }
                | DeathCause::OutOfMemoryInGroup
                | DeathCause::OutOfMemoryBySystem
                | DeathCause::AllocationFailed
        )
    };
    let deaths = run.deaths.iter().filter(|death| short(&death.cause)).count();
    if deaths > 0 {
        notes.push(format!("memory ended a worker {deaths} times; `log dump` tells where"));
    }
    notes
}

/// For people: a line or two for each model.
pub fn memory_table(rows: &[ModelMemory]) -> String {
    let mut text = String::from("memory");
    let words = |bytes: Option<u64>| bytes.map_or("?".to_owned(), in_words);
    for row in rows {
        let predicted = row.predicted_private_bytes.zip(row.predicted_file_bytes).map(|(a, b)| a + b);
        text.push_str(&format!(
            "\n  {}: predicted {} (private {}, file {}), peak {} (private {}, file {})",
            row.model,
            words(predicted),
            words(row.predicted_private_bytes),
            words(row.predicted_file_bytes),
            words(row.peak_bytes),
            words(row.peak_private_bytes),
            words(row.peak_file_bytes),
        ));
        if let Some(group) = row.peak_group_bytes {
            text.push_str(&format!(", group {}", in_words(group)));
        }
        if let (Some(budget), Some(words)) = (row.budget_bytes, &row.budget) {
            let left = match row.headroom_bytes {
                Some(left) if left >= 0 => format!(", {} left", in_words(left as u64)),
                Some(over) => format!(", {} over", in_words(over.unsigned_abs())),
                None => String::new(),
            };
            text.push_str(&format!("\n    budget {} of {words}{left}", in_words(budget)));
        }
    }
    text
}
