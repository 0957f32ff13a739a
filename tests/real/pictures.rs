//! Pictures through the engine, on the tiny vision-language model of the fixtures. What it must say comes from llama.cpp's own
//! helper for pictures (`fixtures/tiny-vlm/README.md`), which knows nothing of packing.

use std::collections::{BTreeMap, BTreeSet};

use datasets::picture::decode;
use models::gguf::Header;
use models::llama::Llama;
use models::template::{Renderer, Thinking};
use models::{
    Engine, Generate, Job, LoadSpec, Mode, PictureAt, Prompt, Reply, Request, RoundReply, Sampling, Score,
    Shown, Turn,
};
use serde_json::Value;

use crate::support::fixture;

/// An item of the fixtures with what the model says to it.
pub(super) struct Known {
    id: String,
    pub(super) kind: String,
    images: Vec<String>,
    question: String,
    choices: Vec<String>,
    pub(super) letter: String,
    expected: Value,
}

pub(super) fn known() -> Vec<Known> {
    let lines = |name: &str| -> Vec<Value> {
        let text = std::fs::read_to_string(fixture("tiny-vlm").join(name)).expect("the fixture");
        text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
    };
    let text = |value: &Value| value.as_str().expect("a text").to_owned();
    let texts = |value: &Value| value.as_array().expect("a list").iter().map(text).collect();
    let expected = lines("expected.jsonl");
    let one = |(item, expected): (&Value, Value)| {
        assert_eq!(item["id"], expected["id"]);
        Known {
            id: text(&item["id"]),
            kind: text(&item["kind"]),
            images: texts(&item["images"]),
            question: text(&item["question"]),
            choices: texts(&item["choices"]),
            letter: text(&expected["letter"]),
            expected,
        }
    };
    lines("items.jsonl").iter().zip(expected).map(one).collect()
}

fn spec(mode: Mode) -> LoadSpec {
    LoadSpec {
        context_tokens: 512,
        mode,
        cells: 4096,
        sequences: 64,
        parallel: 16,
        mmproj: Some(fixture("tiny-vlm-mmproj.gguf")),
        ..LoadSpec::plain(fixture("tiny-vlm.gguf"))
    }
}

fn shown(name: &str) -> Shown {
    let bytes = std::fs::read(fixture("tiny-vlm").join(name)).expect("the picture");
    let pixels = decode(&bytes).expect("a picture");
    Shown { address: name.to_owned(), width: pixels.width, height: pixels.height, rgb: pixels.rgb }
}

/// An engine that has every picture of some items.
fn engine(mode: Mode, items: &[Known]) -> Llama {
    let mut engine = Llama::open(&spec(mode)).expect("the model loads");
    let names: BTreeSet<&String> = items.iter().flat_map(|item| &item.images).collect();
    engine.show(&[], names.into_iter().map(|name| shown(name)).collect()).expect("pictures are taken");
    engine
}

fn renderer() -> Renderer {
    let header = Header::open(&fixture("tiny-vlm.gguf")).expect("the header");
    Renderer::of_model(&header, Thinking::Default).expect("the template")
}

const DIRECT: &str = "Answer with the letter only.";
const CHAIN: &str = "Let's think step by step.";

/// The layout that the model was trained on: each picture on a line of its own, the question, its options, the end.
fn prompt(item: &Known, end: &str) -> Prompt {
    let mut text = String::new();
    let mut pictures = Vec::new();
    for name in &item.images {
        pictures.push(PictureAt { at: text.len() as u32, address: name.clone() });
        text.push('\n');
    }
    text.push_str(&item.question);
    for (letter, choice) in ('A'..).zip(&item.choices) {
        text.push_str(&format!("\n{letter}. {choice}"));
    }
    text.push_str(&format!("\n{end}"));
    Prompt { turns: vec![Turn::shown(text, pictures)], ..Prompt::default() }
}

fn job(renderer: &Renderer, prompt: &Prompt, request: Request) -> Job {
    let segments = renderer.render(prompt).expect("it renders");
    Job { id: 0, prompt: segments, add_bos: renderer.facts().add_bos, request, follow_up: false }
}

fn letters() -> Request {
    Request::Score(Score {
        continuations: ["A", "B", "C", "D"].map(String::from).to_vec(),
        ..Score::default()
    })
}

fn text(max_tokens: u32) -> Request {
    Request::Generate(Generate {
        max_tokens,
        stop: Vec::new(),
        sampling: Sampling::Greedy,
        loop_guard: None,
        thinking: None,
    })
}

