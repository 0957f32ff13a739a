//! Hidden states: the right rows, whatever shares a batch, and the right numbers, by a forward pass in NumPy
//! (`tests/fixtures/forward.py`).

#![cfg(feature = "llama")]

use std::path::PathBuf;

use models::{Engine, HiddenStates, Job, LoadSpec, Mode, Readout, Reply, Request, Score, Segment, States};

#[derive(serde::Deserialize)]
struct Forward {
    text: String,
    tokens: Vec<i32>,
    states: Vec<Vec<f32>>,
}

fn fixture(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../tests/fixtures").join(name)
}

fn forward() -> Vec<Forward> {
    let text = std::fs::read_to_string(fixture("forward.json")).expect("the fixture");
    serde_json::from_str(&text).expect("its form")
}

fn open(model: &str, mode: Mode, batch_tokens: u32) -> models::llama::Llama {
    let spec =
        LoadSpec { mode, cells: 4096, sequences: 100, batch_tokens, ..LoadSpec::plain(fixture(model)) };
    models::llama::Llama::open(&spec).expect("the model loads")
}

fn asked(text: &str, states: States) -> Job {
    let continuations = vec![" red".to_owned(), " blue".to_owned()];
    let request = Request::Score(Score { continuations, top: 3, states, ..Score::default() });
    Job { id: 0, prompt: vec![Segment::text(text, true)], add_bos: true, request, follow_up: false }
}

fn round(engine: &mut models::llama::Llama, jobs: &[Job]) -> (Vec<models::Scored>, Readout) {
    let reply = engine.round(jobs, &mut |_| ()).expect("a round");
    engine.end_group();
    let scored = |reply| match reply {
        Reply::Scored(scored) => scored,
        other => panic!("{other:?}"),
    };
    (reply.replies.into_iter().map(scored).collect(), reply.readout)
}

fn states(scored: &models::Scored) -> &HiddenStates {
    scored.states.as_ref().expect("states")
}

/// The largest difference, as a share of the largest number.
fn apart(got: &[f32], want: &[f32]) -> f32 {
    assert_eq!(got.len(), want.len());
    let largest = want.iter().fold(0f32, |largest, value| largest.max(value.abs()));
    got.iter().zip(want).fold(0f32, |most, (got, want)| most.max((got - want).abs())) / largest
}

#[test]
fn the_states_of_every_layer_are_those_of_a_forward_pass_in_numpy() {
    for mode in [Mode::Exact, Mode::Packed] {
        let mut engine = open("tiny-vlm.gguf", mode, 512);
        let all = forward();
        let jobs: Vec<Job> = all.iter().map(|one| asked(&one.text, States::Layers)).collect();
        let tokens = engine.tokenise(&jobs).expect("tokens");
        let (scored, _) = round(&mut engine, &jobs);
        for ((one, tokens), scored) in all.iter().zip(tokens).zip(&scored) {
            assert_eq!(tokens.prompt.iter().map(|token| token.id).collect::<Vec<_>>(), one.tokens);
            let states = states(scored);
            assert_eq!((states.count(), states.dimension), (6, 160));
            for (layer, want) in one.states.iter().enumerate() {
                let apart = apart(&states.state(layer), want);
                assert!(apart < 1e-3, "{mode:?}, {:?}, state {layer}: {apart}", one.text);
            }
        }
    }
}

