//! The field bugs of importers, by their ids.

use std::io::Read;

use super::*;
use crate::item::Gold;

fn csv(text: &str) -> Result<Import, ImportError> {
    read(text.as_bytes(), Format::Csv, &Rules::default())
}

fn jsonl(text: &str) -> Result<Import, ImportError> {
    read(text.as_bytes(), Format::Jsonl, &Rules::default())
}

fn fault(result: Result<Import, ImportError>) -> String {
    result.unwrap_err().to_string()
}

fn options(import: &Import, index: usize) -> Vec<&str> {
    import.entries[index].options.iter().map(String::as_str).collect()
}

#[test]
fn the_same_items_come_out_of_every_format() {
    let rows = [
        csv("id,question,A,B,C,answer,category\nq1,Which?,x,y,,B,bio\nq2,\"Two, \"\"or\"\" three?\",p,q,r,A,\n").unwrap(),
        read(
            "id;question;A;B;C;answer;category\nq1;Which?;x;y;;B;bio\nq2;\"Two, \"\"or\"\" three?\";p;q;r;A;\n".as_bytes(),
            Format::CsvSemicolon,
            &Rules::default(),
        )
        .unwrap(),
        read(
            "id\tquestion\tA\tB\tC\tanswer\tcategory\nq1\tWhich?\tx\ty\t\tB\tbio\nq2\tTwo, \"or\" three?\tp\tq\tr\tA\t\n".as_bytes(),
            Format::TsvUnquoted,
            &Rules::default(),
        )
        .unwrap(),
        jsonl(concat!(
            r#"{"id":"q1","question":"Which?","choices":["x","y",null],"answer":"B","category":"bio"}"#,
            "\n\n",
            r#"{"id":"q2","question":"Two, \"or\" three?","choices":{"text":["p","q","r"],"label":["1","2","3"]},"answerKey":"1"}"#
        ))
        .unwrap(),
    ];
    for import in &rows {
        assert_eq!(import.entries_sha256, rows[0].entries_sha256);
        assert_eq!(options(import, 0), ["x", "y"]);
        assert_eq!(import.entries[1].question, "Two, \"or\" three?");
        assert_eq!(import.counts.gold_positions, [1, 1, 0]);
    }
    // The hash of the file is of its bytes: SHA-256 of "a" is known.
    assert_eq!(
        hex(&Sha256::digest(b"a")),
        "ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb"
    );
}

#[test]
fn data_01_none_and_na_are_words() {
    let import = read(
        "question\tA\tB\tC\tD\tanswer\nQ\tNone\tNA\tnull\tnan\tA\nQ\tN/A\tOne\tTwo\tThree\tA\n".as_bytes(),
        Format::Tsv,
        &Rules::default(),
    )
    .unwrap();
    assert_eq!(options(&import, 0), ["None", "NA", "null", "nan"]);
    assert_eq!((import.entries[0].gold, options(&import, 1)[0]), (0, "N/A"));
    assert!(import.warnings.iter().any(|warning| warning.contains("1 items have `nan`")));
}

#[test]
fn data_02_trailing_empty_options_are_dropped_and_gold_outside_is_refused() {
    let import = csv("id,question,A,B,C,D,answer\n7,Q,Yes,No,,,B\n").unwrap();
    assert_eq!((options(&import, 0), import.entries[0].gold), (vec!["Yes", "No"], 1));
    let error = fault(csv("id,question,A,B,C,D,answer\n7,Q,Yes,No,,,D\n"));
    assert_eq!(error, "line 2 (id 7): the answer `D` is none of the labels A to B and the text of no option");
    assert!(fault(csv("question,A,B,C,answer\nQ,x,,z,A\n")).contains("an empty option before"));
    assert!(fault(csv("question,A,B,answer\nQ,x,,A\n")).contains("1 options"));
}

