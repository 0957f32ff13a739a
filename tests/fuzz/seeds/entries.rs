//! Logs: one entry of every kind, alone and together, sealed and damaged.

use datasets::reading::{Candidate, Found, Kind, Span};
use datasets::{Gold, Loss, NoAnswer, Said, Verdict};
use models::{
    EngineFacts, Finish, Generated, LabelScore, LoadSpec, Mode, Phase, PhaseKind, Reply, Scored, TokenProb,
    Usage,
};
use runner::entry::{
    Complete, Death, DeathCause, Device, Entry, GroupEnd, GroupRef, Header, ItemRecord, Loaded, ModelRecord,
    Session, TaskRecord, Tuned, TunedStep, TurnRecord,
};

const CUT: &[u8] = b"\xff\xfe\xfd\xfc";

pub(crate) fn all() -> Vec<Vec<u8>> {
    let payloads: Vec<Vec<u8>> = entries().iter().enumerate().map(|pair| payload(&pair)).collect();
    let sealed = |payload: &Vec<u8>| [&[0], &payload[..]].concat();
    let mut seeds: Vec<Vec<u8>> = payloads.iter().map(|one| [&[0], &sealed(one)[..]].concat()).collect();
    let together = payloads.iter().map(sealed).collect::<Vec<_>>().join(CUT);
    seeds.push([&[0], &together[..]].concat());
    let zeros = [&[0][..], &sealed(&payloads[0]), CUT, &[1, 0, 0, 0, 0], CUT, &sealed(&payloads[1])].concat();
    seeds.push(zeros);
    seeds.push([&[1, 1][..], include_bytes!("../../fixtures/log-format-1.log")].concat());
    seeds
}

fn payload(pair: &(usize, &Entry)) -> Vec<u8> {
    postcard::to_stdvec(&(pair.0 as u64, pair.1)).expect("an entry has an encoding")
}

fn entries() -> Vec<Entry> {
    let at = GroupRef { group: 0, model: 0, task: 0 };
    vec![
        Entry::Header(Box::new(header())),
        Entry::Session(Session {
            wall_us: -1,
            boot_id: Some("b".into()),
            pid: 7,
            groups_done: 0,
            torn_bytes: 3,
        }),
        Entry::Loaded(Loaded { model: 0, spec: spec(), facts: EngineFacts::default() }),
        Entry::GroupStart(at),
        Entry::Item(Box::new(item(at))),
        Entry::GroupEnd(GroupEnd {
            at,
            items: 1,
            wall_us: 300,
            phases: vec![Phase { kind: PhaseKind::Prefill, wall_us: 2, library_us: 1, tokens: 9 }],
        }),
        Entry::Death(Death {
            at,
            culprit: Some(("q1".into(), "label".into())),
            cause: DeathCause::Signal(9),
            last_words: vec!["killed".into()],
        }),
        Entry::Complete(Complete {
            session_us: 1,
            library_us: 1,
            supervisor_peak_bytes: None,
            worker_peak_bytes: Some(1),
        }),
        Entry::Tuned(Tuned {
            model: 0,
            parallel: 2,
            steps: vec![TunedStep { sequences: 2, tokens: 32, samples_us: vec![7, 8] }],
        }),
    ]
}

fn header() -> Header {
    Header {
        run_id: "r".into(),
        program: "edge-eval".into(),
        format: 1,
        reading_version: 1,
        config_json: "{}".into(),
        models: vec![ModelRecord { name: "m".into(), ..ModelRecord::default() }],
        tasks: vec![TaskRecord {
            name: "t".into(),
            task: "lights".into(),
            version: 1,
            params_json: "{}".into(),
            interfaces: vec!["label".into()],
            items: 1,
            items_sha256: String::new(),
        }],
        groups: 1,
        device: Device::default(),
    }
}

fn spec() -> LoadSpec {
    LoadSpec { context_tokens: 512, mode: Mode::Packed, cells: 512, sequences: 4, batch_tokens: 64, ..LoadSpec::plain("m.gguf") }
}

fn item(at: GroupRef) -> ItemRecord {
    let usage =
        Usage { prompt_tokens: 3, evaluated_tokens: 3, output_tokens: 1, prefill_us: 5, decode_us: 6, ..Usage::default() };
    let scored = Scored {
        labels: vec![LabelScore { tokens: vec![1], logprobs: vec![-0.5, f32::NAN], rank: 1 }],
        mass: Some(0.5),
        top: vec![TokenProb { token: 1, piece: "A".into(), logprob: -0.5 }],
        usage,
        watched: vec![0.25],
        entropy: Some(1.5),
    };
    let text = Generated { bytes: b"Answer: A".to_vec(), tokens: vec![1, 2], finish: Finish::Stop, thinking_cut: false, usage };
    let candidate = Candidate { label: Some(0), start: 8, end: 9, kind: Kind::Statement };
    ItemRecord {
        at,
        interface: "label".into(),
        item: "q1".into(),
        family: "f".into(),
        tags: vec![("depth".into(), "1".into())],
        turns: vec![TurnRecord {
            prompt_hash: [1; 8],
            labels: vec!["A".into(), "B".into()],
            gold: Gold::Label(0),
            replies: vec![
                Reply::Scored(scored),
                Reply::Generated(text),
                Reply::TooLong { needed: 9, context: 8 },
                Reply::Failed { reason: "x".into(), usage },
            ],
            said: Some(Said::Nothing(NoAnswer::Tie)),
            found: Some(Found {
                said: Said::Choice(0),
                candidates: vec![candidate],
                candidates_dropped: 0,
                conflict: false,
                reasoning: Some(Span { start: 0, end: 1 }),
                open_block: None,
            }),
            rescued: false,
            verdict: Verdict::Partial(0.5),
            texts: vec!["rain".into()],
            seeds: vec![7],
        }],
        verdict: Verdict::Lost(Loss::WorkerDied),
        scores: vec![("steps".into(), 1.0)],
        usage,
        tries: 1,
    }
}
