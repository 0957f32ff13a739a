//! Replies in a cache of their own: the same replies, and nothing is evaluated twice.

use super::*;
use crate::support::fixture;
use models::{Generated, PhaseKind, RoundReply};

/// Plain and with a sliding window of 16; tiny and in full precision, so that the shape of a batch hardly moves a logit.
const TINY: [&str; 2] = ["tiny-vlm.gguf", "tiny-gemma3.gguf"];
const PLACES: u32 = 3;

/// `cells`: three replies of 256 take 768, half of 1536.
fn open(model: &str, cells: u32) -> models::llama::Llama {
    let spec = LoadSpec {
        model: fixture(model),
        cells,
        sequences: 32,
        parallel: PLACES,
        context_tokens: 256,
        batch_tokens: 128,
        ..spec()
    };
    models::llama::Llama::open(&spec).expect("the model loads")
}

fn apart(model: &str) -> models::llama::Llama {
    open(model, 1536)
}

pub(super) fn together(model: &str) -> models::llama::Llama {
    open(model, 1024)
}

/// Every length differs from its neighbours', so that places become free one by one.
pub(super) fn written(index: usize, follow_up: bool) -> Job {
    let shared = "the red square is above the blue circle and the green triangle is left of it ".repeat(2);
    let text = format!("{shared}picture {index}: which colour");
    Job { follow_up, ..write(&text, [4, 25, 11, 18][index % 4], Sampling::Greedy) }
}

pub(super) fn round(engine: &mut models::llama::Llama, jobs: &[Job]) -> RoundReply {
    engine.round(jobs, &mut |_| ()).expect("a round")
}

pub(super) fn texts<'r>(reply: &'r RoundReply) -> Vec<&'r Generated> {
    let text = |reply: &'r Reply| match reply {
        Reply::Generated(text) => text,
        other => panic!("{other:?}"),
    };
    reply.replies.iter().map(text).collect()
}

/// Replies part nowhere, or where the two best tokens are as good as tied.
pub(super) fn assert_same(model: &str, jobs: &[Job], a: &RoundReply, b: &RoundReply) {
    /// The cache holds 16-bit numbers; a wrong token in it moves a logit by tenths.
    const NEAR: f32 = 0.02;
    let mut engine = open(model, 256);
    for ((job, a), b) in jobs.iter().zip(texts(a)).zip(texts(b)) {
        match parting(&mut engine, job, a, b) {
            Parting::Never => assert_eq!(a.bytes, b.bytes, "{model}"),
            Parting::Lead(_, lead) if lead < NEAR => {}
            Parting::Lead(at, lead) => panic!("{model}: parts at {at}, where a token leads by {lead}"),
            Parting::Unknown => panic!("{model}: {a:?} {b:?}"),
        }
    }
}

fn evaluated(reply: &RoundReply) -> u32 {
    reply.replies.iter().map(|reply| reply.usage().evaluated_tokens).sum()
}

/// Replies that stay with the prompts share calls with those that join them later.
fn is_mixed(reply: &RoundReply) -> bool {
    reply.phases.iter().any(|phase| phase.kind == PhaseKind::Mixed)
}

#[test]
fn replies_are_the_same_wherever_they_are_written_and_cost_the_same_tokens() {
    for model in TINY {
        let jobs: Vec<Job> = (0..12).map(|index| written(index, false)).collect();
        let (mut there, mut here) = (apart(model), together(model));
        let (a, b) = (round(&mut there, &jobs), round(&mut here, &jobs));
        assert_same(model, &jobs, &a, &b);
        assert_eq!(evaluated(&a), evaluated(&b), "{model}");
        let lengths: Vec<u32> = a.replies.iter().map(|reply| reply.usage().output_tokens).collect();
        assert!(lengths.contains(&25), "{lengths:?}");
        assert!(!is_mixed(&a) && is_mixed(&b), "{model}: {:?} {:?}", a.phases, b.phases);
        // A group after a group finds both caches empty.
        there.end_group();
        assert_same(model, &jobs, &round(&mut there, &jobs), &a);
    }
}

#[test]
fn what_comes_back_from_the_cache_of_replies_is_not_evaluated_again() {
    for model in TINY {
        let jobs: Vec<Job> = (0..5).map(|index| written(index, true)).collect();
        let mut found = Vec::new();
        for mut engine in [apart(model), together(model)] {
            let first = round(&mut engine, &jobs);
            let on: Vec<Job> = jobs
                .iter()
                .zip(texts(&first))
                .map(|(job, reply)| {
                    let text = format!("{} so it is", String::from_utf8_lossy(&reply.bytes));
                    let prompt = [&job.prompt[..], &[Segment::text(text, true)]].concat();
                    Job { prompt, ..score("", &[" red", " blue"]) }
                })
                .collect();
            let second = round(&mut engine, &on);
            engine.end_group();
            let cold = round(&mut engine, &on);
            engine.end_group();
            for (warm, cold) in second.replies.iter().zip(&cold.replies) {
                let (Reply::Scored(warm), Reply::Scored(cold)) = (warm, cold) else { panic!("not scored") };
                for (warm, cold) in warm.labels.iter().zip(&cold.labels) {
                    assert!((warm.sum() - cold.sum()).abs() < 0.02, "{model}: {warm:?} {cold:?}");
                }
            }
            assert!(evaluated(&second) * 2 < evaluated(&cold), "{model}: {second:?}");
            found.push((first, evaluated(&second)));
        }
        let [(a, apart), (b, together)] = &found[..] else { panic!("two") };
        assert_same(model, &jobs, a, b);
        assert_eq!(apart, together, "{model}");
    }
}

#[test]
fn replies_of_the_default_model_fit_in_beside_scores_whatever_the_cache_holds() {
    let jobs = jobs("grammar", 12, &["direct", "cot-prefix", "free-cot"], 16);
    for (cells, sequences, batch_tokens) in [(4096, 64, 512), (2048, 4, 512), (2048, 64, 16)] {
        let spec =
            |parallel| LoadSpec { cells, sequences, batch_tokens, parallel, context_tokens: 256, ..spec() };
        // Four replies have a cache of their own here, one has none.
        let mut found = [4, 1].map(|parallel| {
            let mut engine = models::llama::Llama::open(&spec(parallel)).expect("the model loads");
            let reply = round(&mut engine, &jobs);
            engine.end_group();
            assert_eq!(round(&mut engine, &jobs).replies.len(), jobs.len());
            reply
        });
        let tokens = found.each_mut().map(|reply| (evaluated(reply), std::mem::take(&mut reply.replies)));
        let [(many, several), (one, alone)] = tokens;
        assert_eq!(many, one, "{cells} cells, {sequences} sequences");
        for (a, b) in several.iter().zip(&alone) {
            match (a, b) {
                (Reply::Scored(a), Reply::Scored(b)) => {
                    let difference = (a.labels[0].sum() - b.labels[0].sum()).abs();
                    assert!(difference < 0.8, "{difference} with {cells} cells, {sequences} sequences");
                }
                (Reply::Generated(a), Reply::Generated(_)) => assert!(!a.tokens.is_empty()),
                other => panic!("{other:?}"),
            }
        }
    }
}
