//! Phases told apart over known power curves: prompts at 10 W, replies at 6 W.

use models::{PhaseKind, Span};

use super::*;
use crate::telemetry::energy::Mark;
use crate::telemetry::phases::{PhaseSpan, PhaseWindow, placed, split};
use crate::telemetry::sampler::Reading;
use crate::telemetry::source::{Domain, Kind};

const PROMPT_W: f64 = 10.0;
const REPLY_W: f64 = 6.0;

/// Turns of a prompt and a reply of such lengths in milliseconds, from second 1 on.
fn turns(count: usize, prompt_ms: u64, reply_ms: u64) -> Vec<PhaseSpan> {
    let mut at = 1_000_000;
    let mut spans = Vec::new();
    for _ in 0..count {
        for (kind, ms) in [(PhaseKind::Prefill, prompt_ms), (PhaseKind::Decode, reply_ms)] {
            spans.push(PhaseSpan { kind, begin_us: at, end_us: at + 1000 * ms });
            at += 1000 * ms;
        }
    }
    spans
}

/// Readings ten times a second of a meter that shows the power at that moment.
fn readings(spans: &[PhaseSpan], offset_us: u64) -> Vec<Reading> {
    let end = spans.last().unwrap().end_us + 500_000;
    (0..)
        .map(|index| offset_us + index * 100_000)
        .take_while(|at| *at < end)
        .map(|at_us| {
            let inside = spans.iter().find(|span| (span.begin_us..span.end_us).contains(&at_us));
            let watts = match inside.map(|span| span.kind) {
                Some(PhaseKind::Prefill) => PROMPT_W,
                Some(_) => REPLY_W,
                None => 2.0,
            };
            Reading { at_us, value: Ok(Value::Power((watts * 1e6) as i64)) }
        })
        .collect()
}

fn meter() -> Channel {
    Channel::new("total", Domain::ModuleTotal, Kind::Measured, 0)
}

fn of(windows: &[PhaseWindow], kind: PhaseKind) -> &PhaseWindow {
    windows.iter().find(|window| window.kind == kind).expect("the phase")
}

#[test]
fn long_spans_are_told_apart_within_what_is_stated() {
    for offset in [0, 13_000, 37_000, 50_000, 99_000] {
        let spans = turns(5, 2000, 3000);
        let windows = split(&meter(), 100_000, &readings(&spans, offset), &spans);
        for (kind, truth) in [(PhaseKind::Prefill, 10.0 * PROMPT_W), (PhaseKind::Decode, 15.0 * REPLY_W)] {
            let window = of(&windows, kind);
            assert_eq!((window.spans, window.energy.missing), (5, None));
            let got = window.energy.energy_uj.unwrap() / 1e6;
            let doubt = window.energy.doubt_uj.unwrap() / 1e6;
            assert!((got - truth).abs() <= doubt, "{kind:?}: {got} of {truth} J, stated {doubt}");
            // Half an interval at each of two edges, times 8 W at the most, of five spans.
            assert!(doubt <= 5.0 * 0.1 * 8.0, "{doubt}");
        }
        assert_eq!(of(&windows, PhaseKind::Prefill).time_us, 10_000_000);
    }
}

#[test]
fn phases_that_change_faster_than_the_sensor_are_not_told_apart() {
    // Twenty seconds of each, in pieces of 50 ms: long enough together, and nobody knows which was which.
    let spans = turns(400, 50, 50);
    let windows = split(&meter(), 100_000, &readings(&spans, 7_000), &spans);
    for window in &windows {
        let energy = &window.energy;
        assert_eq!((energy.energy_uj, energy.missing), (None, Some(Missing::Interleaved)), "{window:?}");
        assert!(energy.short_uj.is_some(), "it may still be added to longer ones");
    }
}

#[test]
fn a_phase_below_twenty_intervals_is_too_short_however_many_its_spans() {
    let spans = turns(3, 600, 3000);
    let windows = split(&meter(), 100_000, &readings(&spans, 7_000), &spans);
    assert_eq!(of(&windows, PhaseKind::Prefill).energy.missing, Some(Missing::TooShort), "1.8 s");
    let reply = &of(&windows, PhaseKind::Decode).energy;
    assert!(reply.energy_uj.is_some() && reply.marks.contains(&Mark::Short), "9 s: {reply:?}");
}