/// Scores and texts of items, direct and with a chain.
fn jobs(items: &[Known]) -> Vec<Job> {
    let renderer = renderer();
    let of = |item: &Known| {
        let (direct, chain) = (prompt(item, DIRECT), prompt(item, CHAIN));
        [
            job(&renderer, &direct, letters()),
            job(&renderer, &chain, letters()),
            job(&renderer, &direct, text(8)),
            job(&renderer, &chain, text(48)),
        ]
    };
    items.iter().flat_map(of).collect()
}

fn round(engine: &mut Llama, jobs: &[Job]) -> RoundReply {
    let reply = engine.round(jobs, &mut |_| ()).expect("the round runs");
    engine.end_group();
    reply
}

fn scores(reply: &Reply) -> Vec<f64> {
    let Reply::Scored(scored) = reply else { panic!("{reply:?}") };
    scored.labels.iter().map(models::LabelScore::sum).collect()
}

fn said(reply: &Reply) -> String {
    let Reply::Generated(generated) = reply else { panic!("{reply:?}") };
    generated.text().into_owned()
}

/// The largest difference of the gaps between letters, as far as both have them: a constant on all of them is no difference.
fn apart(scores: &[f64], logits: &[f64]) -> f64 {
    let gap = |values: &[f64], at: usize| values[at] - values[0];
    (1..scores.len().min(logits.len()))
        .map(|at| (gap(scores, at) - gap(logits, at)).abs())
        .fold(0.0, f64::max)
}

/// What is expected of an item: prompt tokens, text, logits of the four letters.
fn expectation(item: &Known, way: &str) -> (u64, String, Vec<f64>) {
    let expected = &item.expected[way];
    let numbers = expected["logits"].as_array().expect("logits");
    (
        expected["prompt_tokens"].as_u64().expect("a number"),
        expected["text"].as_str().expect("a text").to_owned(),
        numbers.iter().map(|number| number.as_f64().expect("a number")).collect(),
    )
}

/// F16 weights: what the shape of a batch does to a logit.
const NOISE: f64 = 0.02;

fn as_expected(mode: Mode) -> Vec<Reply> {
    let items = known();
    assert_eq!(items.len(), 156);
    let mut engine = engine(mode, &items);
    // In groups of a usual size, as a run asks.
    let mut all = Vec::new();
    for items in items.chunks(22) {
        let reply = round(&mut engine, &jobs(items));
        for (item, replies) in items.iter().zip(reply.replies.chunks(4)) {
            for (way, scored, written) in [("direct", 0, 2), ("cot", 1, 3)] {
                let (tokens, text, logits) = expectation(item, way);
                for at in [scored, written] {
                    assert_eq!(u64::from(replies[at].usage().prompt_tokens), tokens, "{} {way}", item.id);
                }
                assert_eq!(said(&replies[written]), text, "{} {way}", item.id);
                let difference = apart(&scores(&replies[scored]), &logits);
                assert!(difference < NOISE, "{} {way}: {difference}", item.id);
            }
        }
        all.extend(reply.replies);
    }
    all
}

#[test]
fn every_answer_is_that_of_llama_cpp_s_own_helper_and_packing_moves_none() {
    let packed = as_expected(Mode::Packed);
    let exact = as_expected(Mode::Exact);
    for (packed, exact) in packed.iter().zip(&exact) {
        match (packed, exact) {
            (Reply::Scored(_), Reply::Scored(_)) => {
                assert!(apart(&scores(packed), &scores(exact)) < NOISE);
            }
            _ => assert_eq!(said(packed), said(exact)),
        }
    }
}

