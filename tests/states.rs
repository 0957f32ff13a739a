//! Files of hidden states through `merge` and `verify`: joined once and whole, refused where they differ, checked record by record.

use std::path::{Path, PathBuf};

use models::HiddenStates;
use runner::entry::ModelRecord;
use runner::probes::ProbeResult;
use runner::states::{Place, STATES_FILE, StatesFile, StatesWriter};

use crate::disks::Small;
use crate::probes::{MODEL, bench, content};
use crate::support::{Bench, assert_same, complaint, run, told};

const ITEMS: usize = 60;

/// A run as a whole, and in two parts.
fn parted() -> Bench {
    let bench = bench(MODEL, "layers", ITEMS);
    assert!(bench.run("whole", &["--quiet"]).status.success());
    for part in ["1", "2"] {
        let shard = format!("{part}/2");
        assert!(bench.run(part, &["--quiet", "--shard", &shard]).status.success());
    }
    bench
}

fn merge(bench: &Bench, parts: &[&str], out: &str) -> (Option<i32>, String, String) {
    let paths: Vec<String> = parts.iter().map(|part| bench.path(part)).collect();
    let mut arguments = vec!["merge"];
    arguments.extend(paths.iter().map(String::as_str));
    let out = bench.path(out);
    arguments.extend(["-o", &out]);
    told(&run(&arguments))
}

fn folder(bench: &Bench, name: &str) -> PathBuf {
    bench.dir.path().join(name)
}

fn opened(bench: &Bench, name: &str) -> StatesFile {
    StatesFile::of_run(&folder(bench, name)).expect("readable").expect("there")
}

fn verified(bench: &Bench, name: &str) -> (Option<i32>, String) {
    let (code, out, errors) = told(&run(&["verify", &bench.path(name)]));
    assert!(errors.is_empty(), "{errors}");
    (code, out)
}

fn probed(bench: &Bench, name: &str) -> ProbeResult {
    let (code, out, errors) = told(&run(&["probe", &bench.path(name), "--json", "--quiet"]));
    assert_eq!(code, Some(0), "{errors}");
    serde_json::from_str(&out).expect("a result")
}

/// Writes into the states of a run, as a program might that knows nothing of the log.
fn tamper(bench: &Bench, name: &str, change: impl FnOnce(&mut StatesWriter, &Place, &HiddenStates)) {
    let file = opened(bench, name);
    let (place, states) = (&file.kept[3].place, file.states(&file.kept[3]).expect("states"));
    let mut writer = StatesWriter::open(&folder(bench, name), &file.run_id.clone().expect("named"), false)
        .expect("opened");
    change(&mut writer, place, &states);
}

/// The same numbers with one bit changed.
fn other(states: &HiddenStates) -> HiddenStates {
    let mut other = states.clone();
    other.bytes[7] ^= 1;
    other
}

/// States of four numbers, as many as these.
fn narrow(states: &HiddenStates) -> HiddenStates {
    HiddenStates::pack(4, &vec![0.5; 4 * states.count()]).expect("packed")
}

fn sized(place: &Place, states: &HiddenStates) -> Place {
    Place { dimension: states.dimension, exponents: states.exponents.clone(), ..place.clone() }
}

