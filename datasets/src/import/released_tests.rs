//! Sample files in the formats of released data sets, every trap of theirs, and what is refused.

mod own;

use std::path::Path;

use crate::item::{Gold, Item, Part};
use crate::{Held, Params, Picture, Task};

/// The sample files, held in memory, and whatever a test changes in them.
fn samples() -> Held {
    fn add(folder: &Path, name: &str, held: &mut Held) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let entry = entry.unwrap();
            let inner = format!("{name}/{}", entry.file_name().to_string_lossy());
            match entry.path().is_dir() {
                true => add(&entry.path(), &inner, held),
                false => drop(held.0.insert(inner, std::fs::read(entry.path()).unwrap())),
            }
        }
    }
    let mut held = Held::default();
    add(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/fixtures/samples"), "d", &mut held);
    held
}

fn edited(path: &str, from: &str, to: &str) -> Held {
    let mut held = samples();
    let text = String::from_utf8(held.0[path].clone()).unwrap();
    assert!(text.contains(from), "{path} has no {from}");
    held.0.insert(path.to_owned(), text.replace(from, to).into_bytes());
    held
}

fn made(task: &str, params: &str, files: &mut Held) -> Result<(Vec<Item>, Vec<String>), String> {
    let task = Task::named(task).unwrap();
    let resolved =
        task.resolved(&Params(params.parse().unwrap()), files).map_err(|error| error.to_string())?;
    // What is logged gives the same items again, without files.
    let logged = Params(toml::to_string(&resolved.params.0).unwrap().parse().unwrap());
    let items = (task.items)(&logged, 1).map_err(|error| error.to_string())?;
    assert_eq!(items, (task.items)(&resolved.params, 1).unwrap());
    Ok((items, resolved.notes))
}

fn sound(task: &str, params: &str) -> Vec<Item> {
    made(task, params, &mut samples()).unwrap_or_else(|error| panic!("{error}")).0
}

fn ids(items: &[Item]) -> Vec<&str> {
    items.iter().map(|item| item.id.as_str()).collect()
}

fn text(item: &Item) -> String {
    let parts = item.first_question().stem.iter();
    parts.map(|part| if let Part::Text(text) = part { text.as_str() } else { "[]" }).collect()
}

/// The colour of the upper left pixel of each picture of an item.
fn colours(item: &Item, files: &mut Held) -> Vec<[u8; 3]> {
    let first = |picture: &Picture| {
        let pixels = picture.pixels(files).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!((pixels.width, pixels.height), picture.size());
        [pixels.rgb[0], pixels.rgb[1], pixels.rgb[2]]
    };
    item.pictures().map(first).collect()
}

const RED: [u8; 3] = [200, 30, 30];
const BLUE: [u8; 3] = [30, 60, 200];
const GREEN: [u8; 3] = [30, 150, 60];
const GREY: [u8; 3] = [128; 3];

#[test]
fn scienceqa_keeps_the_order_of_the_split_and_finds_each_image_in_its_own_folder() {
    let items = sound("scienceqa", "path = 'd/scienceqa'");
    assert_eq!(ids(&items), ["3", "20", "8", "11"]);
    let golds: Vec<&Gold> = items.iter().map(|item| &item.first_question().gold).collect();
    assert_eq!(golds, [&Gold::Label(0), &Gold::Label(1), &Gold::Label(1), &Gold::Label(1)]);
    let mut files = samples();
    let shown: Vec<Vec<[u8; 3]>> = items.iter().map(|item| colours(item, &mut files)).collect();
    assert_eq!(shown, [vec![RED], vec![], vec![GREY], vec![]]);
    assert_eq!(items[0].pictures().next().unwrap().size(), (12, 8));
    assert_eq!(
        text(&items[0]),
        "[]\nWhat colour is the square?\nContext: Look at the picture.\nA. red\nB. blue\nC. green"
    );
    assert_eq!(text(&items[3]), "Which is bigger?\nA. ant\nB. whale");
    // The split minival lists problems whose images lie in the folder val.
    assert_eq!(
        colours(&sound("scienceqa", "path = 'd/scienceqa'\nsplit = 'minival'")[0], &mut files),
        [BLUE]
    );
}

