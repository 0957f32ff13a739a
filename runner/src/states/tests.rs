//! What is written comes back, whatever a crash or a damaged disk leaves of it.

use std::path::Path;

use models::{FinalNorm, HiddenStates, OutputRow, Readout};

use super::*;
use crate::entry::ModelRecord;

fn states(seed: usize) -> HiddenStates {
    let values: Vec<f32> = (0..12).map(|place| (seed * 12 + place) as f32 / 8.0).collect();
    HiddenStates::pack(4, &values).unwrap()
}

fn place(item: usize, states: &HiddenStates) -> Place {
    Place {
        model: 0,
        task: 1,
        group: item as u32 / 2,
        item: format!("q{item}"),
        interface: "direct".into(),
        turn: 0,
        request: 0,
        dimension: states.dimension,
        exponents: states.exponents.clone(),
    }
}

fn write(dir: &Path, items: std::ops::Range<usize>) {
    // Not forced to the device: the crash is rehearsed by cutting the file.
    let mut writer = StatesWriter::open(dir, "run-1", false).unwrap();
    let record = ModelRecord { name: "m".into(), sha256: "ab".into(), ..ModelRecord::default() };
    let readout = Readout {
        norm: Some(FinalNorm {
            centred: false,
            epsilon: 1e-5,
            weight: vec![1.0, 2.0, 3.0, 4.0],
            bias: vec![],
        }),
        rows: vec![OutputRow { token: 7, row: HiddenStates::pack(4, &[0.5; 4]).unwrap() }],
        refusals: vec!["no row of token 9".into()],
    };
    for item in items {
        writer.readout(0, &record, &readout).unwrap();
        writer.item(place(item, &states(item)), &states(item)).unwrap();
    }
    writer.end_group().unwrap();
}

/// Every place has the states that were written for it.
fn assert_sound(file: &StatesFile, items: &[usize]) {
    assert_eq!(file.kept.iter().map(|kept| kept.place.item.clone()).collect::<Vec<_>>(), names(items));
    for (kept, &item) in file.kept.iter().zip(items) {
        assert_eq!(file.states(kept).unwrap(), states(item));
    }
}

fn names(items: &[usize]) -> Vec<String> {
    items.iter().map(|item| format!("q{item}")).collect()
}

#[test]
fn states_norm_and_rows_come_back() {
    let dir = tempfile::tempdir().unwrap();
    assert!(StatesFile::of_run(dir.path()).unwrap().is_none());
    write(dir.path(), 0..5);
    let file = StatesFile::of_run(dir.path()).unwrap().unwrap();
    assert_sound(&file, &[0, 1, 2, 3, 4]);
    assert_eq!(file.run_id.as_deref(), Some("run-1"));
    assert_eq!(file.models[&0], ("m".to_owned(), "ab".to_owned()));
    assert_eq!(file.norms[&0].weight, [1.0, 2.0, 3.0, 4.0]);
    assert_eq!(file.rows[&(0, 7)].state(0), [0.5; 4]);
    assert_eq!(file.refusals, [(0, "no row of token 9".to_owned())]);
    assert_eq!((file.damaged, file.end_of_good_bytes), (0, size(dir.path())));
}

fn size(dir: &Path) -> u64 {
    std::fs::metadata(dir.join(STATES_FILE)).unwrap().len()
}

#[test]
fn after_a_crash_at_any_byte_writing_goes_on_and_nothing_whole_is_lost() {
    let whole = tempfile::tempdir().unwrap();
    write(whole.path(), 0..3);
    let bytes = std::fs::read(whole.path().join(STATES_FILE)).unwrap();
    let ends: Vec<u64> =
        StatesFile::of_run(whole.path()).unwrap().unwrap().kept.iter().map(|kept| kept.at + 24 + 4).collect();
    for cut in 0..bytes.len() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join(STATES_FILE), &bytes[..cut]).unwrap();
        // The groups that were not complete are run again: here, from item 1 on.
        write(dir.path(), 1..4);
        let file = StatesFile::of_run(dir.path()).unwrap().unwrap();
        let kept = ends.iter().filter(|&&end| end <= cut as u64).count();
        let mut items: Vec<usize> = (0..kept).collect();
        items.extend((1..4).filter(|item| *item >= kept));
        assert_sound(&file, &items);
        assert_eq!(file.damaged, 0, "cut at {cut}");
        assert_eq!(file.rows.len(), 1, "cut at {cut}");
    }
}

