//! The real engine on the default model.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use datasets::Stream;
use models::{
    Engine, Finish, Generate, Job, LoadSpec, LoopGuard, Mode, Reply, Request, Sampling, Score, Segment,
    ThinkingCap,
};

use crate::kill::{VICTIMS, run_and_strike};
use crate::support::{Bench, assert_same, complaint, root, run, told};

const NAME: &str = "smollm2-135m-instruct-q4_1";

fn model() -> PathBuf {
    let path = root().join("models/gguf/SmolLM2-135M-Instruct.Q4_1.gguf");
    assert!(path.exists(), "{} is missing: run `make fetch`", path.display());
    path
}

fn engine_in(mode: Mode, threads: u32) -> models::llama::Llama {
    let spec = LoadSpec {
        model: model(),
        vocab_only: false,
        mode,
        cells: 4096,
        sequences: 64,
        parallel: 16,
        context_tokens: 1024,
        batch_tokens: 512,
        threads,
        threads_batch: threads,
        mmap: true,
    };
    models::llama::Llama::open(&spec).expect("the model loads")
}

fn engine(threads: u32) -> models::llama::Llama {
    engine_in(Mode::Packed, threads)
}

fn job(text: &str, request: Request) -> Job {
    Job { id: 0, prompt: vec![Segment { text: text.into(), control: true }], add_bos: false, request }
}

fn score(text: &str, labels: &[&str]) -> Job {
    let continuations = labels.iter().map(|&label| label.to_owned()).collect();
    job(text, Request::Score(Score { continuations, top: 5 }))
}

fn answer(engine: &mut impl Engine, job: &Job) -> Reply {
    let reply = engine.round(std::slice::from_ref(job), &mut |_| ()).expect("the round runs");
    engine.end_group();
    reply.replies.into_iter().next().expect("one reply")
}

const CAPITAL: &str = "<|im_start|>user\nWhat is the capital of France?<|im_end|>\n<|im_start|>assistant\n";

#[test]
fn known_facts_come_out() {
    let mut engine = engine(2);
    let Reply::Scored(scored) =
        answer(&mut engine, &score(&format!("{CAPITAL}The capital of France is"), &[" Paris", " Rome"]))
    else {
        panic!("not scored")
    };
    assert!(scored.labels[0].sum() > scored.labels[1].sum() + 1.0, "{scored:?}");
    assert_eq!(scored.labels[0].rank, 1);
    let mass = scored.mass.expect("finite");
    let sum: f64 = scored.labels.iter().map(|label| label.sum().exp()).sum();
    assert!((mass - sum).abs() < 1e-9 && mass > 0.3 && mass <= 1.0, "{mass}");
    let generate = Generate {
        max_tokens: 24,
        stop: vec![],
        sampling: Sampling::Greedy,
        loop_guard: None,
        thinking: None,
    };
    let Reply::Generated(text) = answer(&mut engine, &job(CAPITAL, Request::Generate(generate))) else {
        panic!("not generated")
    };
    assert!(text.text().contains("Paris"), "{:?}", text.text());
    assert_eq!((text.finish, text.tokens.len() as u32), (Finish::Stop, text.usage.output_tokens));
}

#[test]
fn a_label_of_several_tokens_is_the_sum_of_its_tokens() {
    let mut engine = engine(2);
    // The chain rule: p(" left side") = p(" left") p(" side" | " left").
    let Reply::Scored(whole) = answer(&mut engine, &score("The door is on the", &[" left side", " right"]))
    else {
        panic!("not scored")
    };
    let Reply::Scored(first) = answer(&mut engine, &score("The door is on the", &[" left", " right"])) else {
        panic!("not scored")
    };
    let Reply::Scored(second) = answer(&mut engine, &score("The door is on the left", &[" side", " hand"]))
    else {
        panic!("not scored")
    };
    assert_eq!(whole.labels[0].logprobs.len(), 2);
    assert_eq!(whole.labels[0].logprobs[0], first.labels[0].logprobs[0]);
    // Another batch shape: equal but for the rounding of quantised activations.
    let difference = (whole.labels[0].logprobs[1] - second.labels[0].logprobs[0]).abs();
    assert!(difference < 0.5, "{difference}");
    assert_eq!(whole.labels[1].logprobs, first.labels[1].logprobs);
}

