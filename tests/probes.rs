//! Hidden states from the engine to the file, through crashes, and what `probe` reads out of them: a fake engine whose states hold
//! the answer in a known place.

use std::path::Path;
use std::time::Duration;

use datasets::Stream;
use runner::probes::{CorpusResult, ProbeResult, Share};
use runner::states::{STATES_FILE, StatesFile};

use crate::kill::{VICTIMS, run_and_strike};
use crate::support::{Bench, complaint, run, told};

/// Questions that tell their answer to the fake engine's states, and to nobody else.
fn questions(path: &Path, count: usize) {
    let mut stream = Stream::new(3, &["questions"]);
    let line = |number: usize| {
        let label = *stream.pick(&["A", "B", "C", "D"]);
        format!(
            r#"{{"id":"q{number}","question":"Number {number}, gold:{label} here?","options":["w","x","y","z"],"answer":"{label}"}}"#
        )
    };
    let lines: Vec<String> = (0..count).map(line).collect();
    std::fs::write(path, lines.join("\n")).expect("written");
}

/// Four layers of eighty numbers; the answer stands in them from the second layer on, and the next label where the prompt asks
/// to think.
pub(crate) const MODEL: &str = "fake:states=80,layers=4,knows=gold:,knows-from=1,turn-on=step by step";

pub(crate) fn bench(model: &str, states: &str, count: usize) -> Bench {
    let bench = Bench::new("");
    questions(&bench.dir.path().join("q.jsonl"), count);
    let config = format!(
        "interfaces = [\"direct\", \"cot-prefix\"]\n[asking]\nhidden-states = \"{states}\"\n[engine]\nparity = 0\ngroup-items = 20\n\
         [[model]]\npath = \"{model}\"\nname = \"m\"\n[[task]]\nname = \"file\"\nparams.path = \"{}\"\n",
        bench.path("q.jsonl")
    );
    std::fs::write(&bench.config, config).expect("written");
    bench
}

fn probed(bench: &Bench, more: &[&str]) -> ProbeResult {
    let dir = bench.path("a");
    let mut arguments = vec!["probe", &dir, "--json", "--quiet"];
    arguments.extend(more);
    let (code, out, errors) = told(&run(&arguments));
    assert_eq!(code, Some(0), "{errors}");
    serde_json::from_str(&out).expect("a result")
}

/// Whether a share is that of draws with this probability: within four standard deviations.
fn covers(share: &Share, value: f64) -> bool {
    let n = share.n as f64;
    (share.right as f64 - n * value).abs() <= 4.0 * (n * value * (1.0 - value)).sqrt()
}

fn value(share: &Option<Share>) -> f64 {
    share.as_ref().and_then(|share| share.value).expect("a share")
}

fn only(result: &ProbeResult) -> &CorpusResult {
    assert_eq!(result.corpora.len(), 1, "{:?}", result.notes);
    &result.corpora[0]
}

