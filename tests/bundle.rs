//! `edge-eval pack`, and what the packed file does: alone, interrupted, damaged, on full and on read-only disks.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use runner::parcel::{Base, Material, Parcel, write};
use runner::report::RunLog;

use crate::disks::Small;
use crate::support::{Bench, assert_same, complaint, fixture, run, told};

pub(crate) const CONFIG: &str = "limit = 12\n[[model]]\npath = \"fake\"\n[[task]]\nname = \"lights\"\n";

/// Three groups of 66 jobs at 1 ms each.
pub(crate) const SLOW: &str = "limit = 66\n[engine]\ngroup-items = 11\n[[model]]\npath = \"fake:delay-us=1000\"\n[[task]]\nname = \"lights\"\n";

/// Packs the bench's configuration and says where the bundle lies.
pub(crate) fn pack(bench: &Bench, name: &str, more: &[&str]) -> PathBuf {
    let out = bench.path(name);
    let output = run(&[&["pack", &bench.config, "-o", &out], more].concat());
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    PathBuf::from(out)
}

/// A started file, in a folder of its own choice.
pub(crate) fn command(bundle: &Path, current: &Path) -> Command {
    let mut command = Command::new(bundle);
    command.current_dir(current).env_remove("XDG_CACHE_HOME").env("HOME", current);
    command
}

pub(crate) fn start(bundle: &Path) -> Output {
    ended(&mut command(bundle, bundle.parent().expect("it lies in a folder")))
}

/// Runs a command to its end. A file that was just written may still be open in what another test is about to start: then it
/// cannot be started for that moment.
pub(crate) fn ended(command: &mut Command) -> Output {
    let started = Instant::now();
    loop {
        match command.output() {
            Err(error)
                if error.kind() == std::io::ErrorKind::ExecutableFileBusy
                    && started.elapsed() < Duration::from_secs(20) =>
            {
                std::thread::sleep(Duration::from_millis(5));
            }
            output => return output.expect("it starts"),
        }
    }
}

pub(crate) fn beside(bundle: &Path, ending: &str) -> PathBuf {
    let mut name = bundle.as_os_str().to_owned();
    name.push(ending);
    name.into()
}

pub(crate) fn log(bundle: &Path) -> RunLog {
    RunLog::read(&beside(bundle, ".eval")).expect("the result is readable")
}

#[test]
fn a_bundle_runs_without_arguments_and_leaves_one_log_and_one_page() {
    let bench = Bench::new(CONFIG);
    assert_eq!(bench.run("reference", &["--quiet"]).status.code(), Some(0));
    let bundle = pack(&bench, "field", &[]);
    let (code, results, talk) = told(&start(&bundle));
    assert_eq!(code, Some(0), "{talk}");
    assert!(talk.contains("bundle of config.toml") && talk.contains("task lights: 12 items"), "{talk}");
    assert!(talk.contains("time: about "), "{talk}");
    assert!(results.contains("field.eval") && results.contains("field.html"), "{results}");
    assert_same(&log(&bundle), &bench.log("reference"));
    let page = std::fs::read_to_string(beside(&bundle, ".html")).expect("the page");
    assert!(page.starts_with("<!doctype html>") || page.starts_with("<!DOCTYPE html>"), "{}", &page[..80]);
    let mut left: Vec<String> = std::fs::read_dir(bench.dir.path())
        .expect("the folder")
        .flatten()
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect();
    left.sort();
    assert_eq!(left, ["config.toml", "field", "field.eval", "field.html", "reference"]);
    // The one file is a log to every command.
    let eval = beside(&bundle, ".eval").display().to_string();
    for arguments in [vec!["report", &eval], vec!["verify", &eval], vec!["log", "verify", &eval]] {
        assert_eq!(run(&arguments).status.code(), Some(0), "{arguments:?}");
    }
    let merged = run(&["merge", &eval, "-o", &bench.path("merged")]);
    assert_eq!(merged.status.code(), Some(0), "{merged:?}");
}

