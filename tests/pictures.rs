//! Pictures of items: written for people, named in exports, refused where a model would be asked without them.

use crate::support::{Bench, answers, complaint, run, told};

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
fn a_rendered_prompt_shows_where_its_pictures_stand() {
    let (code, out, errors) =
        told(&run(&["tasks", "show", "glasses", "--model", "fake", "--interface", "direct"]));
    assert_eq!((code, errors.as_str()), (Some(0), ""));
    assert!(out.contains("<|user|>") && out.contains("[picture 1: two glasses"), "{out}");
}

/// Glasses and faces with the fake engine's eyes.
const SEEN: &str = "limit = 4\n[[model]]\npath = \"fake\"\nmmproj = \"fake\"\n[[task]]\nname = \"glasses\"\n\
    [[task]]\nname = \"faces\"\n";

#[test]
fn a_run_with_pictures_counts_them_once_and_asks_the_control_beside_it() {
    let bench = Bench::new(SEEN);
    let output = bench.run("run", &["--latency", "1"]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let log = bench.log("run");
    // Also what is asked alone is shown its pictures.
    let alone =
        log.measured.timed.iter().filter(|(_, timed)| timed.task == 2 && timed.prompt_tokens > 6 * 64);
    assert_eq!(alone.count(), 3);
    let names: Vec<&str> = log.header.tasks.iter().map(|task| task.name.as_str()).collect();
    assert_eq!(names, ["glasses", "glasses (withheld)", "faces", "faces (withheld)"]);
    // Three interfaces for what is shown, the two that score for the control.
    assert_eq!(log.items.len(), 2 * (4 * 3 + 4 * 2));
    for item in &log.items {
        let shown = item.at.task % 2 == 0;
        assert_eq!(item.usage.picture_tokens > 0, shown, "{} {}", item.item, item.interface);
        assert!(item.usage.picture_tokens < item.usage.prompt_tokens);
    }
    // One picture for a glass, six for a face: encoded once, whatever the number of interfaces.
    let encoded: u32 = log.pictures.iter().flat_map(|group| &group.pictures).map(|it| it.times).sum();
    let counted: u32 = log.items.iter().map(|item| item.usage.pictures_encoded).sum();
    assert_eq!((encoded, counted), (4 + 4 * 6, 4 + 4 * 6));
    let (_, table, _) = told(&run(&["report", &bench.path("run")]));
    assert!(table.contains("fake / glasses: 4 pictures encoded once each"), "{table}");
    assert!(table.contains("glasses (withheld)"), "{table}");
    let (code, json, _) = told(&run(&["report", &bench.path("run"), "--json"]));
    let json: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    assert_eq!((code, &json["pictures"][1]["pictures"]), (Some(0), &serde_json::json!(24)));
}

#[test]
fn the_page_shows_the_pictures_of_its_items_and_fetches_nothing() {
    let bench = Bench::new(SEEN);
    assert_eq!(bench.run("run", &["--task", "faces"]).status.code(), Some(0));
    let (code, page, _) = told(&run(&["report", &bench.path("run"), "--html", "-"]));
    assert_eq!(code, Some(0));
    let sources: Vec<&str> =
        page.match_indices("<img ").map(|(at, _)| page[at..].split('>').next().expect("a tag")).collect();
    assert!(sources.len() >= 6 && sources.len().is_multiple_of(6), "{}", sources.len());
    assert!(
        sources.iter().all(|tag| tag.contains("src=\"data:image/png;base64,iVBORw0KGgo")),
        "{:?}",
        sources[0]
    );
    assert!(page.contains("img-src data:") && page.contains("[picture 6]"));
    assert!(page.contains("<h2>Pictures</h2>"));
}

#[test]
fn a_worker_started_anew_gets_its_pictures_again() {
    let whole = Bench::new(SEEN);
    assert_eq!(whole.run("run", &[]).status.code(), Some(0));
    let struck = Bench::new(&SEEN.replace("path = \"fake\"", "path = \"fake:die-after=5\"\nname = \"fake\""));
    let output = struck.run("run", &[]);
    // It dies again and again; what it answered in between had its pictures.
    assert_eq!(output.status.code(), Some(7), "{output:?}");
    let (whole, struck) = (answers(&whole.log("run")), answers(&struck.log("run")));
    let mut same = 0;
    for (key, item) in &struck {
        if matches!(item.verdict, datasets::Verdict::Lost(_)) {
            continue;
        }
        same += 1;
        assert_eq!(item.turns[0].said, whole[key].turns[0].said, "{key:?}");
        let failed = |reply: &models::Reply| matches!(reply, models::Reply::Failed { .. });
        assert!(!item.turns.iter().flat_map(|turn| &turn.replies).any(failed), "{key:?}");
    }
    assert!(same > 10, "{same}");
}

#[test]
fn a_projector_that_does_not_belong_is_named_in_one_line() {
    let fixture = |name: &str| crate::support::fixture(name).display().to_string();
    let bench = Bench::new("limit = 2\n[[task]]\nname = \"glasses\"\n");
    let (seeing, other) = (fixture("tiny-vlm.gguf"), fixture("tiny-gemma3.gguf"));
    let (mmproj, missing) = (fixture("tiny-vlm-mmproj.gguf"), bench.path("no.gguf"));
    let narrow = fixture("tiny-gemma3-mmproj.gguf");
    for (model, mmproj, words) in [
        (&seeing, &missing, "there is no such file"),
        (&seeing, &other, "it is no picture projector but a file of architecture gemma3"),
        (&seeing, &narrow, "it is the picture projector of another model: it gives vectors of 32 numbers"),
        (&other, &mmproj, "it is the picture projector of another model: it gives vectors of 160 numbers"),
        (&"fake".to_owned(), &mmproj, "`mmproj = \"fake\"`"),
    ] {
        let arguments = ["--model", model, "--mmproj", mmproj, "--template", "raw"];
        let output = bench.run("run", &arguments);
        assert_eq!(output.status.code(), Some(3), "{output:?}");
        let line = complaint(&output);
        assert!(line.contains(words), "{line}");
        assert!(!std::path::Path::new(&bench.path("run")).exists());
    }
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
