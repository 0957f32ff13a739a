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
    let first = Job { follow_up: true, ..score(&format!("{CAPITAL}The capital of France is"), &labels) };
    let second = score(&format!("{CAPITAL}The capital of France is Paris. The capital of Italy is"), &labels);
    let round = |engine: &mut models::llama::Llama, job: &Job| {
        engine.round(std::slice::from_ref(job), &mut |_| ()).expect("a round").replies
    };
    let (one, two) = (round(&mut engine, &first), round(&mut engine, &second));
    engine.end_group();
    let cold = answers(&mut engine, std::slice::from_ref(&second));
    round(&mut engine, &Job { follow_up: false, ..first.clone() });
    let unkept = round(&mut engine, &second);
    engine.end_group();
    let evaluated = |replies: &[Reply]| replies[0].usage().evaluated_tokens;
    assert_eq!(evaluated(&cold), cold[0].usage().prompt_tokens);
    assert_eq!(evaluated(&unkept), evaluated(&cold), "nothing is kept that nobody asked to keep");
    // The token whose logits were read is evaluated again at most.
    assert!(evaluated(&one) + evaluated(&two) <= evaluated(&cold) + 1, "{one:?} {two:?} {cold:?}");
    let (Reply::Scored(warm), Reply::Scored(cold)) = (&two[0], &cold[0]) else { panic!("not scored") };
    assert!((warm.labels[1].sum() - cold.labels[1].sum()).abs() < 0.5);
    assert!(warm.labels[1].sum() > warm.labels[0].sum());
}

fn opening(index: usize) -> String {
    format!("Chapter {index}. Once upon a time there was a")
}

/// A prompt that a model goes on from at any length.
fn story(index: usize, max_tokens: u32) -> Job {
    write(&opening(index), max_tokens, Sampling::Greedy)
}

/// Other company rounds other numbers: a reply may go another way where two tokens are as good as tied, and nowhere else.
#[test]
fn replies_side_by_side_are_those_one_by_one_but_for_near_ties() {
    /// Twice what was measured as the largest move of a lead on this model.
    const NEAR: f32 = 0.8;
    let jobs: Vec<Job> = (0..8).map(|index| story(index, 24)).collect();
    let mut replies = [8, 1].map(|parallel| {
        let mut engine =
            models::llama::Llama::open(&LoadSpec { parallel, ..spec() }).expect("the model loads");
        let found = answers(&mut engine, &jobs);
        found.into_iter().map(|reply| match reply {
            Reply::Generated(text) => text,
            other => panic!("{other:?}"),
        })
    });
    let mut engine = engine(2);
    let [together, alone] = &mut replies;
    let mut judged = 0;
    for (index, (a, b)) in together.zip(alone).enumerate() {
        match parting(&mut engine, &story(index, 1), &a, &b) {
            Parting::Never => judged += 1,
            Parting::Unknown => {}
            Parting::Lead(at, lead) => {
                judged += 1;
                assert!(lead < NEAR, "reply {index} parts at token {at} where the best one leads by {lead}");
            }
        }
    }
    assert!(judged >= 5, "{judged} of 8 replies are equal, or part where it could be judged");
}

#[test]
fn replies_join_and_leave_at_every_step() {
    const PLACES: u32 = 3;
    let jobs: Vec<Job> = (0..12).map(|index| story(index, [4, 25, 11, 18][index % 4])).collect();
    let mut engine =
        models::llama::Llama::open(&LoadSpec { parallel: PLACES, ..spec() }).expect("the model loads");
    let mut steps = 0;
    let reply = engine.round(&jobs, &mut |_| steps += 1).expect("a round");
    engine.end_group();
    let written: Vec<u32> = reply.replies.iter().map(|reply| reply.usage().output_tokens).collect();
    // List scheduling: nobody waits while a place is free, so the last one begins before total / places. One step more
    // for each reply's prompt.
    let (total, longest) = (written.iter().sum::<u32>(), written.iter().max().expect("replies"));
    let most = total / PLACES + longest + jobs.len() as u32;
    assert!(steps <= most, "{steps} steps, at most {most}; {written:?}");
    // In waves of three in order, each as long as its longest.
    let waves: u32 = written.chunks(3).map(|wave| wave.iter().max().expect("a reply") + 1).sum();
    assert!(steps < waves, "{steps} steps, {waves} in waves; {written:?}");
    assert!(reply.phases.iter().any(|phase| phase.kind == models::PhaseKind::Mixed), "{:?}", reply.phases);
}

