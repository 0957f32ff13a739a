//! Pictures beside llama.cpp's own helper, which evaluates one prompt at a time by another road: for models whose pictures
//! look back, see each other, or have places in several directions, with a plain cache, a window, and a state.

#![cfg(feature = "llama")]

use std::num::NonZeroU32;
use std::path::PathBuf;

use llama_cpp_2::context::params::LlamaContextParams;
use llama_cpp_2::llama_backend::LlamaBackend;
use llama_cpp_2::llama_batch::LlamaBatch;
use llama_cpp_2::model::LlamaModel;
use llama_cpp_2::model::params::LlamaModelParams;
use llama_cpp_2::mtmd::{MtmdBitmap, MtmdContext, MtmdContextParams, MtmdInputText};
use llama_cpp_2::token::LlamaToken;
use models::llama::Llama;
use models::{Engine, Generate, Job, LoadSpec, Mode, Reply, Request, Sampling, Score, Segment, Shown};

/// Language model, projector, by how much a log-probability may differ.
const PAIRS: [(&str, &str, f64); 5] = [
    ("tiny-vlm.gguf", "tiny-vlm-mmproj.gguf", 0.02),
    ("tiny-gemma3.gguf", "tiny-gemma3-mmproj.gguf", 0.02),
    ("tiny-qwen2vl.gguf", "tiny-janus-mmproj.gguf", 0.02),
    ("tiny-lfm2.gguf", "tiny-janus-mmproj.gguf", 0.02),
    ("tiny-mamba.gguf", "tiny-janus-mmproj.gguf", 0.02),
];

/// Prompts with their pictures; what begins alike is shared in packed mode.
const PROMPTS: [(&str, &[usize]); 6] = [
    ("<__media__>\nwhich colour", &[0]),
    ("<__media__>\nwhich shape is it", &[0]),
    ("<|im_start|>user\nfirst <__media__> then <__media__> here", &[0, 1]),
    ("<|im_start|>user\nfirst <__media__> then <__media__> here", &[1, 0]),
    ("<|im_start|>user\nfirst <__media__> then<__media__><__media__> there<|im_end|>\n", &[0, 1, 2]),
    ("no picture at all", &[]),
];

const LABELS: [&str; 4] = ["A", "B", "C", "D"];
const TOKENS: usize = 6;

fn fixture(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../tests/fixtures").join(name)
}

/// A picture that no other is like, not always square.
fn picture(number: usize) -> Shown {
    let (width, height) = [(64, 64), (80, 48), (40, 90)][number];
    let byte = |at: usize| ((at * (7 + 12 * number) + at / 64 * 31) % 251) as u8;
    let rgb = (0..3 * width * height).map(byte).collect();
    Shown { address: format!("p{number}"), width: width as u32, height: height as u32, rgb }
}

/// Log-probabilities of the labels and a greedy reply.
type Said = (Vec<f64>, Vec<i32>);

fn softmax(logits: &[f32]) -> impl Fn(i32) -> f64 + use<> {
    let most = logits.iter().copied().fold(f32::MIN, f32::max);
    let sum: f64 = logits.iter().map(|&logit| f64::from(logit - most).exp()).sum();
    let logits = logits.to_vec();
    move |token| f64::from(logits[token as usize] - most) - sum.ln()
}

fn best(logits: &[f32]) -> i32 {
    let mut best = 0;
    for (token, &logit) in logits.iter().enumerate() {
        if logit > logits[best] {
            best = token;
        }
    }
    best as i32
}

/// What the library's helper says.
fn helper(backend: &LlamaBackend, text: &str, projector: &str) -> Vec<Said> {
    let model =
        LlamaModel::load_from_file(backend, fixture(text), &LlamaModelParams::default()).expect("the model");
    let params =
        MtmdContextParams { use_gpu: false, print_timings: false, n_threads: 1, ..Default::default() };
    let path = fixture(projector).display().to_string();
    let mut eyes = MtmdContext::init_from_file(&path, &model, &params).expect("the projector");
    let vocab = model.vocab();
    let ask = |&(text, shown): &(&str, &[usize])| {
        let params = LlamaContextParams::default()
            .with_n_ctx(NonZeroU32::new(512))
            .with_n_batch(512)
            .with_n_ubatch(512)
            .with_n_threads(1)
            .with_n_threads_batch(1);
        let mut context = model.new_context(backend, params).expect("a context");
        let bitmap = |&number: &usize| {
            let Shown { width, height, rgb, .. } = picture(number);
            MtmdBitmap::from_image_data(width, height, &rgb).expect("a bitmap")
        };
        let bitmaps: Vec<MtmdBitmap> = shown.iter().map(bitmap).collect();
        let input = MtmdInputText { text: text.to_owned(), add_special: true, parse_special: true };
        let chunks = eyes.tokenize(input, &bitmaps.iter().collect::<Vec<_>>()).expect("chunks");
        let mut past = chunks.eval_chunks(&mut eyes, &mut context, 0, 0, 512, true).expect("evaluated");
        let logprob = softmax(context.get_logits_ith(-1));
        let id = |label: &&str| vocab.tokenize(label.as_bytes(), false, false)[0].0;
        let labels = LABELS.iter().map(|label| logprob(id(label))).collect();
        let mut reply = Vec::new();
        while reply.len() < TOKENS {
            let token = best(context.get_logits_ith(-1));
            if vocab.is_eog(LlamaToken(token)) {
                break;
            }
            reply.push(token);
            let mut batch = LlamaBatch::new(1, 1);
            batch.add(LlamaToken(token), past, &[0], true).expect("room");
            context.decode(&mut batch).expect("decoded");
            past += 1;
        }
        (labels, reply)
    };
    PROMPTS.iter().map(ask).collect()
}

