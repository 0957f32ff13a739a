use super::*;

fn error(text: &str) -> String {
    Config::parse(text, "x.toml").expect_err("accepted").to_string()
}

#[test]
fn the_reference_is_the_default_and_names_every_key() {
    let config = Config::parse(REFERENCE, "configs/default.toml").unwrap();
    assert_eq!(config, Config::default());
    // Commented keys count: `limit` and the tables of models and tasks have no default to show.
    let keys = "seed limit interfaces out cue cue-place normalisation separator max-tokens stop loop-guard-off thinking-max-tokens rescue top hidden-states \
                mass-floor mode sequences parallel cells threads threads-batch batch-tokens context-tokens context-cap-tokens mmap deadline-s sync \
                power rate-hz meter meter-domain meter-description meter-every-ms meter-latency-ms meter-clock-ms idle-s settle-s cool-down-s timeline-s \
                items repetitions warm-up path name template thinking guess-pre-tokenizer memory-budget label params \
                endings write-endings label-sets cue-places caps permutations full-string samples temperature-percent \
                thoughts votes thought-tokens vote-tokens budget devices counts reserve-mib floor-mib allow-overcommit allow enforce";
    for key in keys.split_whitespace() {
        let named = |line: &str| line.trim_start_matches(['#', ' ']).starts_with(key);
        assert!(REFERENCE.lines().any(named), "{key} is not in configs/default.toml");
    }
}

#[test]
fn what_is_left_out_has_its_default() {
    let config = Config::parse("seed = 7\n[asking]\nmax-tokens = 9\n", "x.toml").unwrap();
    assert_eq!((config.seed, config.asking.max_tokens), (7, 9));
    assert_eq!(config.engine, EngineChoice::default());
}

#[test]
fn a_configuration_without_a_sweep_is_the_run_that_it_was() {
    let config = Config::parse("[[model]]\npath = \"fake\"\n[[task]]\nname = \"logic\"\n", "x.toml").unwrap();
    let asking = |config: &Config| -> Vec<String> {
        let json: serde_json::Value = serde_json::from_str(&config.identity_json()).unwrap();
        assert_eq!(json.get("endings").is_some(), !config.asking.endings.is_empty());
        json["asking"].as_object().unwrap().keys().cloned().collect()
    };
    // The keys before there was anything to sweep.
    let before =
        "cue cue-place loop-guard-off max-tokens normalisation rescue separator stop thinking-max-tokens top";
    assert_eq!(asking(&config), before.split(' ').collect::<Vec<_>>());
    let swept =
        Config::parse("[asking]\nendings = [\"answer-colon\"]\npermutations = 5\n", "x.toml").unwrap();
    assert!(asking(&swept).contains(&"permutations".to_owned()));
    assert!(swept.identity_json().contains("Answer:"), "the text of a swept ending is part of the run");
}

#[test]
fn endings_labels_places_and_caps_are_known_or_refused_by_name() {
    for (asked, named) in [
        ("endings = [\"step\"]", "step-by-step"),
        ("label-sets = [\"greek\"]", "consonants"),
        ("cue-places = [\"nowhere\"]", "assistant-lead"),
        ("caps = [8, 8]", "caps names something twice"),
        ("samples = 0", "samples is 0"),
        ("full-string = \"best\"", "unconditional"),
    ] {
        let error = error(&format!("[asking]\n{asked}\n"));
        assert!(error.starts_with("x.toml:2: ") && error.contains(named), "{error}");
    }
}

#[test]
fn faults_name_file_line_and_key() {
    let unknown = error("seed = 1\n[engine]\nthread = 2\n");
    assert!(
        unknown.starts_with("x.toml:3: ") && unknown.contains("`thread`") && unknown.contains("`threads`"),
        "{unknown}"
    );
    let wrong_type = error("limit = \"ten\"\n");
    assert!(wrong_type.starts_with("x.toml:1: "), "{wrong_type}");
    let syntax = error("seed = 1\nlimit = = 3\n");
    assert!(syntax.starts_with("x.toml:2: "), "{syntax}");
    let negative = error("\n\nlimit = -3\n");
    assert!(negative.starts_with("x.toml:3: "), "{negative}");
    assert_eq!(error("seed = \"x\"\n"), "x.toml:1: seed is the text \"x\": give a whole number, 0 or more");
    let inner = error("[engine]\nthreads = 2\nmmap = 1\n");
    assert_eq!(inner, "x.toml:3: engine.mmap is 1: give true or false");
    for line in [&unknown, &wrong_type, &syntax, &negative] {
        assert_eq!(line.lines().count(), 1, "{line}");
    }
}