#[test]
fn data_06_image_items_are_counted_withheld_or_shown_and_told_apart() {
    let (items, notes) =
        made("scienceqa", "path = 'd/scienceqa'\nimages = 'left-out'", &mut samples()).unwrap();
    assert_eq!(ids(&items), ["20", "11"]);
    assert_eq!(notes[0], "4 problems, 2 with an image, 2 items, 2 that need an image left out");
    assert_eq!(notes[1], "a part of the published set: 6 of 21208 problems");
    let withheld = sound("scienceqa", "path = 'd/scienceqa'\nimages = 'withheld'");
    let strata = |key: &str| {
        withheld.iter().map(|item| item.tags.get(key).cloned().unwrap_or_default()).collect::<Vec<_>>()
    };
    assert_eq!(strata("context"), ["text-image", "none", "image", "none"]);
    assert_eq!(strata("options"), ["3", "5", "2", "2"]);
    assert_eq!(strata("image"), ["not-shown", "", "not-shown", ""]);
    assert_eq!(strata("grades"), ["1-6", "7-12", "1-6", "1-6"]);
    assert!(withheld.iter().all(|item| item.pictures().count() == 0));
    // No image is looked at where none is shown.
    let mut without = samples();
    without.0.retain(|path, _| !path.ends_with(".png"));
    assert!(made("scienceqa", "path = 'd/scienceqa'\nimages = 'withheld'", &mut without).is_ok());
}

#[test]
fn data_07_the_solution_is_never_shown_and_the_lecture_on_request_alone() {
    let all = |params: &str| sound("scienceqa", params).iter().map(text).collect::<String>();
    let plain = all("path = 'd/scienceqa'");
    assert!(!plain.contains("ZQX") && !plain.contains("follow each other"));
    let lecture = all("path = 'd/scienceqa'\nlecture = true");
    assert!(!lecture.contains("ZQX") && lecture.contains("Context: Seasons follow each other."));
    assert_eq!(lecture.matches("Context:").count(), 2);
}

#[test]
fn broken_problems_of_scienceqa_are_named() {
    let problems = "d/scienceqa/problems.json";
    let params = "path = 'd/scienceqa'";
    let fault = |mut files: Held| made("scienceqa", params, &mut files).unwrap_err();
    for (from, to, words) in [
        (
            "\"whale\"\n  ],\n  \"answer\": 1",
            "\"whale\"\n  ],\n  \"answer\": 2",
            "problem 11: the answer 2 is not in 0 to 1",
        ),
        ("\"11\": {", "\"12\": {", "problem 11 of the split test is missing"),
        ("\"9\": {", "\"11\": {", "problem 11 stands twice"),
        ("\"Which is bigger?\"", "17", "problem 11: `question` is 17"),
        ("\"image.png\"", "\"../../../etc/x.png\"", "leads out of the folder"),
    ] {
        let message = fault(edited(problems, from, to));
        assert!(
            message.starts_with("path: d/scienceqa/problems.json: ") && message.contains(words),
            "{message}"
        );
    }
    let mut cut = samples();
    cut.0.get_mut(problems).unwrap().truncate(700);
    assert!(fault(cut).contains("breaks off at line"));
    let mut gone = samples();
    gone.0.remove("d/scienceqa/images/test/8/image.png");
    assert!(fault(gone).contains("problem 8: d/scienceqa/images/test/8/image.png: no such file"));
    let mut page = samples();
    page.0.insert("d/scienceqa/images/test/8/image.png".to_owned(), b"<html>".to_vec());
    assert!(
        fault(page).contains("problem 8: d/scienceqa/images/test/8/image.png: a text such as SVG or HTML")
    );
    assert!(
        made("scienceqa", "path = 'd/scienceqa'\nsplit = 'dev'", &mut samples())
            .unwrap_err()
            .contains("it has minitest, minival, test")
    );
    assert!(
        fault(edited("d/scienceqa/pid_splits.json", "\"3\", \"20\"", "\"20\", \"20\""))
            .contains("the id 20 stands twice")
    );
}

/// A whole set by numbers alone: 21 208 problems, of which so many of the test split have an image.
fn whole(with_image: usize) -> Held {
    let mut problems = String::from("{");
    let mut splits = std::collections::BTreeMap::new();
    let mut number = 0;
    for (split, count) in [("train", 12_726), ("val", 4_241), ("test", 4_241)] {
        let ids: Vec<String> = (number..number + count).map(|id: usize| id.to_string()).collect();
        for (place, id) in ids.iter().enumerate() {
            let image = if split == "test" && place < with_image { "\"image.png\"" } else { "null" };
            let comma = if number + place == 0 { "" } else { "," };
            problems.push_str(&format!(
                "{comma}\"{id}\":{{\"question\":\"Q\",\"choices\":[\"a\",\"b\"],\"answer\":{},\"image\":{image},\"split\":\"{split}\"}}",
                place % 2
            ));
        }
        number += count;
        splits.insert(split, ids);
    }
    problems.push('}');
    let splits = serde_json::to_vec(&splits).unwrap();
    Held::of([("w/problems.json", problems.as_bytes()), ("w/pid_splits.json", &splits)])
}