#[test]
fn states_of_parts_are_joined_and_probed_like_those_of_the_whole() {
    let bench = parted();
    let (code, out, errors) = merge(&bench, &["2", "1"], "merged");
    assert_eq!((code, errors.as_str()), (Some(0), ""));
    assert!(out.contains("; 0 missing; 120 answers have hidden states"), "{out}");
    let (whole, merged) = (opened(&bench, "whole"), opened(&bench, "merged"));
    assert_eq!(content(&merged), content(&whole));
    assert_eq!((&merged.norms, &merged.rows), (&whole.norms, &whole.rows));
    assert_eq!((merged.damaged, merged.torn_bytes, merged.refusals.len()), (0, 0, 0));
    assert_eq!(merged.run_id.as_deref(), Some(bench.log("merged").header.run_id.as_str()));
    assert_same(&bench.log("merged"), &bench.log("whole"));
    assert_eq!(probed(&bench, "merged").corpora, probed(&bench, "whole").corpora);
    let (code, out) = verified(&bench, "merged");
    assert_eq!(code, Some(0), "{out}");
    assert!(out.contains("ok       states of answers: 120 scored answers, each has its own"), "{out}");
    // In another order; again with what is merged already; with itself; with the whole, which has everything twice.
    assert_eq!(merge(&bench, &["1", "2"], "order").0, Some(0));
    let bytes = |name: &str| std::fs::read(folder(&bench, name).join(STATES_FILE)).expect("read");
    assert_eq!(bytes("order"), bytes("merged"));
    for (number, parts) in
        [&["merged", "1"][..], &["merged", "merged"], &["2", "whole", "1"]].into_iter().enumerate()
    {
        let again = format!("again{number}");
        assert_eq!(merge(&bench, parts, &again).0, Some(0));
        assert_eq!(content(&opened(&bench, &again)), content(&whole));
        assert_eq!(opened(&bench, &again).blocks, merged.blocks, "every record once");
        assert_eq!(verified(&bench, &again).0, Some(0));
    }
    let mut left: Vec<_> = std::fs::read_dir(folder(&bench, "merged")).expect("a folder").collect();
    left.retain(|entry| entry.as_ref().is_ok_and(|entry| entry.file_name() != "probes.json"));
    assert_eq!(left.len(), 3, "log, lock, states: {left:?}");
}

#[test]
fn a_merged_run_that_is_not_complete_goes_on_with_its_states() {
    let bench = parted();
    assert_eq!(merge(&bench, &["1"], "merged").0, Some(0));
    let (code, out) = verified(&bench, "merged");
    assert_eq!(code, Some(0), "{out}");
    assert!(bench.run("merged", &["--quiet"]).status.success());
    assert_eq!(content(&opened(&bench, "merged")), content(&opened(&bench, "whole")));
    assert_eq!(verified(&bench, "merged").0, Some(0));
}

#[test]
fn logs_without_their_states_are_told_by_merge_verify_and_probe() {
    let bench = parted();
    std::fs::remove_file(folder(&bench, "2").join(STATES_FILE)).expect("removed");
    let (code, out) = verified(&bench, "2");
    assert_eq!(code, Some(6), "{out}");
    assert!(out.contains("FAILED   hidden states: the file `states` is gone"), "{out}");
    let (code, out, errors) = merge(&bench, &["1", "2"], "merged");
    assert_eq!(code, Some(0), "{errors}");
    let have = opened(&bench, "1").kept.len();
    assert!(out.contains(&format!("; {have} answers have hidden states")), "{out}");
    assert!(errors.contains(&format!("1 of 2 logs have no file `states` beside them: {}", bench.path("2"))));
    let groups = bench.log("2").groups.len();
    let all = bench.log("whole").groups.len();
    assert!(errors.contains(&format!("{groups} of {all} groups have no hidden states")), "{errors}");
    let (code, out) = verified(&bench, "merged");
    let (missing, run_id) = (120 - have, bench.log("2").header.run_id);
    let reason = format!("no file `states` lay beside the log of {run_id}");
    let line = format!("note     states of answers: of 120 scored answers {missing} have none ({reason})");
    assert_eq!(code, Some(0), "{out}");
    assert!(out.contains(&line), "{line} in {out}");
    let notes = probed(&bench, "merged").notes;
    assert!(notes.iter().any(|note| note.contains(&reason)), "{notes:?}");
    // The reason goes on through another merge; what has the states makes it void.
    assert_eq!(merge(&bench, &["merged"], "on").0, Some(0));
    assert!(verified(&bench, "on").1.contains(&line));
    let (code, _, errors) = merge(&bench, &["merged", "whole"], "healed");
    assert_eq!((code, errors.as_str()), (Some(0), ""));
    assert_eq!(content(&opened(&bench, "healed")), content(&opened(&bench, "whole")));
    // No log has any: the run is merged all the same.
    std::fs::remove_file(folder(&bench, "1").join(STATES_FILE)).expect("removed");
    let (code, out, errors) = merge(&bench, &["1", "2"], "none");
    assert!(code == Some(0) && out.contains("; 0 answers have hidden states"), "{out}");
    assert!(errors.contains("2 of 2 logs have no file"), "{errors}");
    assert_eq!(verified(&bench, "none").0, Some(0));
}

