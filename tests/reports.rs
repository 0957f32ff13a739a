//! Reports beyond the table, and reading a log again.

use std::path::Path;

use datasets::{NoAnswer, Params, Said, Task, Verdict};
use runner::entry::{Entry, Header};
use runner::log::{Fsync, Log, Reader};
use runner::report::{Controls, RunLog};
use serde_json::Value;

use crate::support::{Bench, assert_same, complaint, run, told};

const TRACKING: &str = "limit = 33\ninterfaces = [\"direct\", \"free-cot\"]\n[[model]]\npath = \"fake\"\n\
    [[task]]\nname = \"lights\"\nparams = { episodes = 6 }\n[log]\nsync = \"never\"\n";

/// Every fake reply says yes, which half of the questions want.
const LOGIC: &str = "limit = 40\n[[model]]\npath = \"fake:say=The answer is Yes.\"\nname = \"yes\"\n\
    [[task]]\nname = \"logic\"\n[log]\nsync = \"never\"\n";

/// Writes a log anew, entry by entry.
fn doctored(from: &Path, to: &Path, change: impl Fn(&mut Entry)) {
    let mut log: Option<Log<Entry>> = None;
    for record in Reader::<Entry>::open(from).expect("the log opens") {
        let mut entry = record.expect("a good frame").entry;
        change(&mut entry);
        match &mut log {
            None => log = Some(Log::create(to, &entry, Fsync::Never).expect("a new log")),
            Some(log) => drop(log.append(&entry).expect("an entry")),
        }
    }
    log.expect("the log is not empty").close().expect("the log closes");
}

fn json(arguments: &[&str]) -> Value {
    let (code, out, errors) = told(&run(arguments));
    assert_eq!(code, Some(0), "{errors}");
    serde_json::from_str(&out).expect("JSON")
}

#[test]
fn baselines_are_counted_on_exactly_the_items_of_the_run() {
    let bench = Bench::new(TRACKING);
    assert_eq!(bench.run("run", &["--quiet"]).status.code(), Some(0));
    let log = bench.log("run");
    let controls = Controls::of(&log);
    assert!(controls.notes.is_empty(), "{:?}", controls.notes);
    // Counted apart, from the items themselves.
    let task = Task::named("lights").expect("the task exists");
    let items = (task.items)(&Params("episodes = 6".parse().expect("TOML")), 1).expect("items");
    let asked: Vec<_> =
        items.iter().filter(|item| log.items.iter().any(|logged| logged.item == item.id)).collect();
    assert_eq!(asked.len(), 33);
    let gold = |item: &datasets::Item| item.first_question().gold.label().expect("a label");
    let of_depth = |depth: u32| {
        let golds: Vec<u16> = asked
            .iter()
            .filter(|item| item.tags["depth"] == depth.to_string())
            .map(|item| gold(item))
            .collect();
        let on = golds.iter().filter(|gold| **gold == 0).count();
        (golds.len() as u64, on.max(golds.len() - on) as u64)
    };
    let expected: Vec<(u64, u64)> = (0..=10).map(of_depth).collect();
    let most: Vec<(u64, u64)> = controls
        .by(&["depth"])
        .iter()
        .filter(|control| control.baseline == "most-frequent")
        .map(|control| (control.n, control.right))
        .collect();
    assert_eq!(most, expected);
    let overall = controls.overall();
    let total = overall.iter().find(|control| control.baseline == "most-frequent").expect("the control");
    assert_eq!((total.n, total.right), (33, expected.iter().map(|(_, right)| right).sum()));
    // Without any update the initial state is the state.
    let stateless = controls.by(&["depth"]);
    let at_0 = stateless.iter().find(|control| control.baseline == "stateless").expect("the control");
    assert_eq!((at_0.by[0].1.as_str(), at_0.accuracy), ("0", Some(1.0)));
}

#[test]
fn baselines_of_half_a_run_are_counted_on_that_half() {
    let bench = Bench::new(TRACKING);
    assert_eq!(bench.run("run", &["--quiet"]).status.code(), Some(0));
    let mut log = bench.log("run");
    let kept = log.items[0].family.clone();
    log.items.retain(|item| item.family == kept);
    let family = log.items.iter().filter(|item| item.interface == "direct").count() as u64;
    assert!(Controls::of(&log).overall().iter().all(|control| control.n == family));
}