#[test]
fn scores_are_bit_identical_whatever_came_before_and_however_many_threads() {
    let probe = score(&format!("{CAPITAL}The capital of France is"), &[" Paris", " Rome", " a"]);
    let scores = |reply: Reply| match reply {
        Reply::Scored(scored) => scored.labels,
        other => panic!("{other:?}"),
    };
    let mut one = engine(1);
    let reference = scores(answer(&mut one, &probe));
    let mut two = engine(2);
    answer(&mut two, &score("Something else that is evaluated first, and that is longer.", &[" x", " y z"]));
    assert_eq!(scores(answer(&mut two, &probe)), reference);
}

#[test]
fn ctx_04_a_full_context_ends_the_reply_and_a_longer_prompt_is_a_status() {
    let mut spec = LoadSpec {
        model: model(),
        vocab_only: false,
        mode: Mode::Packed,
        cells: 256,
        sequences: 8,
        parallel: 4,
        context_tokens: 256,
        batch_tokens: 64,
        threads: 2,
        threads_batch: 2,
        mmap: true,
    };
    let mut small = models::llama::Llama::open(&spec).expect("the model loads");
    let words = "one two three four five six seven eight nine ten ".repeat(20);
    let generate = |max_tokens| {
        Request::Generate(Generate {
            max_tokens,
            stop: vec![],
            sampling: Sampling::Greedy,
            loop_guard: None,
            thinking: None,
        })
    };
    let Reply::Generated(text) = answer(&mut small, &job(&words, generate(4096))) else {
        panic!("not generated")
    };
    assert_eq!(text.finish, Finish::ContextFull);
    assert_eq!(text.usage.prompt_tokens + text.usage.output_tokens, 256);
    let Reply::TooLong { needed, context } = answer(&mut small, &job(&words.repeat(2), generate(8))) else {
        panic!("it fits")
    };
    assert!(needed > context && context == 256);
    // CTX-05: chunks of other sizes than the batch change nothing but rounding.
    spec.batch_tokens = 256;
    let mut large = models::llama::Llama::open(&spec).expect("the model loads");
    let probe = score(&words, &[" one", " two"]);
    let sums = |reply: Reply| match reply {
        Reply::Scored(scored) => scored.labels.iter().map(|label| label.sum()).collect::<Vec<_>>(),
        other => panic!("{other:?}"),
    };
    for (a, b) in sums(answer(&mut small, &probe)).into_iter().zip(sums(answer(&mut large, &probe))) {
        assert!((a - b).abs() < 0.5, "{a} {b}");
    }
}

#[test]
fn gen_01_and_ext_20_generations_stop_at_stop_texts_and_loops() {
    let mut engine = engine(2);
    let stop = Generate {
        max_tokens: 64,
        stop: vec!["Paris".into()],
        sampling: Sampling::Greedy,
        loop_guard: Some(LoopGuard::default()),
        thinking: None,
    };
    let Reply::Generated(text) = answer(&mut engine, &job(CAPITAL, Request::Generate(stop))) else {
        panic!()
    };
    assert_eq!(text.finish, Finish::StopText);
    assert!(!text.text().contains("Paris"), "{:?}", text.text());
    let guard = LoopGuard { max_period: 1, repeats: 2, min_tokens: 2 };
    let looping = Generate {
        max_tokens: 400,
        stop: vec![],
        sampling: Sampling::Greedy,
        loop_guard: Some(guard),
        thinking: None,
    };
    // Two equal tokens in a row count as a loop here: the model need not be stuck to show how it ends.
    let prompt = "la la la la la la la la la la la la la la la la";
    let Reply::Generated(text) = answer(&mut engine, &job(prompt, Request::Generate(looping))) else {
        panic!()
    };
    assert_eq!(text.finish, Finish::Loop, "{:?}", text.text());
    assert!(text.tokens.len() < 400);
}

