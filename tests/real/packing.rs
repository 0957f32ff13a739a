//! Rounds of many jobs: what is shared, what is kept, and that it changes no answer.

use super::*;

fn answers(engine: &mut impl Engine, jobs: &[Job]) -> Vec<Reply> {
    let reply = engine.round(jobs, &mut |_| ()).expect("the round runs");
    engine.end_group();
    reply.replies
}

fn untimed(mut replies: Vec<Reply>) -> Vec<Reply> {
    for reply in &mut replies {
        if let Reply::Scored(models::Scored { usage, .. })
        | Reply::Generated(models::Generated { usage, .. }) = reply
        {
            (usage.prefill_us, usage.decode_us) = (0, 0);
        }
    }
    replies
}

#[test]
fn a_repeated_group_gives_the_same_bits_whatever_came_before() {
    let grammar = jobs("grammar", 20, &["direct", "free-cot"], 12);
    let lights = jobs("lights", 11, &["direct", "cot-prefix"], 12);
    let mut engine_a = engine(2);
    let reference = untimed(answers(&mut engine_a, &grammar));
    answers(&mut engine_a, &lights);
    assert_eq!(untimed(answers(&mut engine_a, &grammar)), reference);
    let mut other = engine(1);
    assert_eq!(untimed(answers(&mut other, &grammar)), reference, "one thread instead of two");
}

#[test]
fn what_one_round_evaluated_the_next_round_of_the_group_does_not() {
    let mut engine = engine(2);
    let labels = [" Paris", " Rome"];
    let first = score(&format!("{CAPITAL}The capital of France is"), &labels);
    let second = score(&format!("{CAPITAL}The capital of France is Paris. The capital of Italy is"), &labels);
    let mut round =
        |job: &Job| engine.round(std::slice::from_ref(job), &mut |_| ()).expect("a round").replies;
    let (one, two) = (round(&first), round(&second));
    engine.end_group();
    let cold = answers(&mut engine, std::slice::from_ref(&second));
    let evaluated = |replies: &[Reply]| replies[0].usage().evaluated_tokens;
    assert_eq!(evaluated(&cold), cold[0].usage().prompt_tokens);
    // The token whose logits were read is evaluated again at most.
    assert!(evaluated(&one) + evaluated(&two) <= evaluated(&cold) + 1, "{one:?} {two:?} {cold:?}");
    let (Reply::Scored(warm), Reply::Scored(cold)) = (&two[0], &cold[0]) else { panic!("not scored") };
    assert!((warm.labels[1].sum() - cold.labels[1].sum()).abs() < 0.5);
    assert!(warm.labels[1].sum() > warm.labels[0].sum());
}

#[test]
fn small_caches_cut_a_round_into_waves_and_answer_all_the_same() {
    let jobs = jobs("grammar", 12, &["direct", "cot-prefix", "free-cot"], 16);
    let spec = |cells, sequences, parallel| LoadSpec {
        model: model(),
        vocab_only: false,
        mode: Mode::Packed,
        cells,
        sequences,
        parallel,
        context_tokens: 256,
        batch_tokens: 128,
        threads: 2,
        threads_batch: 2,
        mmap: true,
        kv: models::KvType::F16,
    };
    let mut wide = models::llama::Llama::open(&spec(4096, 64, 16)).expect("the model loads");
    let reference = answers(&mut wide, &jobs);
    for (cells, sequences, parallel) in [(512, 64, 16), (4096, 5, 16), (4096, 64, 3), (256, 2, 1)] {
        let mut narrow =
            models::llama::Llama::open(&spec(cells, sequences, parallel)).expect("the model loads");
        for (got, reference) in answers(&mut narrow, &jobs).iter().zip(&reference) {
            match (got, reference) {
                (Reply::Scored(a), Reply::Scored(b)) => {
                    let difference = (a.labels[0].sum() - b.labels[0].sum()).abs();
                    assert!(difference < 0.8, "{difference} with {cells} cells, {sequences} sequences");
                }
                (Reply::Generated(a), Reply::Generated(b)) => {
                    assert_eq!(a.usage.prompt_tokens, b.usage.prompt_tokens);
                    assert!(!a.tokens.is_empty());
                }
                other => panic!("{other:?}"),
            }
        }
    }
}

#[test]
fn packed_scores_are_those_of_prompts_alone_within_rounding_at_a_fraction_of_the_tokens() {
    let jobs = jobs("grammar", 44, &["direct", "cot-prefix"], 8);
    let packed = answers(&mut engine(2), &jobs);
    let exact = answers(&mut engine_in(Mode::Exact, 2), &jobs);
    let margin = |reply: &Reply| match reply {
        Reply::Scored(scored) => scored.labels[0].sum() - scored.labels[1].sum(),
        other => panic!("{other:?}"),
    };
    let worst = packed.iter().zip(&exact).map(|(a, b)| (margin(a) - margin(b)).abs()).fold(0.0, f64::max);
    // Quantised weights: 0.2 to 0.4 was measured.
    assert!(worst < 0.8, "{worst}");
    let evaluated =
        |replies: &[Reply]| -> u32 { replies.iter().map(|reply| reply.usage().evaluated_tokens).sum() };
    assert!(evaluated(&packed) * 4 < evaluated(&exact), "{} of {}", evaluated(&packed), evaluated(&exact));
}

#[test]
fn ctx_07_more_labels_than_sequences_are_scored_alike() {
    let ones = [" one", " two", " three", " four", " five", " six"];
    let hundreds = ones.map(|label| format!("{label} hundred"));
    let labels: Vec<&str> = ones.into_iter().chain(hundreds.iter().map(String::as_str)).collect();
    assert_eq!(labels.len(), 12);
    let probe = score("The number that comes after three is", &labels);
    let sums = |sequences| {
        let spec = LoadSpec {
            model: model(),
            vocab_only: false,
            mode: Mode::Packed,
            cells: 512,
            sequences,
            parallel: 4,
            context_tokens: 256,
            batch_tokens: 128,
            threads: 2,
            threads_batch: 2,
            mmap: true,
            kv: models::KvType::F16,
        };
        let mut engine = models::llama::Llama::open(&spec).expect("the model loads");
        match answer(&mut engine, &probe) {
            Reply::Scored(scored) => scored.labels.iter().map(|label| label.sum()).collect::<Vec<_>>(),
            other => panic!("{other:?}"),
        }
    };
    for (few, many) in sums(4).into_iter().zip(sums(64)) {
        assert!((few - many).abs() < 0.5, "{few} {many}");
    }
}
