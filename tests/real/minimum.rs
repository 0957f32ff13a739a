//! Tokens evaluated for a group against the least that can be: the distinct prefixes of all its prompts.

use std::collections::HashSet;

use datasets::{Condition, Settings, Task};
use runner::track::Track;

use super::*;

/// Runs whole conversations; gives every job that was asked, and the tokens that the engine evaluated for them.
fn converse(engine: &mut impl Engine, task: &str, params: &str, limit: usize) -> (Vec<Job>, u64) {
    let task = Task::named(task).expect("the task");
    let params = datasets::Params(params.parse().expect("parameters"));
    let items = runner::material::items(task, &params, 1, Some(limit), 0).expect("items");
    let settings = Settings::default();
    let header = models::gguf::Header::open(&model()).expect("the header");
    let renderer = models::template::Renderer::of_model(&header, models::template::Thinking::Default)
        .expect("the template");
    let conditions = ["direct", "cot-prefix"].map(|name| Condition::named(name).expect("the condition"));
    let pairs = items.iter().flat_map(|item| conditions.iter().map(move |condition| (item, condition)));
    let mut tracks: Vec<Track<'_>> =
        pairs.map(|(item, condition)| Track::start(item, condition, &settings)).collect();
    let (mut asked, mut evaluated) = (Vec::new(), 0);
    loop {
        let mut jobs = Vec::new();
        let mut owners = Vec::new();
        for (index, track) in tracks.iter().enumerate() {
            for (prompt, request) in track.asks() {
                let mut job = runner::prompting::job(&renderer, 0, prompt, request).expect("a prompt").job;
                job.follow_up = track.may_ask_on();
                jobs.push(job);
                owners.push(index);
            }
        }
        if jobs.is_empty() {
            engine.end_group();
            return (asked, evaluated);
        }
        let reply = engine.round(&jobs, &mut |_| ()).expect("a round");
        asked.extend(jobs);
        for (owner, reply) in owners.into_iter().zip(reply.replies) {
            assert!(matches!(reply, Reply::Scored(_)), "{reply:?}");
            evaluated += u64::from(reply.usage().evaluated_tokens);
            tracks[owner].answer(vec![reply]);
        }
    }
}

/// Distinct prefixes of the prompts and of what must follow them to score labels: counted with a set, by themselves.
pub(super) fn distinct_prefixes(engine: &mut impl Engine, jobs: &[Job]) -> u64 {
    let mut prefixes: HashSet<Vec<i32>> = HashSet::new();
    for job in engine.tokenise(jobs).expect("tokens") {
        let prompt: Vec<i32> = job.prompt.iter().map(|token| token.id).collect();
        let tails = job.labels.iter().map(|label| &label[..label.len() - 1]);
        for tail in std::iter::once(&[][..]).chain(tails) {
            let mut path = prompt.clone();
            path.extend(tail.iter().map(|token| token.id));
            for length in (1..=path.len()).rev() {
                if !prefixes.insert(path[..length].to_vec()) {
                    break;
                }
            }
        }
    }
    prefixes.len() as u64
}

#[test]
fn a_group_costs_at_most_one_percent_more_than_its_distinct_prefixes() {
    let wide = LoadSpec { context_tokens: 2048, cells: 8192, ..spec() };
    let mut engine = models::llama::Llama::open(&wide).expect("the model loads");
    let mut lines = Vec::new();
    for (task, params, limit) in [
        ("grammar", "max-length = 6", 44),
        ("linear-world", "", 22),
        ("logic", "", 44),
        ("apartments", "features = 5", 6),
        ("vehicles", "vehicles = 4\nexceptions = 0\nirrelevant = 0\npasses = 2", 2),
    ] {
        let (jobs, evaluated) = converse(&mut engine, task, params, limit);
        let least = distinct_prefixes(&mut engine, &jobs);
        let given: usize =
            engine.measure(&jobs).expect("sizes").iter().map(|size| size.prompt_tokens as usize).sum();
        lines.push(format!(
            "{task}: {} jobs, {given} tokens given, {evaluated} evaluated, {least} distinct",
            jobs.len()
        ));
        assert!(evaluated >= least, "{lines:?}");
        assert!(evaluated * 100 <= least * 101, "{lines:?}");
    }
    println!("{}", lines.join("\n"));
}
