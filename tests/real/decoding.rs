//! The decoding laboratory on the tiny model: what a sweep costs in tokens, and that masses and entropy are those of the whole
//! distribution.

use datasets::ending::CONTINUATION_TOKENS;
use datasets::forms::forms;
use datasets::{Condition, Item, Settings, Task};
use runner::track::Track;

use super::minimum::distinct_prefixes;
use super::*;
use crate::support::fixture;

fn tiny() -> models::llama::Llama {
    let spec = LoadSpec {
        model: fixture("tiny-vlm.gguf"),
        mode: Mode::Packed,
        sequences: 128,
        context_tokens: 512,
        cells: 8192,
        threads: 1,
        threads_batch: 1,
        ..spec()
    };
    models::llama::Llama::open(&spec).expect("the model loads")
}

/// Twenty questions of the laboratory's own set.
fn items() -> Vec<Item> {
    let path = root().join("configs/general-questions.jsonl");
    let text = std::fs::read_to_string(path).expect("the questions");
    let rows: Vec<serde_json::Value> = text
        .lines()
        .skip(10)
        .take(20)
        .map(|line| {
            let row: serde_json::Value = serde_json::from_str(line).expect("a row");
            let gold = row["answer"].as_str().expect("a label").as_bytes()[0] - b'A';
            serde_json::json!({ "id": row["id"], "question": row["question"], "options": row["choices"], "gold": gold })
        })
        .collect();
    let params: toml::Table =
        serde_json::from_value(serde_json::json!({ "rows": rows })).expect("parameters");
    (Task::named("file").expect("the task").items)(&datasets::Params(params), 1).expect("items")
}

/// The jobs of some items under some conditions, as one group.
fn jobs_of(items: &[Item], conditions: &[Condition]) -> Vec<Job> {
    let header = models::gguf::Header::open(&fixture("tiny-vlm.gguf")).expect("the header");
    let template = "{% for m in messages %}user: {{ m.content }}\n{% endfor %}assistant:";
    let tokens = models::template::Tokens::of(&header);
    let renderer =
        models::template::Renderer::of_text("t", template, tokens, models::template::Thinking::Default)
            .expect("the template");
    let settings = Settings::default();
    let pairs = items.iter().flat_map(|item| conditions.iter().map(move |condition| (item, condition)));
    let mut jobs = Vec::new();
    for (item, condition) in pairs {
        for (prompt, request) in Track::start(item, condition, &settings).asks() {
            let id = jobs.len() as u32;
            jobs.push(runner::prompting::job(&renderer, id, prompt, request).expect("a prompt").job);
        }
    }
    jobs
}

/// Tokens that were evaluated for the jobs, and tokens of their prompts.
fn cost(engine: &mut models::llama::Llama, jobs: &[Job]) -> (u64, u64) {
    let replies = engine.round(jobs, &mut |_| ()).expect("a round").replies;
    engine.end_group();
    assert!(replies.iter().all(|reply| matches!(reply, Reply::Scored(_))));
    let sum = |of: fn(models::Usage) -> u32| replies.iter().map(|reply| u64::from(of(reply.usage()))).sum();
    (sum(|usage| usage.evaluated_tokens), sum(|usage| usage.prompt_tokens))
}

#[test]
fn five_orders_and_three_endings_cost_less_as_one_run_than_as_fifteen() {
    let mut engine = tiny();
    let names = ["direct", "direct+answer-colon", "cot-prefix+step-by-step"];
    let conditions = names.map(|name| Condition::named(name).expect("a condition"));
    let items = items();
    let all: Vec<Item> = items.iter().flat_map(|item| forms(item, 5)).collect();
    assert_eq!(all.len(), 100);
    // Fifteen runs: one order, one ending, all items.
    let (mut apart, mut prompts) = (0, 0);
    for order in 0..5 {
        let own: Vec<Item> = all.iter().skip(order).step_by(5).cloned().collect();
        for condition in &conditions {
            let (evaluated, prompt) = cost(&mut engine, &jobs_of(&own, std::slice::from_ref(condition)));
            apart += evaluated;
            prompts += prompt;
        }
    }
    let jobs = jobs_of(&all, &conditions);
    assert_eq!(jobs.len(), 300);
    let (together, _) = cost(&mut engine, &jobs);
    let least = distinct_prefixes(&mut engine, &jobs);
    println!(
        "prompts {prompts} tokens; fifteen runs evaluate {apart}, one run {together}, the least is {least}"
    );
    assert!(together as f64 <= 1.02 * least as f64, "{together} evaluated, {least} distinct prefixes");
    assert!(2 * together < apart, "{together} together, {apart} apart");
}

#[test]
fn masses_and_entropy_are_those_of_the_whole_distribution() {
    let mut engine = tiny();
    let words = engine.facts().vocab_tokens;
    let watch =
        vec![CONTINUATION_TOKENS.clone(), vec!["A".into(), " A".into()], vec!["no such token at all".into()]];
    let mut job = score("user: what colour is the square?\nassistant:", &[" red", " blue"]);
    let Request::Score(score) = &mut job.request else { panic!("scored") };
    (score.top, score.watch) = (words as u16, watch.clone());
    let Reply::Scored(scored) = answer(&mut engine, &job) else { panic!("not scored") };
    assert_eq!(scored.top.len(), words as usize, "the whole vocabulary");
    let probability = |logprob: f32| f64::from(logprob).exp();
    let whole: f64 = scored.top.iter().map(|token| probability(token.logprob)).sum();
    assert!((whole - 1.0).abs() < 1e-4, "{whole}");
    let entropy: f64 =
        scored.top.iter().map(|token| -probability(token.logprob) * f64::from(token.logprob)).sum();
    assert!((scored.entropy.expect("an entropy") - entropy).abs() < 1e-3, "{:?} {entropy}", scored.entropy);
    assert_eq!(scored.watched.len(), 3);
    for (set, watched) in watch.iter().zip(&scored.watched) {
        let sum: f64 = scored
            .top
            .iter()
            .filter(|token| set.contains(&token.piece))
            .map(|token| probability(token.logprob))
            .sum();
        assert!((watched - sum).abs() < 1e-5, "{watched} {sum}");
    }
    assert_eq!(scored.watched[2], 0.0);
    // A label's own token is one of its variants.
    assert!(scored.labels[0].rank >= 1 && scored.mass.expect("a mass") <= 1.0);
}
