//! The command line as an interface.

use crate::support::{Bench, complaint, run, told};

const SMALL: &str =
    "limit = 3\n[[model]]\npath = \"fake\"\n[[task]]\nname = \"logic\"\n[[task]]\nname = \"lights\"\n";

#[test]
fn a_run_prints_its_table_and_its_folder() {
    let bench = Bench::new(SMALL);
    let (code, out, errors) = told(&bench.run("run", &[]));
    assert_eq!(code, Some(0), "{errors}");
    for word in ["accuracy", "95 % interval", "chance", "logic", "lights", "free-cot", "run folder: "] {
        assert!(out.contains(word), "{word} is missing:\n{out}");
    }
    // 2 tasks x 3 items x 3 interfaces.
    assert_eq!(bench.log("run").items.len(), 18);
}

#[test]
fn the_same_command_finds_its_run_again_and_another_folder_gives_the_same_answers() {
    let bench = Bench::new(&format!("{SMALL}[log]\nsync = \"never\"\n"));
    assert_eq!(bench.run("a", &[]).status.code(), Some(0));
    let (code, out, errors) = told(&bench.run("a", &[]));
    assert_eq!(code, Some(0));
    assert!(errors.contains("the run is complete") && out.contains("run folder"), "{errors}");
    assert_eq!(bench.run("b", &[]).status.code(), Some(0));
    crate::support::assert_same(&bench.log("a"), &bench.log("b"));
}

#[test]
fn log_09_another_run_is_refused_with_the_differing_field() {
    let bench = Bench::new(SMALL);
    assert_eq!(bench.run("run", &[]).status.code(), Some(0));
    for (change, field) in [
        (&["--seed", "2"][..], "config.seed is 1 in the log and 2 now"),
        (&["--limit", "4"], "config.limit is 3 in the log and 4 now"),
        (&["--interface", "direct"], "config.interfaces"),
        (&["--model", "fake:context=4000"], "the models are fake in the log and fake:context=4000 now"),
    ] {
        let output = bench.run("run", change);
        assert_eq!(output.status.code(), Some(5), "{change:?}");
        let line = complaint(&output);
        assert!(line.contains(field) && line.contains("--out"), "{line}");
    }
}

#[test]
fn quiet_is_quiet_and_names_the_folder() {
    let bench = Bench::new(SMALL);
    let (code, out, errors) = told(&bench.run("run", &["--quiet"]));
    assert_eq!((code, errors.as_str()), (Some(0), ""));
    assert_eq!(out.trim(), bench.path("run"));
}

#[test]
fn plan_counts_and_runs_nothing() {
    let bench = Bench::new(SMALL);
    let (code, out, errors) = told(&run(&["plan", &bench.config, "--json"]));
    assert_eq!(code, Some(0), "{errors}");
    let plan: serde_json::Value = serde_json::from_str(&out).expect("JSON");
    let rows = plan["models"][0]["rows"].as_array().expect("rows");
    assert_eq!(rows.len(), 6);
    assert!(rows.iter().all(|row| row["items"] == 3 && row["longest_prompt_tokens"].as_u64() > Some(10)));
}

#[test]
fn ctx_02_items_that_do_not_fit_are_planned_skipped_and_counted() {
    // The fake engine counts words; lights prompts have several hundred, logic prompts under a hundred.
    let bench = Bench::new(&format!("{SMALL}[engine]\ncontext-tokens = 200\n[asking]\nmax-tokens = 5\n"));
    let (_, plan, _) = told(&run(&["plan", &bench.config]));
    assert!(plan.contains("3 items do not fit the context"), "{plan}");
    let (code, _, errors) = told(&bench.run("run", &[]));
    assert_eq!(code, Some(0), "{errors}");
    let log = bench.log("run");
    let cells = runner::report::cells(&log);
    let cell =
        |task: &str| cells.iter().find(|cell| cell.task == task && cell.interface == "direct").expect("cell");
    assert_eq!((cell("lights").n, cell("lights").skipped, cell("lights").accuracy), (0, 3, None));
    assert_eq!((cell("logic").n, cell("logic").skipped), (3, 0));
}

#[test]
fn reports_are_for_people_spreadsheets_and_machines() {
    let bench = Bench::new(SMALL);
    assert_eq!(bench.run("run", &[]).status.code(), Some(0));
    let dir = bench.path("run");
    let (_, csv, _) = told(&run(&["report", &dir, "--csv", "-"]));
    let mut reader = csv::Reader::from_reader(csv.as_bytes());
    assert_eq!(
        reader.headers().expect("headers"),
        &csv::StringRecord::from(runner::report::COLUMNS.to_vec())
    );
    assert_eq!(reader.records().filter(Result::is_ok).count(), 18);
    let (_, json, _) = told(&run(&["report", &dir, "--json"]));
    let json: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    assert_eq!((json["complete"].as_bool(), json["cells"].as_array().map(Vec::len)), (Some(true), Some(6)));
    let (_, dump, _) = told(&run(&["log", "dump", &dir]));
    assert!(dump.lines().all(|line| serde_json::from_str::<serde_json::Value>(line).is_ok()));
    assert_eq!(dump.lines().filter(|line| line.contains("\"Item\"")).count(), 18);
}

