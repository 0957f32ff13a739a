//! SIGKILL at any moment, to the supervisor, the worker or both: the resumed run answers as an uninterrupted one.

use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use datasets::Stream;

use crate::support::{Bench, assert_same, program};

/// Three groups of 66 jobs at 1 ms each, and the start and end of a process around them.
const CONFIG: &str = "limit = 66\n[engine]\ngroup-items = 11\n[[model]]\npath = \"fake:delay-us=1000\"\n[[task]]\nname = \"lights\"\n";

/// Who is killed.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Victim {
    Supervisor,
    Worker,
    Both,
}

pub(crate) const VICTIMS: [Victim; 3] = [Victim::Supervisor, Victim::Worker, Victim::Both];

/// Processes whose parent is `parent`.
fn children(parent: u32) -> Vec<u32> {
    let Ok(processes) = std::fs::read_dir("/proc") else { return Vec::new() };
    let pids = processes.flatten().filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let has_parent = |pid: &u32| {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        // The name in parentheses may hold anything; the fields after it are state and parent.
        let parent_of =
            stat.rsplit(')').next().and_then(|rest| rest.split_whitespace().nth(1).map(str::to_owned));
        parent_of.as_deref() == Some(&parent.to_string())
    };
    pids.filter(has_parent).collect()
}

fn kill(pid: u32) {
    let _ = Command::new("kill").args(["-9", &pid.to_string()]).stderr(Stdio::null()).status();
}

fn strike(child: &Child, victim: Victim) {
    let workers = children(child.id());
    if !matches!(victim, Victim::Supervisor) {
        workers.iter().for_each(|&worker| kill(worker));
    }
    if !matches!(victim, Victim::Worker) {
        kill(child.id());
    }
}

/// Starts the run, strikes after a delay, waits for the end. Gives whether it came to its end by itself.
pub(crate) fn run_and_strike(bench: &Bench, out: &str, delay: Duration, victim: Victim) -> bool {
    let mut child = program()
        .args(bench.arguments(out, &["--quiet"]))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("the program starts");
    let started = Instant::now();
    while started.elapsed() < delay {
        if let Ok(Some(status)) = child.try_wait() {
            return status.success();
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    strike(&child, victim);
    child.wait().expect("the program ends").success()
}

#[test]
fn killed_and_resumed_runs_answer_like_an_uninterrupted_one() {
    let bench = Bench::new(CONFIG);
    let started = Instant::now();
    assert_eq!(bench.run("reference", &["--quiet"]).status.code(), Some(0));
    let whole = started.elapsed();
    let reference = bench.log("reference");
    let mut stream = Stream::new(20, &["kill"]);
    let mut struck = 0;
    for round in 0..20 {
        let out = format!("run{round}");
        let victim = VICTIMS[round % VICTIMS.len()];
        // Strike again and again at random moments, then let it finish.
        for _ in 0..3 {
            let delay = whole.mul_f64(stream.unit());
            struck += u32::from(!run_and_strike(&bench, &out, delay, victim));
        }
        let output = bench.run(&out, &["--quiet"]);
        assert_eq!(output.status.code(), Some(0), "{victim:?}: {output:?}");
        let run = bench.log(&out);
        assert!(run.complete.is_some(), "{victim:?}");
        assert_same(&run, &reference);
    }
    assert!(struck >= 10, "only {struck} of 60 strikes hit a running supervisor");
}

#[test]
fn ctrl_c_ends_after_the_group_and_the_same_command_goes_on() {
    let bench = Bench::new(CONFIG);
    assert_eq!(bench.run("reference", &["--quiet"]).status.code(), Some(0));
    let mut child = program()
        .args(bench.arguments("run", &["--quiet"]))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("the program starts");
    // The first group has begun once the worker is there.
    let started = Instant::now();
    while children(child.id()).is_empty() && started.elapsed() < Duration::from_secs(10) {
        std::thread::sleep(Duration::from_millis(1));
    }
    std::thread::sleep(Duration::from_millis(60));
    Command::new("kill").args(["-INT", &child.id().to_string()]).status().expect("kill runs");
    assert_eq!(child.wait().expect("it ends").code(), Some(130));
    let run = bench.log("run");
    let groups = run.groups.len() as u32;
    assert!(groups < run.header.groups, "all {groups} groups were done before the signal came");
    assert_eq!(bench.run("run", &["--quiet"]).status.code(), Some(0));
    assert_same(&bench.log("run"), &bench.log("reference"));
}

#[test]
fn log_08_a_second_process_on_the_same_folder_is_refused_and_names_the_first() {
    let bench = Bench::new(CONFIG);
    let mut child = program()
        .args(bench.arguments("run", &["--quiet", "--model", "fake:delay-us=20000"]))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("the program starts");
    let started = Instant::now();
    while !bench.dir.path().join("run/log").exists() && started.elapsed() < Duration::from_secs(10) {
        std::thread::sleep(Duration::from_millis(5));
    }
    let output = bench.run("run", &["--quiet", "--model", "fake:delay-us=20000"]);
    let line = crate::support::complaint(&output);
    kill(child.id());
    let _ = child.wait();
    assert_eq!(output.status.code(), Some(4), "{line}");
    assert!(line.contains(&child.id().to_string()), "{line}");
}
