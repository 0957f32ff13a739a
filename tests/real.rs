//! The real engine on the default model.

mod answering;
mod bundle;
mod decoding;
mod latency;
mod levels;
mod memory;
mod minimum;
mod packing;
mod pictures;
mod probing;
mod program;
mod states;
mod streams;

use std::path::PathBuf;

use models::{
    Engine, Finish, Generate, Job, LoadSpec, LoopGuard, Mode, Reply, Request, Sampling, Score, Segment,
    ThinkingCap,
};

use crate::support::root;

fn model() -> PathBuf {
    let path = root().join("models/gguf/SmolLM2-135M-Instruct.Q4_1.gguf");
    assert!(path.exists(), "{} is missing: run `make fetch`", path.display());
    path
}

fn spec() -> LoadSpec {
    LoadSpec {
        mode: Mode::Packed,
        cells: 4096,
        sequences: 64,
        parallel: 16,
        context_tokens: 1024,
        threads: 2,
        threads_batch: 2,
        ..LoadSpec::plain(model())
    }
}

fn engine_in(mode: Mode, threads: u32) -> models::llama::Llama {
    let spec = LoadSpec { mode, threads, threads_batch: threads, ..spec() };
    models::llama::Llama::open(&spec).expect("the model loads")
}

fn engine(threads: u32) -> models::llama::Llama {
    engine_in(Mode::Packed, threads)
}

fn job(text: &str, request: Request) -> Job {
    Job { id: 0, prompt: vec![Segment::text(text, true)], add_bos: false, request, follow_up: false }
}

fn score(text: &str, labels: &[&str]) -> Job {
    let continuations = labels.iter().map(|&label| label.to_owned()).collect();
    job(text, Request::Score(Score { continuations, top: 5, ..Score::default() }))
}

/// Writes on from a text until the tokens are used up.
fn write(text: &str, max_tokens: u32, sampling: Sampling) -> Job {
    let generate = Generate { max_tokens, stop: vec![], sampling, loop_guard: None, thinking: None };
    job(text, Request::Generate(generate))
}

fn answer(engine: &mut impl Engine, job: &Job) -> Reply {
    let reply = engine.round(std::slice::from_ref(job), &mut |_| ()).expect("the round runs");
    engine.end_group();
    reply.replies.into_iter().next().expect("one reply")
}

const CAPITAL: &str = "<|im_start|>user\nWhat is the capital of France?<|im_end|>\n<|im_start|>assistant\n";

/// Where two replies to one prompt part.
enum Parting {
    Never,
    /// The text up to there has other tokens than were written, so that it cannot be asked about.
    Unknown,
    /// At this token, where the best one leads by so much.
    Lead(usize, f32),
}

/// Looks where two replies to the prompt of a job part, which has one text.
fn parting(engine: &mut impl Engine, job: &Job, a: &models::Generated, b: &models::Generated) -> Parting {
    let Some(at) = a.tokens.iter().zip(&b.tokens).position(|(a, b)| a != b) else { return Parting::Never };
    let prompt = &job.prompt[0].text;
    let mut ids = |text: &str| -> Vec<i32> {
        let tokens = engine.tokenise(&[self::job(text, job.request.clone())]).expect("tokens");
        tokens[0].prompt.iter().map(|token| token.id).collect()
    };
    let wanted = [&ids(prompt)[..], &b.tokens[..at]].concat();
    let text = |length| format!("{prompt}{}", String::from_utf8_lossy(&b.bytes[..length]));
    let cut = (0..=b.bytes.len()).find(|&length| ids(&text(length)) == wanted);
    let Some(cut) = cut else { return Parting::Unknown };
    let Reply::Scored(scored) = answer(engine, &score(&text(cut), &["."])) else { panic!("not scored") };
    Parting::Lead(at, scored.top[0].logprob - scored.top[1].logprob)
}

/// The first jobs of the first items of a task.
fn jobs(task: &str, limit: usize, interfaces: &[&str], max_tokens: u32) -> Vec<Job> {
    let task = datasets::Task::named(task).expect("the task");
    let items = (task.items)(&datasets::Params::default(), 1).expect("items");
    let settings = datasets::Settings { max_tokens, ..datasets::Settings::default() };
    let header = models::gguf::Header::open(&model()).expect("the header");
    let renderer = models::template::Renderer::of_model(&header, models::template::Thinking::Default)
        .expect("the template");
    let conditions: Vec<_> =
        interfaces.iter().map(|name| datasets::Condition::named(name).expect("the interface")).collect();
    let spec = runner::supervisor::group::GroupSpec {
        at: runner::entry::GroupRef { group: 0, model: 0, task: 0 },
        items: &items[..limit],
        conditions: &conditions,
        settings: &settings,
        renderer: &renderer,
    };
    spec.first_jobs().expect("jobs")
}
