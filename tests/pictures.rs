//! Pictures of items: written for people, named in exports, refused where a model would be asked without them.

use crate::support::{Bench, complaint, run, told};

fn sample(name: &str) -> String {
    crate::support::root().join("tests/fixtures/samples").join(name).display().to_string()
}

/// Width and height of a PNG file, from its header.
fn size(path: &str) -> (u32, u32) {
    let bytes = std::fs::read(path).expect("a picture");
    assert_eq!(&bytes[..8], b"\x89PNG\r\n\x1a\n");
    let number = |at: usize| u32::from_be_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
    (number(16), number(20))
}

#[test]
fn a_shown_item_s_pictures_are_written_and_named_where_they_stand() {
    let bench = Bench::new("");
    let folder = bench.path("shown");
    let (code, out, errors) = told(&run(&["tasks", "show", "faces", "--index", "2", "--pictures", &folder]));
    assert_eq!((code, errors.as_str()), (Some(0), ""));
    let place = out.find("Here is an image of a person. [picture 1: a face, 256 x 256: 00002-f0002-1.png]");
    assert!(
        place.is_some_and(|place| out[place..].contains("[picture 6: a face, 256 x 256: 00002-f0002-6.png]")),
        "{out}"
    );
    for number in 1..=6 {
        assert_eq!(size(&format!("{folder}/00002-f0002-{number}.png")), (256, 256));
    }
}

#[test]
fn an_export_names_the_pictures_and_writes_them_on_request() {
    let bench = Bench::new("");
    let (lines, folder) = (bench.path("items.jsonl"), bench.path("pictures"));
    let table = format!("path = {:?}, import = {{ images = 'shown' }}", sample("table.jsonl"));
    let output = run(&["tasks", "export", "file", "--params", &table, "-o", &lines, "--pictures", &folder]);
    assert_eq!(told(&output), (Some(0), String::new(), String::new()));
    let lines = std::fs::read_to_string(lines).expect("the export");
    let lines: Vec<serde_json::Value> =
        lines.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let named: Vec<usize> =
        lines.iter().map(|line| line["pictures"].as_array().map_or(0, Vec::len)).collect();
    assert_eq!(named, [1, 2, 1, 0]);
    for picture in lines.iter().filter_map(|line| line["pictures"].as_array()).flatten() {
        let file = picture["file"].as_str().expect("a name");
        let wanted = (picture["width"].as_u64(), picture["height"].as_u64());
        let (width, height) = size(&format!("{folder}/{file}"));
        assert_eq!(wanted, (Some(u64::from(width)), Some(u64::from(height))));
    }
}

#[test]
fn a_task_with_pictures_is_refused_in_text_alone_and_its_text_form_runs() {
    let bench = Bench::new("limit = 4\n[[task]]\nname = \"glasses\"\n");
    for output in [bench.run("run", &["--model", "fake"]), run(&["plan", &bench.config, "--model", "fake"])] {
        assert_eq!(output.status.code(), Some(2));
        let line = complaint(&output);
        for words in ["task glasses shows pictures in 4 of 4 items", "model fake", "`form = \"numbers\"`"] {
            assert!(line.contains(words), "{line}");
        }
    }
    assert!(!std::path::Path::new(&bench.path("run")).exists());
    let text = Bench::new("limit = 4\n[[task]]\nname = \"glasses\"\nparams = { form = \"numbers\" }\n");
    let output = text.run("run", &["--model", "fake"]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let log = text.log("run");
    assert_eq!(log.items.len(), 4 * 3);
}

#[test]
fn a_prompt_with_pictures_is_not_rendered_for_a_model_that_takes_text() {
    let output = run(&["tasks", "show", "glasses", "--model", "fake"]);
    assert_eq!(output.status.code(), Some(3));
    assert!(complaint(&output).contains("the prompt shows 1 pictures"), "{output:?}");
}

#[test]
fn a_broken_picture_is_named_before_anything_is_asked() {
    let bench = Bench::new("");
    std::fs::write(bench.path("page.png"), "<!DOCTYPE html>").expect("a page");
    let row = "{\"id\":\"q\",\"question\":\"Q\",\"choices\":[\"x\",\"y\"],\"answer\":\"A\",\"image\":\"page.png\"}\n";
    std::fs::write(bench.path("items.jsonl"), row).expect("items");
    let params = format!("path = {:?}, import = {{ images = 'shown' }}", bench.path("items.jsonl"));
    let output = run(&["tasks", "show", "file", "--params", &params]);
    let line = complaint(&output);
    assert!(
        line.contains("line 1 (id q)") && line.contains("page.png: a text such as SVG or HTML"),
        "{line}"
    );
}
