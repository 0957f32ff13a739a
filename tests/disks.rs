//! Disks that fill up, turn read-only or vanish while a run goes on: what the user sees, and what is left.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::support::{Bench, assert_same, complaint, program, run, told};

const CONFIG: &str =
    "limit = 60\n[[model]]\npath = \"fake\"\n[[task]]\nname = \"lights\"\n[[task]]\nname = \"grammar\"\n";

/// A small file system of its own; taken away with this value.
pub(crate) struct Small {
    pub(crate) place: PathBuf,
}

impl Small {
    /// `None`, with a printed reason, where this process may not mount.
    #[allow(clippy::print_stdout)]
    pub(crate) fn mount(bench: &Bench, size: &str) -> Option<Small> {
        let place = bench.dir.path().join("small");
        std::fs::create_dir(&place).expect("a folder");
        let mounted = Command::new("mount")
            .args(["-t", "tmpfs", "-o", &format!("size={size}"), "none"])
            .arg(&place)
            .stderr(Stdio::null())
            .status();
        if mounted.is_ok_and(|status| status.success()) {
            return Some(Small { place });
        }
        println!("skipped: this process may not mount; log::tests::device has the same with a failing sink");
        None
    }

    pub(crate) fn remount(&self, options: &str) {
        let done =
            Command::new("mount").args(["-o", &format!("remount,{options}")]).arg(&self.place).status();
        assert!(done.is_ok_and(|status| status.success()));
    }
}

impl Drop for Small {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(&self.place).stderr(Stdio::null()).status();
    }
}

fn arguments(bench: &Bench, out: &Path, more: &[&str]) -> Vec<String> {
    let mut all = vec!["run".to_owned(), bench.config.clone(), "--out".to_owned(), out.display().to_string()];
    all.extend(more.iter().map(|&word| word.to_owned()));
    all
}

#[test]
fn log_06_a_file_system_that_fills_up_during_a_run_ends_it_with_one_line_and_keeps_the_rest() {
    let bench = Bench::new(CONFIG);
    assert_eq!(bench.run("whole", &["--quiet"]).status.code(), Some(0));
    let whole = bench.log("whole");
    let bytes = std::fs::metadata(bench.dir.path().join("whole/log")).expect("the log").len();
    let Some(small) = Small::mount(&bench, &format!("{}k", bytes / 2048)) else { return };
    let out = small.place.join("run");
    let output = program().args(arguments(&bench, &out, &[])).output().expect("it runs");
    assert_eq!(output.status.code(), Some(4), "{output:?}");
    let line = complaint(&output);
    assert!(line.contains("full") || line.contains("space"), "{line}");
    assert!(line.contains(&out.display().to_string()), "{line}");
    let log = runner::report::RunLog::read(&out).expect("what is written is readable");
    assert!(!log.groups.is_empty() && log.groups.len() < whole.groups.len());
    assert!(log.summary.damaged_stretches == 0);
    let (code, _, errors) = told(&run(&["report", &out.display().to_string()]));
    assert_eq!(code, Some(0), "{errors}");
    // Room again: the same command goes on to the same answers.
    small.remount("size=64m");
    let output = program().args(arguments(&bench, &out, &["--quiet"])).output().expect("it runs");
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert_same(&runner::report::RunLog::read(&out).expect("readable"), &whole);
}

#[test]
fn log_07_a_read_only_folder_is_refused_before_anything_is_run() {
    let bench = Bench::new(CONFIG);
    let Some(small) = Small::mount(&bench, "8m") else { return };
    small.remount("ro");
    let output = program().args(arguments(&bench, &small.place.join("run"), &[])).output().expect("it runs");
    assert_eq!(output.status.code(), Some(4), "{output:?}");
    let line = complaint(&output);
    assert!(line.to_lowercase().contains("read-only"), "{line}");
}

#[test]
fn a_mount_that_vanishes_during_a_run_is_told() {
    let bench = Bench::new(CONFIG);
    let Some(small) = Small::mount(&bench, "8m") else { return };
    let out = small.place.join("run");
    let more = ["--quiet", "--model", "fake:delay-us=3000"];
    let mut child = program()
        .args(arguments(&bench, &out, &more))
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it starts");
    let started = Instant::now();
    while !out.join("log").exists() && started.elapsed() < Duration::from_secs(10) {
        std::thread::sleep(Duration::from_millis(5));
    }
    drop(small);
    assert_eq!(child.try_wait().expect("it can be asked"), None, "the run was over too early");
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(output.status.code(), Some(4), "{output:?}");
    assert!(complaint(&output).contains("gone"), "{output:?}");
}
