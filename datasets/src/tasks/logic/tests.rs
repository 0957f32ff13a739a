#![allow(irrefutable_let_patterns, reason = "holds whether or not other parts and golds exist")]

use std::collections::{BTreeMap, BTreeSet};

use sha2::{Digest, Sha256};

use super::*;
use crate::Part;

fn params(text: &str) -> Params {
    Params(text.parse().unwrap())
}

fn stem(item: &Item) -> &str {
    let Part::Text(text) = &item.first_question().stem[0] else { panic!("text only") };
    text
}

/// The stems of both questions of one pair given in place.
fn stems(source: &str, a: &str, b: &str, raw: bool) -> [String; 2] {
    let pair = format!("{{ source = {source:?}, id = 'x', a = {a:?}, b = {b:?} }}");
    let items = (LOGIC.items)(&params(&format!("own = false\nraw = {raw}\npairs = [{pair}]")), 1).unwrap();
    assert_eq!(items.len(), 2);
    [0, 1].map(|i| stem(&items[i]).to_owned())
}

#[test]
fn documented_parameters_are_the_defaults() {
    assert_eq!(params(LOGIC.params).read::<LogicParams>().unwrap(), LogicParams::default());
    assert!((LOGIC.items)(&params("raws = true"), 1).is_err());
}

#[test]
fn own_list_has_100_different_short_pairs() {
    let pairs = own();
    assert_eq!(pairs.len(), 100);
    for (pair, index) in pairs.iter().zip(1..) {
        assert_eq!(pair.id, format!("{index:03}"));
        assert_ne!(pair.a, pair.b);
        for side in [&pair.a, &pair.b] {
            assert!(side.split_whitespace().count() <= 7, "{side}");
            assert!(side.starts_with(char::is_uppercase) && side.ends_with(char::is_alphanumeric), "{side}");
        }
    }
    let firsts: BTreeSet<&str> = pairs.iter().map(|pair| pair.a.as_str()).collect();
    let seconds: BTreeSet<&str> = pairs.iter().map(|pair| pair.b.as_str()).collect();
    assert_eq!((firsts.len(), seconds.len()), (100, 100));
}

#[test]
fn prompt_is_the_one_printed_in_the_paper() {
    let items = (LOGIC.items)(&Params::default(), 1).unwrap();
    assert_eq!(
        stem(&items[0]),
        "The following are two statements:\n\
         1. If the shape is a square, then it is always the case that the shape is a rectangle.\n\
         2. The shape is a square, but it is not the case that the shape is a rectangle.\n\
         Can both of these statements, as explicitly stated, be true at the same time?"
    );
    assert!(stem(&items[1]).contains("\n2. It is not the case that the shape is a rectangle.\n"));
    let ask = &items[0].first_question().ask;
    assert_eq!(ask.direct, "\nPlease ONLY answer with “Yes” or “No”.");
    assert_eq!(ask.reason[0].name, "reason");
    assert_eq!(ask.reason[0].text, "\nPlease reason about your answer and then answer “Yes” or “No”.");
    assert_eq!(ask.reason[1].name, "explain");
    assert_eq!(
        ask.reason[1].text,
        "\nPlease first explain why statement 2 could be true and then answer “Yes” or “No”."
    );
}

#[test]
fn each_pair_gives_a_conflict_answered_no_and_its_absence_answered_yes() {
    let items = (LOGIC.items)(&Params::default(), 1).unwrap();
    assert_eq!(items.len(), 200);
    let ids: BTreeSet<&str> = items.iter().map(|item| item.id.as_str()).collect();
    let texts: BTreeSet<&str> = items.iter().map(stem).collect();
    assert_eq!((ids.len(), texts.len()), (200, 200));
    for two in items.chunks(2) {
        assert_eq!(two[0].family, two[1].family);
        for (item, conflict, right) in [(&two[0], "yes", "No"), (&two[1], "no", "Yes")] {
            let question = item.first_question();
            let Gold::Label(gold) = question.gold else { panic!("label") };
            assert_eq!(item.tags["conflict"], conflict);
            assert_eq!(item.tags["source"], "own");
            assert_eq!(question.labels[usize::from(gold)], right);
        }
        // Only the second statement differs: all before it is shared.
        let shared = |item: &Item| stem(item).split("\n2. ").next().unwrap().to_owned();
        assert_eq!(shared(&two[0]), shared(&two[1]));
    }
}

