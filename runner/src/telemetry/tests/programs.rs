//! Meters that are programs: bursts, silence, garbage, an early end, and one that does not want to end.

use std::time::{Duration, Instant};

use super::*;
use crate::telemetry::source::{Domain, Kind};
use crate::telemetry::sources::meter::Meter;

fn meter(command: &str) -> Wanted {
    Wanted {
        choice: Choice::Only("meter".to_owned()),
        meter: Some(Meter {
            command: command.to_owned(),
            domain: Domain::Wall,
            description: "a test".to_owned(),
            every_us: 100_000,
            latency_us: 0,
            clock_offset_ns: None,
        }),
        nvidia_smi: "nvidia-smi".to_owned(),
    }
}

/// When, and what.
type Heard = (u64, Result<Value, Missing>);

/// What the meter of a command gives within a time, in milliwatts.
fn heard(command: &str, wait: Duration) -> (Probed, Vec<Heard>) {
    let clock = clock();
    let mut probed = probe(&Tree::default(), &clock, &meter(command));
    std::thread::sleep(wait);
    let mut all = Vec::new();
    let now = || clock.now().mono_us;
    for source in &mut probed.sources {
        source.read(&now, &mut |channel, at, value| all.extend((channel == 0).then_some((at, value))));
    }
    (probed, all)
}

#[test]
fn lines_become_samples_and_garbage_is_passed_over() {
    let command = "echo starting; echo '{\"w\": 6.42}'; echo; echo nonsense; sleep 0.05; echo 7.5; sleep 5";
    let (mut probed, all) = heard(command, Duration::from_millis(200));
    assert_eq!(probed.headline, Some(0));
    assert_eq!(probed.sources[0].info().channels[0].domain, Domain::Wall);
    let values: Vec<_> = all.iter().map(|(_, value)| *value).collect();
    assert_eq!(values, [Ok(Value::Power(6_420_000)), Ok(Value::Power(7_500_000))]);
    assert!(all[0].0 < all[1].0, "stamped when they came");
    probed.sources[0].stop();
}

#[test]
fn a_meter_that_ends_early_is_an_error_from_then_on_and_one_that_says_nothing_is_none() {
    let (mut probed, all) = heard("echo 5", Duration::from_millis(100));
    assert_eq!(all.len(), 1);
    let mut values = Vec::new();
    probed.sources[0].read(&|| 9_000_000, &mut |_, _, value| values.push(value));
    assert_eq!(values, [Err(Missing::ReadError)]);
    let (probed, _) = heard("echo hello; exit 3", Duration::ZERO);
    let absent = &probed.absent[0];
    assert_eq!(absent.reason, Missing::ReadError);
    assert!(absent.looked_at.contains("ended without a sample (1 lines were none)"), "{}", absent.looked_at);
}

#[test]
fn a_meter_that_counts_energy_is_taken_at_its_count() {
    let command =
        "echo '{\"w\": 5, \"wh_total\": 1.0}'; sleep 0.05; echo '{\"w\": 5, \"wh_total\": 1.0005}'; sleep 5";
    let clock = clock();
    let mut probed = probe(&Tree::default(), &clock, &meter(command));
    std::thread::sleep(Duration::from_millis(150));
    assert_eq!(probed.headline, Some(1));
    assert_eq!(probed.sources[0].info().channels[1].kind, Kind::Counter);
    let mut counted = Vec::new();
    probed.sources[0].read(&|| 0, &mut |channel, _, value| counted.extend((channel == 1).then_some(value)));
    // Half a milliwatt-hour is 1.8 J; in 50 ms that is 36 W.
    assert_eq!(counted, [Ok(Value::Energy(0)), Ok(Value::Energy(1_800_000))]);
}

#[test]
fn a_burst_keeps_the_time_that_each_sample_came_at_or_says() {
    let clock = clock();
    let now = clock.now();
    let ago = |ms: i64| (now.wall_us - 1000 * ms) * 1000;
    let command = format!(
        "printf '{{\"w\": 1, \"t_unix_ns\": {}}}\\n{{\"w\": 2, \"t_unix_ns\": {}}}\\n'; sleep 5",
        ago(500),
        ago(300)
    );
    let mut wanted = meter(&command);
    if let Some(meter) = &mut wanted.meter {
        (meter.clock_offset_ns, meter.latency_us) = (Some(0), 10_000);
    }
    // The clock of the test must reach back that far.
    std::thread::sleep(Duration::from_millis(600));
    let mut probed = probe(&Tree::default(), &clock, &wanted);
    let mut times = Vec::new();
    probed.sources[0].read(&|| 0, &mut |_, at, _| times.push(at));
    // Stamps before this clock began are moved to its beginning by arrival; spans within it are kept.
    assert!(times.len() <= 2 && !times.is_empty(), "{times:?}");
    assert!(times.is_sorted());
}

#[test]
fn a_meter_that_ignores_the_request_to_end_is_ended_with_its_children() {
    let dir = tempfile::tempdir().unwrap();
    let pid = dir.path().join("pid");
    let command = format!(
        "trap '' TERM; (trap '' TERM; sleep 30 & echo $! > {}; wait) & while :; do echo 5; sleep 0.02; done",
        pid.display()
    );
    let (mut probed, all) = heard(&command, Duration::from_millis(150));
    assert!(!all.is_empty());
    let started = Instant::now();
    probed.sources[0].stop();
    assert!(started.elapsed() < Duration::from_secs(4), "{:?}", started.elapsed());
    let child = std::fs::read_to_string(&pid).unwrap();
    // A killed child may wait for its burial by whoever adopted it.
    let alive = || {
        std::fs::read_to_string(format!("/proc/{}/stat", child.trim()))
            .is_ok_and(|stat| !stat.contains(") Z"))
    };
    let deadline = Instant::now() + Duration::from_secs(2);
    while alive() && Instant::now() < deadline {
        std::thread::sleep(Duration::from_millis(10));
    }
    assert!(!alive(), "the child of the meter is gone");
}

#[test]
fn the_graphics_program_is_asked_for_fields_that_it_knows() {
    let dir = tempfile::tempdir().unwrap();
    let program = dir.path().join("nvidia-smi");
    // An old driver: it does not know the first field and says so.
    let script = "#!/bin/sh\ncase \"$1\" in *instant*) echo 'Field \"power.draw.instant\" is not a valid field to query.'; exit 2;; esac\n\
                  while :; do echo '0, 31.50'; echo '1, [N/A]'; sleep 0.05; done\n";
    std::fs::write(&program, script).unwrap();
    use std::os::unix::fs::PermissionsExt;
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    let clock = clock();
    let own = crate::telemetry::root::Folder::at("/");
    let wanted = Wanted {
        choice: Choice::Only("nvidia-smi".to_owned()),
        meter: None,
        nvidia_smi: program.display().to_string(),
    };
    let mut probed = probe(&own, &clock, &wanted);
    assert_eq!(probed.sources.len(), 1, "{:?}", probed.absent);
    let info = probed.sources[0].info();
    assert_eq!((info.channels.len(), info.channels[0].note.as_str()), (1, "power.draw"));
    std::thread::sleep(Duration::from_millis(120));
    let mut values = Vec::new();
    probed.sources[0].read(&|| 0, &mut |_, _, value| values.push(value));
    assert!(
        !values.is_empty() && values.iter().all(|value| *value == Ok(Value::Power(31_500_000))),
        "{values:?}"
    );
    probed.sources[0].stop();
}