#[test]
fn views_are_shown_written_and_put_into_json() {
    let bench = Bench::new(TRACKING);
    assert_eq!(bench.run("run", &["--quiet"]).status.code(), Some(0));
    let dir = bench.path("run");
    let (code, text, errors) =
        told(&run(&["report", &dir, "--by", "depth", "--baselines", "--figures", "--papers"]));
    assert_eq!((code, errors.as_str()), (Some(0), ""));
    for word in
        ["stateless", "depth", "accuracy by depth", "pearson r", "Llama3 8B", "this run", "depth 0..10"]
    {
        assert!(text.contains(word), "{word} is missing:\n{text}");
    }
    let value = json(&["report", &dir, "--by", "depth", "--json", "--papers"]);
    let strata = value["strata"].as_array().expect("strata");
    // 11 depths through 2 interfaces, about 3 items each.
    assert_eq!(strata.len(), 22);
    assert!(strata.iter().all(|stratum| stratum["by"]["depth"].is_string()));
    let counts = || strata.iter().filter_map(|stratum| stratum["n"].as_u64());
    assert!(counts().all(|n| (2..=4).contains(&n)) && counts().sum::<u64>() == 66, "{strata:?}");
    let baselines = value["baselines"].as_array().expect("baselines");
    // 2 controls: overall and at 11 depths.
    assert_eq!(baselines.len(), 24);
    assert!(
        value["papers"].as_array().is_some_and(|rows| rows.len() > 132),
        "132 rows on lights are published"
    );
    let plain = json(&["report", &dir, "--json"]);
    assert_eq!((&plain["strata"], &plain["papers"]), (&Value::Null, &Value::Null));
    assert_eq!(plain["baselines"].as_array().map(Vec::len), Some(2), "controls are always in JSON");
    for (view, rows, columns) in [
        (&["--by", "depth"][..], 22, 15),
        (&["--baselines"], 2, 9),
        (&["--by", "depth", "--baselines"], 22, 10),
        (&["--papers"], value["papers"].as_array().map_or(0, Vec::len), 9),
        (&["--figures"], plain["figures"].as_array().map_or(0, Vec::len), 7),
    ] {
        let (code, csv, errors) = told(&run(&[&["report", &dir, "--csv", "-"], view].concat()));
        assert_eq!(code, Some(0), "{view:?}: {errors}");
        let mut reader = csv::Reader::from_reader(csv.as_bytes());
        assert_eq!(reader.headers().expect("headers").len(), columns, "{view:?}");
        assert_eq!(reader.records().filter(Result::is_ok).count(), rows, "{view:?}");
    }
}

#[test]
fn wrong_arguments_of_report_are_named() {
    let bench = Bench::new(TRACKING);
    assert_eq!(bench.run("run", &["--quiet"]).status.code(), Some(0));
    let dir = bench.path("run");
    for (arguments, parts) in [
        (&["--by", "dept"][..], &["`dept`", "depth", "gold", "said"][..]),
        (&["--by", "depth", "--by", "depth"], &["depth", "twice"]),
        (&["--figures", "--papers", "--csv", "-"], &["--csv", "one table"]),
        (&["--mass-floor", "2"], &["--mass-floor", "probability"]),
    ] {
        let output = run(&[&["report", &dir], arguments].concat());
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        let line = complaint(&output);
        assert!(parts.iter().all(|part| line.contains(part)), "{line}");
    }
}