#[test]
fn a_second_start_after_the_end_says_so_and_writes_the_page_alone() {
    let bench = Bench::new(CONFIG);
    let bundle = pack(&bench, "field", &[]);
    assert_eq!(start(&bundle).status.code(), Some(0));
    let before = std::fs::read(beside(&bundle, ".eval")).expect("the result");
    std::fs::remove_file(beside(&bundle, ".html")).expect("the page goes");
    let (code, _, talk) = told(&start(&bundle));
    assert_eq!(code, Some(0), "{talk}");
    assert!(talk.contains("everything is done"), "{talk}");
    assert_eq!(std::fs::read(beside(&bundle, ".eval")).expect("the result"), before);
    assert!(beside(&bundle, ".html").exists() && !beside(&bundle, ".run").exists());
    // Another bundle under the same name does not touch the results of the first.
    std::fs::write(&bench.config, CONFIG.replace("12", "13")).expect("the configuration changes");
    let bundle = pack(&bench, "field", &[]);
    let output = start(&bundle);
    assert_eq!(output.status.code(), Some(5), "{output:?}");
    assert!(complaint(&output).contains("another run"), "{output:?}");
    assert_eq!(std::fs::read(beside(&bundle, ".eval")).expect("the result"), before);
}

#[test]
fn ctrl_c_leaves_what_is_done_and_the_next_start_goes_on() {
    let bench = Bench::new(SLOW);
    assert_eq!(bench.run("reference", &["--quiet"]).status.code(), Some(0));
    let bundle = pack(&bench, "field", &[]);
    let mut child = command(&bundle, bench.dir.path())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("the bundle starts");
    let log_of_work = beside(&bundle, ".run").join("log");
    let started = Instant::now();
    let groups = || RunLog::read(&log_of_work).map_or(0, |run| run.groups.len());
    while groups() == 0 && started.elapsed() < Duration::from_secs(20) {
        std::thread::sleep(Duration::from_millis(2));
    }
    Command::new("kill").args(["-INT", &child.id().to_string()]).status().expect("kill runs");
    assert_eq!(child.wait().expect("it ends").code(), Some(130));
    let part = log(&bundle);
    assert!(!part.groups.is_empty() && part.complete.is_none());
    assert!(beside(&bundle, ".html").exists());
    // Also from the one file alone, as when the folder was thrown away.
    std::fs::remove_dir_all(beside(&bundle, ".run")).expect("the folder goes");
    let (code, _, talk) = told(&start(&bundle));
    assert_eq!(code, Some(0), "{talk}");
    assert!(talk.contains("going on") && talk.contains("left, by the"), "{talk}");
    assert_same(&log(&bundle), &bench.log("reference"));
}

#[test]
fn a_bundle_that_is_cut_or_changed_is_refused_in_one_line_and_writes_nothing() {
    let bench = Bench::new(CONFIG);
    let bundle = pack(&bench, "field", &[]);
    let whole = std::fs::read(&bundle).expect("the bundle");
    let config = whole.windows(30).rposition(|bytes| bytes == &whole[whole.len() - 30..]).expect("its end");
    let folder = bench.dir.path().join("other");
    std::fs::create_dir(&folder).expect("a folder");
    let changed = |place: usize| {
        let mut bytes = whole.clone();
        bytes[place] ^= 1;
        bytes
    };
    let parcel = Parcel::of(&bundle).expect("it is whole").expect("it carries something");
    let member = parcel.base_bytes() as usize;
    // The end, a member, the program's last byte; cut by one byte, within members; bytes behind the end.
    for bytes in [
        changed(config),
        changed(member + 40),
        changed(member - 1),
        whole[..whole.len() - 1].to_vec(),
        whole[..member + 100].to_vec(),
        [&whole[..], b"\n"].concat(),
    ] {
        let path = folder.join("bad");
        std::fs::copy(&bundle, &path).expect("a copy");
        std::fs::write(&path, &bytes).expect("the change");
        let output = start(&path);
        assert_eq!(output.status.code(), Some(3), "{output:?}");
        assert!(complaint(&output).contains("damaged"), "{output:?}");
        assert_eq!(std::fs::read_dir(&folder).expect("the folder").count(), 1);
    }
}

#[test]
fn with_arguments_a_bundle_is_the_program_and_its_help_says_what_it_is() {
    let bench = Bench::new(CONFIG);
    let bundle = pack(&bench, "field", &[]);
    let with = |argument: &str| {
        told(&command(&bundle, bench.dir.path()).args(argument.split(' ')).output().expect("it starts"))
    };
    let (code, help, _) = with("--help");
    assert_eq!(code, Some(0));
    assert!(help.contains("field is a bundle") && help.contains("Usage: "), "{help}");
    let (code, tasks, _) = with("list tasks");
    assert_eq!(code, Some(0));
    assert_eq!(tasks, told(&run(&["list", "tasks"])).1);
    assert!(!told(&run(&["--help"])).1.contains("is a bundle"));
    assert!(!beside(&bundle, ".eval").exists());
}