#[test]
fn ctx_06_values_that_make_no_sense_are_refused_with_their_line() {
    for (text, line, key) in [
        ("limit = 0", 1, "limit"),
        ("seed = 2\n[engine]\nbatch-tokens = 0", 3, "batch-tokens"),
        ("[asking]\nmax-tokens = 0", 2, "max-tokens"),
        ("[report]\nmass-floor = 2.0", 2, "mass-floor"),
        ("[engine]\nthreads = -1", 2, "threads"),
        ("[telemetry]\npower = \"magic\"", 2, "power"),
        ("[telemetry]\npower = \"meter\"", 2, "meter"),
        ("[telemetry]\nmeter-domain = \"everything\"", 2, "meter-domain"),
        ("[telemetry]\nrate-hz = 1e9", 2, "rate-hz"),
        ("[latency]\nwarm-up = -1", 2, "warm-up"),
        ("[sweep]\nrounds = 0", 2, "rounds"),
        ("[engine]\nsequences = 0", 2, "engine.sequences is 0: give 1 to 255"),
        ("[engine]\nsequences = 300", 2, "engine.sequences is 300: give 1 to 255"),
        ("[engine]\ncells = 10", 2, "engine.cells is 10: give 256 to 16777216, or 0"),
        ("[engine]\nparallel = 100000", 2, "engine.parallel is 100000: give 0 to 255"),
        ("[latency]\nitems = 2\nrepetitions = 0", 3, "latency.repetitions is 0: give 1 to"),
        ("[asking]\nstop = [\"\"]", 2, "asking.stop"),
        ("[asking]\ntemperature-percent = 65535", 2, "asking.temperature-percent is 65535: give 1 to 1000"),
        ("[asking]\nmax-tokens = 100000000", 2, "asking.max-tokens is 100000000: give 1 to 1000000"),
        ("[asking]\ncaps = [8, 100000000]", 2, "asking.caps"),
        ("[[task]]\nname = \"logic\"\nlabel = \"\"", 3, "label"),
        ("[[task]]\nname = \"logic\"\nlabel = \"a\\nb\"", 3, "label"),
        ("[[task]]\nname = \"ir\"\n[[task]]\nname = \"logic\"\nlabel = \"a/b\"", 5, "label"),
        ("[[model]]\npath = \"fake\"\nname = \"\"", 3, "name"),
        ("[[model]]\npath = \"fake\"\nname = \"a:b\"", 3, "name"),
        ("limit = 3\n[[task]]\nname = \"logic\"\nlimit = 0", 4, "limit"),
    ] {
        let message = error(text);
        assert!(message.starts_with(&format!("x.toml:{line}: ")), "{message}");
        assert!(message.contains(key) && message.lines().count() == 1, "{message}");
    }
    // 0 stays where it has a meaning.
    let open = "[engine]\nparallel = 0\ncells = 0\nthreads = 0\n[latency]\nitems = 0\n";
    assert!(Config::parse(open, "x.toml").is_ok());
}

#[test]
fn what_the_command_line_names_wrongly_is_the_command_lines_fault() {
    let told = |overrides: Overrides| overrides.apply(&mut Config::default()).unwrap_err().to_string();
    let list = |name: &str| vec![name.to_owned()];
    let interface = told(Overrides { interfaces: list("foo"), ..Overrides::default() });
    assert!(interface.starts_with("--interface: unknown interface `foo`; known: direct"), "{interface}");
    let task = told(Overrides { tasks: list("gramar"), ..Overrides::default() });
    assert!(task.starts_with("--task: unknown task `gramar`; known: "), "{task}");
    let twice = told(Overrides { tasks: vec!["logic".into(), "logic".into()], ..Overrides::default() });
    assert_eq!(twice, "--task: `logic` is named twice");
}

#[test]
fn the_command_line_wins() {
    let mut config = Config::parse(
        "[[model]]\npath = \"a.gguf\"\ntemplate = \"raw\"\n[[task]]\nname = \"grammar\"\nlimit = 3\nparams = { x = 1 }\n[[task]]\nname = \"logic\"\n",
        "x.toml",
    )
    .unwrap();
    let overrides = Overrides {
        models: vec!["a.gguf".into(), "fake".into()],
        mmproj: None,
        template: None,
        tasks: vec!["grammar".into(), "lights".into()],
        interfaces: vec!["direct".into()],
        limit: Some(5),
        seed: Some(9),
        memory_budget: None,
        allow_overcommit: false,
        rounds: Some(4),
        cpu_level: Some("x86-64-v3".into()),
    };
    overrides.apply(&mut config).unwrap();
    assert_eq!(config.models[0].template.as_deref(), Some("raw"));
    assert_eq!(config.models[1].path, PathBuf::from("fake"));
    let tasks: Vec<_> =
        config.tasks.iter().map(|task| (task.display_name(), task.limit, task.params.len())).collect();
    assert_eq!(tasks, [("grammar", None, 1), ("lights", None, 0)]);
    assert_eq!((config.limit, config.seed, config.interfaces.len()), (Some(5), 9, 1));
    assert_eq!((config.sweep.rounds, config.engine.cpu_level.as_str()), (4, "x86-64-v3"));
    assert!(Overrides { rounds: Some(0), ..Overrides::default() }.apply(&mut config.clone()).is_err());
    // A template of the command line is that of every model, whoever named the model.
    let before = config.identity_json();
    Overrides { template: Some("own.jinja".into()), ..Overrides::default() }.apply(&mut config).unwrap();
    assert!(config.models.iter().all(|model| model.template.as_deref() == Some("own.jinja")));
    assert_ne!(config.identity_json(), before);
}

#[test]
fn num_01_what_moves_logits_makes_another_run() {
    let identity = |text: &str| Config::parse(text, "x.toml").unwrap().identity_json();
    let plain = identity("");
    for engine in [
        "batch-tokens = 64",
        "mode = \"exact\"",
        "threads = 3",
        "threads-batch = 3",
        "sequences = 4",
        "cells = 512",
    ] {
        assert_ne!(identity(&format!("[engine]\n{engine}\n")), plain, "{engine}");
    }
    // What cannot change an answer makes no other run.
    assert_eq!(identity("[engine]\ndeadline-s = 5\n"), plain);
    assert_eq!(identity("[sweep]\nrounds = 4\n"), plain);
    assert_eq!(identity("[telemetry]\npower = \"off\"\n[latency]\nitems = 5\n"), plain);
}
