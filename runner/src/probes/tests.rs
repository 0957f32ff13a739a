//! Planted truth: recorded readouts with a code that is known, and everything that the analysis must say of them.

use std::path::Path;

use datasets::Stream;

use super::*;

const LABELS: [&str; 4] = ["A", "B", "C", "D"];
const DIMENSION: usize = 40;

/// Readouts of `items` items in two conditions. `direct` holds the answer in numbers 0 to 3, and the scores say it;
/// `cot-prefix` holds the next label there, and the scores say the first label. Items of the kind `odd` hold it in numbers
/// 20 on instead, where `kinds` is set.
fn write(dir: &Path, items: usize, kinds: bool, more: impl Fn(usize) -> String) {
    let mut stream = Stream::new(11, &["planted readouts"]);
    let mut lines = Vec::new();
    let mut array = Vec::new();
    super::npy::write_header(&mut array, 4, &[items * 2, DIMENSION]).unwrap();
    for item in 0..items {
        let gold = stream.below(4);
        let odd = kinds && item % 2 == 1;
        for (place, condition) in ["direct", "cot-prefix"].into_iter().enumerate() {
            let mut state: Vec<f32> = (0..DIMENSION).map(|_| (stream.unit() * 2.0 - 1.0) as f32).collect();
            let first = if odd { 20 } else { 0 };
            state[first + (gold + place) % 4] += 3.0;
            array.extend(state.iter().flat_map(|value| value.to_le_bytes()));
            let said = if place == 0 { gold } else { 0 };
            let logits: Vec<f64> = (0..4).map(|label| if label == said { 2.0 } else { 0.5 }).collect();
            let kind = if odd { "odd" } else { "even" };
            lines.push(format!(
                r#"{{"id":"q{item}","family":"f{}","condition":"{condition}","n":4,"gold":{gold},"label_logits":{logits:?},"ma":0.25,"mr":null,"rank":{},"tags":{{"kind":"{kind}"}},"hidden":{{"file":"states.npy","row":{}}}{}}}"#,
                item / 3,
                item % 5,
                item * 2 + place,
                more(item)
            ));
        }
    }
    std::fs::write(dir.join("states.npy"), array).unwrap();
    std::fs::write(dir.join(READOUTS_FILE), lines.join("\n")).unwrap();
}

fn analysed(dir: &Path, options: &Options) -> ProbeResult {
    let corpora = load(&[dir.join(READOUTS_FILE)]).unwrap();
    analyse(&corpora, options, &mut |_| ()).unwrap()
}

fn planted() -> (tempfile::TempDir, ProbeResult) {
    let dir = tempfile::tempdir().unwrap();
    write(dir.path(), 450, false, |_| String::new());
    let result = analysed(dir.path(), &Options::default());
    (dir, result)
}

/// Whether a share is that of draws with this probability: within four standard deviations.
fn covers(share: &Share, value: f64) -> bool {
    let n = share.n as f64;
    (share.right as f64 - n * value).abs() <= 4.0 * (n * value * (1.0 - value)).sqrt()
}

#[test]
fn the_planted_code_is_found_in_its_own_condition_and_nowhere_else() {
    let (_dir, result) = planted();
    let corpus = &result.corpora[0];
    assert_eq!((corpus.dimension, corpus.states, corpus.classes.join("")), (DIMENSION, 1, "ABCD".to_owned()));
    assert_eq!(corpus.split, SplitBy::Family);
    assert_eq!(corpus.items.iter().sum::<u64>(), 450);
    assert_eq!(corpus.chance, 0.25);
    for transfer in &corpus.transfer {
        let value = transfer.accuracy.value.unwrap();
        match transfer.train == transfer.test {
            // The code stands above the noise: the classes can be told apart without error.
            true => assert!(value > 0.97, "{transfer:?}"),
            // What was learnt in the one says the next label in the other, or the one before.
            false => assert!(value < 0.03, "{transfer:?}"),
        }
    }
    for condition in &corpus.conditions {
        assert!(covers(condition.shuffled.as_ref().unwrap(), 0.25), "{condition:?}");
        assert_eq!(condition.native.ma, Some(0.25));
        assert_eq!(condition.native.mr, None);
    }
}

