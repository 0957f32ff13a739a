//! The fake engine itself.

use super::*;
use crate::{Finish, Generate, LoopGuard, Reply, Sampling, Score, Segment};

fn job(text: &str, request: Request) -> Job {
    Job { id: 0, prompt: vec![Segment::text(text, true)], add_bos: false, request, follow_up: false }
}

fn labels() -> Request {
    Request::Score(Score { continuations: vec!["Yes".into(), "No".into()], top: 1, ..Score::default() })
}

#[test]
fn answers_depend_on_the_prompt_alone() {
    let mut one = Fake::open("fake", 100).unwrap();
    let mut other = Fake::open("fake:delay-us=1", 100).unwrap();
    let jobs = [job("a b c", labels()), job("d", labels())];
    let first = one.round(&jobs, &mut |_| ()).unwrap().replies;
    assert_eq!(first, other.round(&jobs, &mut |_| ()).unwrap().replies);
    assert_ne!(first[0], first[1]);
    let Reply::Scored(scored) = &first[0] else { panic!("not scored") };
    let mass: f64 = scored.labels.iter().map(|label| label.sum().exp()).sum();
    assert!((mass - 0.9).abs() < 1e-6);
}

#[test]
fn ctx_01_a_prompt_that_does_not_fit_is_a_status() {
    let mut engine = Fake::open("fake:context=4", 100).unwrap();
    let replies =
        engine.round(&[job("a b c d e", labels()), job("a b c", labels())], &mut |_| ()).unwrap().replies;
    assert_eq!(replies[0], Reply::TooLong { needed: 6, context: 4 });
    assert!(matches!(replies[1], Reply::Scored(_)));
}

#[test]
fn generation_stops_at_its_cap() {
    let mut engine = Fake::open("fake:say=one two three", 100).unwrap();
    let generate = Generate {
        max_tokens: 2,
        stop: vec![],
        sampling: Sampling::Greedy,
        loop_guard: Some(LoopGuard::default()),
        thinking: None,
    };
    let replies = engine.round(&[job("x", Request::Generate(generate))], &mut |_| ()).unwrap().replies;
    let Reply::Generated(generated) = &replies[0] else { panic!("not generated") };
    assert_eq!((generated.text().as_ref(), generated.finish), ("one two ", Finish::Length));
}

#[test]
fn probes_of_the_same_work_take_the_same_made_up_time() {
    let mut engine = Fake::open("fake", 100).unwrap();
    let mut probe = |sequences, threads| {
        let probe = Probe {
            work: ProbeWork::Decode { steps: 10, sequences },
            depth_tokens: 0,
            threads,
            threads_batch: threads,
            repetitions: 2,
            budget_us: None,
        };
        engine.probe(&probe, &mut |_| ()).unwrap().samples_us
    };
    assert_eq!(probe(1, 4), probe(8, 4), "eight cost what one costs");
    assert_eq!(probe(16, 4)[0] - 1, 2 * (probe(8, 4)[0] - 1));
    assert_eq!(probe(1, 2)[0] - 1, 2 * (probe(1, 4)[0] - 1));
    assert!(probe(1, 8)[0] > probe(1, 4)[0]);
}

#[test]
fn unknown_options_are_named() {
    assert!(Fake::open("fake:dye-after=3", 10).err().unwrap().0.contains("dye-after"));
    assert!(Fake::open("fake:die-after=x", 10).err().unwrap().0.contains("needs a number"));
}

#[test]
fn a_picture_that_is_not_there_fails_its_own_job_and_one_that_is_counts_once() {
    let mut engine = Fake::open("fake", 100).unwrap().seeing(true);
    let shown =
        |address: &str| Shown { address: address.into(), width: 64, height: 33, rgb: vec![0; 3 * 64 * 33] };
    engine.show(&[], vec![shown("a")]).unwrap();
    let of = |address: &str| {
        let mut job = job("see", labels());
        job.prompt.insert(0, Segment::picture(address));
        job
    };
    let reply = engine.round(&[of("a"), of("a"), of("b")], &mut |_| ()).unwrap();
    let encoded: Vec<u32> = reply.replies.iter().map(|it| it.usage().pictures_encoded).collect();
    assert_eq!((encoded, reply.pictures.len()), (vec![1, 0, 0], 1));
    assert_eq!(reply.replies[0].usage().picture_tokens, 4);
    let Reply::Failed { reason, .. } = &reply.replies[2] else { panic!("no picture, yet an answer") };
    assert!(reason.contains("picture b"), "{reason}");
    assert!(Fake::open("fake", 100).unwrap().show(&[], vec![shown("a")]).is_err(), "no eyes");
}