#[test]
fn the_same_configuration_packs_to_the_same_bytes_and_a_bundle_packs_as_the_program_does() {
    let bench = Bench::new(CONFIG);
    let (a, b) = (pack(&bench, "a", &[]), pack(&bench, "b", &[]));
    assert_eq!(std::fs::read(&a).expect("a"), std::fs::read(&b).expect("b"));
    let out = bench.path("c");
    let output =
        command(&a, bench.dir.path()).args(["pack", "config.toml", "-o", &out]).output().expect("it starts");
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert_eq!(std::fs::read(out).expect("c"), std::fs::read(&a).expect("a"));
}

#[test]
fn data_files_and_templates_travel_inside_and_the_command_line_too() {
    let bench = Bench::new("");
    let rows = "question,A,B,answer\nWhat is 1 + 1?,2,3,A\nWhat is 2 + 2?,5,4,B\n";
    std::fs::write(bench.path("set.csv"), rows).expect("the set");
    std::fs::write(bench.path("own.jinja"), "{% for m in messages %}<{{ m.content }}>{% endfor %}")
        .expect("a template");
    let config = format!(
        "[[model]]\npath = \"fake\"\ntemplate = {:?}\n[[task]]\nname = \"file\"\nparams = {{ path = {:?} }}\n[[task]]\nname = \"lights\"\n",
        bench.path("own.jinja"),
        bench.path("set.csv")
    );
    std::fs::write(&bench.config, config).expect("the configuration");
    let bundle = pack(&bench, "field", &["--limit", "2", "--interface", "direct"]);
    let (code, _, errors) =
        told(&bench.run("reference", &["--quiet", "--limit", "2", "--interface", "direct"]));
    assert_eq!(code, Some(0), "{errors}");
    for name in ["set.csv", "own.jinja", "config.toml"] {
        std::fs::remove_file(bench.path(name)).expect("it goes");
    }
    let (code, _, talk) = told(&start(&bundle));
    assert_eq!(code, Some(0), "{talk}");
    let run = log(&bundle);
    assert_same(&run, &bench.log("reference"));
    assert_eq!(run.items.len(), 4);
    assert!(run.header.models[0].template.contains("<{{ m.content }}>"));
}

#[test]
fn pictures_travel_inside_as_files_and_as_rows_of_a_table() {
    let bench = Bench::new("");
    let data = bench.dir.path().join("data");
    std::fs::create_dir_all(data.join("ai2d/images")).expect("a folder");
    for entry in std::fs::read_dir(fixture("samples/ai2d/images")).expect("the fixture").flatten() {
        std::fs::copy(entry.path(), data.join("ai2d/images").join(entry.file_name())).expect("a picture");
    }
    std::fs::copy(fixture("samples/table.jsonl"), data.join("table.jsonl")).expect("a table");
    for entry in std::fs::read_dir(fixture("tiny-vlm")).expect("the fixture").flatten() {
        std::fs::copy(entry.path(), data.join(entry.file_name())).expect("a picture");
    }
    let task = |label: &str, name: &str, more: &str| {
        format!(
            "[[task]]\nname = \"file\"\nlabel = \"{label}\"\n[task.params]\npath = {:?}\nimport = {{ images = \"shown\"{more} }}\n",
            data.join(name).display().to_string()
        )
    };
    let config = format!(
        "interfaces = [\"direct\"]\npicture-control = \"none\"\n[[model]]\npath = \"fake\"\nmmproj = \"fake\"\n{}{}",
        task("rows", "table.jsonl", ""),
        task("files", "items.jsonl", ", answer-is = \"index-0\"")
    );
    std::fs::write(&bench.config, config).expect("the configuration");
    let (code, _, errors) = told(&bench.run("reference", &["--quiet"]));
    assert_eq!(code, Some(0), "{errors}");
    let bundle = pack(&bench, "field", &[]);
    std::fs::remove_dir_all(&data).expect("the data go");
    let (code, _, talk) = told(&start(&bundle));
    assert_eq!(code, Some(0), "{talk}");
    assert_same(&log(&bundle), &bench.log("reference"));
    // The page shows pictures of items, which are gone from the disk.
    let page = std::fs::read_to_string(beside(&bundle, ".html")).expect("the page");
    assert!(page.contains("data:image/png;base64,"));
    let parcel = Parcel::of(&bundle).expect("whole").expect("a parcel");
    assert!(parcel.members().iter().filter(|member| member.name.starts_with("bundle/data/")).count() > 40);
}