#[test]
fn a_picture_is_encoded_once_in_a_group_whatever_shows_it() {
    let items: Vec<Known> = known().into_iter().take(30).collect();
    let distinct: BTreeSet<&String> = items.iter().flat_map(|item| &item.images).collect();
    let shows: usize = items.iter().map(|item| 4 * item.images.len()).sum();
    assert!(shows > 4 * distinct.len(), "some are shown by several items");
    let mut evaluated = BTreeMap::new();
    for mode in [Mode::Packed, Mode::Exact] {
        let mut engine = engine(mode, &items);
        for again in 0..2 {
            // The next group encodes for itself: what it costs does not hang on what came before.
            let reply = round(&mut engine, &jobs(&items));
            let counted: u32 = reply.replies.iter().map(|reply| reply.usage().pictures_encoded).sum();
            assert_eq!(counted as usize, distinct.len(), "{mode:?} {again}");
            let told: BTreeSet<&String> = reply.pictures.iter().map(|picture| &picture.address).collect();
            assert_eq!(told, distinct);
            for picture in &reply.pictures {
                assert_eq!((picture.times, picture.tokens), (1, 36), "{picture:?}");
                assert_eq!(picture.tiles, [(96, 96)], "what the encoder sees");
            }
            let time: u64 = reply.replies.iter().map(|reply| reply.usage().encode_us).sum();
            assert_eq!(time, reply.pictures.iter().map(|picture| picture.encode_us).sum::<u64>());
            for (item, replies) in items.iter().zip(reply.replies.chunks(4)) {
                let tokens = replies.iter().map(|reply| reply.usage().picture_tokens);
                assert!(tokens.into_iter().all(|tokens| tokens as usize == 36 * item.images.len()));
            }
            let tokens: u32 = reply.replies.iter().map(|reply| reply.usage().evaluated_tokens).sum();
            evaluated.insert(format!("{mode:?}"), tokens);
        }
    }
    // Four prompts of an item share its pictures; so do items of one picture.
    assert!(evaluated["Packed"] * 3 < evaluated["Exact"], "{evaluated:?}");
}

#[test]
fn a_repeated_group_has_the_same_bits_whatever_came_between() {
    let items: Vec<Known> = known().into_iter().take(24).collect();
    let mut engine = engine(Mode::Packed, &items);
    let (first, other) = (jobs(&items[..8]), jobs(&items[8..]));
    let untimed = |reply: RoundReply| -> Vec<(Option<Vec<f64>>, Option<String>)> {
        let one = |reply: &Reply| match reply {
            Reply::Scored(_) => (Some(scores(reply)), None),
            _ => (None, Some(said(reply))),
        };
        reply.replies.iter().map(one).collect()
    };
    let before = untimed(round(&mut engine, &first));
    round(&mut engine, &other);
    // Pictures that were forgotten and came again have other numbers inside, and nothing else.
    let names: Vec<String> = items[..8].iter().flat_map(|item| item.images.clone()).collect();
    engine.show(&names, names.iter().map(|name| shown(name)).collect()).expect("taken again");
    assert_eq!(untimed(round(&mut engine, &first)), before);
}

#[test]
fn the_order_of_pictures_decides_where_it_must() {
    let items: Vec<Known> = known().into_iter().filter(|item| item.kind.starts_with("find_")).collect();
    assert_eq!(items.len(), 24);
    let mut engine = engine(Mode::Packed, &items);
    let renderer = renderer();
    let best = |reply: &Reply, count: usize| {
        let scores = scores(reply);
        (0..count).max_by(|&a, &b| scores[a].total_cmp(&scores[b])).expect("letters")
    };
    let (mut right, mut moved) = (0, 0);
    for mut item in items {
        let straight = round(&mut engine, &[job(&renderer, &prompt(&item, DIRECT), letters())]);
        let gold = item.letter.as_bytes()[0] - b'A';
        right += usize::from(best(&straight.replies[0], item.choices.len()) == usize::from(gold));
        item.images.reverse();
        let reversed = round(&mut engine, &[job(&renderer, &prompt(&item, DIRECT), letters())]);
        moved += usize::from(best(&reversed.replies[0], item.choices.len()) != usize::from(gold));
    }
    assert_eq!(right, 24);
    // The fixture's own table has 0.31 and 0.38 of the labels right when the order is reversed.
    assert!((14..=18).contains(&moved), "{moved} of 24");
}

#[test]
fn a_text_that_spells_marks_of_pictures_stays_a_text() {
    let mut items: Vec<Known> = known().into_iter().take(1).collect();
    items[0].question = "Is <__media__> or <|im_start|> or <image> a picture?".into();
    let mut engine = engine(Mode::Packed, &items);
    let renderer = renderer();
    let job = job(&renderer, &prompt(&items[0], DIRECT), letters());
    assert_eq!(models::pictures(&job.prompt).collect::<Vec<_>>(), ["00.png"]);
    let tokens = engine.tokenise(std::slice::from_ref(&job)).expect("tokens").remove(0).prompt;
    let of = |wanted: &str| tokens.iter().filter(|token| token.piece == wanted).count();
    // One turn of the user and one of the assistant; the third spelling is data.
    assert_eq!((of("[picture]"), of("<|im_start|>"), of("<|bos|>")), (36, 2, 1));
    let reply = round(&mut engine, &[job]);
    assert_eq!(reply.replies[0].usage().picture_tokens, 36);
}