#[test]
fn the_mean_over_two_cues_of_one_task_is_a_figure() {
    let config = "limit = 6\n[[model]]\npath = \"fake\"\n[[task]]\nname = \"logic\"\n[[task]]\nname = \"logic\"\n\
        label = \"logic-explain\"\ncue = \"explain\"\n[log]\nsync = \"never\"\n";
    let bench = Bench::new(config);
    assert_eq!(bench.run("run", &["--quiet"]).status.code(), Some(0));
    let value = json(&["report", &bench.path("run"), "--json"]);
    let figures = value["figures"].as_array().expect("figures");
    let accuracy = |task: &str| {
        let wanted = |row: &&Value| {
            row["task"] == task
                && row["interface"] == "free-cot"
                && row["figure"] == "accuracy"
                && row["by"].as_object().is_some_and(serde_json::Map::is_empty)
        };
        let row = figures.iter().find(wanted).unwrap_or_else(|| panic!("{task} is missing"));
        (row["value"].as_f64().expect("a number"), row["n"].as_u64())
    };
    let (mean, n) = accuracy("logic (mean of cues reason, explain)");
    assert_eq!(n, Some(12));
    assert!((mean - (accuracy("logic").0 + accuracy("logic-explain").0) / 2.0).abs() < 1e-12);
    // The prompts differ where a cue is asked, and nowhere else.
    let log = bench.log("run");
    let hash = |task: u16, interface: &str| {
        let found = log.items.iter().find(|item| item.at.task == task && item.interface == interface);
        found.expect("an item").turns[0].prompt_hash
    };
    assert_eq!(hash(0, "direct"), hash(1, "direct"));
    assert_ne!(hash(0, "free-cot"), hash(1, "free-cot"));
    assert_ne!(hash(0, "cot-prefix"), hash(1, "cot-prefix"));
}

#[test]
fn an_unknown_cue_of_a_task_is_refused_with_its_line() {
    let bench = Bench::new("[[model]]\npath = \"fake\"\n[[task]]\nname = \"logic\"\ncue = \"explian\"\n");
    let output = bench.run("run", &[]);
    assert_eq!(output.status.code(), Some(2));
    let line = complaint(&output);
    assert!(
        line.contains(":5: ") && line.contains("`explian`") && line.contains("explain, reason"),
        "{line}"
    );
}

/// As if an older reading had not found the answers of the free replies.
fn unread(entry: &mut Entry) {
    match entry {
        Entry::Header(header) => header.reading_version = 0,
        Entry::Item(item) if item.interface == "free-cot" => {
            item.verdict = Verdict::Unanswered(NoAnswer::Unparsed);
            item.turns[0].verdict = item.verdict;
            item.turns[0].said = Some(Said::Nothing(NoAnswer::Unparsed));
            item.turns[0].found = None;
        }
        _ => {}
    }
}

#[test]
fn regrade_shows_what_changes_and_touches_nothing() {
    let bench = Bench::new(LOGIC);
    assert_eq!(bench.run("new", &["--quiet"]).status.code(), Some(0));
    let (new, old) = (bench.dir.path().join("new"), bench.dir.path().join("old"));
    let (code, text, _) = told(&run(&["regrade", &bench.path("new")]));
    assert_eq!(code, Some(0));
    assert!(text.contains("120 answers read again, 0 changed"), "{text}");
    doctored(&new, &old, unread);
    let before = std::fs::read(old.join("log")).expect("the log");
    // Which of the 40 questions want a yes is the items' own matter.
    let log = bench.log("new");
    let free: Vec<_> = log.items.iter().filter(|item| item.interface == "free-cot").collect();
    let right = free.iter().filter(|item| item.tags.contains(&("conflict".into(), "no".into()))).count();
    assert!(free.len() == 40 && (1..40).contains(&right), "{right}");
    let value = json(&["regrade", &bench.path("old"), "--json"]);
    assert_eq!((value["read"].as_u64(), value["reading_before"].as_u64()), (Some(120), Some(0)));
    assert_eq!(value["transitions"]["unanswered (unparsed) -> right"].as_u64(), Some(right as u64));
    assert_eq!(value["transitions"]["unanswered (unparsed) -> wrong"].as_u64(), Some(40 - right as u64));
    let changes = value["changes"].as_array().expect("changes");
    assert_eq!(changes.len(), 40);
    assert!(changes.iter().all(|change| change["answer_before"] == "" && change["answer_now"] == "Yes"));
    let (_, text, _) = told(&run(&["regrade", &bench.path("old")]));
    assert!(text.contains("unanswered (unparsed) -> right") && text.contains("right: Yes"), "{text}");
    assert!(!bench.dir.path().join("old-regraded").exists(), "nothing is written unasked");
    assert_eq!(std::fs::read(old.join("log")).expect("the log"), before);
}