#[test]
fn a_counter_is_shared_out_by_the_time_of_its_intervals() {
    let spans = turns(4, 2000, 3000);
    let mut counted = 0;
    let mut before = None;
    let readings: Vec<Reading> = readings(&spans, 0)
        .into_iter()
        .map(|reading| {
            let Ok(Value::Power(uw)) = reading.value else { panic!("a power") };
            counted += before.map_or(0, |_| uw as u64 / 10);
            before = Some(uw);
            Reading { value: Ok(Value::Energy(counted)), ..reading }
        })
        .collect();
    let package = Channel::new("package", Domain::CpuPackage, Kind::Counter, 100_000);
    let windows = split(&package, 100_000, &readings, &spans);
    let prompt = &of(&windows, PhaseKind::Prefill).energy;
    let (got, doubt) = (prompt.energy_uj.unwrap() / 1e6, prompt.doubt_uj.unwrap() / 1e6);
    assert!((got - 8.0 * PROMPT_W).abs() <= doubt + 4.0 * 0.1 * 4.0, "{got} J, stated {doubt}");
}

#[test]
fn a_sensor_that_fails_in_the_middle_leaves_its_reason() {
    let spans = turns(4, 3000, 3000);
    let failed = |reading: Reading| match reading.at_us > 6_000_000 {
        true => Reading { value: Err(Missing::ReadError), ..reading },
        false => reading,
    };
    let readings: Vec<Reading> = readings(&spans, 7_000).into_iter().map(failed).collect();
    let windows = split(&meter(), 100_000, &readings, &spans);
    for window in &windows {
        assert_eq!((window.energy.energy_uj, window.energy.missing), (None, Some(Missing::ReadError)));
    }
}

#[test]
fn the_worker_s_time_lies_in_the_middle_of_the_time_that_the_question_took() {
    let span = Span { kind: PhaseKind::Decode, begin_us: 0, end_us: 900_000 };
    // 40 ms were spent in pipes: 20 before, 20 behind.
    let spans = placed(&[span], 960_000, 5_000_000, 6_000_000);
    assert_eq!((spans[0].begin_us, spans[0].end_us), (5_020_000, 5_920_000));
    // A worker that claims more time than there was cannot reach beyond it.
    let spans = placed(&[Span { end_us: 2_000_000, ..span }], 2_000_000, 5_000_000, 6_000_000);
    assert_eq!((spans[0].begin_us, spans[0].end_us), (5_000_000, 6_000_000));
}

#[test]
fn a_stretch_tells_its_phases_from_the_readings_of_the_thread() {
    use crate::telemetry::measuring::{Measuring, Options};
    use crate::telemetry::probe::{Choice, Wanted};
    use crate::telemetry::record::Stretch;
    use crate::telemetry::sources::hwmon::Named;

    let tree = Tree::of("# synthetic: one meter\nsys/class/hwmon/hwmon0/name = ina226\n");
    tree.set("sys/class/hwmon/hwmon0/power1_input", "5000000");
    let named = Named { name: "ina226".into(), label: None, domain: Domain::DcInputBoard };
    let wanted = Wanted { choice: Choice::Hwmon(named), ..Wanted::default() };
    let options = Options { wanted, period_us: Some(100_000), timeline_us: 0 };
    let mut measuring = Measuring::start(Arc::new(tree), clock(), &options).unwrap();
    let open = measuring.begin(Stretch::Group, 0, None);
    let begin = measuring.now().mono_us;
    std::thread::sleep(std::time::Duration::from_millis(900));
    let end = measuring.now().mono_us;
    let middle = begin + (end - begin) / 3;
    let span = |kind, begin_us, end_us| PhaseSpan { kind, begin_us, end_us };
    let spans = vec![span(PhaseKind::Prefill, begin, middle), span(PhaseKind::Decode, middle, end)];
    measuring.add_phases(&open, spans);
    measuring.end(open);
    let windows: Vec<crate::telemetry::record::Window> = measuring
        .stop()
        .into_iter()
        .filter_map(
            |entry| if let crate::entry::Entry::Window(window) = entry { Some(*window) } else { None },
        )
        .collect();
    let phases = &windows[0].phases;
    let (prompt, reply) = (of(phases, PhaseKind::Prefill), of(phases, PhaseKind::Decode));
    assert_eq!((prompt.time_us, reply.time_us), (middle - begin, end - middle));
    for phase in [prompt, reply] {
        // Constant power, whatever the machine's load did to the times of readings; 0.9 s are too short for a figure.
        assert_eq!(phase.energy.missing, Some(Missing::TooShort));
        let joules = phase.energy.short_uj.unwrap() / 1e6;
        assert!((joules - 5.0 * phase.time_us as f64 / 1e6).abs() < 1e-6, "{joules}");
    }
}
