//! Shares, quotients and reasons of costs, over runs that are made up.

use datasets::Verdict;
use models::Usage;

use super::cells::cells;
use super::costs::{Cost, costs};
use super::load::RunLog;
use super::made_up::{at, began, item, run};
use crate::entry::ItemRecord;
use crate::telemetry::energy::{Energy, Mark};
use crate::telemetry::missing::Missing;
use crate::telemetry::record::{Stretch, Summary, Timed, Window};
use crate::telemetry::source::{Channel, Domain, Kind};

/// Two interfaces in one group: `direct` took a quarter of the engine's time and was right once in two, `free-cot` the
/// rest and was always right.
fn two() -> RunLog {
    let one = |id: &str, interface: &str, us: u64, verdict: Verdict| -> ItemRecord {
        let mut item = item(0, id, &[], interface, verdict);
        item.usage = Usage { evaluated_tokens: 50, output_tokens: 50, prefill_us: us, ..Usage::default() };
        item
    };
    let mut run = run(
        &["lights"],
        vec![
            one("a", "direct", 1_000_000, Verdict::Right),
            one("b", "direct", 1_500_000, Verdict::Wrong),
            one("a", "free-cot", 3_500_000, Verdict::Right),
            one("b", "free-cot", 4_000_000, Verdict::Right),
        ],
    );
    let channel = Channel::new("total", Domain::ModuleTotal, Kind::Product, 2_000_000);
    run.measured.began.push(began("jetson", channel));
    run
}

fn joules(joules: f64, doubt: f64) -> Energy {
    Energy {
        energy_uj: Some(joules * 1e6),
        missing: None,
        doubt_uj: Some(doubt * 1e6),
        readings: 100,
        ..Energy::none(Missing::TooShort)
    }
}

fn window(run: &mut RunLog, stretch: Stretch, from: u64, to: u64, energy: Energy) {
    let group = (stretch == Stretch::Group).then_some(run.items[0].at);
    let window = Window {
        stretch,
        model: 0,
        group,
        begin: at(from),
        end: at(to),
        energy: vec![energy],
        state: Summary::default(),
        suspended: false,
        phases: Vec::new(),
    };
    run.measured.windows.push((1, window));
}

fn told(run: &RunLog) -> Vec<Cost> {
    costs(run, &cells(run))
}

#[test]
fn a_group_s_energy_is_shared_by_engine_time_and_adds_up() {
    let mut run = two();
    window(&mut run, Stretch::IdleUnloaded, 0, 30, joules(60.0, 0.5));
    window(&mut run, Stretch::Group, 30, 90, joules(480.0, 2.0));
    window(&mut run, Stretch::IdleAfter, 90, 120, joules(61.0, 0.5));
    let told = told(&run);
    let (direct, cot) = (&told[0].energy, &told[1].energy);
    // A quarter and three quarters of 480 J.
    assert_eq!((direct.gross_j, cot.gross_j), (Some(120.0), Some(360.0)));
    assert_eq!((direct.doubt_j, cot.doubt_j), (Some(0.5), Some(1.5)));
    assert_eq!((direct.time_s, cot.time_s, direct.mean_w), (15.0, 45.0, Some(8.0)));
    // 2 W idle over 15 s and 45 s.
    assert_eq!((direct.net_j, cot.net_j, direct.idle_w), (Some(90.0), Some(270.0), Some(2.0)));
    assert_eq!((direct.per_item_j, direct.per_token_j), (Some(60.0), Some(0.6)));
    assert_eq!((direct.per_correct_j, cot.per_correct_j), (Some(120.0), Some(180.0)));
    assert_eq!(direct.marks, [Mark::Shared]);
    let sensor = direct.sensor.as_ref().unwrap();
    assert_eq!(
        (sensor.source.as_str(), sensor.domain, sensor.rate_mhz),
        ("jetson", Domain::ModuleTotal, 10_000)
    );
}

#[test]
fn idle_power_that_differs_before_and_after_is_marked() {
    let mut run = two();
    window(&mut run, Stretch::IdleUnloaded, 0, 30, joules(60.0, 0.5));
    window(&mut run, Stretch::Group, 30, 90, joules(480.0, 2.0));
    // 2.5 W instead of 2 W: more than 5 % of 8 W.
    window(&mut run, Stretch::IdleAfter, 90, 120, joules(75.0, 0.5));
    assert!(told(&run)[0].energy.marks.contains(&Mark::BaselineDrift));
}

#[test]
fn without_a_right_answer_or_idle_power_those_figures_do_not_exist() {
    let mut run = two();
    run.items.iter_mut().for_each(|item| item.verdict = Verdict::Wrong);
    window(&mut run, Stretch::Group, 30, 90, joules(480.0, 2.0));
    let energy = &told(&run)[0].energy;
    assert_eq!((energy.per_correct_j, energy.net_j, energy.gross_j), (None, None, Some(120.0)));
}