/// The same prompt as segments.
fn job(id: usize, (text, shown): (&str, &[usize]), request: Request) -> Job {
    let mut prompt = Vec::new();
    let mut pictures = shown.iter();
    for (place, stretch) in text.split("<__media__>").enumerate() {
        if place > 0 {
            prompt.push(Segment::picture(format!("p{}", pictures.next().expect("a picture for every mark"))));
        }
        if !stretch.is_empty() {
            prompt.push(Segment::text(stretch, true));
        }
    }
    Job { id: id as u32, prompt, add_bos: true, request, follow_up: false }
}

fn engine(text: &str, projector: &str, mode: Mode, sequences: u32) -> Vec<Said> {
    let spec = LoadSpec {
        mode,
        cells: 1024,
        sequences,
        parallel: 4,
        batch_tokens: 64,
        mmproj: Some(fixture(projector)),
        ..LoadSpec::plain(fixture(text))
    };
    let mut engine = Llama::open(&spec).expect("the models load");
    engine.show(&[], (0..3).map(picture).collect()).expect("pictures are taken");
    let score = Request::Score(Score {
        continuations: LABELS.map(String::from).to_vec(),
        top: 0,
        ..Score::default()
    });
    let write = Request::Generate(Generate {
        max_tokens: TOKENS as u32,
        stop: Vec::new(),
        sampling: Sampling::Greedy,
        loop_guard: None,
        thinking: None,
    });
    let requests = [score, write];
    let jobs: Vec<Job> = PROMPTS
        .iter()
        .flat_map(|prompt| requests.iter().map(|request| job(0, *prompt, request.clone())))
        .zip(0..)
        .map(|(job, id)| Job { id, ..job })
        .collect();
    let reply = engine.round(&jobs, &mut |_| ()).expect("the round runs");
    // Three pictures, whatever the number of prompts and ways of asking.
    let encoded: u32 = reply.replies.iter().map(|reply| reply.usage().pictures_encoded).sum();
    assert_eq!(encoded, 3, "{text} {mode:?}");
    engine.end_group();
    let said = |pair: &[Reply]| {
        let [Reply::Scored(scored), Reply::Generated(written)] = pair else {
            panic!("{text} {mode:?}: {pair:?}")
        };
        (scored.labels.iter().map(models::LabelScore::sum).collect(), written.tokens.clone())
    };
    reply.replies.chunks(2).map(said).collect()
}

#[test]
fn every_way_to_evaluate_pictures_says_what_the_library_s_helper_says() {
    let backend = LlamaBackend::init().expect("the library starts");
    let expected: Vec<Vec<Said>> =
        PAIRS.iter().map(|(text, projector, _)| helper(&backend, text, projector)).collect();
    drop(backend);
    for ((text, projector, most), expected) in PAIRS.iter().zip(&expected) {
        for (mode, sequences) in [(Mode::Packed, 16), (Mode::Packed, 1), (Mode::Exact, 4)] {
            let said = engine(text, projector, mode, sequences);
            for ((prompt, expected), said) in PROMPTS.iter().zip(expected).zip(&said) {
                let place = format!("{text} {mode:?} {sequences} {prompt:?}");
                for (logprob, expected) in said.0.iter().zip(&expected.0) {
                    assert!((logprob - expected).abs() < *most, "{place}: {logprob} for {expected}");
                }
                assert_eq!(said.1, expected.1, "{place}");
            }
            // Pictures matter, and so does their order.
            assert_ne!(said[2].0, said[3].0, "{text}");
        }
    }
}