#[test]
fn data_03_an_empty_hint_leaves_no_trace() {
    let import = csv("question,hint,A,B,answer\nQ1,,x,y,A\nQ2,Look at the table.,x,y,A\n").unwrap();
    let stem = |index: usize| match &Layout::default().item(&import.entries[index], 1).first_question().stem[..]
    {
        [crate::Part::Text(text)] => text.clone(),
        other => panic!("{other:?}"),
    };
    assert_eq!(stem(0), "Q1\nA. x\nB. y");
    assert_eq!(stem(1), "Q2\nContext: Look at the table.\nA. x\nB. y");
}

#[test]
fn data_04_data_10_a_split_without_answers_is_refused() {
    assert!(fault(csv("question,A,B\nQ,x,y\n")).contains("no gold"));
    assert!(fault(csv("question,A,B,answer\nQ,x,y,\nQ,x,y,\n")).contains("no gold"));
    let five = r#"{"question":"Q","choices":["x","y"],"answer":-1}"#.to_owned() + "\n";
    assert!(fault(jsonl(&five.repeat(5))).contains("none of 5 rows has an answer"));
    let import = csv("question,A,B,answer\nQ,x,y,\nQ,x,y,A\n").unwrap();
    assert_eq!((import.counts.no_gold, import.entries.len()), (1, 1));
    assert!(import.notes()[0].contains("1 without an answer left out"));
}

#[test]
fn data_06_items_that_need_an_image_are_left_out_and_counted() {
    let text = "question,image,A,B,answer\nQ,,x,y,A\nQ,pic,x,y,A\nQ,pic,x,y,B\n";
    let import = csv(text).unwrap();
    assert_eq!((import.entries.len(), import.counts.needs_image), (1, 2));
    let kept =
        read(text.as_bytes(), Format::Csv, &Rules { images: super::Images::Withheld, ..Rules::default() })
            .unwrap();
    assert_eq!(kept.entries.len(), 3);
    assert_eq!(Layout::default().item(&kept.entries[1], 1).tags["image"], "not-shown");
}

#[test]
fn data_07_a_solution_is_never_shown() {
    let import = jsonl(
        r#"{"question":"Q","choices":["x","y"],"answer":"A","solution":"A since ZQX","lecture":"ZQX"}"#,
    )
    .unwrap();
    let item = format!("{:?}", Layout::default().item(&import.entries[0], 1));
    assert!(!item.contains("ZQX"));
}

