//! Runs that never were: material of the report's own tests.

use std::collections::BTreeMap;

use datasets::{Gold, Said, Verdict};
use models::{Finish, Generated, Reply, Usage};

use super::RunLog;
use crate::clock::Moment;
use crate::entry::{Device, GroupRef, Header, ItemRecord, ModelRecord, TaskRecord, TurnRecord, Visit};
use crate::log::Summary;
use crate::telemetry::energy::Energy;
use crate::telemetry::missing::Missing;
use crate::telemetry::record::{Began, Stretch, Window};
use crate::telemetry::source::{Channel, Domain, Kind, SourceInfo};

/// A run of one model over tasks of these names, with these items.
pub(crate) fn run(tasks: &[&str], items: Vec<ItemRecord>) -> RunLog {
    let record = |task: &&str| TaskRecord {
        name: (*task).to_owned(),
        task: (*task).to_owned(),
        version: 1,
        params_json: "{}".to_owned(),
        interfaces: ["direct", "cot-prefix", "free-cot"].map(str::to_owned).to_vec(),
        items: 0,
        items_sha256: String::new(),
    };
    let choices = vec!["{}"; tasks.len()].join(",");
    let header = Header {
        run_id: "made-up".to_owned(),
        program: "edge-eval 0".to_owned(),
        format: 1,
        reading_version: 1,
        config_json: format!(r#"{{"seed":1,"limit":null,"asking":{{}},"model":[{{}}],"task":[{choices}]}}"#),
        models: vec![ModelRecord { name: "m".to_owned(), ..ModelRecord::default() }],
        tasks: tasks.iter().map(record).collect(),
        groups: 1,
        device: Device::default(),
        shard: None,
        level: crate::levels::OWN_BUILD.to_owned(),
    };
    RunLog {
        header,
        items,
        groups: BTreeMap::new(),
        sessions: Vec::new(),
        loaded: Vec::new(),
        deaths: Vec::new(),
        memory_plans: Vec::new(),
        memory_uses: Vec::new(),
        failed: Vec::new(),
        pieces: BTreeMap::new(),
        alone: Vec::new(),
        tuned: Vec::new(),
        measured: Default::default(),
        visits: Vec::new(),
        turns: BTreeMap::new(),
        pictures: Vec::new(),
        sources: Vec::new(),
        complete: None,
        summary: Summary::default(),
    }
}

/// An item of the task with this index, with the tags `key=value`, through an interface, with its verdict.
pub(crate) fn item(
    task: u16,
    id: &str,
    tags: &[(&str, &str)],
    interface: &str,
    verdict: Verdict,
) -> ItemRecord {
    ItemRecord {
        at: GroupRef { group: 0, model: 0, task },
        interface: interface.to_owned(),
        item: id.to_owned(),
        family: id.to_owned(),
        tags: tags.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect(),
        turns: Vec::new(),
        verdict,
        scores: Vec::new(),
        usage: Usage::default(),
        tries: 1,
    }
}

/// Two models that took turns (a, b with both rounds, a), four items each, two a round, on a meter at the socket. In
/// rounds 1 and 2, a took 2 s and 5 s an item, b 1.5 s and 5 s; a 40 J and 50 J, b 20 J and 40 J.
pub(crate) fn turns() -> RunLog {
    let one = |group: u32, model: u16, id: &str, us: u64| {
        let mut item = item(0, id, &[], "direct", Verdict::Right);
        item.at = GroupRef { group, model, task: 0 };
        item.usage = Usage { evaluated_tokens: 50, output_tokens: 50, prefill_us: us, ..Usage::default() };
        item
    };
    let items = vec![
        one(0, 0, "i0", 1_000_000),
        one(0, 0, "i1", 3_000_000),
        one(1, 0, "i2", 4_000_000),
        one(1, 0, "i3", 6_000_000),
        one(2, 1, "i0", 1_000_000),
        one(2, 1, "i1", 2_000_000),
        one(3, 1, "i2", 5_000_000),
        one(3, 1, "i3", 5_000_000),
    ];
    let mut run = run(&["lights"], items);
    let model = |name: &str| ModelRecord { name: name.to_owned(), ..ModelRecord::default() };
    run.header.models = vec![model("a"), model("b")];
    run.header.groups = 4;
    run.header.config_json = run.header.config_json.replace("\"model\":[{}]", "\"model\":[{},{}]");
    let visit = |model, rounds: &[u32]| Visit { model, rounds: rounds.to_vec(), of: 2 };
    run.visits = vec![visit(0, &[0]), visit(1, &[0, 1]), visit(0, &[1])];
    run.turns = BTreeMap::from([(0, 0), (1, 2), (2, 1), (3, 1)]);
    run.measured.began.push(began("jetson", Channel::new("total", Domain::Wall, Kind::Product, 2_000_000)));
    for (group, model, joules) in [(0, 0, 80.0), (2, 1, 40.0), (3, 1, 80.0), (1, 0, 100.0)] {
        let window = Window {
            stretch: Stretch::Group,
            model,
            group: Some(GroupRef { group, model, task: 0 }),
            begin: at(u64::from(group) * 100),
            end: at(u64::from(group) * 100 + 60),
            energy: vec![Energy {
                energy_uj: Some(joules * 1e6),
                missing: None,
                doubt_uj: Some(1e6),
                readings: 600,
                ..Energy::none(Missing::TooShort)
            }],
            state: Default::default(),
            suspended: false,
            phases: Vec::new(),
        };
        run.measured.windows.push((1, window));
    }
    run
}

/// A session that measures with one channel of a sensor, ten times a second.
pub(crate) fn began(sensor: &str, channel: Channel) -> Began {
    Began {
        at: at(0),
        period_us: 100_000,
        sources: vec![SourceInfo {
            id: sensor.into(),
            place: String::new(),
            every_us: 100_000,
            channels: vec![channel],
            total: Some(0),
            notes: Vec::new(),
        }],
        absent: Vec::new(),
        headline: Some(0),
        missing: None,
        every_us: vec![100_000],
        temperatures: Vec::new(),
        clocks: Vec::new(),
        conditions: Default::default(),
        notes: Vec::new(),
    }
}

/// A moment so many seconds after the first.
pub(crate) fn at(seconds: u64) -> Moment {
    Moment { mono_us: seconds * 1_000_000, wall_us: 0 }
}

/// A question with the labels A and B.
pub(crate) fn turn(gold: u16, said: Said) -> TurnRecord {
    let verdict = datasets::grade::grade(&Gold::Label(gold), &said);
    TurnRecord {
        prompt_hash: [0; 8],
        labels: ["A", "B"].map(str::to_owned).to_vec(),
        gold: Gold::Label(gold),
        replies: Vec::new(),
        said: Some(said),
        found: None,
        rescued: false,
        verdict,
        texts: Vec::new(),
        seeds: Vec::new(),
    }
}

/// A generated reply that ended by itself.
pub(crate) fn text(text: &str) -> Reply {
    Reply::Generated(Generated {
        bytes: text.into(),
        tokens: Vec::new(),
        finish: Finish::Stop,
        thinking_cut: false,
        usage: Usage::default(),
    })
}

/// Named scores.
pub(crate) fn scores(scores: &[(&str, f64)]) -> Vec<(String, f64)> {
    scores.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect()
}