#[test]
fn usage_errors_have_one_line_that_says_where_and_what() {
    for (config, arguments, code, parts) in [
        ("limt = 3\n", &[][..], 2, &[":1: ", "`limt`"][..]),
        (
            "[[model]]\npath = \"fake\"\n[[task]]\nname = \"gramar\"\n",
            &[],
            2,
            &[":4: ", "`gramar`", "grammar"],
        ),
        (
            "[[task]]\nname = \"lights\"\nparams = { epizodes = 3 }\n",
            &["--model", "fake"],
            2,
            &[":3: ", "`epizodes`"],
        ),
        (SMALL, &["--interface", "cot"], 2, &["`cot`", "free-cot"]),
        (SMALL, &["--model", "nowhere.gguf"], 3, &["nowhere.gguf"]),
        (SMALL, &["--model", "fake:explode"], 3, &["explode", "die-on"]),
        ("[[task]]\nname = \"lights\"\n", &[], 2, &["no model is named", "--model"]),
        ("[[model]]\npath = \"fake\"\n", &[], 2, &["no task is named", "list tasks"]),
        (
            "[[model]]\npath = \"fake\"\n[[task]]\nname = \"lights\"\n[[task]]\nname = \"lights\"\n",
            &[],
            2,
            &["`label`"],
        ),
    ] {
        let bench = Bench::new(config);
        let output = bench.run("run", arguments);
        assert_eq!(output.status.code(), Some(code), "{config}");
        let line = complaint(&output);
        for part in parts {
            assert!(line.contains(part), "{part} is not in: {line}");
        }
    }
}

#[test]
fn help_man_and_completions_are_generated() {
    for arguments in
        [&["--help"][..], &["run", "--help"], &["man"], &["completions", "bash"], &["list", "interfaces"]]
    {
        let (code, out, _) = told(&run(arguments));
        assert_eq!(code, Some(0), "{arguments:?}");
        assert!(out.len() > 100, "{arguments:?}");
    }
    let (_, man, _) = told(&run(&["man"]));
    for (exit, meaning) in runner::exit::Exit::TABLE {
        assert!(man.contains(&format!("\n{}\n{meaning}", exit as u8)), "{meaning} is not in the manual page");
    }
    let (code, _, errors) = told(&run(&["runn"]));
    assert_eq!(code, Some(2));
    assert!(errors.contains("runn"), "{errors}");
}

#[test]
fn tok_01_what_label_ids_stand_for_is_in_the_log() {
    let bench = Bench::new(SMALL);
    assert_eq!(bench.run("run", &[]).status.code(), Some(0));
    let log = bench.log("run");
    let mut seen = 0;
    for turn in log.items.iter().flat_map(|item| &item.turns) {
        for reply in &turn.replies {
            let models::Reply::Scored(scored) = reply else { continue };
            for (score, label) in scored.labels.iter().zip(&turn.labels) {
                let text: String =
                    score.tokens.iter().map(|token| log.pieces[&(0, *token)].as_str()).collect();
                assert_eq!(text.trim_start(), label, "{score:?}");
                seen += 1;
            }
        }
    }
    assert!(seen >= 12, "{seen}");
}

#[test]
fn txt_08_a_report_of_items_that_were_all_skipped_has_null_and_no_number() {
    let bench = Bench::new(&format!("{SMALL}[engine]\ncontext-tokens = 2\n"));
    assert_eq!(bench.run("run", &["--quiet"]).status.code(), Some(0));
    let (code, out, errors) = told(&run(&["report", &bench.path("run"), "--json"]));
    assert_eq!(code, Some(0), "{errors}");
    // A strict parser: a bare NaN would be refused.
    let json: serde_json::Value = serde_json::from_str(&out).expect("JSON");
    let cells = json["cells"].as_array().expect("cells");
    assert!(!cells.is_empty());
    for cell in cells {
        assert_eq!(
            (&cell["n"], &cell["accuracy"]),
            (&serde_json::json!(0), &serde_json::Value::Null),
            "{cell}"
        );
        assert!(cell["skipped"].as_u64() > Some(0), "the reason: {cell}");
    }
}

