//! Known power curves, played to the sampler through made-up sysfs files under a clock that is set by hand.

use std::time::Duration;

use super::*;
use crate::clock::{ManualClock, Moment};
use crate::telemetry::energy::{Energy, Mark as Care};
use crate::telemetry::root::Root;
use crate::telemetry::sampler::{Core, Handle, Mark, Setup, assemble};
use crate::telemetry::state::StateReader;

const FILE: &str = "sys/class/hwmon/hwmon0/power1_input";

/// A meter that shows a curve.
struct Stage {
    tree: Tree,
    clock: Arc<ManualClock>,
    core: Core,
    handle: Handle,
    curve: Box<dyn Fn(f64) -> f64>,
}

impl Stage {
    /// `curve`: watts over seconds.
    fn new(curve: impl Fn(f64) -> f64 + 'static) -> Stage {
        let tree = Tree::of("# synthetic: one meter\nsys/class/hwmon/hwmon0/name = ina226\n");
        tree.set(FILE, "1000000");
        let clock = Arc::new(ManualClock::at(Moment { mono_us: 5_000_000, wall_us: 1_772_366_400_000_000 }));
        let shared: Arc<dyn Clock> = clock.clone();
        let sources = probe(&tree, &shared, &Wanted::default()).sources;
        let root: Arc<dyn Root> = Arc::new(tree.clone());
        let state = StateReader::find(&tree);
        let (core, handle) = assemble(Setup { sources, state, root, period_us: 100_000, clock: shared });
        Stage { tree, clock, core, handle, curve: Box::new(curve) }
    }

    fn seconds(&self) -> f64 {
        (self.clock.now().mono_us - 5_000_000) as f64 / 1e6
    }

    /// Lets time pass up to `until` seconds, with a sample every `step` milliseconds in turn.
    fn play(&mut self, until: f64, steps_ms: &[u64]) {
        let mut turn = steps_ms.iter().cycle();
        loop {
            let step = *turn.next().expect("a step");
            if self.seconds() + step as f64 / 1e3 > until + 1e-9 {
                break;
            }
            self.clock.pass(Duration::from_millis(step));
            self.sample();
        }
        let left = until - self.seconds();
        if left > 1e-9 {
            self.clock.pass(Duration::from_micros((left * 1e6).round() as u64));
        }
    }

    fn sample(&mut self) {
        let watts = (self.curve)(self.seconds());
        self.tree.set(FILE, &format!("{}", (watts * 1e6).round() as i64));
        self.core.tick(true);
    }

    fn mark(&mut self) -> u64 {
        self.handle.mark().0
    }

    fn energy(&self, from: &Mark, to: &Mark) -> Energy {
        let span = to.at.since_us(from.at);
        self.handle.energy(Some(from), Some(to), span).swap_remove(0)
    }

    /// Measured energy between two times, in joules, with what it is worth.
    fn measure(&mut self, from: f64, to: f64, steps_ms: &[u64]) -> Energy {
        self.play(from, steps_ms);
        let begin = self.mark();
        self.play(to, steps_ms);
        let end = self.mark();
        let now = self.seconds();
        self.play(now + 0.35, steps_ms);
        let begin = self.handle.collect(begin).expect("the mark");
        let end = self.handle.collect(end).expect("the mark");
        assert!(begin.is_settled() && end.is_settled());
        self.energy(&begin, &end)
    }
}

/// 2 W, from second 3 on 12 W, with a slow wave, and 2 W again from `end` on.
fn load(end: f64) -> impl Fn(f64) -> f64 {
    move |t| {
        if t < 3.0 || t >= end {
            2.0
        } else {
            // A wave of 1 W with a period of 4 s, made of parabolas so that its integral is known.
            let phase = (t - 3.0).rem_euclid(4.0) / 2.0;
            let half = phase.fract();
            let bump = 4.0 * half * (1.0 - half);
            12.0 + if phase < 1.0 { bump } else { -bump }
        }
    }
}

#[test]
fn a_phase_of_a_hundred_periods_is_within_one_per_cent() {
    for (offset, steps) in
        [(0.0, vec![100]), (0.037, vec![100]), (0.0, vec![70, 130, 100, 95, 105]), (0.081, vec![90, 110])]
    {
        let begin = 3.0;
        let end = begin + 10.0;
        let mut stage = Stage::new(load(end));
        stage.play(offset, &[1]);
        let energy = stage.measure(begin, end, &steps);
        // Ten seconds at 12 W; of the wave's two and a half periods the half that is left over bulges by 2/3 W.
        let truth = 120.0 + 2.0 * 2.0 / 3.0;
        let got = energy.energy_uj.expect("long enough") / 1e6;
        assert!((got / truth - 1.0).abs() < 0.01, "{got} of {truth} J at {steps:?}");
        assert!((got - truth).abs() <= energy.doubt_uj.unwrap() / 1e6, "within what is stated");
        assert!(!energy.marks.contains(&Care::Gaps) && energy.gap_us < 1000, "{energy:?}");
    }
}

