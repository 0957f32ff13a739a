//! The state behind the final norm is the library's own embeddings output, which reaches the caller by another road. A process of
//! its own: the library is used by one at a time.

#![cfg(feature = "llama")]

use std::num::NonZeroU32;
use std::path::PathBuf;

use llama_cpp_2::context::params::LlamaContextParams;
use llama_cpp_2::llama_backend::LlamaBackend;
use llama_cpp_2::llama_batch::LlamaBatch;
use llama_cpp_2::model::LlamaModel;
use llama_cpp_2::model::params::LlamaModelParams;
use llama_cpp_2::token::LlamaToken;
use models::{Engine, Job, LoadSpec, Mode, Reply, Request, Score, Segment, States};

const MODELS: [&str; 4] = ["tiny-vlm.gguf", "tiny-gemma3.gguf", "tiny-lfm2.gguf", "tiny-mamba.gguf"];
const TEXTS: [&str; 2] =
    ["the red square is above the blue circle", "which colour is left of the green triangle"];

fn fixture(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../tests/fixtures").join(name)
}

/// The embeddings output at the last token of each text.
fn embedded(backend: &LlamaBackend, model: &str) -> Vec<Vec<f32>> {
    let model = LlamaModel::load_from_file(backend, fixture(model), &LlamaModelParams::default())
        .expect("the model loads");
    let one = |text: &&str| {
        let params = LlamaContextParams::default()
            .with_n_ctx(NonZeroU32::new(256))
            .with_embeddings(true)
            .with_n_threads(1)
            .with_n_threads_batch(1);
        let mut context = model.new_context(backend, params).expect("a context");
        let tokens: Vec<LlamaToken> = model.vocab().tokenize(text.as_bytes(), true, true);
        let mut batch = LlamaBatch::new(256, 1);
        for (place, &token) in tokens.iter().enumerate() {
            batch.add(token, place as i32, &[0], place + 1 == tokens.len()).expect("room");
        }
        context.decode(&mut batch).expect("decoded");
        context.embeddings_ith(tokens.len() as i32 - 1).expect("a state").to_vec()
    };
    TEXTS.iter().map(one).collect()
}

fn told(model: &str) -> Vec<Vec<f32>> {
    let spec = LoadSpec { mode: Mode::Packed, cells: 1024, sequences: 8, ..LoadSpec::plain(fixture(model)) };
    let mut engine = models::llama::Llama::open(&spec).expect("the model loads");
    let job = |(id, text): (u32, &&str)| {
        let continuations = vec![" red".to_owned(), " blue".to_owned()];
        let score = Score { continuations, states: States::Final, ..Score::default() };
        let prompt = vec![Segment::text(*text, true)];
        Job { id, prompt, add_bos: true, request: Request::Score(score), follow_up: false }
    };
    let jobs: Vec<Job> = (0..).zip(&TEXTS).map(job).collect();
    let replies = engine.round(&jobs, &mut |_| ()).expect("a round").replies;
    let state = |reply: &Reply| match reply {
        Reply::Scored(scored) => scored.states.as_ref().expect("states").state(0),
        other => panic!("{other:?}"),
    };
    replies.iter().map(state).collect()
}

#[test]
fn the_final_state_is_the_embeddings_output() {
    let backend = LlamaBackend::init().expect("the library starts");
    let expected: Vec<_> = MODELS.iter().map(|model| embedded(&backend, model)).collect();
    drop(backend);
    for (model, expected) in MODELS.iter().zip(expected) {
        for (got, want) in told(model).iter().zip(&expected) {
            let largest = want.iter().fold(0f32, |largest, value| largest.max(value.abs()));
            let apart = got.iter().zip(want).fold(0f32, |most, (a, b)| most.max((a - b).abs())) / largest;
            // Halves, and a batch of another shape.
            assert!(got.len() == want.len() && apart < 5e-3, "{model}: {apart}");
        }
    }
}
