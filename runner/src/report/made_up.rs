//! Runs that never were: material of the report's own tests.

use std::collections::BTreeMap;

use datasets::{Gold, Said, Verdict};
use models::{Finish, Generated, Reply, Usage};

use super::RunLog;
use crate::entry::{Device, GroupRef, Header, ItemRecord, ModelRecord, TaskRecord, TurnRecord};
use crate::log::Summary;

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