#[test]
fn a_template_of_the_command_line_is_what_prompts_are_made_with() {
    let bench = Bench::new(SMALL);
    let file = bench.path("own.jinja");
    std::fs::write(&file, "{% for m in messages %}<{{ m.role }}>{{ m.content }}{% endfor %}<reply>")
        .expect("the template is written");
    let shown = |template: &str| {
        let show =
            ["tasks", "show", "logic", "--model", "fake", "--interface", "direct", "--template", template];
        let (code, out, errors) = told(&run(&show));
        assert_eq!(code, Some(0), "{errors}");
        out
    };
    assert!(shown(&file).contains("<user>") && shown(&file).ends_with("<reply>\n"), "{}", shown(&file));
    assert!(!shown("raw").contains("<|user|>") && shown("gguf").contains("<|user|>"));
    let more = ["--limit", "1", "--task", "logic", "--quiet", "--template"];
    for (out, template) in [("own", file.as_str()), ("raw", "raw"), ("gguf", "gguf")] {
        let output = bench.run(out, &[&more[..], &[template]].concat());
        assert_eq!(output.status.code(), Some(0), "{}", told(&output).2);
    }
    let hash = |out: &str| bench.log(out).items[0].turns[0].prompt_hash;
    assert!(hash("own") != hash("raw") && hash("raw") != hash("gguf") && hash("own") != hash("gguf"));
    assert!(bench.log("own").header.models[0].template.contains("<reply>"));
    assert_eq!(bench.log("raw").header.models[0].template, "");
    // Another template is another run, and one that is not there is named, by `plan` too.
    let other = bench.run("own", &[&more[..], &["raw"]].concat());
    assert_eq!(other.status.code(), Some(5));
    let missing = run(&["plan", &bench.config, "--template", "nowhere.jinja"]);
    assert_eq!(missing.status.code(), Some(3));
    assert!(complaint(&missing).contains("nowhere.jinja"));
}

#[test]
fn data_05_one_gold_that_changed_in_a_file_makes_another_run() {
    let row = |question: &str, gold: &str| format!("{question}\tacid\tbase\tsalt\t{gold}\n");
    let rows = |gold: &str| {
        format!("question\tA\tB\tC\tanswer\n{}{}", row("What is sour?", "A"), row("What is soap?", gold))
    };
    let bench = Bench::new("");
    let file = bench.path("set.tsv");
    let config = format!(
        "[[model]]\npath = \"fake\"\n[[task]]\nname = \"file\"\nparams = {{ path = {file:?} }}\n[log]\nsync = \"never\"\n"
    );
    std::fs::write(&bench.config, config).expect("the configuration is written");
    std::fs::write(&file, rows("B")).expect("the set is written");
    let (code, _, errors) = told(&bench.run("run", &["--quiet"]));
    assert_eq!(code, Some(0), "{errors}");
    let hash = bench.log("run").header.tasks[0].items_sha256.clone();
    std::fs::write(&file, rows("C")).expect("the set is written");
    let output = bench.run("run", &["--quiet"]);
    assert_eq!(output.status.code(), Some(5));
    let line = complaint(&output);
    assert!(line.contains("file-sha256") || line.contains("items_sha256"), "{line}");
    // In a folder of its own it runs, and both hashes tell.
    assert_eq!(bench.run("other", &["--quiet"]).status.code(), Some(0));
    let other = bench.log("other").header.tasks[0].clone();
    assert_ne!(other.items_sha256, hash);
    assert!(other.params_json.contains("file-sha256"), "{}", other.params_json);
}

#[test]
fn what_cannot_be_asked_is_told_by_plan_and_run_and_nothing_to_ask_is_refused() {
    let bench = Bench::new("limit = 2\n[[model]]\npath = \"fake\"\n[[task]]\nname = \"logic\"\n");
    for command in ["plan", "run"] {
        let out = bench.path("none");
        let mut arguments = vec![command, bench.config.as_str(), "--interface", "full-string"];
        if command == "run" {
            arguments.extend(["--out", out.as_str()]);
        }
        let refused = run(&arguments);
        assert_eq!(refused.status.code(), Some(2));
        let line = complaint(&refused);
        assert!(line.contains("task logic: none of its 2 items can be asked through full-string"), "{line}");
        arguments.extend(["--interface", "direct"]);
        let (code, _, errors) = told(&run(&arguments));
        assert_eq!(code, Some(0), "{errors}");
        let note = "! task logic: none of its 2 items can be asked through full-string";
        assert!(errors.lines().any(|line| line == note), "{errors}");
    }
}

