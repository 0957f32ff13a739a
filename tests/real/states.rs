//! Models whose cache is not plain: one state per sequence, a state beside a cache, a sliding window. Tiny ones with random
//! weights (`tests/fixtures/states.py`), in full precision, so that ways of evaluating them must agree closely.

use super::minimum::distinct_prefixes;
use super::*;
use crate::support::fixture;

fn open(model: &str, mode: Mode, sequences: u32) -> models::llama::Llama {
    let spec = LoadSpec {
        model: fixture(model),
        mode,
        sequences,
        context_tokens: 512,
        cells: 2048,
        threads: 1,
        threads_batch: 1,
        ..spec()
    };
    models::llama::Llama::open(&spec).expect("the model loads")
}

/// Prompts that part at several depths, longer than the sliding window of 16, scored and written on from.
fn family() -> Vec<Job> {
    let shared = "the red square is above the blue circle and the green triangle is left of it ".repeat(2);
    let mut jobs = Vec::new();
    for branch in ["one", "two", "three"] {
        for twig in ["which colour", "how many", "where is it"] {
            let text = format!("{shared}picture {branch}: {twig}");
            jobs.push(score(&text, &[" red", " blue", " the left one"]));
            jobs.push(write(&format!("{text} then"), 6, Sampling::Greedy));
        }
    }
    jobs
}

fn assert_close(got: &[Reply], reference: &[Reply], model: &str) {
    for (got, reference) in got.iter().zip(reference) {
        match (got, reference) {
            (Reply::Scored(a), Reply::Scored(b)) => {
                for (a, b) in a.labels.iter().zip(&b.labels) {
                    // The cache holds 16-bit numbers, and a wrong state moves a score by whole nats.
                    assert!((a.sum() - b.sum()).abs() < 0.02, "{model}: {} {}", a.sum(), b.sum());
                }
            }
            (Reply::Generated(a), Reply::Generated(b)) => assert_eq!(a.tokens, b.tokens, "{model}"),
            other => panic!("{model}: {other:?}"),
        }
    }
}

#[test]
fn kvc_01_states_are_forked_and_no_token_is_evaluated_twice() {
    for model in ["tiny-mamba.gguf", "tiny-lfm2.gguf"] {
        let jobs = family();
        let mut exact = open(model, Mode::Exact, 8);
        let mut forked = open(model, Mode::Packed, 8);
        assert!(forked.facts().checkpoints && !forked.facts().packs && !exact.facts().checkpoints, "{model}");
        let round = |engine: &mut models::llama::Llama, jobs: &[Job]| {
            let replies = engine.round(jobs, &mut |_| ()).expect("a round").replies;
            engine.end_group();
            replies
        };
        let (alone, shared) = (round(&mut exact, &jobs), round(&mut forked, &jobs));
        assert_close(&shared, &alone, model);
        let evaluated = |replies: &[Reply]| -> u64 {
            replies.iter().map(|reply| u64::from(reply.usage().evaluated_tokens)).sum()
        };
        assert_eq!(evaluated(&shared), distinct_prefixes(&mut forked, &jobs), "{model}");
        assert!(
            evaluated(&alone) > 3 * evaluated(&shared),
            "{model}: {} {}",
            evaluated(&alone),
            evaluated(&shared)
        );
        // Fewer places for states: some tokens again, the same answers.
        let mut narrow = open(model, Mode::Packed, 1);
        let again = round(&mut narrow, &jobs);
        assert_close(&again, &alone, model);
        let (least, again, most) = (evaluated(&shared), evaluated(&again), evaluated(&alone));
        assert!(least < again && again < most, "{model}: {least} < {again} < {most}");
    }
}

#[test]
fn kvc_02_a_conversation_goes_on_from_its_state() {
    for model in ["tiny-mamba.gguf", "tiny-lfm2.gguf"] {
        let mut engine = open(model, Mode::Packed, 8);
        let text = "the red square is above the blue circle";
        let first = Job { follow_up: true, ..score(text, &[" red"]) };
        let second = score(&format!("{text} red and the green triangle"), &[" red", " blue"]);
        let mut round =
            |job: &Job| engine.round(std::slice::from_ref(job), &mut |_| ()).expect("a round").replies;
        let (one, two) = (round(&first), round(&second));
        let evaluated = one[0].usage().evaluated_tokens + two[0].usage().evaluated_tokens;
        assert_eq!(evaluated, two[0].usage().prompt_tokens, "{model}: {one:?} {two:?}");
        engine.end_group();
        let mut exact = open(model, Mode::Exact, 8);
        assert_close(&two, &[answer(&mut exact, &second)], model);
    }
}

