//! `edge-eval doctor` as a command.

use serde_json::Value;

use crate::damaged_models::tiny;
use crate::support::{Bench, complaint, run, told};

/// The findings by name.
fn examined(arguments: &[&str], code: i32) -> Vec<Value> {
    let output = run(&[&["doctor"], arguments, &["--json"]].concat());
    assert_eq!(output.status.code(), Some(code), "{output:?}");
    let json: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    json["checks"].as_array().expect("checks").clone()
}

fn level<'a>(checks: &'a [Value], name: &str) -> &'a str {
    let check = checks.iter().find(|check| check["name"] == name);
    check.and_then(|check| check["level"].as_str()).unwrap_or_else(|| panic!("no check {name}: {checks:#?}"))
}

/// The base file with one key renamed, so that all else stays as it is.
pub(crate) fn without_key(bench: &Bench, key: &str) -> String {
    let mut bytes = std::fs::read(tiny()).expect("the base file");
    let place = bytes.windows(key.len()).position(|window| window == key.as_bytes()).expect("it has the key");
    bytes[place + key.len() - 1] = b'X';
    let path = bench.path("changed.gguf");
    std::fs::write(&path, bytes).expect("a model");
    path
}

#[test]
fn every_check_is_one_line_and_every_fault_has_a_remedy() {
    let (code, out, errors) = told(&run(&["doctor", "fake"]));
    assert_eq!((code, errors.as_str()), (Some(0), ""));
    let lines: Vec<&str> = out.lines().collect();
    let levels = ["ok ", "warn ", "fail ", "skip "];
    assert!(
        lines[..lines.len() - 1].iter().all(|line| levels.iter().any(|level| line.starts_with(level))),
        "{out}"
    );
    // Two scoring interfaces for each task that has items by itself.
    let tasks = datasets::tasks::ALL.iter();
    let tasks = tasks.filter(|task| task.asks_in_text(1)).count();
    assert_eq!(lines.iter().filter(|line| line.contains("  labels ")).count(), 2 * tasks, "{out}");
    for check in examined(&["fake"], 0) {
        let faulty = matches!(check["level"].as_str(), Some("warn" | "fail"));
        assert_eq!(faulty, check["remedy"].is_string(), "{check}");
    }
}

#[test]
fn a_configuration_chooses_the_tasks() {
    let bench = Bench::new("interfaces = [\"direct\"]\n[[task]]\nname = \"logic\"\n");
    let checks = examined(&["fake", "--config", &bench.config], 0);
    let labels =
        checks.iter().filter(|check| check["name"].as_str().is_some_and(|name| name.starts_with("labels")));
    assert_eq!(
        labels.map(|check| check["name"].as_str().expect("text")).collect::<Vec<_>>(),
        ["labels logic/direct"]
    );
    let output = run(&["doctor", "fake", "--config", &bench.path("none.toml")]);
    assert_eq!(output.status.code(), Some(2));
    assert!(complaint(&output).contains("none.toml"));
}

#[test]
fn what_cannot_be_examined_fails_with_the_rest_skipped() {
    let bench = Bench::new("");
    std::fs::write(bench.path("page.gguf"), "<!DOCTYPE html><html></html>").expect("a page");
    let checks = examined(&[&bench.path("page.gguf")], 3);
    assert_eq!((level(&checks, "file"), level(&checks, "sanity")), ("fail", "skip"));
    let output = run(&["doctor", &bench.path("page.gguf")]);
    assert!(complaint(&output).contains("1 of 13 checks failed"), "{output:?}");
}

#[test]
fn gguf_07_an_unknown_architecture_is_named_with_those_that_are_known() {
    let bench = Bench::new("");
    let mut bytes = std::fs::read(tiny()).expect("the base file");
    // The first value of the file.
    let place = bytes.windows(5).position(|window| window == b"llama").expect("its architecture");
    bytes[place..place + 5].copy_from_slice(b"zzz99");
    std::fs::write(bench.path("zzz.gguf"), bytes).expect("a model");
    let checks = examined(&[&bench.path("zzz.gguf")], 3);
    assert_eq!(level(&checks, "architecture"), "fail");
    let finding = checks[1]["finding"].as_str().expect("text");
    assert!(
        finding.contains("zzz99") && finding.contains(" llama ") && finding.contains(" gemma3 "),
        "{finding}"
    );
}