#[test]
fn counts_of_the_whole_set_are_held_against_the_published_ones() {
    let params = "path = 'w'\nimages = 'withheld'";
    let (items, notes) = made("scienceqa", params, &mut whole(2_017)).unwrap();
    assert_eq!(items.len(), 4_241);
    assert_eq!(notes[1], "counts are the published ones");
    let refused = made("scienceqa", params, &mut whole(2_016)).unwrap_err();
    assert!(
        refused.contains(
            "4241 problems, 2016 with an image, and the published one 4241 and 2017; set other-counts"
        ),
        "{refused}"
    );
    let (_, notes) = made("scienceqa", &format!("{params}\nother-counts = true"), &mut whole(2_016)).unwrap();
    assert!(notes[1].contains("2016 with an image"));
}

#[test]
fn ai2d_keeps_the_order_of_the_file_and_shows_letters_where_the_question_needs_them() {
    let (items, notes) = made("ai2d", "path = 'd/ai2d'\nlettered = 'lettered'", &mut samples()).unwrap();
    assert_eq!(ids(&items), ["0.png-0", "0.png-1", "2.png-0"]);
    assert_eq!(notes[0], "3 images, 3 questions, 3 items");
    assert!(notes[1].contains("the published test set has 3088 questions, this list 3"));
    let mut files = samples();
    let shown: Vec<Vec<[u8; 3]>> = items.iter().map(|item| colours(item, &mut files)).collect();
    assert_eq!(shown, [[GREEN], [GREEN], [RED]]);
    assert_eq!((items[0].tags["group"].as_str(), items[2].tags["lettered"].as_str()), ("plants", "yes"));
    // Without such a folder they are counted out, never shown without their letters.
    let (items, notes) = made("ai2d", "path = 'd/ai2d'", &mut samples()).unwrap();
    assert_eq!(items.len(), 2);
    assert!(notes[1].starts_with("1 left out that need the image with letters"), "{}", notes[1]);
    // All images that have questions, 2 before 10.
    let all = sound("ai2d", "path = 'd/ai2d'\nids = ''\nlettered = 'lettered'");
    assert_eq!(ids(&all), ["0.png-0", "0.png-1", "2.png-0", "10.png-0"]);
}

#[test]
fn options_of_ai2d_that_are_letters_differ_from_the_labels() {
    let items = sound("ai2d", "path = 'd/ai2d'\nlettered = 'lettered'\n[show]\nlabels = 'numbers'");
    let question = items[2].first_question();
    assert_eq!(question.options, ["c", "D", "b", "a"]);
    assert_eq!((question.labels[2].as_str(), &question.gold), ("3", &Gold::Label(2)));
    let lettered = sound("ai2d", "path = 'd/ai2d'\nlettered = 'lettered'");
    let question = lettered[2].first_question();
    let how = crate::reading::How {
        reading: question.reading,
        labels: &question.labels,
        options: &question.options,
        reasoned: false,
    };
    // "C" is the label of option `b`, and not the option `c`.
    let found = crate::reading::read(&how, "The answer is C.", models::Finish::Stop, false);
    assert_eq!(found.said, crate::Said::Choice(2));
}

#[test]
fn broken_questions_of_ai2d_are_named() {
    let params = "path = 'd/ai2d'\nlettered = 'lettered'";
    let fault = |mut files: Held| made("ai2d", params, &mut files).unwrap_err();
    let sheet = "d/ai2d/questions/2.png.json";
    for (from, to, words) in [
        (
            "\"correctAnswer\": 2",
            "\"correctAnswer\": 4",
            "`Which letter marks the lake?`: correctAnswer is 4",
        ),
        ("2.png-0", "0.png-1", "the questionId 0.png-1 is used in d/ai2d/questions/0.png.json too"),
        ("\"c\",", "", "3 answers"),
        ("\"abcLabel\": true", "\"abcLabel\": 1", "`abcLabel`"),
    ] {
        let message = fault(edited(sheet, from, to));
        assert!(message.contains(sheet) && message.contains(words), "{message}");
    }
    let mut files = samples();
    files.0.insert("d/ai2d/ai2d_test_ids.csv".to_owned(), b"0\n99\n".to_vec());
    assert!(fault(files).contains("ai2d_test_ids.csv: line 2: d/ai2d/questions/99.png.json: no such file"));
    let mut files = samples();
    files.0.insert("d/ai2d/ai2d_test_ids.csv".to_owned(), b"0\n../0\n".to_vec());
    assert!(fault(files).contains("line 2: `../0` is no name"));
    let mut files = samples();
    files.0.get_mut("d/ai2d/images/0.png").unwrap().truncate(50);
    assert!(fault(files).contains("question 0.png-0: d/ai2d/images/0.png: truncated"));
}