#[test]
fn ext_19_a_thinking_budget_closes_the_block_and_the_model_goes_on() {
    let mut engine = engine(2);
    let marks = models::template::marks();
    let thinking = Some(ThinkingCap { max_tokens: 8, inside: Some("</think>".into()), marks });
    let generate =
        Generate { max_tokens: 40, stop: vec![], sampling: Sampling::Greedy, loop_guard: None, thinking };
    let Reply::Generated(text) =
        answer(&mut engine, &job(&format!("{CAPITAL}<think>\n"), Request::Generate(generate)))
    else {
        panic!("not generated")
    };
    assert!(text.thinking_cut);
    let shown = text.text();
    let (thought, answer) = shown.split_once("</think>").expect("the block is closed");
    assert!(!thought.trim().is_empty() && !answer.trim().is_empty(), "{shown}");
    assert!(text.tokens.len() <= 40);
}

#[test]
fn sampling_follows_its_seed() {
    let mut engine = engine(2);
    let mut text = |seed| {
        let sampling = Sampling::Temperature { temperature: 1.5, seed };
        let generate = Generate { max_tokens: 16, stop: vec![], sampling, loop_guard: None, thinking: None };
        match answer(&mut engine, &job("Once upon a time", Request::Generate(generate))) {
            Reply::Generated(text) => text.tokens,
            other => panic!("{other:?}"),
        }
    };
    let first = text(1);
    assert_eq!(text(1), first);
    assert_ne!(text(2), first);
}

/// The first jobs of the first items of a task.
fn jobs(task: &str, limit: usize, interfaces: &[&str], max_tokens: u32) -> Vec<Job> {
    let task = datasets::Task::named(task).expect("the task");
    let items = (task.items)(&datasets::Params::default(), 1).expect("items");
    let settings = datasets::Settings { max_tokens, ..datasets::Settings::default() };
    let header = models::gguf::Header::open(&model()).expect("the header");
    let renderer = models::template::Renderer::of_model(&header, models::template::Thinking::Default)
        .expect("the template");
    let interfaces: Vec<_> =
        interfaces.iter().map(|name| datasets::Interface::named(name).expect("the interface")).collect();
    let spec = runner::supervisor::group::GroupSpec {
        at: runner::entry::GroupRef { group: 0, model: 0, task: 0 },
        items: &items[..limit],
        interfaces: &interfaces,
        settings: &settings,
        renderer: &renderer,
    };
    spec.first_jobs().expect("jobs")
}

fn answers(engine: &mut impl Engine, jobs: &[Job]) -> Vec<Reply> {
    let reply = engine.round(jobs, &mut |_| ()).expect("the round runs");
    engine.end_group();
    reply.replies
}

fn untimed(mut replies: Vec<Reply>) -> Vec<Reply> {
    for reply in &mut replies {
        if let Reply::Scored(models::Scored { usage, .. })
        | Reply::Generated(models::Generated { usage, .. }) = reply
        {
            (usage.prefill_us, usage.decode_us) = (0, 0);
        }
    }
    replies
}

#[test]
fn a_repeated_group_gives_the_same_bits_whatever_came_before() {
    let grammar = jobs("grammar", 20, &["direct", "free-cot"], 12);
    let lights = jobs("lights", 11, &["direct", "cot-prefix"], 12);
    let mut engine_a = engine(2);
    let reference = untimed(answers(&mut engine_a, &grammar));
    answers(&mut engine_a, &lights);
    assert_eq!(untimed(answers(&mut engine_a, &grammar)), reference);
    let mut other = engine(1);
    assert_eq!(untimed(answers(&mut other, &grammar)), reference, "one thread instead of two");
}