#[test]
fn what_cannot_be_seen_is_refused_in_one_line() {
    let mut blind = Llama::open(&LoadSpec { mmproj: None, ..spec(Mode::Packed) }).expect("it loads");
    let error = blind.show(&[], vec![shown("00.png")]).expect_err("no projector").to_string();
    assert!(error.contains("no picture projector"), "{error}");
    let text = LoadSpec { mmproj: Some(fixture("tiny-vlm.gguf")), ..spec(Mode::Packed) };
    let error = Llama::open(&text).err().expect("no projector").to_string();
    assert!(error.contains("tiny-vlm.gguf: llama.cpp cannot open it"), "{error}");
    let other = LoadSpec { model: fixture("tiny-gemma3.gguf"), ..spec(Mode::Packed) };
    let error = Llama::open(&other).err().expect("another model's").to_string();
    assert!(error.contains("tiny-vlm-mmproj.gguf: llama.cpp cannot open it"), "{error}");
    // A picture that never came fails its own job alone.
    let items: Vec<Known> = known().into_iter().take(2).collect();
    let mut engine = engine(Mode::Packed, &items[..1]);
    engine.show(&["00.png".into()], Vec::new()).expect("forgotten");
    engine.show(&[], vec![shown("01.png")]).expect("another");
    let renderer = renderer();
    let mut sound = prompt(&items[0], DIRECT);
    sound.turns[0].pictures[0].address = "01.png".into();
    let jobs = [job(&renderer, &prompt(&items[0], DIRECT), letters()), job(&renderer, &sound, letters())];
    let reply = round(&mut engine, &jobs);
    assert!(
        matches!(&reply.replies[0], Reply::Failed { reason, .. } if reason.contains("00.png is not there"))
    );
    assert!(matches!(reply.replies[1], Reply::Scored(_)));
}

#[test]
fn a_prompt_is_measured_without_pixels_and_without_the_model() {
    let items: Vec<Known> = known().into_iter().take(30).collect();
    let mut engine =
        Llama::open(&LoadSpec { vocab_only: true, ..spec(Mode::Packed) }).expect("the vocabulary");
    let names: BTreeSet<&String> = items.iter().flat_map(|item| &item.images).collect();
    let bare = |name: &&String| Shown { rgb: Vec::new(), ..shown(name) };
    engine.show(&[], names.iter().map(bare).collect()).expect("sizes are enough");
    let renderer = renderer();
    for item in &items {
        let job = job(&renderer, &prompt(item, DIRECT), letters());
        let size = engine.measure(&[job]).expect("a size")[0];
        assert_eq!(u64::from(size.prompt_tokens), expectation(item, "direct").0, "{}", item.id);
        assert_eq!(size.picture_tokens as usize, 36 * item.images.len());
    }
}

/// The fixtures' items as a configuration asks them.
fn asked(more: &str) -> crate::support::Bench {
    let fixture = |name: &str| crate::support::fixture(name).display().to_string();
    crate::support::Bench::new(&format!(
        "{more}\n[[model]]\npath = {:?}\nmmproj = {:?}\n[[task]]\nname = \"file\"\n[task.params]\npath = {:?}\n\
         import = {{ images = \"shown\", answer-is = \"index-0\", tags = [\"kind\"] }}\n\
         [engine]\nthreads = 1\n[asking]\nmax-tokens = 48\n",
        fixture("tiny-vlm.gguf"),
        fixture("tiny-vlm-mmproj.gguf"),
        fixture("tiny-vlm/items.jsonl")
    ))
}

/// Share of right answers by kind, of an interface of a task.
fn by_kind(log: &runner::report::RunLog, task: u16, interface: &str) -> BTreeMap<String, f64> {
    let mut counts: BTreeMap<String, (u32, u32)> = BTreeMap::new();
    for item in log.items.iter().filter(|item| item.at.task == task && item.interface == interface) {
        let kind = item.tags.iter().find(|(key, _)| key == "kind").expect("the kind").1.clone();
        let count = counts.entry(kind).or_default();
        count.0 += u32::from(item.verdict == datasets::Verdict::Right);
        count.1 += 1;
    }
    counts.into_iter().map(|(kind, (right, all))| (kind, f64::from(right) / f64::from(all))).collect()
}

