//! Checks of what is scored: the tokens of every task's labels.

use datasets::Normalisation;
use models::{Job, Request, Tokenised};

use super::Check;
use super::text::Trouble;
use crate::plan::{Plan, PlannedTask};
use crate::prompting;
use crate::supervisor::Link;
use crate::track::Track;

/// Labels that are written out; the rest is counted.
const SHOWN: usize = 6;

/// One check per task and scoring interface, on the first item that fits.
pub(super) async fn check(link: &mut Link, plan: &Plan) -> Result<Vec<Check>, Trouble> {
    let mut checks = Vec::new();
    for task in &plan.tasks {
        for condition in task.conditions.iter().filter(|condition| condition.interface.scores_labels) {
            let name = format!("labels {}/{}", task.record.name, condition.name());
            let jobs = scored(plan, task, condition, 1)?;
            if jobs.is_empty() {
                checks.push(Check::skip(&name, "no item of the task can be asked this way"));
                continue;
            }
            link.show(&jobs, task.items.iter().flat_map(datasets::Item::pictures)).await?;
            let tokens = link.tokenise(jobs.clone()).await?;
            checks.extend(jobs.iter().zip(&tokens).map(|(job, tokens)| of_job(&name, plan, job, tokens)));
        }
    }
    Ok(checks)
}

/// The score requests with which the first items of a task begin.
pub(super) fn scored(
    plan: &Plan,
    task: &PlannedTask,
    condition: &datasets::Condition,
    items: usize,
) -> Result<Vec<Job>, Trouble> {
    let model = &plan.models[0];
    let place = plan.tasks.iter().position(|planned| std::ptr::eq(planned, task)).unwrap_or(0);
    let settings = plan.settings(model).swap_remove(place);
    let mut jobs = Vec::new();
    for item in task.items.iter().filter(|item| condition.fits(item)).take(items) {
        let track = Track::start(item, condition, &settings);
        for (prompt, request) in track.asks() {
            if matches!(request, Request::Score(_)) {
                jobs.push(prompting::job(&model.renderer, jobs.len() as u32, prompt, request)?.job);
            }
        }
    }
    Ok(jobs)
}

fn of_job(name: &str, plan: &Plan, job: &Job, tokens: &Tokenised) -> Check {
    let Request::Score(score) = &job.request else { return Check::skip(name, "nothing is scored") };
    if let Some(refusal) = &tokens.refusal {
        return Check::fail(
            name,
            refusal.clone(),
            "set `separator` in [asking], or give the labels other texts",
        );
    }
    let counts: Vec<usize> = tokens.labels.iter().map(Vec::len).collect();
    let shown: Vec<String> = tokens
        .labels
        .iter()
        .take(SHOWN)
        .map(|label| {
            let pieces: Vec<String> =
                label.iter().map(|token| format!("{:?}={}", token.piece, token.id)).collect();
            pieces.join("+")
        })
        .collect();
    let more = match score.continuations.len() {
        count if count > SHOWN => format!(" and {} more", count - SHOWN),
        _ => String::new(),
    };
    let finding = format!("{}{more}", shown.join("  "));
    let uneven = counts.windows(2).any(|pair| pair[0] != pair[1]);
    if uneven && plan.config.asking.normalisation == Normalisation::Sum {
        return Check::warn(
            name,
            format!("labels of {counts:?} tokens: {finding}"),
            "the sum favours the shorter ones; `normalisation = \"per-token\"` in [asking] does not",
        );
    }
    Check::ok(name, format!("{} labels: {finding}", counts.len()))
}