#[test]
fn a_damaged_block_costs_itself_alone() {
    let dir = tempfile::tempdir().unwrap();
    write(dir.path(), 0..4);
    let path = dir.path().join(STATES_FILE);
    let bytes = std::fs::read(&path).unwrap();
    let second = StatesFile::open(&path).unwrap().kept[1].clone();
    for at in [second.at + 3, second.at - 30] {
        let mut damaged = bytes.clone();
        damaged[at as usize] ^= 0x40;
        std::fs::write(&path, damaged).unwrap();
        let file = StatesFile::open(&path).unwrap();
        assert_sound(&file, &[0, 2, 3]);
        assert_eq!(file.damaged, 1);
    }
}

#[test]
fn what_is_no_file_of_states_or_belongs_to_another_run_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    write(dir.path(), 0..1);
    let other = StatesWriter::open(dir.path(), "run-2", true).unwrap_err();
    assert!(other.message.contains("another run, run-1"), "{other}");
    let path = dir.path().join("x");
    for (text, what) in
        [("edge-eval states 9\n....", "another format"), ("PK\u{3}\u{4}, and so on and on", "no file of")]
    {
        std::fs::write(&path, text).unwrap();
        let error = StatesFile::open(&path).unwrap_err();
        assert!(error.message.contains(what), "{error}");
    }
}

#[test]
fn what_a_head_says_of_its_numbers_is_held_against_them() {
    let dir = tempfile::tempdir().unwrap();
    write(dir.path(), 0..2);
    let path = dir.path().join(STATES_FILE);
    let whole = std::fs::read(&path).unwrap();
    let heads = [
        Head::Item(Place { dimension: 5, ..place(7, &states(7)) }),
        Head::Item(Place { exponents: Vec::new(), ..place(7, &states(7)) }),
        Head::Norm { model: 1, centred: false, epsilon: 0.0, weights: u32::MAX, offsets: 7 },
        Head::Row { model: 1, token: 1, dimension: 1 << 31, exponent: 0 },
    ];
    for head in heads {
        let block = block::encode(&head, &states(7).bytes).unwrap();
        std::fs::write(&path, [&whole[..], &block].concat()).unwrap();
        let file = StatesFile::open(&path).unwrap();
        assert_sound(&file, &[0, 1]);
        assert_eq!(
            (file.damaged, file.torn_bytes, file.norms.len(), file.rows.len()),
            (1, 0, 1, 1),
            "{head:?}"
        );
        let first = format!("a block at byte {} whose numbers are not as its head says", whole.len());
        assert_eq!(file.first_damage, Some(first));
    }
}

#[test]
fn groups_without_states_keep_their_reason_however_many_they_are() {
    let dir = tempfile::tempdir().unwrap();
    write(dir.path(), 0..2);
    let mut writer = StatesWriter::open(dir.path(), "run-1", false).unwrap();
    let groups: Vec<u32> = (100..25_100).collect();
    writer.absent(&groups, "the card was full").unwrap();
    writer.absent(&[7], "lost").unwrap();
    let file = StatesFile::of_run(dir.path()).unwrap().unwrap();
    assert_eq!((file.absent.len(), file.absent[&7].as_str()), (25_001, "lost"));
    assert!(groups.iter().all(|group| file.absent[group] == "the card was full"));
    // A log alone finds what lies beside it; a file of another name does not.
    std::fs::write(dir.path().join("log"), "x").unwrap();
    std::fs::write(dir.path().join("x.eval"), "x").unwrap();
    assert!(StatesFile::of_run(&dir.path().join("log")).unwrap().is_some());
    assert!(StatesFile::of_run(&dir.path().join("x.eval")).unwrap().is_none());
}