#[test]
fn a_run_that_went_on_without_its_states_says_why_they_are_missing() {
    let bench = parted();
    assert_eq!(merge(&bench, &["1"], "merged").0, Some(0));
    std::fs::remove_file(folder(&bench, "merged").join(STATES_FILE)).expect("removed");
    assert!(bench.run("merged", &["--quiet"]).status.success());
    let (code, out) = verified(&bench, "merged");
    assert_eq!(code, Some(0), "{out}");
    let missing = 120 - opened(&bench, "2").kept.len();
    let line = format!("{missing} have none (the file `states` was gone when the run went on)");
    assert!(missing > 0 && out.contains(&line), "{line} in {out}");
}

/// Merging is refused with this code and one line that has all of these words; nothing is left.
fn refused(bench: &Bench, parts: &[&str], words: &[&str]) {
    let paths: Vec<String> = parts.iter().map(|part| bench.path(part)).collect();
    let out = bench.path("refused");
    let mut arguments = vec!["merge"];
    arguments.extend(paths.iter().map(String::as_str));
    arguments.extend(["-o", &out]);
    let output = run(&arguments);
    assert_eq!(output.status.code(), Some(5), "{output:?}");
    let line = complaint(&output);
    words.iter().for_each(|word| assert!(line.contains(word), "{word} in {line}"));
    let out = Path::new(&out);
    assert!(!out.join("log").exists() && !out.join(STATES_FILE).exists());
}

#[test]
fn states_that_differ_are_refused_with_both_files_and_the_record() {
    let bench = parted();
    let place = opened(&bench, "1").kept[3].place.clone();
    let record = format!("item {} through {} (model m, task file)", place.item, place.interface);
    let file = |name: &str| folder(&bench, name).join(STATES_FILE).display().to_string();
    tamper(&bench, "1", |writer, place, states| {
        writer.item(place.clone(), &other(states)).expect("written");
    });
    refused(&bench, &["1", "2", "whole"], &[&file("1"), &file("whole"), &record, "different hidden states"]);
    // Alone they are what they are: nothing contradicts them.
    assert_eq!(merge(&bench, &["1", "2"], "merged").0, Some(0));
    let again = opened(&bench, "merged");
    let kept = again.kept.iter().find(|kept| kept.place.key() == place.key()).expect("kept");
    let original = opened(&bench, "whole");
    let first = original.kept.iter().find(|kept| kept.place.key() == place.key()).expect("kept");
    assert_eq!(again.states(kept).expect("states"), other(&original.states(first).expect("states")));
}

#[test]
fn states_of_another_width_model_or_run_are_refused() {
    let bench = parted();
    let file = |name: &str| folder(&bench, name).join(STATES_FILE);
    let named = |name: &str| file(name).display().to_string();
    let own = std::fs::read(file("2")).expect("read");
    tamper(&bench, "2", |writer, place, states| {
        let narrow = narrow(states);
        writer.item(sized(place, &narrow), &narrow).expect("written");
    });
    let (kind, sizes) = ("states of one kind", ["5 states of 80 numbers", "5 states of 4 numbers"]);
    refused(&bench, &["1", "2"], &[kind, sizes[0], sizes[1], &named("2")]);
    let run_id = bench.log("2").header.run_id;
    std::fs::remove_file(file("2")).expect("removed");
    let mut writer = StatesWriter::open(&folder(&bench, "2"), &run_id, false).expect("opened");
    let readout = models::Readout { refusals: vec!["x".into()], ..Default::default() };
    let other = ModelRecord { name: "n".into(), ..ModelRecord::default() };
    writer.readout(0, &other, &readout).expect("written");
    drop(writer);
    refused(&bench, &["1", "2"], &[&named("2"), "its model 0, n, is another one than the log's"]);
    std::fs::copy(file("1"), file("2")).expect("copied");
    refused(&bench, &["1", "2"], &[&named("2"), "belongs to another run"]);
    // Another end of the same model.
    std::fs::write(file("2"), own).expect("written");
    tamper_end(&bench, "2");
    refused(&bench, &["1", "2"], &[&named("1"), &named("2"), "the projection of token"]);
}

