//! What bundles leave alone, what they refuse, and what becomes of a run whose page, disk or log fails.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use runner::entry::{Complete, Entry, GroupEnd, GroupRef};
use runner::log::{Fsync, Log, Reader};
use runner::parcel::Parcel;
use runner::report::RunLog;

use crate::bundle::{CONFIG, SLOW, beside, command, ended, log, pack, start};
use crate::disks::Small;
use crate::support::{Bench, assert_same, complaint, fixture, program, run, told};

/// Two models, one after the other; 66 questions to each, at 1 ms.
const TWO: &str = "limit = 66\ninterfaces = [\"direct\"]\n[engine]\ngroup-items = 11\nparity = 0\n\
    [[model]]\npath = \"fake:delay-us=8000\"\nname = \"v1\"\n[[model]]\npath = \"fake:delay-us=8000\"\nname = \"v1b\"\ntemplate = \"raw\"\n\
    [[task]]\nname = \"lights\"\n";

/// Sends Ctrl-C as soon as a log has a group; gives exit code and talk.
fn interrupted(mut child: Child, log: &Path) -> (Option<i32>, String) {
    let started = Instant::now();
    let groups = || RunLog::read(log).map_or(0, |run| run.groups.len());
    while groups() == 0 && started.elapsed() < Duration::from_secs(20) {
        std::thread::sleep(Duration::from_millis(2));
    }
    stop(&mut child);
    let (code, _, talk) = told(&child.wait_with_output().expect("it ends"));
    (code, talk)
}

fn stop(child: &mut Child) {
    Command::new("kill").args(["-INT", &child.id().to_string()]).status().expect("kill runs");
}

fn piped(command: &mut Command) -> Child {
    command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("it starts")
}

