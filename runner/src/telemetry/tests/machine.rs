//! The state and the conditions of a machine.

use super::*;
use crate::telemetry::conditions;
use crate::telemetry::sample::{NONE, State};
use crate::telemetry::state::StateReader;

fn state(tree: &Tree) -> (StateReader, State) {
    let mut reader = StateReader::find(tree);
    let mut state = State::NONE;
    reader.read(&mut state);
    (reader, state)
}

#[test]
fn temperatures_that_are_off_or_constant_are_left_out() {
    let (reader, state) = state(&Tree::of(include_str!("../fixtures/jetson-thermal.txt")));
    let told: Vec<(&str, i64)> =
        reader.temperature_names.iter().map(String::as_str).zip(state.temperature_mc).collect();
    assert_eq!(
        told,
        [
            ("cpu-thermal", 37718),
            ("gpu-thermal", NONE),
            ("tj-thermal", 37781),
            ("soc2-thermal", NONE),
            ("cv0-thermal", NONE)
        ]
    );
    assert_eq!((state.cooling, state.events), (4, 7));
    assert_eq!((state.clock_khz[0], state.clock_khz[1], state.clock_khz[2]), (1_420_800, 729_600, NONE));
    assert_eq!((state.on_battery, state.battery_percent, state.undervoltage), (NONE, NONE, NONE));
}

#[test]
fn a_pi_tells_its_flags_supply_and_clock() {
    let (_, state) = state(&Tree::of(include_str!("../fixtures/pi5.txt")));
    assert_eq!((state.pi_flags, state.undervoltage, state.clock_khz[0]), (0x50005, 0, 2_400_000));
}

#[test]
fn load_is_split_into_own_and_that_of_others() {
    let tree = Tree::of(
        "# synthetic: ticks of a machine\n\
         proc/stat = cpu  1000 0 500 8000 500 0 0 0 0 0\n\
         proc/self/stat = 4242 (edge-eval) S 1 1 1 0 -1 4194560 100 0 0 0 70 30 0 0 20 0 3 0 100 0 0\n\
         proc/77/stat = 77 (a) b) (c) R 1 1 1 0 -1 4194560 100 0 9 0 400 100 0 0 20 0 3 0 100 0 0\n",
    );
    let mut reader = StateReader::find(&tree);
    reader.set_worker(&tree, Some(77));
    let mut state = State::NONE;
    reader.read(&mut state);
    assert_eq!(state.others_permille, NONE, "one reading of a counter is no load");
    // 200 ticks pass: 120 idle, 80 busy, of which 10 are the supervisor's and 50 the worker's.
    tree.set("proc/stat", "cpu  1070 0 510 8120 500 0 0 0 0 0");
    tree.set("proc/self/stat", "4242 (edge-eval) S 1 1 1 0 -1 4194560 100 0 0 0 75 35 0 0 20 0 3 0 100 0 0");
    tree.set("proc/77/stat", "77 (a) b) (c) R 1 1 1 0 -1 4194560 100 0 9 0 440 110 0 0 20 0 3 0 100 0 0");
    reader.read(&mut state);
    assert_eq!((state.own_permille, state.others_permille), (300, 100));
}

#[test]
fn perf_06_governor_and_battery_are_warned_of() {
    let tree = Tree::of(
        "# synthetic: a laptop on its battery\n\
         sys/devices/system/cpu/cpufreq/policy0/scaling_governor = powersave\n\
         sys/devices/system/cpu/cpufreq/policy0/scaling_min_freq = 400000\n\
         sys/devices/system/cpu/cpufreq/policy0/scaling_max_freq = 4200000\n\
         sys/class/power_supply/AC/type = Mains\n\
         sys/class/power_supply/AC/online = 0\n\
         sys/class/power_supply/BAT0/type = Battery\n\
         sys/class/power_supply/BAT0/status = Discharging\n\
         sys/class/power_supply/BAT0/capacity = 73\n",
    );
    let begin = conditions::read(&tree);
    let warnings = begin.warnings();
    assert_eq!(warnings.len(), 2, "{warnings:?}");
    assert!(warnings[0].contains("powersave") && warnings[1].contains("battery"));
    assert_eq!(
        (begin.on_battery, begin.battery_percent, begin.clock_range_khz),
        (Some(true), Some(73), Some((400_000, 4_200_000)))
    );
    tree.set("sys/class/power_supply/AC/online", "1");
    let end = conditions::read(&tree);
    assert_eq!(begin.changes(&end), ["supply changed from battery to mains"]);
    assert!(end.changes(&end).is_empty());
}

#[test]
fn perf_10_a_jetson_s_power_mode_release_and_module_are_recorded() {
    let conditions = conditions::read(&Tree::of(include_str!("../fixtures/orin-nano.txt")));
    assert_eq!(conditions.board.as_deref(), Some("NVIDIA Jetson Orin Nano Developer Kit"));
    assert_eq!(conditions.power_mode.as_deref(), Some("25W (1)"));
    assert_eq!(conditions.release.as_deref(), Some("R36.4.3"));
    assert!(conditions.compatible.contains(&"nvidia,p3767-0005".to_owned()));
    let mut other = conditions.clone();
    other.power_mode = Some("15W (0)".to_owned());
    assert_eq!(conditions.changes(&other), ["power mode changed from 25W (1) to 15W (0)"]);
    // Without the program's own file: no mode, and nothing else is lost.
    let conditions = conditions::read(&Tree::of(include_str!("../fixtures/nano.txt")));
    assert_eq!((conditions.power_mode, conditions.release), (None, None));
}

#[test]
fn pinned_clocks_are_seen_and_then_the_governor_does_not_matter() {
    let tree = Tree::of(include_str!("../fixtures/jetson-thermal.txt"));
    assert_eq!(conditions::read(&tree).clocks_pinned, Some(false));
    tree.set("sys/devices/system/cpu/cpu0/cpufreq/scaling_min_freq", "1510400");
    let conditions = conditions::read(&tree);
    assert_eq!((conditions.clocks_pinned, conditions.fan), (Some(true), Some(54)));
    assert!(conditions.warnings().is_empty());
}

#[test]
fn a_machine_without_any_sensor_has_no_value_and_no_fault() {
    let (reader, state) = state(&Tree::of("# synthetic: nothing"));
    assert_eq!((state, reader.temperature_names.len()), (State::NONE, 0));
    assert_eq!(conditions::read(&Tree::default()), conditions::Conditions::default());
}

#[test]
fn the_worker_s_private_and_mapped_memory_are_read_apart_until_it_is_gone() {
    let tree = Tree::of(
        "# synthetic: a worker with mapped weights\n\
         proc/77/status = Name:\tx\\nVmHWM:\t 900 kB\\nRssAnon:\t 500 kB\\nRssFile:\t 300 kB\\nRssShmem:\t 20 kB\n",
    );
    let mut reader = StateReader::find(&tree);
    let mut state = State::NONE;
    reader.read(&mut state);
    assert_eq!((state.worker_private_bytes, state.worker_file_bytes), (NONE, NONE));
    reader.set_worker(&tree, Some(77));
    reader.read(&mut state);
    assert_eq!((state.worker_private_bytes, state.worker_file_bytes), (520 << 10, 300 << 10));
    tree.remove("proc/77");
    reader.read(&mut state);
    assert_eq!((state.worker_private_bytes, state.worker_file_bytes), (NONE, NONE), "not the last values");
}