#[test]
fn always_yes_is_right_on_one_half() {
    let items = (LOGIC.items)(&Params::default(), 1).unwrap();
    let answers = (LOGIC.baselines[0].answers)(&items);
    let right =
        |(item, answer): (&Item, &Option<u16>)| item.first_question().gold == Gold::Label(answer.unwrap());
    assert_eq!(items.iter().zip(&answers).filter(|&pair| right(pair)).count(), 100);
}

#[test]
fn items_at_seed_1_never_change_and_no_seed_changes_them() {
    let json = serde_json::to_vec(&(LOGIC.items)(&Params::default(), 1).unwrap()).unwrap();
    let hash: String = Sha256::digest(&json).iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(hash, "1f3ea5c2e74e067d7860d05a801db4dcbd4e7ed8168995e1ea1094558159f9d8");
    for seed in [0, 2, u64::MAX] {
        assert_eq!(serde_json::to_vec(&(LOGIC.items)(&Params::default(), seed).unwrap()).unwrap(), json);
    }
}

#[test]
fn statements_are_fitted_into_the_sentence() {
    let [conflict, other] = stems("snli", " A man  is outside.", "Someone is outdoors!", false);
    assert!(
        conflict.contains("1. If a man is outside, then it is always the case that someone is outdoors.\n")
    );
    assert!(conflict.contains("2. A man is outside, but it is not the case that someone is outdoors.\n"));
    assert!(other.contains("2. It is not the case that someone is outdoors.\n"));
}

#[test]
fn names_abbreviations_and_the_pronoun_i_keep_their_capital() {
    for (a, b) in [
        ("Paris is lovely.", "I like Paris."),
        ("US troops left.", "I've seen them."),
        ("TV is loud.", "McKay hears us."),
    ] {
        let [conflict, _] = stems("mnli", a, b, false);
        let (a, b) = (a.trim_end_matches('.'), b.trim_end_matches('.'));
        assert!(
            conflict.contains(&format!("1. If {a}, then it is always the case that {b}.\n")),
            "{conflict}"
        );
    }
}

#[test]
fn a_first_word_seen_in_lower_case_elsewhere_in_its_source_is_lowered() {
    let file = "own = false\npairs = [\
        { source = 'snli', id = '1', a = 'People sing.', b = 'Mark sings.' },\
        { source = 'snli', id = '2', a = 'Two people mark trees.', b = 'They see Mark and Mark.' },\
        { source = 'mnli', id = '3', a = 'People sing.', b = 'Sound is heard.' }]";
    let items = (LOGIC.items)(&params(file), 1).unwrap();
    assert!(stem(&items[0]).contains("1. If people sing, then it is always the case that Mark sings.\n"));
    assert!(stem(&items[2]).contains("1. If two people mark trees,"));
    // The other source has not seen "people" inside a statement.
    assert!(stem(&items[4]).contains("1. If People sing,"));
}

#[test]
fn stray_quotes_go_and_paired_ones_inside_stay() {
    let [conflict, _] = stems("mnli", "\"He left", "He said \"no\" twice?", false);
    assert!(conflict.contains("1. If he left, then it is always the case that he said \"no\" twice.\n"));
    let [conflict, _] = stems("mnli", "``He left.''", "he went...", false);
    assert!(conflict.contains("2. He left, but it is not the case that he went.\n"));
}

