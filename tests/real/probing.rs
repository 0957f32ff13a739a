//! The engine measures itself.

use std::time::Instant;

use models::{Mode, Probe, ProbeWork};

use super::*;

fn probe(work: ProbeWork) -> Probe {
    Probe { work, depth_tokens: 8, threads: 1, threads_batch: 1, repetitions: 3, budget_us: None }
}

#[test]
fn a_probe_times_its_work_and_leaves_answers_as_they_were() {
    let mut engine = engine_in(Mode::Packed, 1);
    let question = score(CAPITAL, &["Paris", "London"]);
    let before = answer(&mut engine, &question);
    for work in [ProbeWork::Prefill { tokens: 40 }, ProbeWork::Decode { steps: 4, sequences: 3 }] {
        let started = Instant::now();
        let mut heard = models::Advance::default();
        let reply = engine.probe(&probe(work), &mut |advance| heard = advance).expect("a probe");
        let wall_us = started.elapsed().as_micros() as u64;
        assert_eq!((reply.samples_us.len(), reply.threads, heard.jobs), (3, 1, 2));
        assert!(reply.samples_us.iter().all(|&us| us > 0) && reply.samples_us.iter().sum::<u64>() <= wall_us);
        // All work, and at least what came before it once, with or without a cache that can be cut.
        assert!(heard.tokens >= 3 * work.tokens() + 8, "{heard:?}");
    }
    let Reply::Scored(before) = before else { panic!("not scored") };
    let Reply::Scored(after) = answer(&mut engine, &question) else { panic!("not scored") };
    assert_eq!(after.labels, before.labels, "bit for bit");
}

#[test]
fn a_probe_ends_when_its_time_is_spent_and_refuses_what_cannot_be() {
    let mut engine = engine_in(Mode::Packed, 1);
    let work = ProbeWork::Decode { steps: 1, sequences: 1 };
    let short = Probe { budget_us: Some(1), ..probe(work) };
    assert_eq!(engine.probe(&short, &mut |_| ()).expect("a probe").samples_us.len(), 1);
    // The smallest work there is: fewer tokens than the context has sequences.
    let least = engine.probe(&Probe { depth_tokens: 0, ..short }, &mut |_| ()).expect("a probe");
    assert_eq!((least.samples_us.len(), least.batch_tokens), (1, 512));
    let many = probe(ProbeWork::Decode { steps: 1, sequences: 256 });
    assert!(engine.probe(&many, &mut |_| ()).is_err_and(|error| error.0.contains("at most 255")));
    assert!(engine.probe(&probe(ProbeWork::Prefill { tokens: 0 }), &mut |_| ()).is_err());
}