#[test]
fn kvc_05_a_sliding_window_shares_prompts_like_any_cache() {
    let model = "tiny-gemma3.gguf";
    let jobs = family();
    let mut exact = open(model, Mode::Exact, 64);
    let mut packed = open(model, Mode::Packed, 64);
    assert!(packed.facts().packs);
    let alone = exact.round(&jobs, &mut |_| ()).expect("a round").replies;
    let shared = packed.round(&jobs, &mut |_| ()).expect("a round").replies;
    packed.end_group();
    assert_close(&shared, &alone, model);
    let evaluated: u64 = shared.iter().map(|reply| u64::from(reply.usage().evaluated_tokens)).sum();
    assert_eq!(evaluated, distinct_prefixes(&mut packed, &jobs));
}

/// A reply that goes on for longer than a window leaves cells behind, which the library gives away together with all that
/// lies before them: a later prompt that parts from it there must not go on from it.
#[test]
fn what_a_window_has_passed_is_no_source_for_prompts_that_part_before_it() {
    let model = "tiny-gemma3.gguf";
    let jobs: Vec<Job> = (0..12).map(|index| streams::written(index, false)).collect();
    let packed = streams::round(&mut streams::together(model), &jobs);
    let exact = streams::round(&mut open(model, Mode::Exact, 1), &jobs);
    streams::assert_same(model, &jobs, &packed, &exact);
}

#[test]
fn replies_drawn_to_one_prompt_share_it_and_go_their_own_ways() {
    let drawn =
        |seed| write("picture one: which colour", 6, Sampling::Temperature { temperature: 2.0, seed });
    let jobs: Vec<Job> = (0..5).map(drawn).collect();
    for model in ["tiny-mamba.gguf", "tiny-lfm2.gguf"] {
        let mut engine = open(model, Mode::Packed, 8);
        let reply = streams::round(&mut engine, &jobs);
        engine.end_group();
        let texts = streams::texts(&reply);
        assert!(texts.iter().all(|text| text.tokens.len() == 6), "{model}: {texts:?}");
        assert!(texts.iter().any(|text| text.tokens != texts[0].tokens), "{model}: {texts:?}");
        let evaluated: u32 = reply.replies.iter().map(|reply| reply.usage().evaluated_tokens).sum();
        assert_eq!(evaluated, reply.replies[0].usage().prompt_tokens, "{model}");
        // Each is what it is alone; also where no state can be kept.
        let mut narrow = open(model, Mode::Packed, 1);
        let again = streams::round(&mut narrow, &jobs);
        for ((job, text), again) in jobs.iter().zip(texts).zip(streams::texts(&again)) {
            let alone = streams::round(&mut engine, std::slice::from_ref(job));
            engine.end_group();
            assert_eq!(text.tokens, streams::texts(&alone)[0].tokens, "{model}");
            assert_eq!(text.tokens, again.tokens, "{model}");
        }
    }
}

/// What a window has passed serves some prompts and not others: in later rounds the first of two that share a beginning may
/// find less of it in the cache than the second, or more.
#[test]
fn conversations_beyond_a_window_go_on_as_they_do_alone() {
    const WORDS: [&str; 12] =
        ["cat", "dog", "house", "tree", "river", "stone", "light", "dark", "red", "blue", "old", "new"];
    let model = "tiny-gemma3.gguf";
    let mut random = datasets::Stream::new(1, &["talks"]);
    let mut text = |least, most| {
        let count = random.within(least, most);
        (0..count).map(|_| format!(" {}", WORDS[random.below(WORDS.len())])).collect::<String>()
    };
    let mut exact = open(model, Mode::Exact, 1);
    let spec = LoadSpec {
        model: fixture(model),
        cells: 1024,
        sequences: 16,
        context_tokens: 512,
        batch_tokens: 64,
        ..spec()
    };
    let mut packed = models::llama::Llama::open(&spec).expect("the model loads");
    for group in 0..40 {
        let preamble = text(3, 25);
        let mut talks: Vec<String> =
            (0..2 + group % 7).map(|_| format!("Preamble:{preamble}.{}", text(5, 60))).collect();
        for _ in 0..4 {
            let jobs: Vec<Job> =
                talks.iter().map(|talk| Job { follow_up: true, ..score(talk, &[" red", " blue"]) }).collect();
            let together = streams::round(&mut packed, &jobs).replies;
            let alone = streams::round(&mut exact, &jobs).replies;
            assert_close(&together, &alone, &format!("{model}, group {group}"));
            // Some lose their end, as where a template leaves out what was thought.
            for (index, talk) in talks.iter_mut().enumerate() {
                if (group + index) % 2 == 0 {
                    talk.truncate(talk.len() * (60 + 7 * index % 35) / 100);
                }
                talk.push_str(&text(3, 25));
            }
        }
        packed.end_group();
    }
}