#[test]
fn ctrl_c_while_the_first_of_two_models_runs_leaves_a_page_and_says_how_to_go_on() {
    let bench = Bench::new(TWO);
    let bundle = pack(&bench, "field", &[]);
    let child = piped(&mut command(&bundle, bench.dir.path()));
    let (code, talk) = interrupted(child, &beside(&bundle, ".run").join("log"));
    assert_eq!(code, Some(130), "{talk}");
    assert!(talk.contains("stopping after the group at hand; Ctrl-C again ends at once"), "{talk}");
    assert!(talk.contains("stopped; start field again to go on"), "{talk}");
    let page = std::fs::read_to_string(beside(&bundle, ".html")).expect("the page");
    assert!(page.contains("the models are not compared: v1b has no answers yet"), "no note");
    // The page of the stopped run by the other command.
    let work = beside(&bundle, ".run").display().to_string();
    let output = run(&["report", &work, "--html", &bench.path("page.html")]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    // To the end: templates differ on purpose, and the comparison says so.
    let (code, _, talk) = told(&start(&bundle));
    assert_eq!(code, Some(0), "{talk}");
    let page = std::fs::read_to_string(beside(&bundle, ".html")).expect("the page");
    assert!(page.contains("v1 and v1b differ, as allowed: template_sha256"), "no note");
    let eval = beside(&bundle, ".eval").display().to_string();
    assert_eq!(run(&["report", &eval, "--html", &bench.path("page.html")]).status.code(), Some(0));
    // Asked to, the command that compares still refuses.
    assert_eq!(run(&["compare", &eval]).status.code(), Some(5));
}

#[test]
fn the_first_ctrl_c_of_a_run_is_answered_and_quiet_runs_stay_quiet() {
    let bench = Bench::new(TWO);
    for (out, more, told) in [("told", vec![], true), ("quiet", vec!["--quiet"], false)] {
        let child = piped(program().args(bench.arguments(out, &more)));
        let (code, talk) = interrupted(child, &bench.dir.path().join(out).join("log"));
        assert_eq!((code, talk.contains("Ctrl-C again ends at once")), (Some(130), told), "{talk}");
    }
}

#[test]
fn ctrl_c_during_the_trial_before_a_run_ends_with_a_line() {
    let bench = Bench::new(&SLOW.replace("delay-us=1000", "delay-us=800000"));
    let bundle = pack(&bench, "field", &[]);
    let mut child = piped(&mut command(&bundle, bench.dir.path()));
    let mut lines = BufReader::new(child.stderr.take().expect("its talk")).lines().map_while(Result::ok);
    assert!(lines.any(|line| line.contains("trying the first questions")));
    stop(&mut child);
    let rest: Vec<String> = lines.collect();
    assert_eq!(child.wait().expect("it ends").code(), Some(130));
    assert!(rest.iter().any(|line| line.contains("stopped before a question was asked")), "{rest:?}");
}

#[test]
fn pack_never_replaces_a_file_that_it_reads() {
    let bench = Bench::new("");
    let (set, model, base) = (bench.path("set.csv"), bench.path("m.gguf"), bench.path("base"));
    std::fs::write(&set, "question,A,B,answer\nWhat is 1 + 1?,2,3,A\n").expect("the set");
    std::fs::copy(fixture("tiny-vlm.gguf"), &model).expect("a model");
    std::fs::copy(env!("CARGO_BIN_EXE_edge-eval"), &base).expect("a base");
    let config = format!("[[task]]\nname = \"file\"\nparams = {{ path = {set:?} }}\n");
    std::fs::write(&bench.config, config).expect("the configuration");
    let (hard, soft) = (bench.path("hard"), bench.path("soft"));
    std::fs::hard_link(&model, &hard).expect("a link");
    std::os::unix::fs::symlink(&set, &soft).expect("a link");
    for out in [&set, &model, &base, &bench.config, &hard, &soft] {
        let before = std::fs::read(out).expect("it is there");
        let output = ended(Command::new(&base).args(["pack", &bench.config, "--model", &model, "-o", out]));
        assert_eq!(output.status.code(), Some(2), "{out}: {output:?}");
        assert!(complaint(&output).contains("which goes into the bundle"), "{output:?}");
        assert!(std::fs::read(out).expect("it is there") == before, "{out} was changed");
    }
    // An older bundle is no input.
    for _ in 0..2 {
        pack(&bench, "field", &["--model", &model]);
    }
}

#[test]
fn a_page_that_no_start_made_is_neither_replaced_nor_taken_away() {
    let bench = Bench::new(CONFIG);
    let bundle = pack(&bench, "field", &[]);
    let (page, before) = (beside(&bundle, ".html"), beside(&bundle, ".html.prev"));
    std::fs::write(&page, "a report of mine").expect("a page");
    std::fs::write(&before, "an older one").expect("a page");
    let output = start(&bundle);
    assert_eq!(output.status.code(), Some(5), "{output:?}");
    assert!(complaint(&output).contains("move it away, then start again"), "{output:?}");
    assert_eq!(std::fs::read(&page).expect("the page"), b"a report of mine");
    assert!(!beside(&bundle, ".run").exists() && !beside(&bundle, ".eval").exists());
    std::fs::remove_file(&page).expect("it goes");
    for _ in 0..2 {
        assert_eq!(start(&bundle).status.code(), Some(0));
        assert_eq!(std::fs::read(&before).expect("the page"), b"an older one");
    }
}

#[test]
fn going_on_from_the_one_file_on_a_full_disk_loses_nothing() {
    let bench = Bench::new(SLOW);
    assert_eq!(bench.run("reference", &["--quiet"]).status.code(), Some(0));
    let bundle = pack(&bench, "field", &[]);
    let child = piped(&mut command(&bundle, bench.dir.path()));
    assert_eq!(interrupted(child, &beside(&bundle, ".run").join("log")).0, Some(130));
    let done = log(&bundle).groups.len();
    // Half of a copy of the log has room beside bundle and log.
    let result = std::fs::metadata(beside(&bundle, ".eval")).expect("the result").len();
    let size = std::fs::metadata(&bundle).expect("the bundle").len() + result + result / 2;
    let Some(small) = Small::mount(&bench, &format!("{}k", size / 1024 + 8)) else { return };
    let there = small.place.join("field");
    std::fs::copy(&bundle, &there).expect("the bundle fits");
    std::fs::copy(beside(&bundle, ".eval"), beside(&there, ".eval")).expect("the result fits");
    for _ in 0..2 {
        let output = start(&there);
        assert_eq!(output.status.code(), Some(4), "{output:?}");
        assert_eq!(log(&there).groups.len(), done);
        assert!(
            !beside(&there, ".run").join("log").exists() && !beside(&there, ".run").join("log.new").exists()
        );
    }
    small.remount("size=256m");
    let (code, _, talk) = told(&start(&there));
    assert_eq!(code, Some(0), "{talk}");
    let all = bench.log("reference").groups.len();
    assert!(talk.contains(&format!("going on, {done} of {all} groups are done")), "{talk}");
    assert_same(&log(&there), &bench.log("reference"));
}

#[test]
fn what_a_bundle_cannot_hand_over_or_use_is_refused_when_it_is_packed() {
    let bench = Bench::new(&format!("{}[asking]\nhidden-states = \"final\"\n", CONFIG));
    let output = run(&["pack", &bench.config, "-o", &bench.path("field")]);
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    assert!(complaint(&output).contains("asking.hidden-states"), "{output:?}");
    assert!(!Path::new(&bench.path("field")).exists());
    let output = run(&["pack", "default", "--any-model", "--mmproj", "p.gguf", "-o", &bench.path("field")]);
    assert_eq!(output.status.code(), Some(2), "{output:?}");
}

/// The tiny model without a chat template.
fn untemplated(path: &str) {
    let mut bytes = std::fs::read(fixture("tiny-vlm.gguf")).expect("the model");
    let key = b"tokenizer.chat_template";
    let at = bytes.windows(key.len()).position(|window| window == key).expect("it has a template");
    bytes[at + key.len() - 1] = b'x';
    std::fs::write(path, bytes).expect("it is written");
}

#[test]
fn a_model_beside_that_cannot_be_asked_is_left_out_unless_the_bundle_knows_how() {
    let bench = Bench::new("limit = 2\n[[task]]\nname = \"lights\"\n");
    let bundle = pack(&bench, "any", &["--any-model"]);
    untemplated(&bench.path("base.gguf"));
    let output = start(&bundle);
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    assert!(complaint(&output).contains("no GGUF file that can be asked lies beside it"), "{output:?}");
    std::fs::copy(fixture("tiny-vlm.gguf"), bench.path("tiny.gguf")).expect("a copy");
    std::fs::copy(fixture("tiny-vlm.gguf"), bench.path("tiny.GGUF")).expect("a copy");
    let talk = told(&start(&bundle)).2;
    assert!(talk.contains("base.gguf is left out: ") && talk.contains("has no chat template"), "{talk}");
    assert!(talk.contains("options of `pack`") && talk.contains("tiny.gguf is left out: results"), "{talk}");
    let run = log(&bundle);
    assert_eq!(run.header.models.len(), 1);
    // What was packed with the bundle holds of models that were not there.
    let raw = pack(&bench, "raw", &["--any-model", "--template", "raw"]);
    let talk = told(&start(&raw)).2;
    assert!(!talk.contains("base.gguf is left out"), "{talk}");
    let run = log(&raw);
    assert_eq!(run.header.models[0].template_source, "raw");
}

#[test]
fn a_start_takes_what_depends_on_the_board_and_nothing_else() {
    let bench = Bench::new(CONFIG);
    let bundle = pack(&bench, "field", &[]);
    let with =
        |arguments: &[&str]| command(&bundle, bench.dir.path()).args(arguments).output().expect("it starts");
    let output = with(&["--cpu-level", "nonsense"]);
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    assert!(complaint(&output).contains("CPU level"), "{output:?}");
    for wrong in [&["--memory-budget", "much"][..], &["--memory-budget", "none", "--limit", "3"]] {
        let output = with(wrong);
        assert_eq!(output.status.code(), Some(2), "{output:?}");
        assert!(complaint(&output).contains("is started with --cpu-level"), "{output:?}");
    }
    assert!(!beside(&bundle, ".run").exists());
    let output = with(&["--memory-budget=3GiB", "--cpu-level", "auto"]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let plan = log(&bundle).memory_plans.first().cloned().expect("a plan of the memory");
    assert_eq!(plan.limit.map(|limit| limit.bytes), Some(3 << 30));
    // A budget makes no other run.
    assert!(told(&start(&bundle)).2.contains("everything is done"));
}

#[test]
fn models_that_share_a_projector_are_packed_with_one_copy_of_it() {
    let bench = Bench::new("limit = 2\n[[task]]\nname = \"lights\"\n");
    let [a, b, mmproj] = ["a.gguf", "b.gguf", "p.gguf"].map(|name| bench.path(name));
    std::fs::copy(fixture("tiny-vlm.gguf"), &a).expect("a model");
    std::fs::copy(fixture("tiny-vlm.gguf"), &b).expect("a model");
    std::fs::copy(fixture("tiny-vlm-mmproj.gguf"), &mmproj).expect("a projector");
    let bundle = pack(&bench, "field", &["--model", &a, "--model", &b, "--mmproj", &mmproj]);
    let parcel = Parcel::of(&bundle).expect("whole").expect("a parcel");
    let copies = |name: &str| parcel.members().iter().filter(|member| member.name.ends_with(name)).count();
    assert_eq!([copies("/a.gguf"), copies("/b.gguf"), copies("/p.gguf")], [1, 1, 1]);
    let talk = told(&start(&bundle)).2;
    assert!(talk.contains("unpacking a.gguf") && talk.contains("unpacking p.gguf"), "{talk}");
}

#[test]
fn a_complete_result_with_a_changed_byte_is_told_as_damaged() {
    let bench = Bench::new(CONFIG);
    let bundle = pack(&bench, "field", &[]);
    assert_eq!(start(&bundle).status.code(), Some(0));
    let eval = beside(&bundle, ".eval");
    let session = Reader::<Entry>::open(&eval)
        .expect("a log")
        .flatten()
        .find(|record| matches!(record.entry, Entry::Session(_)))
        .expect("a session");
    let mut bytes = std::fs::read(&eval).expect("the log");
    bytes[(session.bytes.start + session.bytes.end) as usize / 2] ^= 0x10;
    std::fs::write(&eval, &bytes).expect("the change");
    let output = start(&bundle);
    assert_eq!(output.status.code(), Some(6), "{output:?}");
    assert!(complaint(&output).contains("the log is damaged"), "{output:?}");
    assert_eq!(std::fs::read(&eval).expect("the log"), bytes);
}

#[test]
fn a_log_in_which_nothing_is_recorded_is_kept_aside_and_the_run_begins_anew() {
    let bench = Bench::new(CONFIG);
    let bundle = pack(&bench, "field", &[]);
    // One byte more than nothing: a page must not be taken for that of such a log.
    for (number, content) in [&b""[..], &[0; 700], b"edge-eval lo"].iter().enumerate() {
        std::fs::write(beside(&bundle, ".eval"), content).expect("a log");
        if number > 0 {
            assert_eq!(start(&bundle).status.code(), Some(5));
            std::fs::remove_file(beside(&bundle, ".html")).expect("the page goes");
        }
        let (code, _, talk) = told(&start(&bundle));
        assert_eq!(code, Some(0), "{talk}");
        let kept = beside(&bundle, &format!(".eval.torn-{}", number + 1));
        assert!(talk.contains(&kept.display().to_string()), "{talk}");
        assert_eq!(std::fs::read(kept).expect("it is kept"), *content);
        assert!(log(&bundle).complete.is_some());
    }
    // The log of a run at work, too.
    for ending in [".eval", ".html"] {
        std::fs::remove_file(beside(&bundle, ending)).expect("it goes");
    }
    let work = beside(&bundle, ".run");
    std::fs::create_dir(&work).expect("a folder");
    std::fs::write(work.join("log"), b"").expect("a log");
    let (code, _, talk) = told(&start(&bundle));
    assert_eq!(code, Some(0), "{talk}");
    assert!(work.join("log.torn-1").exists() && log(&bundle).complete.is_some(), "{talk}");
}

#[test]
fn a_full_disk_leaves_no_half_written_file_and_a_page_without_room_changes_no_outcome() {
    let bench = Bench::new(SLOW);
    assert_eq!(bench.run("reference", &["--quiet"]).status.code(), Some(0));
    let bytes = std::fs::metadata(bench.path("reference/log")).expect("the log").len();
    let bundle = pack(&bench, "field", &[]);
    let size = std::fs::metadata(&bundle).expect("the bundle").len();
    // Room for half of the log; then for the log and a little of the page.
    for (room, code) in [(bytes / 2, 4), (bytes + (24 << 10), 0)] {
        let Some(small) = Small::mount(&bench, &format!("{}k", (size + room) / 1024)) else { return };
        let there = small.place.join("field");
        std::fs::copy(&bundle, &there).expect("the bundle fits");
        let (ended, shown, talk) = told(&start(&there));
        assert_eq!(ended, Some(code), "{talk}");
        assert!(!beside(&there, ".eval.new").exists() && !beside(&there, ".html.new").exists());
        if code == 0 {
            assert!(talk.contains("the page is not written: ") && !shown.contains("page: "), "{talk}{shown}");
            assert!(log(&there).complete.is_some() && !beside(&there, ".html").exists());
        }
        let place = small.place.clone();
        drop(small);
        std::fs::remove_dir(place).expect("the mount point goes");
    }
}

#[test]
fn what_will_be_done_is_told_in_its_own_words() {
    let bench = Bench::new(&CONFIG.replace("limit = 12", "limit = 4\ninterfaces = [\"direct\"]"));
    let bundle = pack(&bench, "field", &[]);
    let talk = told(&start(&bundle)).2;
    assert!(talk.contains("4 questions in 1 group, ") && talk.contains("scored without replies"), "{talk}");
    assert!(talk.contains("4 questions scored alone, for what packing does to scores"), "{talk}");
}

#[test]
fn models_taken_away_after_the_end_do_not_take_the_end_away() {
    let bench = Bench::new("limit = 2\n[[task]]\nname = \"lights\"\n");
    for (name, more) in [("any", &["--any-model"][..]), ("named", &[])] {
        let model = bench.path("tiny.gguf");
        std::fs::copy(fixture("tiny-vlm.gguf"), &model).expect("a copy");
        let named = format!("limit = 2\n[[model]]\npath = {model:?}\n[[task]]\nname = \"lights\"\n");
        std::fs::write(&bench.config, named).expect("the configuration");
        let bundle = pack(&bench, name, more);
        start(&bundle);
        // The log of a run that was completed elsewhere: nothing was asked, and all groups are there.
        let work = beside(&bundle, ".run");
        if work.join("log").exists() && log(&bundle).complete.is_none() {
            let (mut made, _) = Log::<Entry>::open_append(&work, Fsync::Never).expect("the log");
            let run = RunLog::read(&work).expect("the log");
            for group in (0..run.header.groups).filter(|group| !run.groups.contains_key(group)) {
                let at = GroupRef { group, model: 0, task: 0 };
                let end = GroupEnd { at, items: 0, wall_us: 1, phases: Vec::new() };
                made.append(&Entry::GroupEnd(end)).expect("an entry");
            }
            let (session_us, library_us) = (1, 1);
            let complete =
                Complete { session_us, library_us, supervisor_peak_bytes: None, worker_peak_bytes: None };
            made.append(&Entry::Complete(complete)).expect("an entry");
            made.close().expect("the log");
            std::fs::rename(work.join("log"), beside(&bundle, ".eval")).expect("the result");
        }
        std::fs::remove_file(&model).expect("it goes");
        let (code, _, talk) = told(&start(&bundle));
        assert_eq!(code, Some(0), "{name}: {talk}");
        assert!(talk.contains("everything is done"), "{name}: {talk}");
    }
}

#[test]
fn pack_tells_length_and_hash_of_the_whole_file() {
    let bench = Bench::new(CONFIG);
    let out = bench.path("field");
    let shown = told(&run(&["pack", &bench.config, "-o", &out])).1;
    let length = std::fs::metadata(&out).expect("the bundle").len();
    let hash = Command::new("sha256sum").arg(&out).output().expect("sha256sum runs");
    let hash = String::from_utf8_lossy(&hash.stdout).split(' ').next().expect("a hash").to_owned();
    assert!(shown.contains(&format!("the whole file: {length} bytes, sha256 {hash}\n")), "{shown}");
}
