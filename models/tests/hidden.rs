//! Hidden states: the right rows, whatever shares a batch, and the right numbers, by a forward pass in NumPy
//! (`tests/fixtures/forward.py`).

#![cfg(feature = "llama")]

use std::path::{Path, PathBuf};

use models::gguf::Header;
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
    open_at(fixture(model), mode, batch_tokens)
}

fn open_at(model: PathBuf, mode: Mode, batch_tokens: u32) -> models::llama::Llama {
    let spec = LoadSpec { mode, cells: 4096, sequences: 100, batch_tokens, ..LoadSpec::plain(model) };
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

/// Splits a model into parts as the library reads them: the keys in the first, every tensor in the part that `part_of` names.
fn split(model: &Path, folder: &Path, count: u16, part_of: impl Fn(&str) -> u16) -> Vec<PathBuf> {
    let bytes = std::fs::read(model).expect("the model");
    let header = Header::open(model).expect("its header");
    let named = |name: &str| [&(name.len() as u64).to_le_bytes()[..], name.as_bytes()].concat();
    // The table of tensors follows the keys and begins with the name of the first one.
    let first = named(&header.tensors[0].name);
    let table = bytes.windows(first.len()).position(|window| window == first).expect("the table");
    let key_count = u64::from_le_bytes(bytes[16..24].try_into().expect("eight bytes"));
    let key = |name: &str, kind: u32, value: &[u8]| [&named(name), &kind.to_le_bytes()[..], value].concat();
    let (sixteen_bits, signed) = (2, 5);
    let tensors = header.tensors.len() as i32;
    let written = (0..count).map(|part| {
        let own: Vec<_> = header.tensors.iter().filter(|tensor| part_of(&tensor.name) == part).collect();
        let mut file = b"GGUF".to_vec();
        file.extend(3u32.to_le_bytes());
        file.extend((own.len() as u64).to_le_bytes());
        file.extend((3 + if part == 0 { key_count } else { 0 }).to_le_bytes());
        if part == 0 {
            file.extend(&bytes[24..table]);
        }
        file.extend(key("split.no", sixteen_bits, &part.to_le_bytes()));
        file.extend(key("split.count", sixteen_bits, &count.to_le_bytes()));
        file.extend(key("split.tensors.count", signed, &tensors.to_le_bytes()));
        let (mut data, mut offset) = (Vec::new(), 0u64);
        for tensor in own {
            file.extend(named(&tensor.name));
            file.extend((tensor.dims.len() as u32).to_le_bytes());
            file.extend(tensor.dims.iter().flat_map(|dim| dim.to_le_bytes()));
            file.extend(tensor.kind.id.to_le_bytes());
            file.extend(offset.to_le_bytes());
            let start = header.place(tensor).expect("a place").1 as usize;
            data.extend(&bytes[start..start + tensor.bytes as usize]);
            data.resize(data.len().next_multiple_of(32), 0);
            offset = data.len() as u64;
        }
        file.resize(file.len().next_multiple_of(32), 0);
        file.extend(data);
        let path = folder.join(format!("m-{:05}-of-{count:05}.gguf", part + 1));
        std::fs::write(&path, file).expect("written");
        path
    });
    written.collect()
}

#[test]
fn the_end_of_a_split_model_is_found_in_whichever_part_holds_it() {
    let jobs: Vec<Job> = forward().iter().map(|one| asked(&one.text, States::Layers)).collect();
    let (whole, end) = round(&mut open("tiny-vlm.gguf", Mode::Packed, 512), &jobs);
    assert!(end.refusals.is_empty() && end.norm.is_some() && end.rows.len() == 2, "{end:?}");
    // Norm and projection in the second and the third part, in the third and the second, and both in the first.
    for (norm, projection) in [(1, 2), (2, 1), (0, 0)] {
        let folder = tempfile::tempdir().expect("a folder");
        let parts = split(&fixture("tiny-vlm.gguf"), folder.path(), 3, |name| match name {
            "output_norm.weight" => norm,
            "token_embd.weight" => projection,
            name => u16::from(name.starts_with("blk.2")) + 2 * u16::from(name.starts_with("blk.3")),
        });
        let (scored, readout) = round(&mut open_at(parts[0].clone(), Mode::Packed, 512), &jobs);
        assert_eq!(readout, end, "norm in part {norm}, projection in part {projection}");
        for (scored, whole) in scored.iter().zip(&whole) {
            assert_eq!((&scored.labels, &scored.states), (&whole.labels, &whole.states));
        }
    }
}