#[test]
fn the_model_s_own_readout_is_counted_as_it_was_recorded() {
    let (dir, result) = planted();
    let [direct, cot] = &result.corpora[0].conditions[..] else { panic!("two conditions") };
    assert_eq!((direct.condition.as_str(), cot.condition.as_str()), ("direct", "cot-prefix"));
    assert_eq!(direct.native.accuracy.value, Some(1.0));
    assert_eq!(cot.native.first_slot.value, Some(1.0));
    assert_eq!(cot.native.slots[1..], [0, 0, 0]);
    // Right where the first label is: that many of the items for test, by the file itself.
    let text = std::fs::read_to_string(dir.path().join(READOUTS_FILE)).unwrap();
    let firsts =
        text.lines().filter(|line| line.contains("cot-prefix") && line.contains(r#""gold":0"#)).count();
    assert!((cot.native.accuracy.value.unwrap() - firsts as f64 / 450.0).abs() < 0.12);
}

#[test]
fn an_update_repairs_what_a_calibration_cannot() {
    let (_dir, result) = planted();
    let row = |method: &str, train: &str, test: &str| {
        let rows = &result.corpora[0].repair;
        rows.iter()
            .find(|row| (row.method.as_str(), &*row.train, &*row.test) == (method, train, test))
            .unwrap()
            .clone()
    };
    let repaired = row("low-rank", "cot-prefix", "cot-prefix");
    assert_eq!(repaired.rank, Some(4));
    assert!(repaired.before.value.unwrap() < 0.4 && repaired.after.value.unwrap() > 0.95, "{repaired:?}");
    // The scores of `direct` are right as they are.
    let direct = row("low-rank", "cot-prefix", "direct");
    assert_eq!(direct.before.value, Some(1.0));
    // All items have the same scores under `cot-prefix`: no factor and offset can tell them apart.
    let calibrated = row("affine", "cot-prefix", "cot-prefix");
    assert_eq!(calibrated.rank, None);
    assert!(calibrated.after.value.unwrap() < 0.4, "{calibrated:?}");
}

#[test]
fn the_same_seed_gives_the_same_figures_whatever_the_order_of_the_lines() {
    let dir = tempfile::tempdir().unwrap();
    write(dir.path(), 120, false, |_| String::new());
    let one = analysed(dir.path(), &Options::default());
    assert_eq!(analysed(dir.path(), &Options::default()), one);
    assert_ne!(analysed(dir.path(), &Options { seed: 2, ..Options::default() }).corpora, one.corpora);
    let path = dir.path().join(READOUTS_FILE);
    let text = std::fs::read_to_string(&path).unwrap();
    let (direct, other): (Vec<&str>, Vec<&str>) = text.lines().partition(|line| line.contains("direct"));
    let reversed: Vec<&str> = direct.into_iter().rev().chain(other).collect();
    std::fs::write(&path, reversed.join("\n")).unwrap();
    let again = analysed(dir.path(), &Options::default());
    assert_eq!(again.corpora[0].items, one.corpora[0].items);
    assert_eq!(again.corpora[0].conditions[0].native, one.corpora[0].conditions[0].native);
}

#[test]
fn the_data_set_s_own_split_is_kept_and_gets_a_validation_part_where_it_has_none() {
    let dir = tempfile::tempdir().unwrap();
    let own = |item: usize| format!(r#","split":"{}""#, if item < 60 { "train" } else { "test" });
    write(dir.path(), 90, false, own);
    let corpus = analysed(dir.path(), &Options::default()).corpora.remove(0);
    assert_eq!(corpus.split, SplitBy::Tag);
    assert_eq!((corpus.items[0] + corpus.items[1], corpus.items[2]), (60, 30));
    assert!((9..=15).contains(&corpus.items[1]), "{:?}", corpus.items);
}

#[test]
fn a_readout_that_never_saw_a_kind_fails_on_it_where_the_kinds_have_their_own_codes() {
    let dir = tempfile::tempdir().unwrap();
    write(dir.path(), 600, true, |_| String::new());
    let result = analysed(dir.path(), &Options { without: Some("kind".into()), ..Options::default() });
    let table = result.corpora[0].shortcut.iter().find(|table| table.condition == "direct").unwrap();
    assert_eq!((table.tag.as_str(), table.kinds.join(" ")), ("kind", "even odd".to_owned()));
    let names: Vec<String> = table.rows.iter().map(|row| row.without.join("/")).collect();
    assert_eq!(names, ["", "even", "odd"]);
    assert!(table.rows[0].by_kind.iter().all(|share| share.value.unwrap() > 0.95), "{table:?}");
    assert!(table.rows[1].by_kind[1].value.unwrap() > 0.95, "{table:?}");
    assert!(table.rows[2].by_kind[0].value.unwrap() > 0.95, "{table:?}");
    // Nothing was learnt about the numbers in which the other kind holds its answer.
    for unseen in [&table.rows[1].by_kind[0], &table.rows[2].by_kind[1]] {
        assert!(unseen.value.unwrap() < 0.6, "{table:?}");
    }
}

#[test]
fn a_result_is_kept_and_read_again_and_every_share_is_a_row() {
    let (dir, result) = planted();
    assert_eq!(ProbeResult::of_run(dir.path()).unwrap(), None);
    result.save(dir.path()).unwrap();
    let again = ProbeResult::of_run(dir.path()).unwrap().unwrap();
    let rights = |result: &ProbeResult| -> Vec<u64> {
        result.corpora[0].transfer.iter().map(|transfer| transfer.accuracy.right).collect()
    };
    assert_eq!((again.seed, rights(&again)), (result.seed, rights(&result)));
    let mut csv = Vec::new();
    write_csv(&result, &mut csv).unwrap();
    // Per condition: native, first slot, shuffled; four transfers; two methods by four pairs. And the headings.
    assert_eq!(String::from_utf8(csv).unwrap().lines().count(), 1 + 2 * 3 + 4 + 8);
    let shown = text(&result, None, crate::report::Extent::Brief);
    assert!(shown.contains("cot-prefix") && shown.contains("low-rank (rank 4)"), "{shown}");
    std::fs::write(dir.path().join(PROBES_FILE), "{}").unwrap();
    assert!(ProbeResult::of_run(dir.path()).unwrap_err().message.contains("edge-eval probe"));
}

#[test]
fn broken_lines_and_unknown_keys_are_named() {
    let dir = tempfile::tempdir().unwrap();
    write(dir.path(), 3, false, |_| String::new());
    let path = dir.path().join(READOUTS_FILE);
    let text = std::fs::read_to_string(&path).unwrap();
    let good: Vec<&str> = text.lines().collect();
    let cases = [
        ("{\"id\": \"q9\", \"condition\":", "line 2: EOF"),
        (
            r#"{"id":"q","condition":"c","n":2,"gold":0,"label_logits":[1,2],"loss":3}"#,
            "line 2: unknown field `loss`",
        ),
        (r#"{"id":"q","condition":"c","n":2,"gold":2,"label_logits":[1,2]}"#, "line 2: gold is 2"),
        (r#"{"id":"q","condition":"c","n":3,"gold":0,"label_logits":[1,2]}"#, "line 2: label_logits has 2"),
        (
            r#"{"id":"q","condition":"c","n":2,"labels":["A","A"],"gold":0,"label_logits":[1,2]}"#,
            "there twice",
        ),
        (r#"{"id":"q","condition":"c","n":2,"gold":0,"label_logits":[1,2],"ma":1.5}"#, "ma is 1.5"),
        (
            r#"{"id":"q","condition":"c","n":2,"gold":0,"label_logits":[1,2],"hidden":{"file":"states.npy","row":6}}"#,
            "row 6 of states.npy, which has 6",
        ),
        (
            r#"{"id":"q","condition":"c","n":2,"gold":0,"label_logits":[1,2],"hidden":{"file":"none.npy","row":0}}"#,
            "none.npy",
        ),
        (r#"{"condition":"c","n":2,"gold":0,"label_logits":[1,2]}"#, "line 2: missing field `id`"),
    ];
    for (line, what) in cases {
        std::fs::write(&path, [good[0], line, good[1]].join("\n")).unwrap();
        let error = load(std::slice::from_ref(&path)).unwrap_err();
        assert!(error.message.contains(what), "{line}: {error}");
    }
    std::fs::write(&path, "\n\n").unwrap();
    assert!(load(&[path]).unwrap_err().message.contains("no readout"));
}

#[test]
fn readouts_without_states_still_tell_the_model_s_own_figures() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("x.jsonl");
    let line = |id: usize, gold: usize, logits: &str| {
        format!(
            r#"{{"id":"q{id}","condition":"c","n":2,"gold":{gold},"label_logits":[{logits}],"split":"test"}}"#
        )
    };
    let mut lines: Vec<String> = [(0, 0, "1,0"), (1, 1, "1,0"), (2, 1, "0,1"), (3, 0, "1,1")]
        .map(|(id, gold, l)| line(id, gold, l))
        .into();
    lines.push(line(4, 0, "1,0").replace("test", "train"));
    std::fs::write(&path, lines.join("\n")).unwrap();
    let result = analyse(&load(&[path]).unwrap(), &Options::default(), &mut |_| ()).unwrap();
    let corpus = &result.corpora[0];
    let native = &corpus.conditions[0].native;
    // Two of four right, the first slot twice, and a tie that chooses nothing.
    assert_eq!(
        (native.accuracy.right, native.first_slot.right, native.undecided, native.accuracy.n),
        (2, 2, 1, 4)
    );
    assert!(
        corpus.conditions[0].probe.is_none()
            && corpus.notes.iter().any(|note| note.contains("no hidden states"))
    );
}

#[test]
fn an_export_is_read_back_as_the_same_readouts() {
    let dir = tempfile::tempdir().unwrap();
    write(dir.path(), 60, false, |item| format!(r#","split":"{}""#, ["train", "val", "test"][item % 3]));
    let first = load(&[dir.path().join(READOUTS_FILE)]).unwrap();
    let out = dir.path().join("again");
    let written = export(&first, &out).unwrap();
    assert_eq!(written.len(), 2);
    let second = load(&[out.join(READOUTS_FILE)]).unwrap();
    let options = Options::default();
    assert_eq!(
        analyse(&first, &options, &mut |_| ()).unwrap().corpora,
        analyse(&second, &options, &mut |_| ()).unwrap().corpora
    );
    assert!(export(&first, &out).unwrap_err().message.contains("already"));
    assert_eq!(LABELS.len(), first.all[0].classes().len());
}