#[test]
fn raw_leaves_the_texts_untouched() {
    let [conflict, _] = stems("mnli", " He left.", "He went.", true);
    assert!(conflict.contains("1. If  He left., then it is always the case that He went..\n"));
}

const SNLI: &str = concat!(
    r#"{"gold_label":"entailment","sentence1":"A boy runs outside.","sentence2":"A boy is moving.","pairID":"1.jpg#0r1e","captionID":"1.jpg#0","annotator_labels":["entailment"],"sentence1_parse":"(ROOT x)"}"#,
    "\r\n",
    r#"{"gold_label":"-","sentence1":"A boy runs.","sentence2":"A boy smiles.","pairID":"1.jpg#0r1n","captionID":"1.jpg#0","annotator_labels":["neutral","entailment"]}"#,
    "\n",
    r#"{"gold_label":"neutral","sentence1":"A boy runs.","sentence2":"A boy is late.","pairID":"1.jpg#0r2n","captionID":"1.jpg#0","annotator_labels":["neutral"]}"#,
    "\n",
    r#"{"gold_label":"contradiction","sentence1":"A boy runs.","sentence2":"A boy sleeps.","pairID":"1.jpg#0r1c","captionID":"1.jpg#0","annotator_labels":["contradiction"]}"#,
    "\n\n",
);

fn row(id: &str, a: &str, b: &str) -> String {
    serde_json::json!({ "gold_label": "entailment", "sentence1": a, "sentence2": b, "pairID": id })
        .to_string()
}

#[test]
fn data_09_rows_without_consensus_are_excluded_and_counted() {
    let loaded = snli(SNLI).unwrap();
    assert_eq!((loaded.rows, loaded.no_consensus, loaded.rows - loaded.no_consensus), (4, 1, 3));
    assert_eq!(loaded.entailments, 1);
    assert_eq!(loaded.pairs.len(), 1);
    assert_eq!(
        (loaded.pairs[0].a.as_str(), loaded.pairs[0].id.as_str()),
        ("A boy runs outside.", "1.jpg#0r1e")
    );
}

#[test]
fn data_10_a_file_without_any_label_is_an_error() {
    let line = SNLI.lines().nth(1).unwrap();
    let error = snli(line).unwrap_err();
    assert!(error.to_string().contains("no row has a label"), "{error}");
    assert!(snli("").unwrap_err().to_string().contains("no rows"));
}

#[test]
fn data_12_genre_and_set_stay_apart() {
    let line = r#"{"gold_label":"entailment","genre":"fiction","promptID":"7","pairID":"7e","sentence1":" He left early.","sentence2":"He went away."}"#;
    let loaded = mnli(line).unwrap();
    assert_eq!(loaded.pairs[0].genre, "fiction");
    let mut read = crate::Texts(|_: &str| Ok(line.to_owned()));
    let both = params("mnli-matched = 'm.jsonl'\nmnli-mismatched = 'mm.jsonl'");
    let resolved = LOGIC.resolved(&both, &mut read).unwrap();
    // The same pairID in both files names two pairs.
    let items = (LOGIC.items)(&resolved.params, 1).unwrap();
    assert_eq!(items.len(), 200 + 4);
    assert_eq!(items[200].id, "mnli-matched-7e-conflict");
    assert_eq!(items[203].id, "mnli-mismatched-7e-no-conflict");
    assert_eq!(items[200].tags["genre"], "fiction");
    assert_eq!((items[200].tags["set"].as_str(), items[203].tags["set"].as_str()), ("matched", "mismatched"));
}

#[test]
fn data_13_a_pair_id_used_twice_is_named_with_both_lines() {
    let lines = format!("{}\n{}\n", row("q1", "A b.", "C d."), row("q1", "E f.", "G h."));
    let error = snli(&lines).unwrap_err();
    assert_eq!(error.line, 2);
    assert!(error.to_string().contains("line 1"), "{error}");
}