#[test]
fn what_one_round_evaluated_the_next_round_of_the_group_does_not() {
    let mut engine = engine(2);
    let labels = [" Paris", " Rome"];
    let first = score(&format!("{CAPITAL}The capital of France is"), &labels);
    let second = score(&format!("{CAPITAL}The capital of France is Paris. The capital of Italy is"), &labels);
    let mut round =
        |job: &Job| engine.round(std::slice::from_ref(job), &mut |_| ()).expect("a round").replies;
    let (one, two) = (round(&first), round(&second));
    engine.end_group();
    let cold = answers(&mut engine, std::slice::from_ref(&second));
    let evaluated = |replies: &[Reply]| replies[0].usage().evaluated_tokens;
    assert_eq!(evaluated(&cold), cold[0].usage().prompt_tokens);
    // The token whose logits were read is evaluated again at most.
    assert!(evaluated(&one) + evaluated(&two) <= evaluated(&cold) + 1, "{one:?} {two:?} {cold:?}");
    let (Reply::Scored(warm), Reply::Scored(cold)) = (&two[0], &cold[0]) else { panic!("not scored") };
    assert!((warm.labels[1].sum() - cold.labels[1].sum()).abs() < 0.5);
    assert!(warm.labels[1].sum() > warm.labels[0].sum());
}

#[test]
fn small_caches_cut_a_round_into_waves_and_answer_all_the_same() {
    let jobs = jobs("grammar", 12, &["direct", "cot-prefix", "free-cot"], 16);
    let spec = |cells, sequences, parallel| LoadSpec {
        model: model(),
        vocab_only: false,
        mode: Mode::Packed,
        cells,
        sequences,
        parallel,
        context_tokens: 256,
        batch_tokens: 128,
        threads: 2,
        threads_batch: 2,
        mmap: true,
    };
    let mut wide = models::llama::Llama::open(&spec(4096, 64, 16)).expect("the model loads");
    let reference = answers(&mut wide, &jobs);
    for (cells, sequences, parallel) in [(512, 64, 16), (4096, 5, 16), (4096, 64, 3), (256, 2, 1)] {
        let mut narrow =
            models::llama::Llama::open(&spec(cells, sequences, parallel)).expect("the model loads");
        for (got, reference) in answers(&mut narrow, &jobs).iter().zip(&reference) {
            match (got, reference) {
                (Reply::Scored(a), Reply::Scored(b)) => {
                    let difference = (a.labels[0].sum() - b.labels[0].sum()).abs();
                    assert!(difference < 0.8, "{difference} with {cells} cells, {sequences} sequences");
                }
                (Reply::Generated(a), Reply::Generated(b)) => {
                    assert_eq!(a.usage.prompt_tokens, b.usage.prompt_tokens);
                    assert!(!a.tokens.is_empty());
                }
                other => panic!("{other:?}"),
            }
        }
    }
}

#[test]
fn packed_scores_are_those_of_prompts_alone_within_rounding_at_a_fraction_of_the_tokens() {
    let jobs = jobs("grammar", 44, &["direct", "cot-prefix"], 8);
    let packed = answers(&mut engine(2), &jobs);
    let exact = answers(&mut engine_in(Mode::Exact, 2), &jobs);
    let margin = |reply: &Reply| match reply {
        Reply::Scored(scored) => scored.labels[0].sum() - scored.labels[1].sum(),
        other => panic!("{other:?}"),
    };
    let worst = packed.iter().zip(&exact).map(|(a, b)| (margin(a) - margin(b)).abs()).fold(0.0, f64::max);
    // Quantised weights: 0.2 to 0.4 was measured.
    assert!(worst < 0.8, "{worst}");
    let evaluated =
        |replies: &[Reply]| -> u32 { replies.iter().map(|reply| reply.usage().evaluated_tokens).sum() };
    assert!(evaluated(&packed) * 4 < evaluated(&exact), "{} of {}", evaluated(&packed), evaluated(&exact));
}

