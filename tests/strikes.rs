//! A hundred runs whose workers are struck at random: abort, bad instruction, bus error, kill, hang, noise on the pipe, an
//! answer that nobody asked for. Nothing is lost, nothing is there twice, nobody stays behind.

use std::collections::BTreeMap;
use std::process::Stdio;
use std::time::{Duration, Instant};

use datasets::Stream;
use runner::entry::DeathCause;

use crate::support::{Bench, assert_same, program};

const CONFIG: &str = "limit = 6\ninterfaces = [\"direct\", \"free-cot\"]\n[[model]]\npath = \"fake\"\n[[task]]\nname = \"lights\"\n\
    [engine]\ndeadline-s = 1\n[log]\nsync = \"never\"\n";
/// 6 items through 2 interfaces, in one round.
const JOBS: usize = 12;

const STRIKES: [(&str, DeathCause); 7] = [
    ("abort", DeathCause::Signal(6)),
    ("ill", DeathCause::IllegalInstruction),
    ("bus", DeathCause::StorageFault),
    ("kill", DeathCause::KilledFromOutside),
    ("hang", DeathCause::Deadline),
    ("garbage", DeathCause::Garbled),
    ("surplus", DeathCause::Garbled),
];

#[test]
fn a_hundred_runs_with_struck_workers_lose_and_double_nothing() {
    let bench = Bench::new(CONFIG);
    assert_eq!(bench.run("whole", &["--quiet"]).status.code(), Some(0));
    let whole = bench.log("whole");
    let mut stream = Stream::new(100, &["strikes"]);
    let mut struck: BTreeMap<&str, u32> = BTreeMap::new();
    let mut peaks = Vec::new();
    for number in 0..100 {
        let (strike, cause) = &STRIKES[number % STRIKES.len()];
        let after = stream.below(JOBS);
        let once = bench.path(&format!("once{number}"));
        let model = format!("fake:strike={strike},strike-after={after},once={once}");
        let started = Instant::now();
        let out = format!("run{number}");
        let output = bench.run(&out, &["--quiet", "--model", &model]);
        assert_eq!(output.status.code(), Some(0), "{model}: {output:?}");
        // The deadline is one second; what takes longer has hung.
        assert!(started.elapsed() < Duration::from_secs(30), "{model}");
        let log = bench.log(&out);
        assert_eq!(log.deaths.len(), 1, "{model}: {:?}", log.deaths);
        assert_eq!(log.deaths[0].cause, *cause, "{model}");
        assert_same(&log, &whole);
        *struck.entry(strike).or_default() += 1;
        let complete = log.complete.expect("the run is complete");
        peaks.push(complete.supervisor_peak_bytes.expect("Linux tells"));
    }
    assert!(struck.values().all(|count| *count >= 14), "{struck:?}");
    let calm = whole.complete.and_then(|complete| complete.supervisor_peak_bytes).expect("Linux tells");
    let most = peaks.iter().max().copied().unwrap_or(0);
    assert!(most < calm + (4 << 20), "a death costs the supervisor {} bytes", most - calm);
}

/// State and parent of every process.
fn processes() -> Vec<(u32, char, u32)> {
    let Ok(entries) = std::fs::read_dir("/proc") else { return Vec::new() };
    let pids = entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let of = |pid: u32| {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        let mut fields = stat.rsplit(')').next()?.split_whitespace();
        Some((pid, fields.next()?.chars().next()?, fields.next()?.parse().ok()?))
    };
    pids.filter_map(of).collect()
}

#[test]
fn many_deaths_in_one_run_leave_no_process_behind_and_cost_the_supervisor_no_memory() {
    // Every worker dies on its sixth job: 80 jobs in rounds of 20 take many workers.
    let config = "limit = 40\ninterfaces = [\"direct\", \"free-cot\"]\n[[task]]\nname = \"lights\"\n[log]\nsync = \"never\"\n";
    let bench = Bench::new(config);
    let peak = |out: &str| bench.log(out).complete.and_then(|complete| complete.supervisor_peak_bytes);
    assert_eq!(bench.run("calm", &["--quiet", "--model", "fake"]).status.code(), Some(0));
    let mut child = program()
        .args(bench.arguments("storm", &["--quiet", "--model", "fake:strike=kill,strike-after=5"]))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("the program starts");
    let (mut zombies, mut most_children) = (BTreeMap::<u32, u32>::new(), 0);
    while child.try_wait().expect("it can be waited for").is_none() {
        let own: Vec<_> = processes().into_iter().filter(|(_, _, parent)| *parent == child.id()).collect();
        most_children = most_children.max(own.len());
        own.iter()
            .filter(|(_, state, _)| *state == 'Z')
            .for_each(|(pid, ..)| *zombies.entry(*pid).or_default() += 1);
        std::thread::sleep(Duration::from_millis(20));
    }
    assert_eq!(child.wait().expect("it ended").code(), Some(7));
    assert!(most_children <= 2, "{most_children} workers at a time");
    // A dead worker is waited for at once; its last words may take a second.
    assert!(zombies.values().all(|seen| *seen < 75), "{zombies:?}");
    assert!(processes().iter().all(|(_, _, parent)| *parent != child.id()));
    let log = bench.log("storm");
    assert!(log.deaths.len() >= 10, "{} deaths", log.deaths.len());
    let keys: std::collections::BTreeSet<_> =
        log.items.iter().map(|item| (item.item.clone(), item.interface.clone())).collect();
    assert_eq!((keys.len(), log.items.len()), (80, 80));
    let (calm, storm) = (peak("calm").expect("Linux tells"), peak("storm").expect("Linux tells"));
    assert!(storm < calm + (4 << 20), "{storm} against {calm}");
}
