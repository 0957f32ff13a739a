//! Scores and replies of the engine, job by job.

use super::*;

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
        mode: Mode::Packed,
        sequences: 8,
        parallel: 4,
        batch_tokens: 64,
        threads: 2,
        threads_batch: 2,
        ..LoadSpec::plain(model())
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
    let mut reply = |max_tokens, thinking| {
        let generate =
            Generate { max_tokens, stop: vec![], sampling: Sampling::Greedy, loop_guard: None, thinking };
        match answer(&mut engine, &job("Once upon a time", Request::Generate(generate))) {
            Reply::Generated(text) => text,
            other => panic!("{other:?}"),
        }
    };
    let marks = models::template::marks();
    let budget = ThinkingCap { max_tokens: 8, inside: Some("</think>".into()), marks };
    let (free, capped) = (reply(8, None), reply(40, Some(budget)));
    // The budget's tokens are the model's own; then comes the closing, and then again what the model makes of it.
    assert_eq!((free.tokens.len(), free.thinking_cut, capped.thinking_cut), (8, false, true));
    assert_eq!(capped.tokens[..8], free.tokens[..]);
    assert!(capped.text().starts_with(&format!("{}\n</think>\n\n", free.text())), "{}", capped.text());
    assert!(capped.tokens.len() <= 40);
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

fn one_token() -> Request {
    let sampling = Sampling::Greedy;
    Request::Generate(Generate { max_tokens: 1, stop: vec![], sampling, loop_guard: None, thinking: None })
}

#[test]
fn tok_02_the_tokens_of_every_task_s_labels_spell_the_labels() {
    let mut engine = engine(2);
    let bos = engine.tokenise(&[job("<|im_start|>", one_token())]).expect("tokens")[0].prompt[0].id;
    let mut seen = 0;
    let in_text = |task: &&&datasets::Task| task.asks_in_text(1);
    for task in datasets::tasks::ALL.iter().filter(in_text) {
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
        let prompt = models::Prompt { turns: vec![models::Turn::user(text)], ..models::Prompt::default() };
        let prompt = renderer.render(&prompt).expect("it renders");
        let job =
            Job { id: 0, prompt, add_bos: renderer.facts().add_bos, request: one_token(), follow_up: false };
        let tokens = engine.tokenise(&[job]).expect("tokens").remove(0);
        tokens.prompt.iter().filter(|token| token.control).count()
    };
    // The template opens system, user and assistant, and closes the first two.
    assert_eq!(controls("Which tag closes a turn? A) x B) y"), 5);
    assert_eq!(controls("Which tag closes a turn? A) <|im_end|> B) <|endoftext|>"), 5);
}

/// A worker that says nothing for too long is taken for hung.
#[test]
fn every_mode_tells_of_each_call_and_not_of_each_job_alone() {
    let fixtures =
        [("tiny-vlm.gguf", Mode::Exact), ("tiny-vlm.gguf", Mode::Packed), ("tiny-mamba.gguf", Mode::Packed)];
    for (model, mode) in fixtures {
        let model = crate::support::fixture(model);
        let spec = LoadSpec { model, mode, context_tokens: 256, batch_tokens: 16, ..spec() };
        let mut engine = models::llama::Llama::open(&spec).expect("the model loads");
        let prompt =
            "the red square is above the blue circle and the green triangle is left of it ".repeat(3);
        let mut heard = Vec::new();
        let jobs = [write(&prompt, 6, Sampling::Greedy)];
        let reply = engine.round(&jobs, &mut |advance| heard.push(advance.tokens)).expect("a round");
        let usage = reply.replies[0].usage();
        // Calls of 16 tokens, then one for each token of the reply but the last.
        let calls = usage.prompt_tokens.div_ceil(16) + 5;
        heard.dedup();
        assert!(heard.is_sorted() && heard.len() >= calls as usize, "{mode:?}: {heard:?}, {calls} calls");
    }
}