/// Writes the states of a run anew, with the first row of the projection doubled.
fn tamper_end(bench: &Bench, name: &str) {
    let before = opened(bench, name);
    let records: Vec<(Place, HiddenStates)> =
        before.kept.iter().map(|kept| (kept.place.clone(), before.states(kept).expect("states"))).collect();
    let log = bench.log(name);
    let path = folder(bench, name).join(STATES_FILE);
    std::fs::remove_file(&path).expect("removed");
    let mut writer = StatesWriter::open(&folder(bench, name), &log.header.run_id, false).expect("opened");
    let ((model, token), row) = before.rows.iter().next().expect("a row");
    let doubled: Vec<f32> = row.state(0).iter().map(|value| value * 2.0).collect();
    let row = HiddenStates::pack(doubled.len(), &doubled).expect("packed");
    let rows = vec![models::OutputRow { token: *token, row }];
    let readout = models::Readout { rows, ..Default::default() };
    writer.readout(*model, &log.header.models[usize::from(*model)], &readout).expect("written");
    for (place, states) in records {
        writer.item(place, &states).expect("written");
    }
}

#[test]
fn what_a_crash_left_of_a_merge_is_in_nobody_s_way_and_a_full_disk_leaves_nothing() {
    let bench = parted();
    let leftover = folder(&bench, "merged").join("merging.new");
    std::fs::create_dir_all(&leftover).expect("made");
    std::fs::write(leftover.join(STATES_FILE), "edge-eval sta").expect("written");
    std::fs::write(leftover.join("log"), "edge-eval log 1\n").expect("written");
    assert_eq!(merge(&bench, &["1", "2"], "merged").0, Some(0));
    assert!(!leftover.exists());
    assert_eq!(content(&opened(&bench, "merged")), content(&opened(&bench, "whole")));
    let bytes = |name: &str| std::fs::metadata(folder(&bench, "merged").join(name)).expect("there").len();
    // Room for some of the states; then for all of them, and for some of the log.
    let Some(small) = Small::mount(&bench, "4k") else { return };
    for size in [bytes(STATES_FILE) / 2, bytes(STATES_FILE) + bytes("log") / 2] {
        small.remount(&format!("size={}k", size.div_ceil(4096) * 4));
        let out = small.place.join("merged").display().to_string();
        let output = run(&["merge", &bench.path("1"), &bench.path("2"), "-o", &out]);
        assert_eq!(output.status.code(), Some(4), "{output:?}");
        let line = complaint(&output);
        assert!(line.contains(&out) && line.to_lowercase().contains("space"), "{line}");
        let left: Vec<_> = std::fs::read_dir(&out).expect("a folder").flatten().collect();
        assert!(left.iter().all(|entry| entry.file_name() == "lock"), "{left:?}");
    }
    // Room again: the same command does it.
    small.remount("size=16m");
    let out = small.place.join("merged").display().to_string();
    assert!(run(&["merge", &bench.path("1"), &bench.path("2"), "-o", &out]).status.success());
    let there = StatesFile::of_run(Path::new(&out)).expect("readable").expect("there");
    assert_eq!(content(&there), content(&opened(&bench, "whole")));
}

/// `verify` says this of the states, once, and ends with the code of damage.
fn seen(bench: &Bench, name: &str, words: &str) {
    let (code, out) = verified(bench, name);
    assert_eq!(code, Some(6), "{words}: {out}");
    let lines: Vec<&str> = out.lines().filter(|line| line.contains("FAILED")).collect();
    assert!(lines.len() == 1 && lines[0].contains(words), "{words} in {lines:?}");
}