#[test]
fn data_15_a_broken_row_is_named_by_line_and_byte() {
    let mut lines: String =
        (0..10).map(|i| row(&format!("q{i}"), "A dog runs.", "It moves.") + "\n").collect();
    let last = lines.trim_end().rfind('\n').unwrap() + 1;
    lines.truncate(lines.len() - 5);
    let error = snli(&lines).unwrap_err();
    assert_eq!((error.line, error.byte, error.good), (10, last, 9));
    assert!(error.reason.contains("breaks off"), "{error}");

    let missing = snli("{\"gold_label\":\"entailment\",\"pairID\":\"1\"}").unwrap_err();
    assert!(missing.to_string().contains("sentence1"), "{missing}");
    let label = snli(&row("1", "A b.", "C d.").replace("entailment", "entails")).unwrap_err();
    assert!(label.to_string().contains("\"entails\""), "{label}");
}

#[test]
fn txt_03_a_byte_order_mark_is_no_part_of_the_first_row() {
    assert_eq!(snli(&format!("\u{feff}{SNLI}")).unwrap(), snli(SNLI).unwrap());
}

#[test]
fn words_are_split_at_white_space_and_seven_are_the_most() {
    let lines = [
        row("7", "One two three four five six seven .", "B."),
        row("8", "One two three four five six seven.", "It's well-known, isn't it?"),
        row("9", "Same side.", "Same side."),
        row("10", "B.", "One two three four five six seven eight."),
    ];
    let ids: Vec<String> = snli(&lines.join("\n")).unwrap().pairs.into_iter().map(|pair| pair.id).collect();
    assert_eq!(ids, ["8"]);
}

#[test]
fn named_files_become_pairs_that_need_no_file_any_more() {
    let files =
        BTreeMap::from([("dev.jsonl", SNLI.to_owned()), ("test.jsonl", row("t", "A cat sits.", "It sits."))]);
    let mut read = crate::Texts(|path: &str| files.get(path).cloned().ok_or_else(|| "not found".to_owned()));
    let named = params("own = false\nsnli-dev = 'dev.jsonl'\nsnli-test = 'test.jsonl'");
    assert!((LOGIC.items)(&named, 1).unwrap_err().to_string().contains("snli-dev"));

    let resolved = LOGIC.resolved(&named, &mut read).unwrap();
    assert_eq!(resolved.notes[0], "dev.jsonl: 4 rows, 1 without consensus, 1 entailments, 1 pairs");
    assert_eq!(resolved.notes[2], "snli: 2 pairs; the paper has 675");
    let items = (LOGIC.items)(&resolved.params, 1).unwrap();
    assert_eq!(items.len(), 4);
    assert_eq!((items[2].family.as_str(), items[2].tags["set"].as_str()), ("snli-t", "test"));
    // They survive being written and read: a run can be resumed from its log.
    let again = params(&toml::to_string(&resolved.params.0).unwrap());
    assert_eq!((LOGIC.items)(&again, 1).unwrap(), items);

    let error = LOGIC.resolved(&params("snli-dev = 'gone.jsonl'"), &mut read).unwrap_err();
    assert_eq!(error.to_string(), "snli-dev: gone.jsonl: not found");
    assert_eq!(LOGIC.resolved(&Params::default(), &mut read).unwrap().params, Params::default());
}

#[test]
fn unusable_pairs_are_refused_by_name() {
    for (text, word) in [
        ("own = false", "own"),
        ("pairs = [{ source = 'own', id = '001', a = 'A b', b = 'C d' }]", "twice"),
        ("pairs = [{ source = 'own', id = 'x', a = 'A b', b = 'A b ' }]", "same"),
        ("pairs = [{ source = 'own', id = 'x', a = '', b = 'A b' }]", "words"),
    ] {
        let error = (LOGIC.items)(&params(text), 1).unwrap_err().to_string();
        assert!(error.contains(word), "{error}");
    }
}