#[test]
fn a_picture_projector_goes_with_its_model() {
    let bench = Bench::new("limit = 2\n[[task]]\nname = \"lights\"\n");
    let [model, mmproj] =
        ["tiny-vlm.gguf", "tiny-vlm-mmproj.gguf"].map(|name| fixture(name).display().to_string());
    let bundle = pack(&bench, "field", &["--model", &model, "--mmproj", &mmproj]);
    let parcel = Parcel::of(&bundle).expect("whole").expect("a parcel");
    let inside = |name: &str| parcel.members().iter().any(|member| member.name.ends_with(name));
    assert!(inside("/tiny-vlm.gguf") && inside("/tiny-vlm-mmproj.gguf"));
    let talk = told(&start(&bundle)).2;
    assert!(
        talk.contains("unpacking tiny-vlm.gguf") && talk.contains("unpacking tiny-vlm-mmproj.gguf"),
        "{talk}"
    );
    let record = log(&bundle).header.models[0].clone();
    let projector = record.mmproj.expect("the projector is in the log");
    assert_eq!((record.path.as_str(), projector.path.as_str()), ("tiny-vlm.gguf", "tiny-vlm-mmproj.gguf"));
    assert_eq!(projector.sha256.len(), 64);
}

#[test]
fn a_configuration_that_cannot_be_run_is_refused_before_anything_is_written() {
    let bench = Bench::new(&CONFIG.replace("lights", "lihgts"));
    let out = bench.path("field");
    let output = run(&["pack", &bench.config, "-o", &out]);
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    assert!(complaint(&output).contains("config.toml:5: unknown task `lihgts`"), "{output:?}");
    assert!(!Path::new(&out).exists());
    let output = run(&["pack", &bench.config, "--task", "lights", "--model", "none.gguf", "-o", &out]);
    assert!(complaint(&output).contains("none.gguf"), "{output:?}");
    assert!(!Path::new(&out).exists());
}

/// An executable for another processor that says that it is edge-eval.
pub(crate) fn foreign(path: &Path, version: &str) {
    let mut bytes = vec![0; 120];
    bytes[..7].copy_from_slice(b"\x7fELF\x02\x01\x01");
    bytes[18] = 183;
    bytes[32] = 64;
    bytes[54] = 56;
    bytes[56] = 1;
    bytes.extend(format!("edge-eval/base version={version};").bytes());
    let length = bytes.len() as u64;
    bytes[96..104].copy_from_slice(&length.to_le_bytes());
    std::fs::write(path, bytes).expect("it is written");
}

