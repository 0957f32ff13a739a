//! Logs that were cut or changed: never a panic, never a wrong record, and resuming completes the run.

use std::path::Path;

use runner::entry::Entry;
use runner::log::Reader;
use runner::report::RunLog;

use crate::support::{Bench, answers, assert_same};

const CONFIG: &str = "limit = 44\n[[model]]\npath = \"fake\"\n[[task]]\nname = \"lights\"\n[[task]]\nname = \"logic\"\n\
                      [log]\nsync = \"never\"\n";

fn put(dir: &Path, bytes: &[u8]) {
    std::fs::create_dir_all(dir).expect("a folder");
    std::fs::write(dir.join("log"), bytes).expect("a log");
}

/// Whatever is read from a damaged log stands in the whole one.
fn assert_part_of(part: &RunLog, whole: &RunLog) {
    let whole = answers(whole);
    for (key, item) in answers(part) {
        assert_eq!(item, whole[&key], "{key:?}");
    }
}

#[test]
fn log_01_a_log_cut_at_every_byte_of_its_end_reads_right_and_resumes() {
    let bench = Bench::new(CONFIG);
    assert_eq!(bench.run("whole", &["--quiet"]).status.code(), Some(0));
    let whole = bench.log("whole");
    let bytes = std::fs::read(bench.path("whole/log")).expect("the log");
    let dir = bench.dir.path().join("cut");
    for length in (bytes.len().saturating_sub(4096)..bytes.len()).rev() {
        put(&dir, &bytes[..length]);
        let part = RunLog::read(&dir).expect("the header is whole");
        assert!(part.complete.is_none(), "cut at {length}");
        assert_part_of(&part, &whole);
        if length % 256 == 0 {
            let output = bench.run("cut", &["--quiet"]);
            assert_eq!(output.status.code(), Some(0), "cut at {length}: {output:?}");
            assert_same(&bench.log("cut"), &whole);
        }
        std::fs::remove_dir_all(&dir).expect("the folder goes");
    }
}

#[test]
fn flipped_bytes_in_the_middle_lose_their_groups_only_and_resume_runs_them_again() {
    let bench = Bench::new(CONFIG);
    assert_eq!(bench.run("whole", &["--quiet"]).status.code(), Some(0));
    let whole = bench.log("whole");
    let bytes = std::fs::read(bench.path("whole/log")).expect("the log");
    let dir = bench.dir.path().join("flip");
    let mut reader = Reader::<Entry>::open(Path::new(&bench.path("whole/log"))).expect("the log opens");
    let header_end = reader.next().expect("a header").expect("a good frame").bytes.end as usize;
    let places: Vec<usize> = (header_end..bytes.len()).step_by(bytes.len() / 40).collect();
    for place in places {
        let mut hurt = bytes.clone();
        hurt[place] ^= 0x55;
        put(&dir, &hurt);
        let part = RunLog::read(&dir).expect("the header is whole");
        assert_part_of(&part, &whole);
        let output = bench.run("flip", &["--quiet"]);
        assert_eq!(output.status.code(), Some(0), "flip at {place}: {output:?}");
        assert_same(&bench.log("flip"), &whole);
        std::fs::remove_dir_all(&dir).expect("the folder goes");
    }
}

#[test]
fn a_damaged_header_is_named_and_nothing_is_overwritten() {
    let bench = Bench::new(CONFIG);
    assert_eq!(bench.run("whole", &["--quiet"]).status.code(), Some(0));
    let bytes = std::fs::read(bench.path("whole/log")).expect("the log");
    let mut reader = Reader::<Entry>::open(Path::new(&bench.path("whole/log"))).expect("the log opens");
    let copies: Vec<usize> = reader
        .by_ref()
        .take(2)
        .map(|record| record.expect("a good frame").bytes.start as usize + 100)
        .collect();
    let flipped = |places: &[usize]| {
        let mut hurt = bytes.clone();
        places.iter().for_each(|&place| hurt[place] ^= 0xff);
        hurt
    };
    // One of the two copies is enough, also to go on: here the end of the log is cut off too.
    for (index, copy) in copies.iter().enumerate() {
        let name = format!("copy{index}");
        let hurt = flipped(&[*copy]);
        put(&bench.dir.path().join(&name), &hurt[..hurt.len() / 2]);
        assert_eq!(bench.run(&name, &["--quiet"]).status.code(), Some(0), "{name}");
        assert_same(&bench.log(&name), &bench.log("whole"));
    }
    for (name, hurt) in [("text", b"hello\n".to_vec()), ("zero", vec![0; 4096]), ("header", flipped(&copies))]
    {
        put(&bench.dir.path().join(name), &hurt);
        let output = bench.run(name, &["--quiet"]);
        assert!(matches!(output.status.code(), Some(4 | 6)), "{name}: {output:?}");
        crate::support::complaint(&output);
        assert_eq!(
            std::fs::read(bench.path(&format!("{name}/log"))).expect("still there").len(),
            hurt.len(),
            "{name}"
        );
    }
}
