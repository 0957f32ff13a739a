//! Logs that are merged: once, twice, in any order, and those that cannot be.

use std::path::PathBuf;

use datasets::{NoAnswer, Verdict};

use super::*;
use crate::entry::{GroupRef, Session};
use crate::report::RunLog;
use crate::report::made_up::{item, run};

/// A log of four groups, of which it has these; `change` touches its items.
fn shard(dir: &Path, name: &str, groups: &[u32], cpu: &str, change: impl Fn(&mut ItemRecord)) -> PathBuf {
    let path = dir.join(name);
    let mut header = run(&["lights"], Vec::new()).header;
    header.run_id = name.to_owned();
    header.groups = 4;
    header.device.cpu = cpu.to_owned();
    // Shards of one plan belong together.
    header.shard = format!("{}/4", name.len()).parse().ok();
    let mut log = Log::create(&path, &Entry::Header(Box::new(header)), Fsync::Never).unwrap();
    let session = Session { wall_us: 0, boot_id: None, pid: 1, groups_done: 0, torn_bytes: 0 };
    log.append(&Entry::Session(session)).unwrap();
    for &group in groups {
        let at = GroupRef { group, model: 0, task: 0 };
        log.append(&Entry::GroupStart(at)).unwrap();
        let mut item = item(0, &format!("i{group}"), &[], "direct", Verdict::Right);
        item.at = at;
        // Every machine has times of its own.
        item.usage.prefill_us = name.len() as u64;
        change(&mut item);
        log.append(&Entry::Item(Box::new(item))).unwrap();
        log.append(&Entry::GroupEnd(GroupEnd { at, items: 1, wall_us: 1, phases: Vec::new() })).unwrap();
    }
    log.close().unwrap();
    path
}

fn same(_: &mut ItemRecord) {}

fn read(dir: &Path) -> Vec<(String, u32, Verdict)> {
    let run = RunLog::read(dir).unwrap();
    run.items.iter().map(|item| (item.item.clone(), item.at.group, item.verdict)).collect()
}

#[test]
fn stat_06_shards_are_joined_duplicates_agree_and_what_is_missing_is_listed() {
    let dir = tempfile::tempdir().unwrap();
    let a = shard(dir.path(), "a", &[0, 1], "arm", same);
    let b = shard(dir.path(), "bb", &[2, 1], "x86", same);
    let out = dir.path().join("out");
    let merged = merge(&[a, b], &out).unwrap();
    let expected = Merged { groups: 3, missing: vec![3], duplicates: 1, states: None, notes: Vec::new() };
    assert_eq!(merged, expected);
    let names: Vec<String> = read(&out).into_iter().map(|(item, _, _)| item).collect();
    assert_eq!(names, ["i0", "i1", "i2"]);
    let run = RunLog::read(&out).unwrap();
    assert!(run.complete.is_none() && run.header.device.model == "several machines");
    assert_eq!((run.source_of(0), run.source_of(1), run.source_of(2)), ("a", "a", "bb"));
    let cpus: Vec<&str> = run.sources.iter().map(|source| source.device.cpu.as_str()).collect();
    assert_eq!(cpus, ["arm", "x86"]);
}

#[test]
fn stat_06_a_duplicate_that_differs_is_refused_and_leaves_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let a = shard(dir.path(), "a", &[0, 1], "arm", same);
    let b = shard(dir.path(), "b", &[1, 2], "arm", |item| {
        item.verdict = Verdict::Unanswered(NoAnswer::Empty);
    });
    let out = dir.path().join("out");
    let failure = merge(&[a, b], &out).unwrap_err();
    assert_eq!(failure.exit, Exit::Mismatch);
    assert!(
        failure.message.contains("item i1 through direct: right and unanswered (empty)"),
        "{}",
        failure.message
    );
    assert!(!out.join(LOG_FILE).exists());
}

#[test]
fn logs_of_other_plans_are_refused_by_field() {
    let dir = tempfile::tempdir().unwrap();
    let a = shard(dir.path(), "a", &[0], "arm", same);
    let b = dir.path().join("b");
    let mut header = run(&["lights"], Vec::new()).header;
    header.groups = 4;
    header.config_json = header.config_json.replace("\"seed\":1", "\"seed\":2");
    Log::create(&b, &Entry::Header(Box::new(header)), Fsync::Never).unwrap().close().unwrap();
    let failure = merge(&[a, b], &dir.path().join("out")).unwrap_err();
    assert!(failure.message.contains("config.seed is 1"), "{}", failure.message);
}

#[test]
fn merging_again_and_in_another_order_gives_the_same_run() {
    let dir = tempfile::tempdir().unwrap();
    let a = shard(dir.path(), "a", &[0, 1], "arm", same);
    let b = shard(dir.path(), "b", &[2, 3], "arm", same);
    let out = |name: &str| dir.path().join(name);
    assert!(merge(&[a.clone(), b.clone()], &out("one")).unwrap().missing.is_empty());
    merge(&[b.clone(), a.clone()], &out("two")).unwrap();
    let bytes = |name: &str| std::fs::read(out(name).join(LOG_FILE)).unwrap();
    assert_eq!(bytes("one"), bytes("two"));
    // Once more with what is in it already, and with itself.
    merge(&[out("one"), b, a], &out("three")).unwrap();
    merge(&[out("one"), out("one")], &out("four")).unwrap();
    let identity = |name: &str| RunLog::read(&out(name)).unwrap().header.run_id;
    for again in ["three", "four"] {
        assert_eq!((read(&out("one")), identity("one")), (read(&out(again)), identity(again)));
    }
}

#[test]
fn a_group_that_was_done_twice_counts_as_it_was_last() {
    let dir = tempfile::tempdir().unwrap();
    let calls = std::cell::Cell::new(0);
    let a = shard(dir.path(), "a", &[0, 0], "arm", |item| {
        calls.set(calls.get() + 1);
        item.verdict = if calls.get() == 1 { Verdict::Wrong } else { Verdict::Right };
    });
    let out = dir.path().join("out");
    merge(&[a], &out).unwrap();
    assert_eq!(read(&out), [("i0".to_owned(), 0, Verdict::Right)]);
}

#[test]
fn a_folder_that_holds_a_run_and_one_that_holds_none_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let a = shard(dir.path(), "a", &[0], "arm", same);
    assert!(merge(std::slice::from_ref(&a), &a).unwrap_err().message.contains("holds a run already"));
    let failure = merge(&[dir.path().join("nothing")], &dir.path().join("out")).unwrap_err();
    assert!(failure.message.contains("holds no run"), "{}", failure.message);
}
