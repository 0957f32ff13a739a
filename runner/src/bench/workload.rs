//! Real questions: the first token of a reply, and items scored, packed against one prompt at a time.

use std::time::Instant;

use datasets::{Condition, Settings};
use models::{EngineFacts, LoadSpec, Mode, Reply, Request};

use super::opened::{INTERFACES, Opened, TASKS};
use super::row::{self, Scoring};
use super::{Choice, Kind, Row, Trouble};
use crate::entry::{GroupRef, ItemRecord};
use crate::supervisor::group::{Account, GroupError, GroupSpec, converse, records};
use crate::supervisor::{Link, Need};

fn trouble(error: GroupError) -> Trouble {
    match error {
        GroupError::Link(error) => Trouble::Link(error),
        GroupError::Template(error) => Trouble::Model(error.to_string()),
    }
}

/// From a question to the first token of its reply: rendering excluded; tokenising, evaluating, choosing and the pipes
/// included.
pub(super) async fn first_token(
    opened: &Opened,
    choice: &Choice,
    rows: &mut Vec<Row>,
) -> Result<(), Trouble> {
    let plan = &opened.plan;
    let settings = Settings { max_tokens: 1, ..plan.settings(&plan.models[0])[0].clone() };
    let condition =
        Condition::named("free-cot").ok_or_else(|| Trouble::Model("no interface writes".into()))?;
    let group = GroupSpec {
        at: GroupRef { group: 0, model: 0, task: 0 },
        items: &plan.tasks[0].items[..1],
        conditions: std::slice::from_ref(&condition),
        settings: &settings,
        renderer: &plan.models[0].renderer,
    };
    let mut jobs = group.first_jobs().map_err(|error| trouble(GroupError::Template(error)))?;
    jobs.retain(|job| matches!(job.request, Request::Generate(_)));
    let (spec, sizes) = sized(opened, &[(jobs.clone(), false)], choice.threads.first().copied()).await?;
    let (mut link, facts) = opened.link(spec.clone()).await?;
    let mut samples_us = Vec::new();
    // The first one only warms up.
    for repetition in 0..=choice.repetitions {
        let started = Instant::now();
        let reply = link.round(jobs.clone(), &mut |_| ()).await?;
        let us = (started.elapsed().as_micros() as u64).max(1);
        if let Some(Reply::TooLong { needed, context }) = reply.replies.first() {
            return Err(Trouble::Model(format!(
                "the question needs {needed} tokens of a context of {context}"
            )));
        }
        if let Some(Reply::Failed { reason, .. }) = reply.replies.first() {
            return Err(Trouble::Model(reason.clone()));
        }
        link.end_group().await?;
        if repetition > 0 {
            samples_us.push(us);
        }
    }
    let prompt_tokens = sizes.first().map_or(0, |need| need.longest_prompt_tokens);
    let row = described(opened, &facts, &spec, Kind::FirstToken, "ttft".into());
    let row = Row { n_prompt: prompt_tokens, n_gen: 1, n_parallel: 1, ..row };
    rows.push(row.timed(&samples_us, u64::from(prompt_tokens) + 1));
    Ok(())
}

/// Items of two tasks through two interfaces: each prompt alone, then packed.
pub(super) async fn scoring(opened: &Opened, choice: &Choice, rows: &mut Vec<Row>) -> Result<(), Trouble> {
    let plan = &opened.plan;
    let settings = plan.settings(&plan.models[0]);
    let groups: Vec<GroupSpec<'_>> = plan
        .groups()
        .map(|group| GroupSpec {
            at: group.at,
            items: plan.items(group),
            conditions: &plan.task(group).conditions,
            settings: &settings[usize::from(group.at.task)],
            renderer: &plan.models[0].renderer,
        })
        .collect();
    let mut jobs = Vec::new();
    for group in &groups {
        let first = group.first_jobs().map_err(|error| trouble(GroupError::Template(error)))?;
        jobs.push((first, group.grows()));
    }
    let (spec, _) = sized(opened, &jobs, choice.threads.first().copied()).await?;
    for (mode, name) in [(Mode::Exact, "exact"), (Mode::Packed, "packed")] {
        let spec = LoadSpec { mode, ..spec.clone() };
        let (mut link, facts) = opened.link(spec.clone()).await?;
        // One question warms up.
        if let Some((jobs, _)) = jobs.first() {
            link.round(jobs[..jobs.len().min(1)].to_vec(), &mut |_| ()).await?;
            link.end_group().await?;
        }
        let started = Instant::now();
        let (items, peak_bytes) = all(&mut link, &groups).await?;
        let us = (started.elapsed().as_micros() as u64).max(1);
        let prompt_tokens = items.iter().map(|item| u64::from(item.usage.prompt_tokens)).sum();
        let row = described(opened, &facts, &spec, Kind::Scoring, format!("score {name}"));
        let scoring = Scoring {
            mode: name,
            tasks: TASKS.map(String::from).to_vec(),
            interfaces: INTERFACES.map(String::from).to_vec(),
            answers: items.len() as u64,
            prompt_tokens,
            evaluated_tokens: items.iter().map(|item| u64::from(item.usage.evaluated_tokens)).sum(),
            answers_per_s: items.len() as f64 / us as f64 * 1e6,
            worker_peak_bytes: peak_bytes,
        };
        rows.push(Row { scoring: Some(scoring), ..row }.timed(&[us], prompt_tokens));
    }
    Ok(())
}

/// Answers all groups; gives the records and the worker's peak memory.
async fn all(link: &mut Link, groups: &[GroupSpec<'_>]) -> Result<(Vec<ItemRecord>, Option<u64>), Trouble> {
    let mut items = Vec::new();
    let mut peak_bytes = None;
    for group in groups {
        let mut tracks = group.tracks();
        let mut account = Account::default();
        converse(link, group.renderer, &mut tracks, &mut account, &mut |_| ()).await.map_err(trouble)?;
        items.extend(records(tracks, group.at, 1));
        peak_bytes = link.end_group().await?.max(peak_bytes);
    }
    Ok((items, peak_bytes))
}

/// How the model is loaded for these jobs: with the context that they need. The flag of jobs says whether they grow.
async fn sized(
    opened: &Opened,
    jobs: &[(Vec<models::Job>, bool)],
    threads: Option<u32>,
) -> Result<(LoadSpec, Vec<Need>), Trouble> {
    let spec = opened.spec(threads);
    let (mut link, _) = opened.link(LoadSpec { vocab_only: true, ..spec.clone() }).await?;
    let (mut all, mut each) = (Need::default(), Vec::new());
    for (jobs, grows) in jobs {
        let sizes = link.measure(jobs.clone()).await?;
        let mut need = Need::default();
        need.add(&sizes, *grows);
        each.push(need);
        all.add(&sizes, *grows);
    }
    let context_tokens = all.context_tokens(&opened.plan, 0);
    Ok((LoadSpec { context_tokens, ..spec }, each))
}

fn described(opened: &Opened, facts: &EngineFacts, spec: &LoadSpec, kind: Kind, test: String) -> Row {
    Row {
        kind: row::name(kind),
        test,
        n_batch: spec.batch_tokens,
        n_threads: spec.threads,
        n_threads_batch: spec.threads_batch,
        engine: facts.engine.clone(),
        cpu_features: facts.system.clone(),
        cpu_level: facts.level.clone(),
        ..opened.row()
    }
}