#[test]
fn what_has_no_figure_has_a_reason() {
    let reason = |energy: Energy| {
        let mut run = two();
        window(&mut run, Stretch::Group, 30, 90, energy);
        let energy = told(&run).swap_remove(0).energy;
        assert_eq!((energy.gross_j, energy.per_item_j, energy.items_without), (None, None, 2));
        energy.missing
    };
    assert_eq!(reason(Energy::none(Missing::ReadError)), Some(Missing::ReadError));
    assert_eq!(reason(Energy::none(Missing::OnMains)), Some(Missing::OnMains));
    let mut run = two();
    assert_eq!(told(&run)[0].energy.missing, Some(Missing::NotLogged), "the group's window was lost");
    run.measured.began[0].headline = None;
    run.measured.began[0].missing = Some(Missing::Permission);
    window(&mut run, Stretch::Group, 30, 90, joules(1.0, 0.1));
    assert_eq!(told(&run)[0].energy.missing, Some(Missing::Permission));
    run.measured.began.clear();
    assert_eq!(told(&run)[0].energy.missing, Some(Missing::NotLogged));
}

#[test]
fn a_suspended_machine_has_no_energy_and_a_throttled_one_is_marked() {
    let mut run = two();
    window(&mut run, Stretch::Group, 30, 90, joules(480.0, 2.0));
    run.measured.windows[0].1.state.events = Some(3);
    assert!(told(&run)[0].energy.marks.contains(&Mark::Throttled));
    run.measured.windows[0].1.suspended = true;
    assert_eq!(told(&run)[0].energy.missing, Some(Missing::Suspended));
}

#[test]
fn short_groups_say_something_only_when_they_add_up_to_enough() {
    let short = |joules: f64| Energy {
        energy_uj: None,
        short_uj: Some(joules * 1e6),
        missing: Some(Missing::TooShort),
        ..self::joules(joules, 0.1)
    };
    let mut run = two();
    window(&mut run, Stretch::Group, 30, 31, short(8.0));
    assert_eq!(told(&run)[0].energy.missing, Some(Missing::TooShort));
    // Eight groups of a second: more than the two seconds of the sensor, less than ten: marked as short.
    let items = std::mem::take(&mut run.items);
    run.measured.windows.clear();
    for group in 0..8 {
        let mut own = items.clone();
        own.iter_mut().for_each(|item| item.at.group = group);
        run.items.extend(own);
        window(&mut run, Stretch::Group, 30, 31, short(8.0));
        let last = run.measured.windows.len() - 1;
        run.measured.windows[last].1.group = Some(crate::entry::GroupRef { group, model: 0, task: 0 });
    }
    let cot = &told(&run)[1].energy;
    assert_eq!((cot.gross_j, cot.items, cot.missing), (Some(48.0), 16, None));
    assert!((cot.doubt_j.unwrap() - 0.6).abs() < 1e-9 && cot.marks.contains(&Mark::Short));
}

#[test]
fn perf_07_warm_ups_are_logged_and_left_out() {
    let mut run = two();
    let alone = |us: u64, warm_up: bool, faults: u64| Timed {
        model: 0,
        task: 0,
        interface: "direct".into(),
        item: "a".into(),
        repetition: 0,
        warm_up,
        end_to_end_us: us,
        first_token_us: us,
        between_us: Vec::new(),
        prompt_tokens: 75,
        evaluated_tokens: 75,
        output_tokens: 0,
        major_faults: Some(faults),
        window: Window {
            stretch: Stretch::Timed,
            model: 0,
            group: None,
            begin: at(0),
            end: at(1),
            energy: Vec::new(),
            state: Summary::default(),
            suspended: false,
            phases: Vec::new(),
        },
    };
    // The first one reads the weights from the disk: ten times slower, 40000 page faults.
    run.measured.timed.push((1, alone(1_000_000, true, 40_000)));
    run.measured.timed.extend((0..10).map(|index| (1, alone(100_000 + index, false, 0))));
    let told = told(&run);
    let latency = told[0].latency.expect("was sampled");
    assert_eq!((latency.end_to_end.n, latency.major_faults), (10, Some(0)));
    assert_eq!((latency.end_to_end.p50_ms, latency.end_to_end.p99_ms), (Some(100.004), None));
    assert_eq!(told[1].latency, None, "the other interface was not sampled");
    // A rate over nothing evaluated does not exist.
    run.measured.timed.iter_mut().for_each(|(_, alone)| alone.evaluated_tokens = 0);
    assert_eq!(self::told(&run)[0].latency.unwrap().prompt_tokens_per_s, None);
}