#[test]
fn tok_13_a_file_without_a_cutting_rule_is_refused_until_it_is_wanted() {
    let bench = Bench::new("limit = 2\ninterfaces = [\"direct\"]\n[[task]]\nname = \"logic\"\n");
    let path = without_key(&bench, "tokenizer.ggml.pre");
    let output = run(&["plan", &bench.config, "--model", &path]);
    assert_eq!(output.status.code(), Some(3), "{output:?}");
    let line = complaint(&output);
    assert!(line.contains("tokenizer.ggml.pre") && line.contains("guess-pre-tokenizer"), "{line}");
    // Nothing but the rule stands in the way.
    let wanted = format!(
        "limit = 2\ninterfaces = [\"direct\"]\n[[model]]\npath = {path:?}\nguess-pre-tokenizer = true\n[[task]]\nname = \"logic\"\n"
    );
    std::fs::write(&bench.config, wanted).expect("a configuration");
    let output = run(&["plan", &bench.config]);
    let built_in = cfg!(feature = "llama");
    assert_eq!(output.status.code(), Some(if built_in { 0 } else { 3 }), "{output:?}");
    assert!(!String::from_utf8_lossy(&output.stderr).contains("tokenizer.ggml.pre"), "{output:?}");
    std::fs::write(&bench.config, "limit = 2\ninterfaces = [\"direct\"]\n[[task]]\nname = \"logic\"\n")
        .expect("it");
    assert_eq!(level(&examined(&[&path, "--config", &bench.config], 3), "pre-tokenizer"), "fail");
}

#[test]
fn tpl_07_a_model_without_a_template_needs_a_choice() {
    let bench = Bench::new("");
    let path = without_key(&bench, "tokenizer.chat_template");
    let checks = examined(&[&path], 3);
    assert_eq!(
        (level(&checks, "file"), level(&checks, "template"), level(&checks, "chat")),
        ("ok", "fail", "skip")
    );
    let remedy = checks.iter().find(|check| check["name"] == "template").expect("it").clone();
    assert!(
        remedy["remedy"].as_str().is_some_and(|remedy| remedy.contains("raw") && remedy.contains("FILE"))
    );
}

#[cfg(feature = "llama")]
mod real {
    use super::*;

    #[test]
    fn a_model_that_knows_no_english_fails_the_sanity_sentence_alone() {
        // The base file knows shapes and colours, and nothing else.
        let path = tiny().display().to_string();
        let bench = Bench::new("interfaces = [\"direct\"]\nlimit = 20\n[[task]]\nname = \"logic\"\n");
        let checks = examined(&[&path, "--config", &bench.config], 3);
        for name in
            ["file", "architecture", "pre-tokenizer", "template", "chat", "special tokens", "item text"]
        {
            assert_eq!(level(&checks, name), "ok", "{checks:#?}");
        }
        assert_eq!(level(&checks, "sanity"), "fail", "{checks:#?}");
        assert_ne!(level(&checks, "parity"), "fail", "{checks:#?}");
    }

    #[test]
    fn the_default_model_passes() {
        let bench = Bench::new("limit = 11\n[[task]]\nname = \"grammar\"\n");
        let checks = examined(&["smollm2-135m-instruct-q4_1", "--config", &bench.config], 0);
        for name in
            ["chat", "special tokens", "item text", "labels grammar/direct", "context", "sanity", "parity"]
        {
            assert_eq!(level(&checks, name), "ok", "{checks:#?}");
        }
    }

    #[test]
    fn tpl_07_a_base_model_goes_on_with_raw_prompts() {
        let bench = Bench::new("interfaces = [\"direct\"]\nlimit = 20\n[[task]]\nname = \"logic\"\n");
        let path = without_key(&bench, "tokenizer.chat_template");
        let checks = examined(&[&path, "--template", "raw", "--config", &bench.config], 3);
        assert_eq!((level(&checks, "template"), level(&checks, "chat")), ("ok", "ok"), "{checks:#?}");
        let finding = checks.iter().find(|check| check["name"] == "template").expect("it")["finding"].clone();
        assert!(finding.as_str().is_some_and(|text| text.contains("has no chat template")), "{finding}");
    }
}