#[test]
fn a_base_of_another_processor_or_version_is_refused_and_the_right_one_keeps_its_levels() {
    let bench = Bench::new(CONFIG);
    let (arm, out) = (bench.path("arm"), bench.path("field"));
    let with = |more: &[&str]| run(&[&["pack", &bench.config, "-o", &out], more].concat());
    foreign(Path::new(&arm), "9.9.9");
    assert!(complaint(&with(&["--base", &arm])).contains("edge-eval 9.9.9, this program is"));
    foreign(Path::new(&arm), env!("CARGO_PKG_VERSION"));
    assert!(
        complaint(&with(&["--target", "x86_64", "--base", &arm]))
            .contains("built for aarch64, wanted is x86_64")
    );
    for target in ["sparc", "armv7", "x86_64-pc-windows-msvc", "aarch64-apple-darwin"] {
        assert!(complaint(&with(&["--target", target])).contains("give aarch64 or x86_64"), "{target}");
    }
    assert!(complaint(&with(&["--base", &bench.config])).contains("not an executable"));
    let other = if cfg!(target_arch = "aarch64") { "x86_64" } else { "aarch64" };
    let triple = format!("{other}-unknown-linux-gnu");
    for target in [other, &triple] {
        assert!(complaint(&with(&["--target", target])).contains(&format!("no build for {other} beside")));
    }
    let level = vec![
        Material::bytes("level/armv8-a", *b"a worker"),
        Material::bytes("bundle/old", *b"of an earlier bundle"),
    ];
    let released = bench.dir.path().join("released");
    write(&Base::of(Path::new(&arm)).expect("a base"), level, &released, &mut |_| ()).expect("it is written");
    let output = with(&["--target", "aarch64", "--base", &released.display().to_string()]);
    let (code, shown, _) = told(&output);
    assert_eq!(code, Some(0), "{output:?}");
    assert!(shown.contains("level/armv8-a") && shown.contains("aarch64"), "{shown}");
    let parcel = Parcel::of(Path::new(&out)).expect("whole").expect("a parcel");
    assert_eq!(parcel.bytes("level/armv8-a", 99).expect("the level"), b"a worker");
    assert!(parcel.member("bundle/old").is_none() && parcel.member("bundle/config.toml").is_some());
    // A level that no board could start with this base is refused here; one that is there is not.
    let released = released.display().to_string();
    let leveled = |level: &str, base: &[&str]| with(&[&["--cpu-level", level], base].concat());
    assert_eq!(leveled("armv8-a", &["--base", &released]).status.code(), Some(0));
    for level in ["nonsense", "x86-64-v3", "armv8.2-a-i8mm"] {
        let output = leveled(level, &["--base", &released]);
        assert_eq!(output.status.code(), Some(2), "{output:?}");
        assert!(complaint(&output).contains("carries armv8-a"), "{output:?}");
    }
    std::fs::write(
        &bench.config,
        format!("[engine]\ncpu-level = \"nonsense\"\n{}", CONFIG.replace("limit = 12\n", "")),
    )
    .expect("the configuration");
    let output = with(&[]);
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    assert!(complaint(&output).contains("CPU level nonsense"), "{output:?}");
}

#[test]
fn two_bundles_in_one_folder_run_at_once_and_share_nothing() {
    let bench = Bench::new(SLOW);
    let (a, b) = (pack(&bench, "a", &[]), pack(&bench, "b", &["--limit", "22"]));
    let spawn = |bundle: &Path| {
        let mut command = command(bundle, bench.dir.path());
        command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("it starts")
    };
    let (mut first, mut second) = (spawn(&a), spawn(&b));
    assert_eq!(first.wait().expect("it ends").code(), Some(0));
    assert_eq!(second.wait().expect("it ends").code(), Some(0));
    assert_eq!((log(&a).header.tasks[0].items, log(&b).header.tasks[0].items), (66, 22));
    assert!(log(&a).complete.is_some() && log(&b).complete.is_some());
}

#[test]
fn models_that_are_not_inside_must_lie_beside_and_are_told_by_name_and_hash() {
    let bench =
        Bench::new("limit = 2\n[[model]]\npath = \"somewhere/tiny-vlm.gguf\"\n[[task]]\nname = \"lights\"\n");
    let bundle = pack(&bench, "field", &[]);
    let output = start(&bundle);
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    assert!(
        complaint(&output).contains("the model file tiny-vlm.gguf does not lie beside field"),
        "{output:?}"
    );
    let any = pack(&bench, "any", &["--any-model"]);
    assert!(complaint(&start(&any)).contains("no GGUF file that can be asked lies beside it"));
    std::fs::write(bench.path("broken.gguf"), b"GGUF").expect("a broken file");
    let (_, _, talk) = told(&start(&any));
    assert!(talk.contains("broken.gguf is left out: "), "{talk}");
    // One that was seen when it was packed must be that one.
    std::fs::copy(fixture("tiny-vlm.gguf"), bench.path("seen.gguf")).expect("a copy");
    std::fs::write(
        &bench.config,
        format!("limit = 2\n[[model]]\npath = {:?}\n[[task]]\nname = \"lights\"\n", bench.path("seen.gguf")),
    )
    .expect("the configuration");
    let bundle = pack(&bench, "seen", &[]);
    let mut other = std::fs::read(bench.path("seen.gguf")).expect("the model");
    *other.last_mut().expect("a byte") ^= 1;
    std::fs::write(bench.path("seen.gguf"), other).expect("another model");
    let output = start(&bundle);
    assert_eq!(output.status.code(), Some(3), "{output:?}");
    assert!(complaint(&output).contains("not the file that the bundle was made for"), "{output:?}");
}

