//! Items asked alone of the real engine: what the latency columns are made of, with the project's own tiny model.

use models::PhaseKind;

use crate::support::{Bench, fixture, run, told};

const ALONE: &str = "interfaces = [\"direct\", \"free-cot\"]\nlimit = 3\n[asking]\nmax-tokens = 12\n[engine]\nparity = 0\nthreads = 1\n\
    [[task]]\nname = \"logic\"\n[telemetry]\npower = \"none\"\n[latency]\nitems = 3\nrepetitions = 2\nwarm-up = 1\n";

#[test]
fn a_cold_item_evaluates_its_whole_prompt_and_its_times_fit_into_each_other() {
    let bench = Bench::new(ALONE);
    let tiny = fixture("tiny-vlm.gguf").display().to_string();
    let output = bench.run("out", &["--quiet", "--model", &tiny]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let log = bench.log("out");
    let alone: Vec<_> = log.measured.timed.iter().map(|(_, timed)| timed).filter(|it| !it.warm_up).collect();
    // Three items, two interfaces, twice.
    assert_eq!(alone.len(), 12);
    for timed in alone {
        assert_eq!(
            timed.evaluated_tokens, timed.prompt_tokens,
            "nothing was kept from the item before: {timed:?}"
        );
        assert!(timed.first_token_us > 0 && timed.first_token_us <= timed.end_to_end_us, "{timed:?}");
        let between: u64 = timed.between_us.iter().map(|us| u64::from(*us)).sum();
        assert!(timed.first_token_us + between <= timed.end_to_end_us, "{timed:?}");
        let phases = &timed.window.phases;
        assert!(phases.is_empty(), "without a sensor no energy is told apart: {phases:?}");
        if timed.interface == "direct" {
            assert_eq!((timed.output_tokens, timed.between_us.len()), (0, 0));
        } else {
            // The first token comes with the prompt; each other one takes a call.
            assert!(timed.output_tokens > 0);
            assert!(timed.between_us.len() as u32 <= timed.output_tokens, "{timed:?}");
            assert!(timed.between_us.len() as u32 + 1 >= timed.output_tokens, "{timed:?}");
        }
    }
    let (code, costs, errors) = told(&run(&["report", &bench.path("out"), "--costs", "--csv", "-"]));
    assert_eq!(code, Some(0), "{errors}");
    assert!(costs.lines().skip(1).all(|line| line.contains(",6,")), "six each: {costs}");
}

#[test]
fn the_engine_tells_when_it_read_prompts_and_when_it_wrote() {
    use models::{Engine, LoadSpec};

    let spec = LoadSpec { model: fixture("tiny-vlm.gguf"), ..super::spec() };
    for mode in [models::Mode::Packed, models::Mode::Exact] {
        let mut engine =
            models::llama::Llama::open(&LoadSpec { mode, ..spec.clone() }).expect("the model loads");
        let jobs = super::jobs("logic", 2, &["free-cot"], 8);
        let reply = engine.round(&jobs[..1], &mut |_| ()).expect("a round");
        let kinds: Vec<PhaseKind> = reply.spans.iter().map(|span| span.kind).collect();
        assert_eq!(kinds, [PhaseKind::Prefill, PhaseKind::Decode], "{mode:?}: {:?}", reply.spans);
        let (prompt, reply_span) = (reply.spans[0], reply.spans[1]);
        assert!(prompt.begin_us < prompt.end_us && prompt.end_us <= reply_span.begin_us);
        assert!(reply_span.end_us <= reply.took_us, "{:?} {}", reply.spans, reply.took_us);
        // A span is the time of its phase, but for what lies between calls.
        let phase = |kind| reply.phases.iter().filter(|it| it.kind == kind).map(|it| it.wall_us).sum::<u64>();
        for span in [prompt, reply_span] {
            assert!(span.end_us - span.begin_us + 1000 >= phase(span.kind), "{span:?} {:?}", reply.phases);
        }
    }
}