#[test]
fn regrade_writes_a_run_of_its_own_that_equals_one_read_by_this_version() {
    let bench = Bench::new(LOGIC);
    assert_eq!(bench.run("new", &["--quiet"]).status.code(), Some(0));
    let (new, old) = (bench.dir.path().join("new"), bench.dir.path().join("old"));
    doctored(&new, &old, unread);
    let before = std::fs::read(old.join("log")).expect("the log");
    let (code, text, errors) = told(&run(&["regrade", &format!("{}/", bench.path("old")), "--write"]));
    assert_eq!(code, Some(0), "{errors}");
    assert!(text.contains("old-regraded"), "{text}");
    let (reference, regraded) = (bench.log("new"), bench.log("old-regraded"));
    assert_same(&regraded, &reference);
    assert!(regraded.complete.is_some() && regraded.summary.is_whole());
    assert_eq!(regraded.header.reading_version, datasets::reading::VERSION);
    assert_ne!(regraded.header.run_id, reference.header.run_id);
    assert_eq!(regraded.sessions, reference.sessions);
    assert_eq!(std::fs::read(old.join("log")).expect("the log"), before);
    // It can be reported and gone on with like any run, and is not overwritten.
    assert_eq!(run(&["report", &bench.path("old-regraded")]).status.code(), Some(0));
    assert_eq!(bench.run("old-regraded", &["--quiet"]).status.code(), Some(0));
    let again = run(&["regrade", &bench.path("old"), "--write"]);
    assert_eq!(again.status.code(), Some(5));
    assert!(complaint(&again).contains("old-regraded"));
}

#[test]
fn other_items_than_those_asked_are_refused_by_regrade_and_named_by_report() {
    let bench = Bench::new(LOGIC);
    assert_eq!(bench.run("new", &["--quiet"]).status.code(), Some(0));
    let (new, old) = (bench.dir.path().join("new"), bench.dir.path().join("old"));
    let header = |change: fn(&mut Header)| {
        move |entry: &mut Entry| {
            if let Entry::Header(header) = entry {
                change(header);
            }
        }
    };
    doctored(&new, &old, header(|header| header.tasks[0].items_sha256 = "ab".repeat(32)));
    let output = run(&["regrade", &bench.path("old"), "--write"]);
    assert_eq!(output.status.code(), Some(5));
    let line = complaint(&output);
    for part in ["old", "task logic", "items_sha256", "abababababab", "edge-eval 0."] {
        assert!(line.contains(part), "{part} is not in: {line}");
    }
    assert!(!bench.dir.path().join("old-regraded").exists());
    let value = json(&["report", &bench.path("old"), "--json"]);
    let noted = value["notes"].as_array().expect("notes").iter().any(|note| {
        note.as_str()
            .is_some_and(|note| note.starts_with("no baselines: task logic") && note.contains("items_sha256"))
    });
    assert!(noted && value["baselines"].as_array().is_some_and(Vec::is_empty), "{value}");
    std::fs::remove_dir_all(&old).expect("the folder goes");
    doctored(&new, &old, header(|header| header.tasks[0].task = "riddles".to_owned()));
    let line = complaint(&run(&["regrade", &bench.path("old")]));
    assert!(line.contains("no task `riddles`"), "{line}");
}

#[test]
fn regrade_of_what_is_no_run_has_one_line() {
    let bench = Bench::new(LOGIC);
    let output = run(&["regrade", &bench.path("nowhere")]);
    assert_eq!(output.status.code(), Some(4));
    assert!(complaint(&output).contains("holds no run"));
    assert!(RunLog::read(Path::new(&bench.path("nowhere"))).is_err());
}