#[test]
fn ctx_07_more_labels_than_sequences_are_scored_alike() {
    let ones = [" one", " two", " three", " four", " five", " six"];
    let hundreds = ones.map(|label| format!("{label} hundred"));
    let labels: Vec<&str> = ones.into_iter().chain(hundreds.iter().map(String::as_str)).collect();
    assert_eq!(labels.len(), 12);
    let probe = score("The number that comes after three is", &labels);
    let sums = |sequences| {
        let spec = LoadSpec {
            model: model(),
            vocab_only: false,
            mode: Mode::Packed,
            cells: 512,
            sequences,
            parallel: 4,
            context_tokens: 256,
            batch_tokens: 128,
            threads: 2,
            threads_batch: 2,
            mmap: true,
        };
        let mut engine = models::llama::Llama::open(&spec).expect("the model loads");
        match answer(&mut engine, &probe) {
            Reply::Scored(scored) => scored.labels.iter().map(|label| label.sum()).collect::<Vec<_>>(),
            other => panic!("{other:?}"),
        }
    };
    for (few, many) in sums(4).into_iter().zip(sums(64)) {
        assert!((few - many).abs() < 0.5, "{few} {many}");
    }
}

fn one_token() -> Request {
    let sampling = Sampling::Greedy;
    Request::Generate(Generate { max_tokens: 1, stop: vec![], sampling, loop_guard: None })
}

#[test]
fn tok_02_the_tokens_of_every_task_s_labels_spell_the_labels() {
    let mut engine = engine(2);
    let bos = engine.tokenise(&[job("<|im_start|>", one_token())]).expect("tokens")[0].prompt[0].id;
    let mut seen = 0;
    let has_items = |task: &&&datasets::Task| (task.items)(&datasets::Params::default(), 1).is_ok();
    for task in datasets::tasks::ALL.iter().filter(has_items) {
        let jobs = jobs(task.name, 2, &["direct", "cot-prefix"], 8);
        for (job, tokens) in jobs.iter().zip(engine.tokenise(&jobs).expect("tokens")) {
            let Request::Score(score) = &job.request else { panic!("not scored") };
            assert_eq!((tokens.labels.len(), tokens.refusal), (score.continuations.len(), None));
            for (label, tail) in score.continuations.iter().zip(&tokens.labels) {
                let text: String = tail.iter().map(|token| token.piece.as_str()).collect();
                assert!(text.ends_with(label.as_str()) && !tail.is_empty(), "{text:?} for {label:?}");
                assert!(tail.iter().all(|token| token.id != bos));
                seen += 1;
            }
        }
    }
    assert!(seen > 50, "{seen}");
}

#[test]
fn txt_10_control_tokens_in_a_question_yield_no_control_ids() {
    let mut engine = engine(2);
    let header = models::gguf::Header::open(&model()).expect("the header");
    let renderer = models::template::Renderer::of_model(&header, models::template::Thinking::Default)
        .expect("the template");
    let mut controls = |text: &str| {
        let prompt = models::Prompt { turns: vec![models::Turn::user(text)], lead: String::new() };
        let prompt = renderer.render(&prompt).expect("it renders");
        let job = Job { id: 0, prompt, add_bos: renderer.facts().add_bos, request: one_token() };
        let tokens = engine.tokenise(&[job]).expect("tokens").remove(0);
        tokens.prompt.iter().filter(|token| token.control).count()
    };
    // The template opens system, user and assistant, and closes the first two.
    assert_eq!(controls("Which tag closes a turn? A) x B) y"), 5);
    assert_eq!(controls("Which tag closes a turn? A) <|im_end|> B) <|endoftext|>"), 5);
}

const KILLED: &str = "limit = 33\ninterfaces = [\"direct\", \"free-cot\"]\n[[model]]\npath = \"smollm2-135m-instruct-q4_1\"\n\
                      [[task]]\nname = \"logic\"\n[asking]\nmax-tokens = 12\n";