#[test]
fn weights_are_unpacked_once_beside_the_bundle_and_checked_when_they_changed() {
    let bench = Bench::new("limit = 2\n[[task]]\nname = \"lights\"\n");
    let bundle = pack(&bench, "field", &["--model", &fixture("tiny-vlm.gguf").display().to_string()]);
    let talk = told(&start(&bundle)).2;
    assert!(talk.contains("unpacking tiny-vlm.gguf"), "{talk}");
    let folders: Vec<PathBuf> = std::fs::read_dir(bench.dir.path().join("edge-eval-models"))
        .expect("the weights")
        .flatten()
        .map(|entry| entry.path())
        .collect();
    let copy = folders[0].join("tiny-vlm.gguf");
    let original = std::fs::read(fixture("tiny-vlm.gguf")).expect("the model");
    assert_eq!(std::fs::read(&copy).expect("the copy"), original);
    // The tiny model's answers, or, without an engine, what the log says of it.
    assert_eq!(log(&bundle).header.models[0].path, "tiny-vlm.gguf");
    assert_eq!(log(&bundle).header.models[0].sha256.len(), 64);
    let forget = || {
        let _ = std::fs::remove_dir_all(beside(&bundle, ".run"));
        std::fs::remove_file(beside(&bundle, ".eval")).expect("the result goes");
        std::fs::remove_file(beside(&bundle, ".html")).expect("the page goes");
    };
    forget();
    let talk = told(&start(&bundle)).2;
    assert!(talk.contains("unpacked before") && !talk.contains("checking it again"), "{talk}");
    forget();
    std::fs::write(&copy, &original).expect("the same, at another time");
    let talk = told(&start(&bundle)).2;
    assert!(talk.contains("checking it again") && !talk.contains("unpacking"), "{talk}");
    forget();
    let mut changed = original.clone();
    changed[original.len() - 1] ^= 1;
    std::fs::write(&copy, changed).expect("the copy changes");
    let talk = told(&start(&bundle)).2;
    assert!(talk.contains("it is unpacked anew") && talk.contains("unpacking"), "{talk}");
    assert_eq!(std::fs::read(&copy).expect("the copy"), original);
}

#[test]
fn a_disk_without_room_for_the_weights_is_told_before_anything_is_unpacked() {
    let bench = Bench::new("limit = 2\n[[task]]\nname = \"lights\"\n");
    let bundle = pack(&bench, "field", &["--model", &fixture("tiny-vlm.gguf").display().to_string()]);
    let size = std::fs::metadata(&bundle).expect("the bundle").len() / 1024 + 512;
    let Some(small) = Small::mount(&bench, &format!("{size}k")) else { return };
    let there = small.place.join("field");
    std::fs::copy(&bundle, &there).expect("the bundle fits");
    let output = start(&there);
    assert_eq!(output.status.code(), Some(4), "{output:?}");
    let line = complaint(&output);
    assert!(line.contains("no room to unpack") && line.contains("XDG_CACHE_HOME"), "{line}");
    assert!(line.contains("16.0 MiB are needed beside them"), "{line}");
    // Nothing is left of the attempt, and a folder with room serves.
    let left = std::fs::read_dir(small.place.join("edge-eval-models")).map_or(0, Iterator::count);
    assert_eq!(left, 0);
    let cache = bench.dir.path().join("cache");
    let output = ended(command(&there, &small.place).env("XDG_CACHE_HOME", &cache));
    let talk = told(&output).2;
    assert!(talk.contains(&format!("to {}", cache.join("edge-eval").display())), "{talk}");
}

#[test]
fn from_a_read_only_medium_results_go_to_the_current_folder() {
    let bench = Bench::new(CONFIG);
    let bundle = pack(&bench, "field", &[]);
    let size = std::fs::metadata(&bundle).expect("the bundle").len() / 1024 + 512;
    let Some(small) = Small::mount(&bench, &format!("{size}k")) else { return };
    let there = small.place.join("field");
    std::fs::copy(&bundle, &there).expect("the bundle fits");
    small.remount("ro");
    let current = bench.dir.path().join("desk");
    std::fs::create_dir(&current).expect("a folder");
    let (code, _, talk) = told(&ended(&mut command(&there, &current)));
    assert_eq!(code, Some(0), "{talk}");
    assert!(talk.contains("cannot be written to; results go to"), "{talk}");
    assert!(current.join("field.eval").exists() && current.join("field.html").exists());
    let output = ended(&mut command(&there, &small.place));
    assert_eq!(output.status.code(), Some(4), "{output:?}");
    assert!(complaint(&output).contains("start it from a folder that can be written to"), "{output:?}");
}