#[test]
fn data_08_keys_go_through_the_item_s_own_labels() {
    let row = |labels: &str, key: &str| {
        jsonl(&format!(
            r#"{{"question":"Q","choices":{{"text":["p","q","r","s","t"],"label":{labels}}},"answerKey":{key}}}"#
        ))
    };
    assert_eq!(row(r#"["1","2","3","4","5"]"#, "\"3\"").unwrap().entries[0].gold, 2);
    assert_eq!(row(r#"["A","B","C","D","E"]"#, "\"E\"").unwrap().entries[0].gold, 4);
    assert!(fault(row(r#"["A","B","C","D","E"]"#, "\"F\"")).contains("none of the labels A to E"));
    assert!(fault(row(r#"["A","B"]"#, "\"A\"")).contains("5 options with 2 labels"));
}

#[test]
fn data_09_rows_without_consensus_are_left_out_and_counted() {
    let import = csv("question,A,B,answer\nQ,x,y,A\nQ,x,y,-\nQ,x,y,B\nQ,x,y,B\n").unwrap();
    assert_eq!((import.entries.len(), import.counts.no_consensus), (3, 1));
}

#[test]
fn data_11_a_number_as_answer_must_be_declared() {
    let text = r#"{"question":"Q","choices":["x","y","z"],"answer":1}"#;
    assert!(fault(jsonl(text)).contains("is a number; set params.import.answer-is"));
    for (answer_is, gold) in [(AnswerIs::Index0, 1), (AnswerIs::Index1, 0)] {
        let rules = Rules { answer_is, ..Rules::default() };
        assert_eq!(read(text.as_bytes(), Format::Jsonl, &rules).unwrap().entries[0].gold, gold);
        let out = read(text.replace(":1}", ":4}").as_bytes(), Format::Jsonl, &rules);
        assert!(fault(out).contains("the answer 4 is not in"));
    }
    // "3" among options that are numbers is an option's text or an index: refused as well.
    assert!(fault(csv("question,A,B,C,answer\nQ,2,3,4,3\n")).contains("is a number"));
    let rules = Rules { answer_is: AnswerIs::Text, ..Rules::default() };
    assert_eq!(
        read("question,A,B,C,answer\nQ,2,3,4,3\n".as_bytes(), Format::Csv, &rules).unwrap().entries[0].gold,
        1
    );
}

#[test]
fn an_answer_that_means_two_things_is_refused() {
    assert!(fault(csv("question,A,B,C,D,answer\nQ,c,D,b,a,D\n")).contains("a label and the text of another"));
    assert!(fault(csv("question,A,B,answer\nQ,same,same,same\n")).contains("the text of two options"));
    assert_eq!(
        csv("question,A,B,answer\nQ,Newton\u{2019}s law,y,Newton's law\n").unwrap().entries[0].gold,
        0
    );
}

#[test]
fn data_13_repeated_ids_are_refused_or_numbered() {
    let text = "id,question,A,B,answer\nq1,Q,x,y,A\nq1,Q,x,y,B\nq1-2,Q,x,y,B\n";
    assert_eq!(
        fault(csv(text)),
        "line 3 (id q1): the id is taken by line 2; make ids unique, or set params.import.reid"
    );
    let import = read(text.as_bytes(), Format::Csv, &Rules { reid: true, ..Rules::default() }).unwrap();
    let ids: Vec<&str> = import.entries.iter().map(|entry| entry.id.as_str()).collect();
    assert_eq!(ids, ["q1", "q1-3", "q1-2"]);
}

#[test]
fn data_15_a_cut_last_line_is_refused_with_its_place() {
    let row = "{\"question\":\"Q\",\"choices\":[\"x\",\"y\"],\"answer\":\"A\"}\n";
    let text = row.repeat(9) + &row[..20];
    let error = fault(jsonl(&text));
    assert!(
        error.starts_with(&format!(
            "line 10, byte {} of the file: the last line is cut off after 9 good items",
            9 * row.len()
        )),
        "{error}"
    );
    let rules = Rules { allow_damaged_end: true, ..Rules::default() };
    let import = read(text.as_bytes(), Format::Jsonl, &rules).unwrap();
    assert_eq!((import.entries.len(), import.counts.damaged_end), (9, 1));
    // In the middle it is a damaged row, whatever is allowed.
    let middle = row.repeat(2) + &row[..20] + "\n" + row;
    assert!(fault(read(middle.as_bytes(), Format::Jsonl, &rules)).starts_with("line 3: no JSON object"));
    assert!(
        fault(csv("question,A,B,answer\nQ,x,y,A\nQ,x\n"))
            .starts_with("line 3: 2 cells where the header has 4")
    );
    assert!(fault(csv("question,A,B,answer\nQ,x,y,A\nQ,\"x,y\n")).starts_with("line 3: the quoted cell"));
}

#[test]
fn faults_of_jsonl_are_named() {
    assert!(fault(jsonl("[{\"question\":\"Q\"}]")).contains("one JSON list; write one object a line"));
    assert!(fault(jsonl("{\"a\":1}{\"a\":2}\n")).starts_with("line 1: no JSON object"));
    assert!(fault(jsonl("{\"question\":NaN}\n")).starts_with("line 1: no JSON object"));
    assert!(fault(jsonl("")).contains("no rows"));
    for (choices, expected) in [
        ("[0.10,\"y\"]", "not whole"),
        ("\"x\"", "one text"),
        ("[true,\"y\"]", "true or false"),
        ("[[\"x\"],\"y\"]", "a list in a list"),
        ("7", "no options"),
    ] {
        let error = fault(jsonl(&format!("{{\"question\":\"Q\",\"choices\":{choices},\"answer\":\"A\"}}")));
        assert!(error.starts_with("line 1: ") && error.contains(expected), "{error}");
    }
}

#[test]
fn columns_can_be_named_and_missing_ones_are_listed() {
    let text = "Stem,A,B,Right\nQ,x,y,B\n";
    assert!(fault(csv(text)).contains(
        "no column `question`; name it with params.import.columns.question (columns: stem, a, b, right)"
    ));
    let columns = Columns { question: "Stem".into(), answer: "Right".into(), ..Columns::default() };
    let import = read(text.as_bytes(), Format::Csv, &Rules { columns, ..Rules::default() }).unwrap();
    assert_eq!(import.entries[0].gold, 1);
    assert_eq!(import.entries[0].id, "line-2");
    assert!(fault(csv("question,question,A,B,answer\nQ,Q,x,y,A\n")).contains("stands twice"));
}

#[test]
fn tags_and_columns_that_the_file_lacks_are_refused_with_those_that_it_has() {
    let text = "question,A,B,answer,topic\nQ,x,y,B,bio\n";
    let of = |tags: &[&str], columns: Columns| {
        let tags = tags.iter().map(|&tag| tag.to_owned()).collect();
        read(text.as_bytes(), Format::Csv, &Rules { tags, columns, ..Rules::default() })
    };
    assert_eq!(
        fault(of(&["Topic", "nope"], Columns::default())),
        "no column `nope`, which params.import.tags names (columns: question, a, b, answer, topic)"
    );
    assert_eq!(of(&["Topic"], Columns::default()).unwrap().entries[0].tags["topic"], "bio");
    let group = Columns { group: "theme".into(), ..Columns::default() };
    assert!(fault(of(&[], group)).contains("no column `theme`, which params.import.columns.group names"));
}

#[test]
fn txt_03_a_mark_is_no_part_of_the_first_name() {
    assert_eq!(csv("\u{FEFF}\"question\",\"A\",\"B\",\"answer\"\nQ,x,y,A\n").unwrap().entries.len(), 1);
    assert_eq!(
        jsonl("\u{FEFF}{\"question\":\"Q\",\"choices\":[\"x\",\"y\"],\"answer\":\"A\"}")
            .unwrap()
            .entries
            .len(),
        1
    );
    assert!(fault(read(&b"\xFF\xFEi\0"[..], Format::Csv, &Rules::default())).contains("UTF-16"));
    assert!(decode(b"\xFF\xFEi\0".to_vec()).unwrap_err().to_string().contains("UTF-16"));
    let text = "\u{FEFF}a\r\n\u{e9}";
    assert_eq!(decode(text.into()).unwrap(), text);
}

#[test]
fn txt_02_bytes_that_are_no_utf_8_are_placed() {
    for format in [Format::Csv, Format::Jsonl, Format::Tsv] {
        let error = fault(read(&b"question,A\nQ\xE6\xAD,x\n"[..], format, &Rules::default()));
        assert!(error.contains("byte 12 of the file: not UTF-8") || format == Format::Jsonl, "{error}");
    }
}

/// Makes a table of image cells on the way, so that the test holds none of it.
struct Images {
    row: usize,
    left: Vec<u8>,
}

impl Read for Images {
    fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        if self.left.is_empty() && self.row <= 50 {
            self.left = match self.row {
                0 => b"index\tquestion\tA\tB\tanswer\timage\n".to_vec(),
                row => [format!("{row}\tQ\tx\ty\tA\t").as_bytes(), &vec![b'Q'; 400_000], b"\n"].concat(),
            };
            self.row += 1;
        }
        let count = into.len().min(self.left.len());
        into[..count].copy_from_slice(&self.left[..count]);
        self.left.drain(..count);
        Ok(count)
    }
}

#[test]
fn txt_04_cells_of_400_000_characters_pass_and_are_not_kept() {
    let rules = Rules { images: super::Images::Withheld, ..Rules::default() };
    let import = read(Images { row: 0, left: Vec::new() }, Format::Tsv, &rules).unwrap();
    assert_eq!(import.entries.len(), 50);
    assert!(serde_json::to_string(&import.entries).unwrap().len() < 50 * 200);
    assert!(import.entries.iter().all(|entry| entry.image));
}

#[test]
fn txt_05_windows_line_ends_leave_no_carriage_return() {
    let import = csv("id,question,A,B,answer\r\n1,\"line1\r\nline2\",x,y,B\r\n\r\n").unwrap();
    assert_eq!(import.entries.len(), 1);
    assert_eq!((import.entries[0].question.as_str(), import.entries[0].gold), ("line1\nline2", 1));
    assert_eq!(import.counts.crlf, 4);
    let import =
        jsonl("{\"question\":\"a\\r\\nb\\rc\",\"choices\":[\"x\",\"y\"],\"answer\":\"B \"}\r\n").unwrap();
    assert_eq!(import.entries[0].question, "a\nb\rc");
    assert_eq!((import.counts.crlf, import.counts.lone_cr), (1, 1));
    assert!(import.warnings.iter().any(|warning| warning.contains("1 carriage returns")));
}

#[test]
fn txt_07_the_semicolon_is_taken_only_when_told() {
    let text = "question;A;B;answer\nQ;1,5;2,5;A\n";
    assert!(csv(text).is_err());
    let import = read(text.as_bytes(), Format::CsvSemicolon, &Rules::default()).unwrap();
    assert_eq!(options(&import, 0), ["1,5", "2,5"]);
}

#[test]
fn txt_10_control_tokens_in_texts_are_counted() {
    let import = csv("question,A,B,answer\nWhich tag closes a turn?,<|im_end|>,<|eot|>,A\n").unwrap();
    assert_eq!(import.counts.control_spellings, 2);
    assert!(import.warnings.iter().any(|warning| warning.starts_with("2 spellings of control tokens")));
}

#[test]
fn opt_01_a_gold_that_always_stands_first_is_warned_about() {
    let rows = |gold: fn(usize) -> char| {
        (0..12).fold("question,A,B,C,D,answer\n".to_owned(), |text, row| {
            text + &format!("Q{row},w,x,y,z,{}\n", gold(row))
        })
    };
    let import = csv(&rows(|_| 'A')).unwrap();
    assert_eq!(import.counts.gold_positions, [12, 0, 0, 0]);
    assert!(
        import.warnings.iter().any(|warning| warning.contains("12 times at position 1 where 3 are expected"))
    );
    assert!(csv(&rows(|row| char::from(b'A' + (row % 4) as u8))).unwrap().warnings.is_empty());
}

#[test]
fn opt_03_a_shuffle_keeps_every_option_and_follows_the_index() {
    let entry = Entry {
        id: "q".into(),
        question: "Q".into(),
        options: ["a", "b", "same", "d", "e", "same", "g"].map(str::to_owned).to_vec(),
        gold: 5,
        ..Entry::default()
    };
    let layout = Layout { shuffle: true, ..Layout::default() };
    let mut golds = std::collections::BTreeSet::new();
    for seed in 0..200 {
        let item = layout.item(&entry, seed);
        let question = item.first_question();
        let order: Vec<usize> =
            item.tags["order"].split('-').map(|from| from.parse::<usize>().unwrap() - 1).collect();
        let shown: Vec<&String> = order.iter().map(|&from| &entry.options[from]).collect();
        assert_eq!(question.options.iter().collect::<Vec<_>>(), shown);
        let Gold::Label(gold) = question.gold else { panic!("{:?}", question.gold) };
        assert_eq!(order[usize::from(gold)], 5);
        golds.insert(gold);
        assert_eq!(item, layout.item(&entry, seed));
    }
    assert_eq!(golds.len(), 7);
}

#[test]
fn opt_04_items_have_as_many_labels_as_options() {
    let import = csv("question,A,B,C,D,E,answer\nQ,x,y,z,,,A\nQ,x,y,z,w,,D\nQ,x,y,z,w,v,E\n").unwrap();
    let counts: Vec<usize> = import
        .entries
        .iter()
        .map(|entry| Layout::default().item(entry, 1).first_question().labels.len())
        .collect();
    assert_eq!(counts, [3, 4, 5]);
    assert_eq!(import.entries[2].gold, 4);
}

#[test]
fn opt_06_the_list_of_labels_is_the_item_s_own() {
    for count in 2..=26 {
        let list = name_list(&Labels::Letters.of(count));
        let last = char::from(b'A' + count as u8 - 1);
        let before = char::from(b'A' + count as u8 - 2);
        assert!(list.starts_with('A') && list.ends_with(&format!("{before} or {last}")), "{list}");
    }
    assert_eq!(name_list(&Labels::Letters.of(2)), "A or B");
    assert_eq!(name_list(&Labels::Numbers.of(3)), "1, 2 or 3");
}

#[test]
fn opt_07_rotated_copies_are_recognised_and_left_out() {
    let text = "index,question,A,B,C,D,answer\n7,Q,w,x,y,z,A\n1000007,Q,z,w,x,y,B\n2000007,Q,y,z,w,x,C\n3000007,Q,x,y,z,w,D\n8,Q,w,x,y,z,B\n";
    let first = csv(text).unwrap();
    let ids: Vec<&str> = first.entries.iter().map(|entry| entry.id.as_str()).collect();
    assert_eq!((ids, first.counts.further_passes), (vec!["7", "8"], 3));
    let all =
        read(text.as_bytes(), Format::Csv, &Rules { circular: Circular::All, ..Rules::default() }).unwrap();
    let passes: Vec<(&str, u32)> =
        all.entries.iter().map(|entry| (entry.family.as_str(), entry.pass)).collect();
    assert_eq!(passes, [("7", 0), ("7", 1), ("7", 2), ("7", 3), ("8", 0)]);
    let item = Layout::default().item(&all.entries[2], 1);
    assert_eq!((item.family.as_str(), item.tags["pass"].as_str()), ("7", "2"));
    // Ids that are large but repeat nothing are ids.
    assert_eq!(csv("id,question,A,B,answer\n5,Q,x,y,A\n2000006,Q,x,y,A\n").unwrap().counts.further_passes, 0);
}

#[test]
fn formats_are_told_by_the_name_or_asked_for() {
    assert_eq!(Format::Auto.of("a/b.JSONL").unwrap(), Format::Jsonl);
    assert_eq!(Format::Auto.of("b.tsv").unwrap(), Format::Tsv);
    assert_eq!(Format::Csv.of("b.tsv").unwrap(), Format::Csv);
    assert!(Format::Auto.of("items.txt").unwrap_err().to_string().contains("set params.format"));
}

#[test]
fn random_bytes_never_panic() {
    let mut stream = crate::Stream::new(3, &["import"]);
    let pieces: [&[u8]; 14] = [
        b"question",
        b",",
        b"\n",
        b"\r",
        b"\"",
        b"A",
        b"B",
        b"answer",
        b"{",
        b"}",
        b":",
        b"[\"x\",\"y\"]",
        b"\xE6",
        b"\xEF\xBB\xBF",
    ];
    for _ in 0..3_000 {
        let bytes: Vec<u8> = (0..stream.below(40)).flat_map(|_| stream.pick(&pieces).to_vec()).collect();
        for format in [Format::Jsonl, Format::Csv, Format::CsvSemicolon, Format::Tsv, Format::TsvUnquoted] {
            let _ = read(&bytes[..], format, &Rules { allow_damaged_end: true, ..Rules::default() });
        }
    }
}