#[test]
fn more_replies_to_one_prompt_than_can_be_written_side_by_side_are_all_written() {
    let jobs: Vec<Job> = (0..5).map(|_| story(1, 6)).collect();
    let mut engine =
        models::llama::Llama::open(&LoadSpec { parallel: 2, ..spec() }).expect("the model loads");
    let tokens = |reply: Reply| match reply {
        Reply::Generated(text) => text.tokens,
        other => panic!("{other:?}"),
    };
    let written: Vec<Vec<i32>> = answers(&mut engine, &jobs).into_iter().map(tokens).collect();
    assert!(written.iter().all(|tokens| tokens.len() == 6), "{written:?}");
}

#[test]
fn more_replies_to_one_prompt_than_a_call_has_room_for_are_all_written() {
    let spec = LoadSpec { model: crate::support::fixture("tiny-vlm.gguf"), context_tokens: 256, ..spec() };
    // One cache for all, and one for the replies.
    for cells in [1024, 8192] {
        let spec = LoadSpec { parallel: 12, batch_tokens: 8, cells, ..spec.clone() };
        let mut engine = models::llama::Llama::open(&spec).expect("the model loads");
        let jobs: Vec<Job> = (0..12).map(|_| write("the red square", 5, Sampling::Greedy)).collect();
        for reply in answers(&mut engine, &jobs) {
            assert!(
                matches!(&reply, Reply::Generated(text) if !text.tokens.is_empty()),
                "{cells}: {reply:?}"
            );
        }
    }
}

#[test]
fn small_caches_let_fewer_in_at_once_and_answer_all_the_same() {
    let jobs = jobs("grammar", 12, &["direct", "cot-prefix", "free-cot"], 16);
    let spec = |cells, sequences, parallel| LoadSpec {
        cells,
        sequences,
        parallel,
        context_tokens: 256,
        batch_tokens: 128,
        ..spec()
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
        let spec =
            LoadSpec { cells: 512, sequences, parallel: 4, context_tokens: 256, batch_tokens: 128, ..spec() };
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

#[test]
fn kvc_06_twenty_items_twice_in_exact_mode_are_equal_to_the_byte() {
    let numbers = "one two three four five six seven eight nine ten".split(' ').collect::<Vec<_>>();
    let text = |from: usize| format!("{} and then", numbers[from..from + 5].join(" "));
    let written = |from| write(&text(from), 4, Sampling::Greedy);
    // Twenty short items: what is reused does not depend on their length.
    let scored =
        (0..5).flat_map(|from| [" six", " seven"].map(|label| score(&text(from), &[label, " nine"])));
    let jobs: Vec<Job> = scored.chain((0..5).flat_map(|from| [written(from), written(from)])).collect();
    assert_eq!(jobs.len(), 20);
    let mut engine = engine_in(Mode::Exact, 2);
    let first = untimed(answers(&mut engine, &jobs));
    assert_eq!(untimed(answers(&mut engine, &jobs)), first);
    // What makes it so: nothing is reused.
    assert!(
        first.iter().all(|reply| reply.usage().evaluated_tokens >= reply.usage().prompt_tokens),
        "{first:?}"
    );
}

#[test]
fn kvc_08_rows_read_at_three_places_of_one_batch_are_those_of_three_decodes() {
    const COUNT: &str = "one two three four five six seven eight nine";
    let labels = [" four", " eight", " ten"];
    let probes: Vec<Job> = [3, 7, 9]
        .map(|words| COUNT.splitn(words + 1, ' ').take(words).collect::<Vec<_>>().join(" "))
        .iter()
        .map(|text| score(text, &labels))
        .collect();
    let sums = |reply: &Reply| match reply {
        Reply::Scored(scored) => scored.labels.iter().map(|label| label.sum()).collect::<Vec<_>>(),
        other => panic!("{other:?}"),
    };
    let mut engine = engine(2);
    let together = answers(&mut engine, &probes);
    // The three prompts are one run of tokens, read at three places.
    let evaluated: u32 = together.iter().map(|reply| reply.usage().evaluated_tokens).sum();
    let longest = together.iter().map(|reply| reply.usage().prompt_tokens).max().expect("replies");
    assert!(evaluated <= longest + 3, "{evaluated} of {longest}");
    for ((place, probe), together) in probes.iter().enumerate().zip(&together) {
        let (together, alone) = (sums(together), sums(&answer(&mut engine, probe)));
        for (a, b) in together.iter().zip(&alone) {
            assert!((a - b).abs() < 0.5, "place {place}: {together:?}, alone {alone:?}");
        }
        // Each place has a row of its own: the count goes on differently.
        let best = (0..3).max_by(|a, b| together[*a].total_cmp(&together[*b]));
        assert_eq!(best, Some(place), "{together:?}");
    }
}
