//! What a bundle says before it runs: what will be done, and how long that takes.

use std::time::Duration;

use super::super::measure::Measure;
use super::super::talk;
use crate::bundle::{Results, remaining_us};
use crate::config::TelemetryChoice;
use crate::count::counted;
use crate::estimate::{Estimate, of_model};
use crate::exit::{Exit, Failure};
use crate::forecast::{duration_in_words, trials};
use crate::levels::Program;
use crate::memory::in_words;
use crate::plan::{Plan, parity_sample};
use crate::report::RunLog;
use crate::session::Session;
use crate::supervisor::Interrupt;
use crate::telemetry::latency::sample;

/// How long the first questions are tried, all models together.
const TRIAL: Duration = Duration::from_secs(30);

/// Shows what will be done, and how long it will take. `false` where somebody asked to stop.
pub(super) fn show(
    plan: &Plan,
    session: &Session,
    program: &Program,
    results: &Results,
    interrupt: &Interrupt,
) -> Result<bool, Failure> {
    session.notes().iter().for_each(|note| talk(note));
    if session.log.is_none() {
        return Ok(true);
    }
    for task in &plan.tasks {
        talk(&format!(
            "  task {}: {} items, asked through {}",
            task.record.name,
            task.record.items,
            task.record.interfaces.join(", ")
        ));
    }
    let run = RunLog::read(&session.dir)?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| Failure::new(Exit::Failed, format!("cannot start the runtime: {error}")))?;
    let time = runtime.block_on(async {
        tokio::select! {
            time = told(plan, &run, program) => time.map(Some),
            () = interrupt.asked() => Ok(None),
        }
    })?;
    let Some(time) = time else { return Ok(false) };
    talk(&format!("  time: {time}"));
    talk(&format!("  results: {} and {}", results.log.display(), results.page.display()));
    talk("Ctrl-C stops after the group at hand; start it again to go on.");
    Ok(true)
}

/// Tells model by model what will be asked; gives how long it will take.
async fn told(plan: &Plan, run: &RunLog, program: &Program) -> Result<String, Failure> {
    let estimates = estimated(plan, program).await;
    let alone = alone(plan);
    for each in estimates.iter().flatten() {
        talk(&format!("  {}", asked(plan, each)));
        alone.iter().for_each(|line| talk(&format!("    {line}")));
    }
    let refusals = estimates.iter().flatten().filter_map(|each| each.memory.refusal.as_ref());
    refusals.for_each(|refusal| talk(&format!("  will not be run: {}", refusal.line())));
    Ok(match (remaining_us(plan, run), &estimates) {
        (Some(us), _) => format!(
            "about {} left, by the {} done",
            duration_in_words(us as f64 / 1e6),
            match run.groups.len() {
                1 => "group that is".to_owned(),
                count => format!("{count} groups that are"),
            }
        ),
        (None, Ok(estimates)) => tried(plan, estimates, program).await?,
        // The run itself says what fails, model by model.
        (None, Err(failure)) => format!("not known beforehand: {failure}"),
    })
}

async fn estimated(plan: &Plan, program: &Program) -> Result<Vec<Estimate>, Failure> {
    let mut estimates = Vec::new();
    for model in 0..plan.models.len() {
        estimates.push(of_model(plan, model, program).await?);
    }
    Ok(estimates)
}

/// What a model is asked in its groups.
fn asked(plan: &Plan, of: &Estimate) -> String {
    let (questions, tokens): (u64, u64) =
        of.rows.iter().fold((0, 0), |(items, tokens), row| (items + row.items, tokens + row.prompt_tokens));
    let replies = match plan.generates() {
        true => format!("replies of at most {} tokens", of.generation_cap_tokens),
        false => "scored without replies".to_owned(),
    };
    format!(
        "model {}: {} in {}, {tokens} prompt tokens, {replies}, {} of memory",
        of.model,
        counted(questions, "question"),
        counted(of.groups as u64, "group"),
        in_words(of.memory.private_bytes.saturating_add(of.memory.file_bytes))
    )
}

/// What each model is asked once more on its own, one line each.
fn alone(plan: &Plan) -> Vec<String> {
    let choice = &plan.config.latency;
    let of_task = |task: &crate::plan::PlannedTask| -> u64 {
        let drawn = sample(task.items.len(), choice.items, plan.config.seed, &task.record.name);
        let items = drawn.into_iter().map(|at| &task.items[at]);
        items.map(|item| task.conditions.iter().filter(|condition| condition.fits(item)).count() as u64).sum()
    };
    let timed = plan.tasks.iter().map(of_task).sum::<u64>() * u64::from(choice.repetitions);
    let warm_up = if timed > 0 { u64::from(choice.warm_up) } else { 0 };
    let checked = parity_sample(plan, plan.config.engine.parity).len() as u64;
    let mut lines = Vec::new();
    if timed > 0 {
        let warm_up = if warm_up > 0 { format!(" and {warm_up} to warm up") } else { String::new() };
        lines.push(format!("then {} alone, for the latency{warm_up}", counted(timed, "question")));
    }
    if checked > 0 {
        lines.push(format!(
            "then {} scored alone, for what packing does to scores",
            counted(checked, "question")
        ));
    }
    lines
}

/// How long all of it will take, by a short trial of every model on the bundle's own questions.
async fn tried(plan: &Plan, estimates: &[Estimate], program: &Program) -> Result<String, Failure> {
    let unmeasured = TelemetryChoice { power: "off".to_owned(), ..plan.config.telemetry.clone() };
    let measuring = Measure::default().start(&unmeasured)?;
    talk(&format!("trying the first questions, for at most {} s", TRIAL.as_secs()));
    let forecasts = trials(plan, estimates, program, measuring, TRIAL).await;
    let seconds: Option<f64> = forecasts.iter().map(|forecast| forecast.total_s).sum();
    Ok(match seconds {
        Some(seconds) => {
            format!(
                "about {}, rather less than more, by a trial of the first questions",
                duration_in_words(seconds)
            )
        }
        None => "unknown until the first groups are done".to_owned(),
    })
}
