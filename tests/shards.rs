//! Parts of a run: together they are the run.

use crate::support::{Bench, answers, complaint, told};

/// Runs a configuration as a whole and in parts; every item is in exactly one part, with the answers of the whole.
pub(crate) fn parts_make_the_run(bench: &Bench, of: usize) {
    assert_eq!(bench.run("whole", &["--quiet"]).status.code(), Some(0));
    let mut whole = answers(&bench.log("whole"));
    for part in 1..=of {
        let out = format!("part{part}");
        let output = bench.run(&out, &["--quiet", "--shard", &format!("{part}/{of}")]);
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        let log = bench.log(&out);
        assert!(log.complete.is_some() && !log.items.is_empty());
        for (key, item) in answers(&log) {
            assert_eq!(whole.remove(&key), Some(item), "{key:?} of part {part}");
        }
    }
    assert!(whole.is_empty(), "in no part: {:?}", whole.keys());
}

const SHARDED: &str = "limit = 40\n[engine]\ngroup-items = 8\n[[model]]\npath = \"fake\"\n[[task]]\nname = \"logic\"\n[[task]]\nname = \"lights\"\n";

#[test]
fn parts_are_the_run_whatever_their_number() {
    for of in [2, 3, 7] {
        parts_make_the_run(&Bench::new(SHARDED), of);
    }
}

#[test]
fn a_part_knows_which_it_is() {
    let bench = Bench::new(SHARDED);
    assert_eq!(bench.run("part", &["--quiet", "--shard", "1/2"]).status.code(), Some(0));
    for other in [&["--shard", "2/2"][..], &[]] {
        let output = bench.run("part", other);
        assert_eq!(output.status.code(), Some(5), "{output:?}");
        assert!(complaint(&output).contains("shard"), "{output:?}");
    }
    for wrong in ["0/2", "3/2", "half"] {
        let output = bench.run("wrong", &["--shard", wrong]);
        assert_eq!(output.status.code(), Some(2), "{output:?}");
        assert!(complaint(&output).contains("2/4"), "{output:?}");
    }
    // Folders that are named by the plan tell the parts apart.
    let told = told(&crate::support::run(&["report", &bench.path("part"), "--json"])).1;
    let report: serde_json::Value = serde_json::from_str(&told).expect("JSON");
    assert_eq!((&report["shard"], &report["complete"]), (&"1/2".into(), &true.into()));
}