#[test]
fn killed_and_resumed_runs_of_the_model_are_bit_identical() {
    model();
    let bench = Bench::new(KILLED);
    let started = Instant::now();
    assert_eq!(bench.run("reference", &["--quiet"]).status.code(), Some(0));
    let whole = started.elapsed();
    let reference = bench.log("reference");
    let mut stream = Stream::new(3, &["kill", "real"]);
    for (round, victim) in VICTIMS.into_iter().enumerate() {
        let out = format!("run{round}");
        let mut struck = false;
        for _ in 0..4 {
            struck |= !run_and_strike(&bench, &out, whole.mul_f64(0.2 + 0.5 * stream.unit()), victim)
                || matches!(victim, crate::kill::Victim::Worker);
        }
        assert!(struck);
        let output = bench.run(&out, &["--quiet"]);
        assert_eq!(output.status.code(), Some(0), "{victim:?}: {output:?}");
        assert_same(&bench.log(&out), &reference);
    }
    assert!(whole > Duration::from_millis(100));
}

#[test]
fn a_damaged_model_gets_one_line_and_leaves_nothing() {
    let bytes = std::fs::read(model()).expect("the model");
    let bench = Bench::new("limit = 2\n[[task]]\nname = \"logic\"\n");
    let half = bench.path("half.gguf");
    std::fs::write(&half, &bytes[..bytes.len() / 2]).expect("half a model");
    for output in [
        run(&["models", "inspect", &half]),
        run(&["plan", &bench.config, "--model", &half]),
        bench.run("run", &["--model", &half]),
    ] {
        assert_eq!(output.status.code(), Some(3), "{output:?}");
        let line = complaint(&output);
        assert!(line.contains("half.gguf") && line.contains("missing"), "{line}");
    }
    assert!(!std::path::Path::new(&bench.path("run")).exists());
    // A model without a chat template: the key is renamed, so that all else stays as it is.
    let key = b"tokenizer.chat_template";
    let place =
        bytes.windows(key.len()).position(|window| window == key).expect("the default model has a template");
    let mut bare = bytes;
    bare[place..place + key.len()].copy_from_slice(b"tokenizer.chat_templatX");
    let path = bench.path("bare.gguf");
    std::fs::write(&path, &bare).expect("a model without a template");
    let output = bench.run("run", &["--model", &path]);
    assert_eq!(output.status.code(), Some(3), "{output:?}");
    let line = complaint(&output);
    assert!(line.contains("template") && line.contains("raw"), "{line}");
    assert!(!std::path::Path::new(&bench.path("run")).exists());
    // And raw prompts on request.
    std::fs::write(
        &bench.config,
        format!("limit = 2\ninterfaces = [\"direct\"]\n[[model]]\npath = \"{path}\"\ntemplate = \"raw\"\n[[task]]\nname = \"logic\"\n"),
    )
    .expect("a configuration");
    assert_eq!(bench.run("run", &["--quiet"]).status.code(), Some(0));
}

#[test]
fn inspect_and_plan_tell_of_the_default_model() {
    model();
    let (code, out, errors) = told(&run(&["models", "inspect", model().to_str().expect("UTF-8"), "--json"]));
    assert_eq!(code, Some(0), "{errors}");
    let json: serde_json::Value = serde_json::from_str(&out).expect("JSON");
    assert_eq!(json["architecture"], "llama");
    assert_eq!(json["sha256"][0], "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53");
    let bench = Bench::new("limit = 11\ninterfaces = [\"direct\"]\n[[task]]\nname = \"grammar\"\n");
    let (code, out, errors) = told(&run(&["plan", &bench.config, "--model", NAME, "--json"]));
    assert_eq!(code, Some(0), "{errors}");
    let plan: serde_json::Value = serde_json::from_str(&out).expect("JSON");
    assert!(plan["models"][0]["rows"][0]["longest_prompt_tokens"].as_u64() > Some(60), "{plan}");
}