#[test]
fn probes_find_the_planted_code_from_its_layer_on_and_nothing_where_labels_are_shuffled() {
    let bench = bench(MODEL, "layers", 400);
    let (code, _, errors) = told(&bench.run("a", &[]));
    assert_eq!(code, Some(0), "{errors}");
    let result = probed(&bench, &[]);
    let corpus = only(&result);
    assert_eq!((corpus.dimension, corpus.states, corpus.chance), (80, 5, 0.25));
    for condition in &corpus.conditions {
        assert!(value(&condition.probe) > 0.95, "{condition:?}");
        assert!(covers(condition.shuffled.as_ref().unwrap(), 0.25), "{condition:?}");
        // Scores of the fake engine come from a hash: they know nothing.
        assert!(covers(&condition.native.accuracy, 0.25), "{condition:?}");
    }
    for transfer in corpus.transfer.iter().filter(|transfer| transfer.train != transfer.test) {
        assert!(transfer.accuracy.value.unwrap() < 0.05, "{transfer:?}");
    }
    assert_eq!(corpus.curve.len(), 10);
    for point in &corpus.curve {
        let (probe, lens) = (point.probe.as_ref().unwrap(), point.lens.as_ref().unwrap());
        let planted = point.layer >= 2;
        assert_eq!(point.normed, point.layer == 5);
        assert!(if planted { probe.value.unwrap() > 0.95 } else { covers(probe, 0.25) }, "{point:?}");
        // The model's own end reads the label of the one condition, and the next one of the other.
        let is_read = planted && point.condition == "direct";
        assert!(if is_read { lens.value.unwrap() > 0.95 } else { lens.value.unwrap() < 0.45 }, "{point:?}");
    }
    let repaired = corpus
        .repair
        .iter()
        .find(|row| row.method == "low-rank" && row.train == "cot-prefix" && row.test == "cot-prefix");
    let repaired = repaired.expect("a repair");
    assert!(repaired.after.value.unwrap() > 0.9 && repaired.before.value.unwrap() < 0.45, "{repaired:?}");
    // Reports find the result in the folder.
    let (_, out, _) = told(&run(&["report", &bench.path("a")]));
    assert!(out.contains("own readout %") && out.contains("logit lens %"), "{out}");
    let (code, page, errors) = told(&run(&["report", &bench.path("a"), "--html", "-"]));
    assert_eq!(code, Some(0), "{errors}");
    assert!(page.contains("<section id=\"probes\">") && page.contains("cot-prefix: logit lens"));
    // Recorded readouts say the same as the run that they come from.
    let out = bench.path("readouts");
    let (code, _, errors) = told(&run(&["export", &bench.path("a"), "--readouts", "-o", &out]));
    assert_eq!(code, Some(0), "{errors}");
    let (_, json, errors) =
        told(&run(&["probe", &format!("{out}/readouts.jsonl"), "--json", "--no-layers", "-q"]));
    let again: ProbeResult = serde_json::from_str(&json).unwrap_or_else(|_| panic!("{errors}"));
    assert_eq!(only(&again).conditions, corpus.conditions);
    assert_eq!(only(&again).transfer, corpus.transfer);
}

#[test]
fn states_survive_kills_and_a_resumed_run_has_the_same() {
    let bench = bench(&format!("{MODEL},delay-us=1500"), "final", 120);
    assert!(bench.run("a", &["--quiet"]).status.success());
    let whole = StatesFile::of_run(&bench.dir.path().join("a")).unwrap().expect("written");
    assert_eq!((whole.kept.len(), whole.damaged), (240, 0));
    for (number, victim) in VICTIMS.into_iter().enumerate() {
        let out = format!("k{number}");
        run_and_strike(&bench, &out, Duration::from_millis(200 + 130 * number as u64), victim);
        assert!(bench.run(&out, &["--quiet"]).status.success());
        let resumed = StatesFile::of_run(&bench.dir.path().join(&out)).unwrap().expect("written");
        assert_eq!(resumed.damaged, 0, "{victim:?}");
        assert_eq!(content(&resumed), content(&whole), "{victim:?}");
    }
}

/// Everything that a file of states says, whatever the order.
pub(crate) fn content(file: &StatesFile) -> Vec<(String, String, Vec<u8>)> {
    let of = |kept: &runner::states::Kept| {
        let states = file.states(kept).expect("the states");
        (kept.place.item.clone(), kept.place.interface.clone(), states.bytes)
    };
    let mut all: Vec<_> = file.kept.iter().map(of).collect();
    all.sort();
    all
}

#[test]
fn what_has_no_states_is_said_and_the_run_goes_on() {
    // A model that cannot tell them: answers as ever, and a line that says so.
    let bench = bench("fake", "final", 30);
    let (code, _, errors) = told(&bench.run("a", &[]));
    assert_eq!(code, Some(0), "{errors}");
    assert!(errors.contains("model m: hidden states cannot be had"), "{errors}");
    let refused = run(&["probe", &bench.path("a")]);
    assert_eq!(refused.status.code(), Some(3));
    assert!(complaint(&refused).contains("no scored answer has hidden states"));
    // A run that kept none says how to keep some.
    let bench = self::bench(MODEL, "none", 30);
    assert!(bench.run("a", &["--quiet"]).status.success());
    assert!(!bench.dir.path().join("a").join(STATES_FILE).exists());
    let refused = run(&["probe", &bench.path("a")]);
    assert_eq!(refused.status.code(), Some(3));
    assert!(complaint(&refused).contains("hidden-states = \"final\""));
}