#[test]
fn mmbench_reads_pictures_from_cells_and_from_the_rows_that_they_refer_to() {
    let (items, notes) = made("mmbench", "path = 'd/mmbench.tsv'", &mut samples()).unwrap();
    assert_eq!(ids(&items), ["3", "7", "8"]);
    assert!(
        notes[0].contains("5 rows, 3 items, 2 further passes with rotated options left out"),
        "{}",
        notes[0]
    );
    let mut files = samples();
    let shown: Vec<Vec<[u8; 3]>> = items.iter().map(|item| colours(item, &mut files)).collect();
    assert_eq!(shown, [[RED], [RED], [BLUE]]);
    let options = |index: usize| items[index].first_question().options.len();
    assert_eq!((options(0), options(1), options(2)), (4, 2, 3));
    // `none` is a word, `nan` at the end an absent option.
    assert_eq!(items[2].first_question().options[0], "none");
    assert_eq!(
        text(&items[1]),
        "[]\nIs it red?\nContext: A hint with a\ttab and a\nline end.\nA. Yes\nB. No"
    );
    assert_eq!(
        (items[2].tags["l2-category"].as_str(), items[2].tags["group"].as_str()),
        ("coarse", "counting")
    );
    let all = sound("mmbench", "path = 'd/mmbench.tsv'\ncircular = 'all'");
    assert_eq!(ids(&all), ["3", "1000003", "7", "1000007", "8"]);
    assert_eq!((all[1].family.as_str(), all[1].tags["pass"].as_str()), ("3", "1"));
    assert_eq!(colours(&all[3], &mut files), [RED]);
}

#[test]
fn a_table_that_changed_since_it_was_read_is_noticed_when_its_picture_is_opened() {
    let items = sound("mmbench", "path = 'd/mmbench.tsv'");
    let last = items[2].pictures().next().unwrap();
    // The rows have moved.
    let mut files =
        edited("d/mmbench.tsv", "Is it red?", "Is it red, or is it rather of another colour, say blue?");
    let error = last.pixels(&mut files).unwrap_err().to_string();
    assert!(error.starts_with("d/mmbench.tsv: "), "{error}");
    let mut files = samples();
    let Picture::File(file) = last else { panic!("no file") };
    let place = file.place.as_ref().unwrap();
    files.0.get_mut("d/mmbench.tsv").unwrap().truncate(place.offset as usize + 20);
    assert!(last.pixels(&mut files).is_err());
    let scienceqa = sound("scienceqa", "path = 'd/scienceqa'");
    let mut files = samples();
    let other = files.0["d/ai2d/images/2.png"].clone();
    files.0.insert("d/scienceqa/images/test/3/image.png".to_owned(), other);
    let error = scienceqa[0].pictures().next().unwrap().pixels(&mut files).unwrap_err().to_string();
    assert!(error.contains("not the one that was imported"), "{error}");
}

#[test]
fn broken_cells_of_mmbench_are_named_by_line() {
    let fault = |mut files: Held| made("mmbench", "path = 'd/mmbench.tsv'", &mut files).unwrap_err();
    for (from, to, words) in [
        (
            "\tattribute\t3\town\tfine\t\tdev\r\n8",
            "\tattribute\t4\town\tfine\t\tdev\r\n8",
            "line 3 (id 7): the image `4` is no path",
        ),
        ("\tA\tattribute\tiVBO", "\tA\tattribute\tiVB", "line 2: the image"),
        ("\tB\tcounting", "\tD\tcounting", "line 5 (id 8): the answer `D`"),
        ("8\tHow many", "8\tHow\tmany", "15 cells where the header has 14"),
    ] {
        let message = fault(edited("d/mmbench.tsv", from, to));
        assert!(message.starts_with("path: d/mmbench.tsv: ") && message.contains(words), "{message}");
    }
    let message = fault(edited("d/mmbench.tsv", "\tanswer\t", "\tkey\t"));
    assert!(message.contains("no gold"), "{message}");
}