#[test]
fn what_the_command_line_gets_wrong_is_named_by_its_flag_before_a_folder_is_made() {
    use std::os::unix::ffi::OsStrExt;
    let bench = Bench::new(SMALL);
    for (arguments, code, parts) in [
        (&["--rate=-1"][..], 2, &["--rate: ", "0 to 100"][..]),
        (&["--power=foo"], 2, &["--power: ", "`foo`"]),
        (&["--interface", "foo"], 2, &["--interface: unknown interface `foo`"]),
        (&["--task", "foo"], 2, &["--task: unknown task `foo`"]),
    ] {
        let output = bench.run("run", arguments);
        assert_eq!(output.status.code(), Some(code), "{arguments:?}");
        let (_, out, errors) = told(&output);
        assert!(parts.iter().all(|part| complaint(&output).contains(part)), "{errors}");
        assert!(!errors.contains("run folder") && !out.contains("run folder"), "{errors}");
        assert!(!std::path::Path::new(&bench.path("run")).exists());
    }
    let latin1 = std::ffi::OsStr::from_bytes(b"mod\xe8le.gguf");
    let output =
        crate::support::program().args(["plan", bench.config.as_str(), "--model"]).arg(latin1).output();
    let (code, _, errors) = told(&output.expect("the program starts"));
    assert_eq!(code, Some(2));
    assert!(errors.contains("--model") && errors.contains("not UTF-8"), "{errors}");
    // What help does not show is no advice.
    let (code, _, errors) = told(&run(&["plan", &bench.config, "--out", "x"]));
    assert!(code == Some(2) && errors.contains("--out") && !errors.contains("--root"), "{errors}");
    let (code, _, errors) = told(&run(&["memory", "fake", "--context", "0"]));
    assert!(code == Some(2) && errors.contains("--context is 0: give 1 to"), "{errors}");
}

#[test]
fn a_projector_in_place_of_a_model_is_named_for_what_it_is() {
    let bench = Bench::new(SMALL);
    let projector = crate::support::fixture("tiny-vlm-mmproj.gguf").display().to_string();
    let output = bench.run("run", &["--model", &projector]);
    assert_eq!(output.status.code(), Some(3));
    let line = complaint(&output);
    assert!(line.contains("picture projector") && line.contains("--mmproj"), "{line}");
}

#[test]
fn a_model_of_the_catalogue_that_is_not_here_can_be_a_file_of_ones_own() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    for command in [
        &["plan", "default", "--task", "logic", "--model", "smollm2-135m-instruct-q4_1"][..],
        &["models", "inspect", "smollm2-135m-instruct-q4_1"],
    ] {
        let output = crate::support::program().current_dir(dir.path()).args(command).output();
        let output = output.expect("the program starts");
        assert_eq!(output.status.code(), Some(3));
        let line = complaint(&output);
        assert!(line.contains("make fetch") && line.contains("--model FILE"), "{line}");
    }
}

#[test]
fn lists_stand_in_columns() {
    let (_, out, _) = told(&run(&["list", "interfaces"]));
    let begins = |line: &str| line.find("  ").map(|gap| gap + line[gap..].find(|c| c != ' ').unwrap_or(0));
    let columns: std::collections::BTreeSet<Option<usize>> = out.lines().map(begins).collect();
    assert_eq!(columns.len(), 1, "{out}");
}

#[test]
fn the_archive_has_every_file_that_its_configurations_and_documents_name() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let script = crate::support::root().join("cross/carried.sh");
    let output = std::process::Command::new(script).arg(dir.path()).output().expect("the script starts");
    assert!(output.status.success(), "{}", told(&output).2);
    let mut named = 0;
    let mut check = |from: &std::path::Path, base: &std::path::Path, target: &str| {
        named += 1;
        assert!(base.join(target).exists(), "{} names {target}", from.display());
    };
    for folder in ["", "configs", "docs", "datasets/docs", "cross"] {
        let folder = dir.path().join(folder);
        for entry in std::fs::read_dir(&folder).expect("the folder is there") {
            let path = entry.expect("an entry").path();
            let ending = path.extension().and_then(|it| it.to_str()).unwrap_or_default();
            if !["md", "toml"].contains(&ending) {
                continue;
            }
            let text = std::fs::read_to_string(&path).expect("a text");
            let links = text.split("](").skip(1).filter_map(|rest| rest.split(&[')', '#'][..]).next());
            for link in links.filter(|link| !link.is_empty() && !link.contains("//") && ending == "md") {
                check(&path, &folder, link);
            }
            // Models are fetched; what else a configuration names lies beside it.
            let values = text
                .lines()
                .filter(|line| !line.trim_start().starts_with('#'))
                .flat_map(|line| line.split('"').skip(1).step_by(2));
            for value in values
                .filter(|value| ending == "toml" && value.contains('/') && !value.starts_with("models/gguf/"))
            {
                check(&path, dir.path(), value);
            }
        }
    }
    let pictures =
        std::fs::read_to_string(dir.path().join("tests/fixtures/tiny-vlm/items.jsonl")).expect("items");
    for name in pictures.split('"').filter(|text| text.ends_with(".png")) {
        check(std::path::Path::new("items.jsonl"), &dir.path().join("tests/fixtures/tiny-vlm"), name);
    }
    assert!(named > 40, "{named}");
}
