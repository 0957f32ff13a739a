//! Made-up tokens: prompts evaluated, tokens generated, alone and side by side.

use models::{EngineFacts, Probe, ProbeWork};

use super::opened::Opened;
use super::{Choice, Kind, Row, Trouble, row};
use crate::supervisor::Link;

/// Tokens that each of several sequences generates.
const SIDE_BY_SIDE_TOKENS: u32 = 32;

/// `pp` and `tg` tests, as the reference tool makes them.
pub(super) async fn alone(opened: &Opened, choice: &Choice, rows: &mut Vec<Row>) -> Result<(), Trouble> {
    let prompts = choice.prompt_tokens.iter().map(|&tokens| ProbeWork::Prefill { tokens });
    let replies = choice.generated_tokens.iter().map(|&steps| ProbeWork::Decode { steps, sequences: 1 });
    let works: Vec<ProbeWork> = prompts.chain(replies).filter(|work| work.tokens() > 0).collect();
    let threads: Vec<Option<u32>> = match &choice.threads[..] {
        [] => vec![None],
        asked => asked.iter().map(|&threads| Some(threads)).collect(),
    };
    let (mut link, facts) = opened.link(opened.spec_for_probes(threads[0])).await?;
    for &threads in &threads {
        for &depth in &choice.depths {
            for &work in &works {
                rows.push(one(&mut link, opened, &facts, Kind::Speed, choice, work, depth, threads).await?);
            }
        }
    }
    Ok(())
}

/// Generating with several sequences.
pub(super) async fn side_by_side(
    opened: &Opened,
    choice: &Choice,
    rows: &mut Vec<Row>,
) -> Result<(), Trouble> {
    let threads = choice.threads.first().copied();
    let (mut link, facts) = opened.link(opened.spec_for_probes(threads)).await?;
    let depth = choice.depths.first().copied().unwrap_or(0);
    for &sequences in &choice.parallel {
        let work = ProbeWork::Decode { steps: SIDE_BY_SIDE_TOKENS, sequences };
        rows.push(one(&mut link, opened, &facts, Kind::Parallel, choice, work, depth, threads).await?);
    }
    Ok(())
}

#[expect(clippy::too_many_arguments, reason = "one measurement has that many sides")]
async fn one(
    link: &mut Link,
    opened: &Opened,
    facts: &EngineFacts,
    kind: Kind,
    choice: &Choice,
    work: ProbeWork,
    depth: u32,
    threads: Option<u32>,
) -> Result<Row, Trouble> {
    let probe = Probe {
        work,
        depth_tokens: depth,
        threads: threads.unwrap_or(0),
        threads_batch: threads.unwrap_or(0),
        repetitions: choice.repetitions,
        budget_us: None,
    };
    let reply = link.probe(probe, &mut |_| ()).await?;
    let at = if depth > 0 { format!(" @ d{depth}") } else { String::new() };
    let (test, n_prompt, n_gen) = match work {
        ProbeWork::Prefill { tokens } => (format!("pp{tokens}{at}"), tokens, 0),
        ProbeWork::Decode { steps, sequences: 1 } if kind == Kind::Speed => {
            (format!("tg{steps}{at}"), 0, steps)
        }
        ProbeWork::Decode { steps, sequences } => (format!("tg{steps}{at} x{sequences}"), 0, steps),
    };
    let row = Row {
        kind: row::name(kind),
        test,
        n_batch: reply.batch_tokens,
        n_ubatch: reply.micro_batch_tokens,
        n_threads: reply.threads,
        n_threads_batch: reply.threads_batch,
        n_prompt,
        n_gen,
        n_depth: depth,
        n_parallel: work.sequences(),
        engine: facts.engine.clone(),
        cpu_features: facts.system.clone(),
        cpu_level: facts.level.clone(),
        ..opened.row()
    };
    Ok(row.timed(&reply.samples_us, work.tokens()))
}