#[test]
fn shorter_phases_hold_what_is_stated_of_them_and_the_shortest_have_no_figure() {
    for step in 0..20 {
        let offset = f64::from(step) * 0.005;
        for periods in [20.0, 27.0, 40.0, 80.0] {
            let end = 3.0 + periods / 10.0;
            let mut stage = Stage::new(move |t| if (3.0..end).contains(&t) { 12.0 } else { 2.0 });
            stage.play(offset, &[1]);
            let energy = stage.measure(3.0, end, &[100]);
            let truth = 12.0 * periods / 10.0;
            let got = energy.energy_uj.expect("long enough") / 1e6;
            let doubt = energy.doubt_uj.unwrap() / 1e6;
            assert!(
                (got - truth).abs() <= doubt + 1e-9,
                "{got} of {truth} J, stated {doubt}, offset {offset}"
            );
            // The bound of the literature: an interval times the step.
            assert!((got - truth).abs() <= 0.1 * 10.0 + 1e-9);
            assert!(energy.marks.contains(&Care::Short));
        }
        let mut stage = Stage::new(load(4.9));
        let energy = stage.measure(3.0, 4.9, &[100]);
        assert_eq!((energy.energy_uj, energy.missing), (None, Some(Missing::TooShort)));
        assert!(energy.short_uj.is_some() && energy.doubt_uj.is_some(), "it can still be added to others");
    }
}

#[test]
fn windows_side_by_side_add_up_to_the_whole() {
    let mut stage = Stage::new(load(20.0));
    stage.play(1.0, &[100]);
    let mut ids = vec![stage.mark()];
    for until in [4.03, 7.0, 11.77, 15.0] {
        stage.play(until, &[100, 80, 120]);
        ids.push(stage.mark());
    }
    stage.play(15.5, &[100]);
    let marks: Vec<Mark> = ids.into_iter().map(|id| stage.handle.collect(id).unwrap()).collect();
    let joules = |from: usize, to: usize| stage.energy(&marks[from], &marks[to]).energy_uj.unwrap();
    let parts: f64 = (0..4).map(|part| joules(part, part + 1)).sum();
    assert!((parts - joules(0, 4)).abs() < 1.0, "{parts} and {}", joules(0, 4));
}

#[test]
fn missing_samples_are_bridged_counted_and_marked() {
    let mut stage = Stage::new(|_| 6.0);
    stage.play(1.0, &[100]);
    let begin = stage.mark();
    stage.play(6.0, &[100]);
    stage.tree.fail(FILE, 5);
    for _ in 0..10 {
        stage.clock.pass(Duration::from_millis(100));
        stage.core.tick(true);
    }
    stage.play(11.0, &[100]);
    let end = stage.mark();
    stage.play(11.5, &[100]);
    let (begin, end) = (stage.handle.collect(begin).unwrap(), stage.handle.collect(end).unwrap());
    let energy = stage.energy(&begin, &end);
    assert!((energy.energy_uj.unwrap() / 1e6 - 60.0).abs() < 1e-6, "constant power is bridged exactly");
    assert_eq!((energy.failed, energy.gap_us), (10, 1_100_000));
    assert!(energy.marks.contains(&Care::Gaps));
}

#[test]
fn a_sensor_that_dies_leaves_a_reason_and_no_energy() {
    let mut stage = Stage::new(|_| 6.0);
    stage.play(1.0, &[100]);
    let begin = stage.mark();
    stage.play(3.0, &[100]);
    stage.tree.remove("sys/class/hwmon");
    for _ in 0..100 {
        stage.clock.pass(Duration::from_millis(100));
        stage.core.tick(true);
    }
    let end = stage.mark();
    stage.core.tick(true);
    assert!(!stage.handle.is_settled(end));
    let (begin, end) = (stage.handle.collect(begin).unwrap(), stage.handle.collect(end).unwrap());
    let energy = stage.energy(&begin, &end);
    assert_eq!((energy.energy_uj, energy.missing), (None, Some(Missing::NotSupported)));
    // What the ring shows then is absent, not the last value.
    let mut last = None;
    stage.handle.drain(&mut |sample| last = Some(sample.power_uw[0]));
    assert_eq!(last, Some(crate::telemetry::sample::NONE));
}