#[test]
fn routes_that_were_chosen_are_fitted_beside_the_uniform_chooser() {
    let config = "limit = 12\ninterfaces = [\"direct\", \"free-cot\"]\n[[model]]\n\
        path = \"fake:say=Best Route: A\"\n[[task]]\nname = \"iip\"\n[[task]]\nname = \"logic\"\n[log]\nsync = \"never\"\n";
    let bench = Bench::new(config);
    assert_eq!(bench.run("run", &["--quiet"]).status.code(), Some(0));
    let (dir, surface, predictions) = (bench.path("run"), bench.path("s.csv"), bench.path("p.csv"));
    let value = json(&[
        "bayes",
        "fit",
        &dir,
        "--json",
        "--surface",
        &surface,
        "--resolution",
        "10",
        "--predictions",
        &predictions,
    ]);
    let fits = value["fits"].as_array().expect("fits");
    assert_eq!(fits.len(), 2, "one model, one task with routes, two interfaces");
    // The free replies name Route A; which kind that is, the tags of the items tell.
    let log = bench.log("run");
    let of_kind = |kind: &str| {
        let wanted = ("option-a".to_owned(), kind.to_owned());
        log.items.iter().filter(|item| item.interface == "free-cot" && item.tags.contains(&wanted)).count()
    };
    let free = fits.iter().find(|fit| fit["interface"] == "free-cot").expect("the fit");
    let expected = ["hybrid", "shortest", "reversed", "avoidant"].map(of_kind);
    assert_eq!(free["chosen"], serde_json::json!(expected));
    assert_eq!(
        (free["n"].as_u64(), free["unanswered"].as_u64(), free["order"].as_u64()),
        (Some(12), Some(0), Some(2))
    );
    let uniform = free["uniform_log_likelihood"].as_f64().expect("a number");
    assert!((uniform + 12.0 * 4.0_f64.ln()).abs() < 1e-9);
    let points =
        csv::Reader::from_path(&surface).expect("the surface").records().filter(Result::is_ok).count();
    let items =
        csv::Reader::from_path(&predictions).expect("predictions").records().filter(Result::is_ok).count();
    assert_eq!((points, items), (200, 24));
    let (code, text, _) = told(&run(&["bayes", "fit", &dir, "--order", "4", "--free", "fading"]));
    assert_eq!(code, Some(0));
    assert!(
        ["free-cot", "uniform", "nats/choice", "urgency"].iter().all(|word| text.contains(word)),
        "{text}"
    );
    for (arguments, part) in [
        (&["--order", "3"][..], "--order 3"),
        (&["--task", "logic"], "--task logic"),
        (&["--fading", "2"], "--fading"),
        (&["--resolution", "0"], "--resolution"),
    ] {
        let output = run(&[&["bayes", "fit", &dir], arguments].concat());
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(complaint(&output).contains(part));
    }
    let (_, shown, _) = told(&run(&["tasks", "show", "iip", "--interface", "direct"]));
    assert!(shown.contains("expected of people (order 2): hybrid 0."), "{shown}");
}

#[test]
fn replies_drawn_to_one_item_are_one_answer_of_it() {
    let bench = Bench::new(
        "limit = 12\ninterfaces = [\"free-cot\", \"self-consistency\"]\n[asking]\nsamples = 5\n[[model]]\npath = \"fake\"\n\
         name = \"a\"\n[[model]]\npath = \"fake:say=Yes\"\nname = \"b\"\n[[task]]\nname = \"logic\"\n[log]\nsync = \"never\"\n",
    );
    assert_eq!(bench.run("r", &[]).status.code(), Some(0));
    let log = bench.log("r");
    let drawn = log.items.iter().filter(|item| item.interface == "self-consistency");
    assert!(drawn.clone().all(|item| item.turns.len() == 1 && item.turns[0].replies.len() == 5));
    let written: u64 =
        drawn.filter(|item| item.at.model == 1).map(|item| u64::from(item.usage.output_tokens)).sum();
    let report = json(&["report", &bench.path("r"), "--json"]);
    let cells = report["cells"].as_array().expect("cells");
    let cell = |interface: &str| {
        cells.iter().find(|cell| cell["model"] == "b" && cell["interface"] == interface).expect("a cell")
    };
    let (one, five) = (cell("free-cot"), cell("self-consistency"));
    assert_eq!((five["n"].as_u64(), five["output_tokens"].as_u64()), (Some(12), Some(written)));
    // This engine always says the same: accuracy and interval are those of one reply, though five were drawn.
    for figure in ["n", "accuracy", "low", "high"] {
        assert_eq!(one[figure], five[figure], "{figure}");
    }
    let rows = json(&["compare", &bench.path("r"), "--json"])["rows"].clone();
    assert!(rows.as_array().expect("rows").iter().all(|row| row["pairs"] == 12), "{rows}");
}