#[test]
fn every_job_of_a_batch_gets_its_own_rows() {
    // About nine hundred tokens in one call, computed in two micro-batches; prompts that share and prompts that do not.
    let jobs: Vec<Job> = (0..70)
        .map(|number| {
            let shared = if number % 3 == 0 { "the red square is above" } else { "which colour is the" };
            asked(
                &format!("{shared} one {} two {} three", "circle ".repeat(number % 7), number),
                States::Layers,
            )
        })
        .collect();
    let mut packed = open("tiny-vlm.gguf", Mode::Packed, 2048);
    let mut exact = open("tiny-vlm.gguf", Mode::Exact, 512);
    let ((together, _), (alone, _)) = (round(&mut packed, &jobs), round(&mut exact, &jobs));
    for (number, (together, alone)) in together.iter().zip(&alone).enumerate() {
        for layer in 0..6 {
            let apart = apart(&states(together).state(layer), &states(alone).state(layer));
            // The cache holds 16-bit numbers; another job's row is far away.
            assert!(apart < 0.01, "job {number}, state {layer}: {apart}");
        }
    }
    let foreign = apart(&states(&together[1]).state(5), &states(&together[2]).state(5));
    assert!(foreign > 0.05, "rows of different prompts differ: {foreign}");
}

#[test]
fn asking_for_states_moves_no_score() {
    for model in ["tiny-vlm.gguf", "tiny-gemma3.gguf"] {
        let texts: Vec<String> = forward().into_iter().map(|one| one.text).collect();
        let jobs = |states| texts.iter().map(|text| asked(text, states)).collect::<Vec<_>>();
        let mut engine = open(model, Mode::Packed, 512);
        let (without, readout) = round(&mut engine, &jobs(States::None));
        assert!(readout.is_empty() && without.iter().all(|scored| scored.states.is_none()));
        for wish in [States::Final, States::Layers, States::None] {
            let (with, _) = round(&mut engine, &jobs(wish));
            for (with, without) in with.iter().zip(&without) {
                assert_eq!(
                    (&with.labels, &with.top, with.mass),
                    (&without.labels, &without.top, without.mass)
                );
                assert_eq!(with.states.is_some(), wish != States::None);
            }
        }
    }
}

#[test]
fn jobs_get_what_they_asked_for_beside_others_that_asked_for_more() {
    let mut engine = open("tiny-vlm.gguf", Mode::Packed, 512);
    let text = "the red square is above the blue circle";
    let jobs = [asked(text, States::Layers), asked(text, States::Final), asked(text, States::None)];
    let (scored, _) = round(&mut engine, &jobs);
    assert_eq!(states(&scored[0]).count(), 6);
    assert_eq!(states(&scored[1]).count(), 1);
    assert_eq!(states(&scored[1]).state(0), states(&scored[0]).state(5));
    assert!(scored[2].states.is_none());
}

#[test]
fn the_model_s_end_turns_the_last_layer_into_the_final_state_and_that_into_the_scores() {
    // A state of its own per sequence, a state beside a cache, a sliding window, and quantised weights.
    for model in ["tiny-vlm.gguf", "tiny-gemma3.gguf", "tiny-lfm2.gguf", "tiny-mamba.gguf"] {
        for mode in [Mode::Exact, Mode::Packed] {
            let mut engine = open(model, mode, 512);
            let jobs: Vec<Job> = forward().iter().map(|one| asked(&one.text, States::Layers)).collect();
            let (scored, readout) = round(&mut engine, &jobs);
            assert_eq!(readout.refusals, [""; 0], "{model}");
            let norm = readout.norm.as_ref().expect("a norm");
            for scored in &scored {
                let states = states(scored);
                let last = states.count() - 1;
                let normed = norm.apply(&states.state(last - 1));
                let apart = apart(&normed, &states.state(last));
                assert!(apart < 2e-3, "{model}, {mode:?}: {apart}");
                let score = |label: usize| -> f64 {
                    let token = scored.labels[label].tokens[0];
                    let row = readout.rows.iter().find(|row| row.token == token).expect("a row");
                    let products = row.row.state(0).into_iter().zip(states.state(last));
                    products.map(|(w, x)| f64::from(w) * f64::from(x)).sum()
                };
                let lead = score(0) - score(1);
                let own = f64::from(scored.labels[0].logprobs[0] - scored.labels[1].logprobs[0]);
                assert!((lead - own).abs() < 0.02, "{model}, {mode:?}: {lead} {own}");
            }
        }
    }
}