#[test]
fn clk_01_a_step_of_the_wall_clock_changes_no_energy() {
    let run = |step_us: i64| {
        let mut stage = Stage::new(load(14.0));
        stage.play(3.0, &[100]);
        let begin = stage.mark();
        stage.play(8.0, &[100]);
        stage.clock.step(step_us);
        stage.play(13.0, &[100]);
        let end = stage.mark();
        stage.play(13.5, &[100]);
        let (begin, end) = (stage.handle.collect(begin).unwrap(), stage.handle.collect(end).unwrap());
        assert_eq!(end.at.since_us(begin.at), 10_000_000);
        let mut times = Vec::new();
        stage.handle.drain(&mut |sample| times.push(sample.mono_us));
        assert!(times.is_sorted());
        stage.energy(&begin, &end)
    };
    let straight = run(0);
    assert!(straight.energy_uj.is_some());
    assert_eq!(straight, run(21_600_000_000));
    assert_eq!(straight, run(-21_600_000_000));
}

#[test]
fn an_overwritten_ring_costs_the_curve_and_no_energy() {
    let mut stage = Stage::new(|_| 5.0);
    stage.play(0.5, &[100]);
    let begin = stage.mark();
    let samples = crate::telemetry::sampler::RING as f64 + 500.0;
    stage.play(0.5 + samples / 10.0, &[100]);
    let end = stage.mark();
    let now = stage.seconds();
    stage.play(now + 0.2, &[100]);
    let (begin, end) = (stage.handle.collect(begin).unwrap(), stage.handle.collect(end).unwrap());
    let energy = stage.energy(&begin, &end);
    assert!((energy.energy_uj.unwrap() / 1e6 - 5.0 * samples / 10.0).abs() < 1e-3);
    let mut kept = 0;
    stage.handle.drain(&mut |_| kept += 1);
    assert_eq!(kept, crate::telemetry::sampler::RING);
}

#[test]
fn perf_09_a_sensor_that_takes_most_of_the_period_is_read_less_often() {
    struct Slow(Arc<ManualClock>, crate::telemetry::source::SourceInfo);
    impl crate::telemetry::source::PowerSource for Slow {
        fn info(&self) -> &crate::telemetry::source::SourceInfo {
            &self.1
        }
        fn read(&mut self, now: &dyn Fn() -> u64, take: crate::telemetry::source::Take<'_>) {
            self.0.pass(Duration::from_millis(80));
            take(0, now(), Ok(Value::Power(1)));
        }
    }
    let clock = Arc::new(ManualClock::at(Moment { mono_us: 0, wall_us: 0 }));
    let channel = Channel::new(
        "x",
        crate::telemetry::source::Domain::Rail,
        crate::telemetry::source::Kind::Measured,
        0,
    );
    let info = crate::telemetry::source::SourceInfo {
        id: "slow".to_owned(),
        place: String::new(),
        every_us: 1,
        channels: vec![channel],
        total: Some(0),
        notes: Vec::new(),
    };
    let root: Arc<dyn Root> = Arc::new(Tree::default());
    let (_, handle) = assemble(Setup {
        sources: vec![Box::new(Slow(clock.clone(), info))],
        state: StateReader::find(root.as_ref()),
        root,
        period_us: 100_000,
        clock,
    });
    assert_eq!(handle.every_us(), [320_000]);
    assert_eq!(handle.notes, ["slow: one reading takes 80 ms: sampled every 320 ms instead of every 100"]);
}

#[test]
fn the_thread_samples_at_its_rate_and_ends_when_told() {
    let tree = Tree::of("# synthetic: one meter\nsys/class/hwmon/hwmon0/name = ina226\n");
    tree.set(FILE, "2500000");
    let clock = clock();
    let sources = probe(&tree, &clock, &Wanted::default()).sources;
    let root: Arc<dyn Root> = Arc::new(tree.clone());
    let state = StateReader::find(&tree);
    let (core, handle) = assemble(Setup { sources, state, root, period_us: 10_000, clock });
    let mut handle = Handle::start(core, handle, 10_000).unwrap();
    std::thread::sleep(Duration::from_millis(60));
    let (begin, from) = handle.mark();
    std::thread::sleep(Duration::from_millis(400));
    let (end, to) = handle.mark();
    let cost = handle.stop();
    // A busy machine may leave out many, but never take more than there are times.
    assert!(cost.samples >= 5 && cost.samples <= 60, "{cost:?}");
    // The last sample is taken behind the last mark, so nothing is left open.
    let (begin, end) = (handle.collect(begin).unwrap(), handle.collect(end).unwrap());
    let span = to.since_us(from);
    let energy = handle.energy(Some(&begin), Some(&end), span).swap_remove(0);
    // This chip's files give a figure from two seconds on only; the sums are there all the same.
    assert_eq!(energy.missing, Some(Missing::TooShort));
    let joules = (end.edges[0].unwrap().sums.energy_uj - begin.edges[0].unwrap().sums.energy_uj) / 1e6;
    assert!((joules - 2.5 * span as f64 / 1e6).abs() < 1e-6, "{joules}");
}