#[test]
fn a_file_that_is_cut_or_changed_anywhere_is_seen() {
    let bench = bench(MODEL, "final", 20);
    assert!(bench.run("a", &["--quiet"]).status.success());
    let (code, out) = verified(&bench, "a");
    assert_eq!(code, Some(0), "{out}");
    assert!(out.contains("ok       hidden states: ") && out.contains("40 scored answers, each"), "{out}");
    let path = folder(&bench, "a").join(STATES_FILE);
    let whole = std::fs::read(&path).expect("read");
    let records = opened(&bench, "a").kept;
    let last = records.last().expect("a record");
    // Where the last block begins: its body ends four bytes before the end, and the one before it ends where it begins.
    let before = &records[records.len() - 2];
    let start = before.at + u64::from(before.place.dimension) * 2 + 4;
    for cut in [start + 1, start + 20, last.at, last.at + 50, whole.len() as u64 - 1] {
        std::fs::write(&path, &whole[..cut as usize]).expect("written");
        seen(&bench, "a", &format!("ends inside a block: {} bytes behind byte {start}", cut - start));
    }
    // Whole blocks and one too few: nothing is torn, but an answer has no states.
    std::fs::write(&path, &whole[..start as usize]).expect("written");
    seen(&bench, "a", "1 of 40 scored answers have none, and no reason is recorded; the first: item q");
    std::fs::write(&path, b"").expect("written");
    seen(&bench, "a", "is no file of hidden states");
    // A changed byte: in the first line, in a front, in a head, in numbers, in a checksum.
    let front = start as usize;
    for (at, words) in [
        (3, "is no file of hidden states"),
        (front + 5, "damaged stretches, the first a block at byte"),
        (front + 30, "damaged stretches"),
        (last.at as usize + 9, "damaged stretches"),
        (records[3].at as usize, "1 damaged stretches"),
        (whole.len() - 1, "damaged stretches"),
    ] {
        let mut changed = whole.clone();
        changed[at] ^= 0x10;
        std::fs::write(&path, changed).expect("written");
        seen(&bench, "a", words);
    }
    std::fs::write(&path, whole).expect("written");
    assert_eq!(verified(&bench, "a").0, Some(0));
}

#[test]
fn records_that_belong_to_no_answer_or_are_of_another_size_are_seen() {
    let bench = bench(MODEL, "final", 20);
    assert!(bench.run("a", &["--quiet"]).status.success());
    let path = folder(&bench, "a").join(STATES_FILE);
    let whole = std::fs::read(&path).expect("read");
    let again = |change: &dyn Fn(&mut Place), words: &str| {
        tamper(&bench, "a", |writer, place, states| {
            let mut place = place.clone();
            change(&mut place);
            writer.item(place, states).expect("written");
        });
        seen(&bench, "a", words);
        std::fs::write(&path, &whole).expect("written");
    };
    let none = "belongs to no scored answer of the log";
    again(&|place| place.item = "q77".into(), "the record of item q77 through");
    again(&|place| place.interface = "free-cot".into(), none);
    again(&|place| place.turn = 1, none);
    again(&|place| place.request = 1, none);
    again(&|place| place.model = 1, none);
    again(&|place| place.task = 1, none);
    // The same answer, said to be of another group, and of one that there is not.
    again(&|place| place.group = (place.group + 1) % 2, none);
    again(&|place| place.group = 99, none);
    tamper(&bench, "a", |writer, place, states| {
        let narrow = narrow(states);
        writer.item(sized(place, &narrow), &narrow).expect("written");
    });
    seen(&bench, "a", "has 1 states of 4 numbers, the record of");
    std::fs::write(&path, &whole).expect("written");
    tamper(&bench, "a", |writer, place, _| {
        let two = HiddenStates::pack(80, &[0.25; 160]).expect("packed");
        writer.item(sized(place, &two), &two).expect("written");
    });
    seen(&bench, "a", "has 2 states of 80 numbers, the record of");
    // States of another run.
    std::fs::write(&path, &whole).expect("written");
    assert!(bench.run("b", &["--quiet"]).status.success());
    std::fs::copy(folder(&bench, "b").join(STATES_FILE), &path).expect("copied");
    seen(&bench, "a", "belongs to another run, ");
}

#[test]
fn a_model_that_has_no_states_is_a_reason_and_no_fault() {
    let bench = bench("fake", "final", 20);
    assert!(bench.run("a", &["--quiet"]).status.success());
    let (code, out) = verified(&bench, "a");
    assert_eq!(code, Some(0), "{out}");
    assert!(out.contains("of 40 scored answers 40 have none (hidden states cannot be had: "), "{out}");
    let (code, out, _) = merge(&bench, &["a"], "merged");
    assert!(code == Some(0) && out.contains("; 0 answers have hidden states"), "{out}");
    assert_eq!(verified(&bench, "merged").0, Some(0));
    // A regraded run has its states beside the run that it was made from.
    assert_eq!(run(&["regrade", &bench.path("a"), "--write"]).status.code(), Some(0));
    let (code, out) = verified(&bench, "a-regraded");
    assert_eq!(code, Some(0), "{out}");
    assert!(out.contains("skipped  hidden states: "), "{out}");
}