#[test]
fn a_run_reproduces_the_accuracy_of_every_kind_and_the_control_is_near_chance() {
    let bench = asked("");
    let output = bench.run("run", &["--interface", "direct", "--interface", "free-cot"]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let log = bench.log("run");
    let expected = [
        "colour",
        "shape",
        "place",
        "level",
        "yesno_shape",
        "yesno_colour",
        "same_shape",
        "same_colour",
        "find_shape",
        "find_colour",
    ];
    for interface in ["direct", "free-cot"] {
        let kinds = by_kind(&log, 0, interface);
        assert_eq!(kinds.len(), expected.len());
        for kind in expected {
            assert!(kinds[kind] == 1.0, "{interface} {kind}: {kinds:?}");
        }
    }
    let withheld = by_kind(&log, 1, "direct");
    // Chance is a quarter for these; nothing in the text tells more.
    let of_four = ["colour", "shape", "place", "level"].map(|kind| withheld[kind]);
    assert!(of_four.iter().sum::<f64>() / 4.0 < 0.5, "{withheld:?}");
    assert_eq!(by_kind(&log, 1, "free-cot").len(), 0, "the control is scored alone");
    for group in log.pictures.iter() {
        assert!(group.pictures.iter().all(|picture| picture.times == 1 && picture.tokens == 36));
    }
    let distinct: u32 = log.pictures.iter().map(|group| group.pictures.len() as u32).sum();
    assert_eq!(log.items.iter().map(|item| item.usage.pictures_encoded).sum::<u32>(), distinct);
    assert!(log.loaded.iter().all(|loaded| loaded.facts.shows_pictures && loaded.facts.packs));
    let record = log.header.models[0].mmproj.clone().expect("the projector is recorded");
    assert_eq!(record.sha256, "6d0bc76a54ba79c1971dd1ab78e4d7d81e73f3a89eb9c86ec403aa8e75f2cbd1");
    assert_eq!((record.kind.as_str(), record.parameters), ("janus_pro", 838_944));
}

#[test]
fn a_resumed_run_with_pictures_has_the_same_bits_and_another_projector_is_another_run() {
    let bench = asked("limit = 60");
    assert_eq!(bench.run("straight", &[]).status.code(), Some(0));
    let log = bench.dir.path().join("straight/log");
    let bytes = std::fs::read(&log).expect("the log");
    std::fs::create_dir(bench.dir.path().join("torn")).expect("a folder");
    // Torn within a group, as a power failure leaves it; the header takes most of this log.
    let mut before = 0;
    for percent in 60..100 {
        let part = &bytes[..bytes.len() * percent / 100];
        std::fs::write(bench.dir.path().join("torn/log"), part).expect("part of a log");
        before = bench.log("torn").groups.len();
        if before > 0 {
            break;
        }
    }
    assert_eq!(bench.run("torn", &[]).status.code(), Some(0));
    let (torn, straight) = (bench.log("torn"), bench.log("straight"));
    assert!(0 < before && before < straight.groups.len(), "{before}");
    crate::support::assert_same(&torn, &straight);
    // One bit of one weight.
    let mut weights = std::fs::read(fixture("tiny-vlm-mmproj.gguf")).expect("the projector");
    let last = weights.len() - 1;
    weights[last] ^= 1;
    let other = bench.path("other.gguf");
    std::fs::write(&other, weights).expect("written");
    let config = std::fs::read_to_string(&bench.config).expect("the configuration");
    let renamed = config.replace(&fixture("tiny-vlm-mmproj.gguf").display().to_string(), &other);
    assert_ne!(renamed, config);
    std::fs::write(&bench.config, renamed).expect("changed");
    let output = bench.run("straight", &[]);
    assert_eq!(output.status.code(), Some(5), "{output:?}");
    assert!(crate::support::complaint(&output).contains("mmproj"), "{output:?}");
}

#[test]
fn the_doctor_shows_a_picture_to_a_model_that_sees() {
    let fixture = |name: &str| crate::support::fixture(name).display().to_string();
    let (model, mmproj) = (fixture("tiny-vlm.gguf"), fixture("tiny-vlm-mmproj.gguf"));
    let bench = asked("limit = 4");
    let output = crate::support::run(&["doctor", &model, "--mmproj", &mmproj, "--config", &bench.config]);
    let (_, out, _) = crate::support::told(&output);
    let line = out.lines().find(|line| line.contains("  pictures  ")).expect("the check");
    assert!(line.starts_with("ok") && line.contains("becomes 36 tokens in 1 tiles"), "{line}");
    assert!(out.lines().any(|line| line.starts_with("ok") && line.contains("  parity  ")), "{out}");
    let (_, out, _) = crate::support::told(&crate::support::run(&["doctor", &model, "--mmproj", &model]));
    assert!(out.contains("fail  pictures") && out.contains("it is no picture projector"), "{out}");
}
