//! Comparisons of made-up runs, with figures by hand.

use std::path::Path;

use datasets::{NoAnswer, Said, Skip, Verdict};
use models::{LabelScore, Reply, Scored};

use super::side::sides;
use super::*;
use crate::entry::{GroupRef, ItemRecord, MemoryUse, ModelRecord};
use crate::memory::Peaks;
use crate::report::made_up::{item, run, turn, turns};
use crate::report::{Extent, RunLog};
use crate::statistics::Ranged;

fn options() -> Options {
    Options { margin: 0.03, allow: Vec::new(), seed: 1 }
}

/// A run of one model with this name.
fn made(name: &str, items: Vec<ItemRecord>) -> RunLog {
    let mut run = run(&["lights"], items);
    run.header.models[0].name = name.to_owned();
    run
}

fn side(run: RunLog) -> Side {
    sides(&run, Path::new("runs/x")).remove(0)
}

/// Items of the direct interface; a letter per item: r right, w wrong, u unanswered, s skipped.
fn answers(verdicts: &str) -> Vec<ItemRecord> {
    let of = |(at, letter): (usize, char)| {
        let verdict = match letter {
            'r' => Verdict::Right,
            'w' => Verdict::Wrong,
            'u' => Verdict::Unanswered(NoAnswer::Unparsed),
            _ => Verdict::Skipped(Skip::TooLong),
        };
        item(0, &format!("i{at:04}"), &[], "direct", verdict)
    };
    verdicts.chars().enumerate().map(of).collect()
}

fn by_item(row: &Row) -> f64 {
    row.mcnemar.unwrap().two_sided
}

fn compared(reference: &str, candidate: &str) -> Comparison {
    let sides = [side(made("Q8_0", answers(reference))), side(made("Q4_K_M", answers(candidate)))];
    compare(&sides, &options()).unwrap()
}

fn refused(change: impl Fn(&mut RunLog)) -> String {
    let mut other = made("Q4_K_M", answers("rr"));
    change(&mut other);
    let sides = [side(made("Q8_0", answers("rr"))), side(other)];
    let failure = compare(&sides, &options()).unwrap_err();
    assert_eq!(failure.exit, Exit::Mismatch);
    failure.message
}

#[test]
fn flips_and_accuracies_are_counted_by_pairs() {
    let comparison = compared("rrrrwwwwrru", "rrwwrwwwwww");
    let row = &comparison.rows[0];
    assert_eq!((row.pairs, row.both_right, row.only_reference), (11, 2, 4));
    assert_eq!((row.only_candidate, row.both_wrong), (1, 4));
    assert_eq!(row.accuracy_reference, Some(6.0 / 11.0));
    assert!((row.difference.value.unwrap() + 3.0 / 11.0).abs() < 1e-12);
    // 2 (1 + 5) / 2^5
    assert!((by_item(row) - 0.375).abs() < 1e-12 && (row.by_family.unwrap().two_sided - 0.375).abs() < 1e-12);
}

#[test]
fn items_missing_on_one_side_and_items_not_asked_are_told_and_left_out() {
    let comparison = compared("rrrrs", "wrr");
    let row = &comparison.rows[0];
    assert_eq!((row.pairs, row.missing_in_candidate, row.not_counted), (3, 2, 0));
    let row = compared("rrs", "rwrww").rows.remove(0);
    assert_eq!((row.pairs, row.missing_in_reference, row.not_counted), (2, 2, 1));
    assert!(
        comparison
            .notes
            .iter()
            .any(|note| note.starts_with("Q4_K_M / ") && note.ends_with(": 2 items are in one log alone")),
        "{comparison:?}"
    );
}

#[test]
fn stat_01_equal_answers_give_p_one_and_no_certainty() {
    let row = compared("rrwwrrwwrrww", "rrwwrrwwrrww").rows.remove(0);
    assert_eq!((by_item(&row), row.holm, row.difference.value), (1.0, Some(1.0), Some(0.0)));
    assert!(row.difference.low.unwrap() < -0.1 && row.difference.high.unwrap() > 0.1, "{row:?}");
    assert_eq!(row.difference.method, Some(estimate::Method::Score));
}

#[test]
fn all_lost_one_pair_and_no_pair_have_figures_or_none() {
    let row = compared("rrrrrrrrrrrrrrrrrrrr", "wwwwwwwwwwwwwwwwwwww").rows.remove(0);
    assert_eq!((row.difference.value, row.difference.low), (Some(-1.0), Some(-1.0)));
    assert!(row.difference.high.unwrap() > -1.0, "twenty items are no certainty");
    let row = compared("r", "w").rows.remove(0);
    assert!(row.difference.high.unwrap() > 0.5 && by_item(&row) == 1.0, "{row:?}");
    let comparison = compared("s", "r");
    let row = &comparison.rows[0];
    assert_eq!((row.pairs, row.accuracy_reference, row.difference.value), (0, None, None));
    assert_eq!((row.mcnemar, row.by_family, row.holm), (None, None, None), "nothing was tested");
    let table = tables(&comparison).into_iter().find(|table| table.title == DIFFERENCES).unwrap();
    assert_eq!(table.rows[0][3..], ["-"; 8]);
    assert!(comparison.sentences[0].contains("no verdict"), "{:?}", comparison.sentences);
}

#[test]
fn what_does_not_match_is_refused_by_name() {
    let named = [
        (refused(|run| run.header.tasks[0].version = 2), "task lights: version is 1 and 2"),
        (
            refused(|run| run.header.tasks[0].items_sha256 = "ab".into()),
            "task lights: items_sha256 is  and ab",
        ),
        (
            refused(|run| run.header.tasks[0].params_json = r#"{"depth":3}"#.into()),
            "params.depth is null and 3",
        ),
        (refused(|run| run.header.reading_version = 2), "reading_version is 1 and 2"),
        (refused(|run| run.header.models[0].template_sha256 = "cd".into()), "template_sha256 is  and cd"),
        (
            refused(|run| {
                run.header.config_json = run.header.config_json.replace(r#""seed":1"#, r#""seed":2"#)
            }),
            "seed is 1 and 2",
        ),
        (
            refused(|run| {
                run.header.config_json =
                    run.header.config_json.replace(r#""asking":{}"#, r#""asking":{"max-tokens":9}"#);
            }),
            "asking.max-tokens is null and 9",
        ),
    ];
    for (message, words) in named {
        assert!(message.contains(words) && message.contains("--allow "), "{message}");
    }
}

#[test]
fn a_prompt_that_differs_is_refused_with_its_item_and_can_be_allowed() {
    let asked = |name, hash: u8| {
        let mut items = answers("rw");
        for item in &mut items {
            item.turns.push(turn(0, Said::Choice(0)));
            item.turns[0].prompt_hash = [hash; 8];
        }
        side(made(name, items))
    };
    let sides = [asked("a", 1), asked("b", 2)];
    let message = compare(&sides, &options()).unwrap_err().message;
    assert!(
        message.contains("prompt_hash of 2 prompts differs, the first: task lights, item i0000"),
        "{message}"
    );
    let allowed = Options { allow: vec!["prompts".to_owned()], ..options() };
    let comparison = compare(&sides, &allowed).unwrap();
    assert!(
        comparison.notes.iter().any(|note| note.contains("as allowed: prompt_hash")),
        "{:?}",
        comparison.notes
    );
}

#[test]
fn different_models_may_have_different_templates() {
    let mut other = made("other", answers("rw"));
    other.header.models[0] = ModelRecord {
        name: "other".to_owned(),
        architecture: "llama".to_owned(),
        template_sha256: "cd".to_owned(),
        ..ModelRecord::default()
    };
    let comparison = compare(&[side(made("m", answers("rw"))), side(other)], &options()).unwrap();
    assert!(comparison.notes.iter().any(|note| note.contains("own chat template")), "{:?}", comparison.notes);
}

#[test]
fn distributions_over_labels_and_the_first_slot_are_compared() {
    let asked = |name, logprobs: [f32; 2], said: u16| {
        let mut items = answers("rrrr");
        for item in &mut items {
            item.turns.push(turn(0, Said::Choice(said)));
            let label = |logprob| LabelScore { tokens: vec![1], logprobs: vec![logprob], rank: 1 };
            item.turns[0]
                .replies
                .push(Reply::Scored(Scored { labels: logprobs.map(label).to_vec(), ..Scored::default() }));
        }
        side(made(name, items))
    };
    // (1/2, 1/2) and (3/4, 1/4): KL = ln(2/3)/2 + ln(2)/2, total variation 1/4.
    let third = 3.0_f32.ln();
    let comparison = compare(&[asked("a", [0.0, 0.0], 1), asked("b", [third, 0.0], 0)], &options()).unwrap();
    let labels = &comparison.rows[0].labels;
    let kl = 0.5 * (2.0_f64 / 3.0).ln() + 0.5 * 2.0_f64.ln();
    assert!((labels.kl.unwrap() - kl).abs() < 1e-6 && (labels.total_variation.unwrap() - 0.25).abs() < 1e-6);
    assert_eq!((labels.scored, labels.same_answer), (4, Some(0.0)));
    assert_eq!((labels.first_slot_reference, labels.first_slot_candidate), (Some(0.0), Some(1.0)));
    assert_eq!(labels.first_slot_shift.value, Some(1.0));
}

#[test]
fn the_effect_of_reasoning_is_compared_by_item() {
    let both = |name, direct: &str, reasoned: &str| {
        let mut items = answers(direct);
        items.extend(answers(reasoned).into_iter().map(|mut item| {
            item.interface = "free-cot".to_owned();
            item
        }));
        side(made(name, items))
    };
    // Effects +2/8 and -1/8; item by item the candidate gains -1 on three of eight.
    let comparison =
        compare(&[both("a", "wwrrrrww", "rrrrrrww"), both("b", "wwrrrrww", "wwrrrwww")], &options()).unwrap();
    assert_eq!(comparison.effects.len(), 2);
    assert_eq!((comparison.effects[0].effect.value, &comparison.effects[0].interaction), (Some(0.25), &None));
    let candidate = &comparison.effects[1];
    let interaction = candidate.interaction.as_ref().unwrap();
    assert_eq!((candidate.effect.value, interaction.difference.value), (Some(-0.125), Some(-0.375)));
    // Three families, all one way: 2 / 2^3.
    assert!((interaction.test.two_sided - 0.25).abs() < 1e-12 && interaction.items == 8);
}

#[test]
fn families_are_the_witnesses() {
    let of = |name, letters: &str| {
        let mut items = answers(letters);
        for (at, item) in items.iter_mut().enumerate() {
            item.family = format!("f{}", at / 6);
        }
        side(made(name, items))
    };
    let sides = [of("a", &"rrrrrr".repeat(3)), of("b", "wwwwwwrrrrrrwwwwww"), of("c", "wwwwwwrrrrrrwwwwww")];
    let comparison = compare(&sides, &options()).unwrap();
    let row = &comparison.rows[0];
    assert!(by_item(row) < 0.001, "twelve losses and no gain");
    let by_family = row.by_family.unwrap();
    assert_eq!((by_family.two_sided, by_family.families, row.families), (0.5, 2, 3));
    assert!(row.difference.design_effect > 5.0, "{row:?}");
    let few = comparison.notes.iter().filter(|note| note.contains("18 items from 3")).count();
    assert_eq!(few, 1, "once for both candidates: {:?}", comparison.notes);
}

#[test]
fn verdicts_say_what_can_be_said() {
    let sentence = |reference: &str, candidate: &str| compared(reference, candidate).sentences.remove(0);
    let enough = sentence(&"rw".repeat(600), &"rw".repeat(600));
    assert!(enough.starts_with("Q4_K_M, direct: no loss larger than 0."), "{enough}");
    let few = sentence(&"rw".repeat(20), &format!("{}wwrr", "rw".repeat(18)));
    assert!(
        few.contains("not enough items: +0.0 points here")
            && few.contains("more items from new families would settle"),
        "{few}"
    );
    let worse = sentence(&"r".repeat(200), &format!("{}{}", "r".repeat(150), "w".repeat(50)));
    assert!(worse.contains("loses 25.0 points (95 %: -"), "{worse}");
    let better = sentence(&"w".repeat(200), &format!("{}{}", "r".repeat(150), "w".repeat(50)));
    assert!(better.contains("gains 75.0 points"), "{better}");
}

#[test]
fn time_and_size_are_ratios_and_absent_where_not_measured() {
    let timed = |name, us, bytes| {
        let mut items = answers("rrrr");
        items.iter_mut().for_each(|item| item.usage.prefill_us = us);
        let mut run = made(name, items);
        run.header.models[0].file_bytes = bytes;
        side(run)
    };
    let comparison = compare(&[timed("a", 1000, 800), timed("b", 500, 400)], &options()).unwrap();
    assert_eq!(comparison.rows[0].time_ratio, Some(0.5));
    assert!(
        comparison.sentences[0].ends_with("2.00x as fast; 0.50x file size"),
        "{:?}",
        comparison.sentences
    );
    assert_eq!(compared("rr", "rr").rows[0].time_ratio, None);
}

#[test]
fn ratios_are_told_by_round_where_both_sides_answered_the_same_in_it() {
    let comparison = compare(&sides(&turns(), Path::new("runs/x")), &options()).unwrap();
    let rounds = &comparison.rows[0].rounds;
    // 3 s against 4 s, then 10 s against 10 s; 40 J against 80 J, then 80 J against 100 J.
    let over = |median, low, high| Ranged { n: 2, median: Some(median), low: Some(low), high: Some(high) };
    assert_eq!((rounds.time, rounds.energy), (over(0.875, 0.75, 1.0), over(0.65, 0.5, 0.8)));
    assert_eq!(rounds.each.iter().map(|round| round.pairs).collect::<Vec<_>>(), [2, 2]);
    assert_eq!(comparison.rows[0].time_ratio, Some(13.0 / 14.0), "the pooled ratio stays");
    let sentence = &comparison.sentences[0];
    assert!(sentence.contains("1.14x as fast (median of 2 rounds, 1.00 to 1.33)"), "{sentence}");
    assert!(sentence.contains("0.65x energy (median of 2 rounds, 0.50 to 0.80)"), "{sentence}");
    let text = text(&comparison, None, Extent::Brief);
    assert!(text.contains("0.88 (0.75 to 1.00)") && text.contains("0.65 (0.50 to 0.80)"), "{text}");
}

#[test]
fn a_drift_that_falls_on_both_sides_leaves_the_ratio_alone() {
    let mut run = turns();
    for item in &mut run.items {
        let late = ["i2", "i3"].contains(&item.item.as_str());
        item.usage.prefill_us = 1_000_000 * if late { 3 } else { 1 } * if item.at.model == 0 { 4 } else { 1 };
    }
    let comparison = compare(&sides(&run, Path::new("runs/x")), &options()).unwrap();
    let time = comparison.rows[0].rounds.time;
    assert_eq!((time.low, time.median, time.high), (Some(0.25), Some(0.25), Some(0.25)));
}

#[test]
fn runs_of_their_own_share_no_round_and_repetitions_add_theirs() {
    let apart = |name: &str, id: &str| {
        let mut run = made(name, answers("rr"));
        run.header.run_id = id.to_owned();
        run.items.iter_mut().for_each(|item| item.usage.prefill_us = 1000);
        side(run)
    };
    let comparison = compare(&[apart("a", "1"), apart("b", "2")], &options()).unwrap();
    assert!(comparison.rows[0].rounds.each.is_empty() && comparison.rows[0].time_ratio.is_some());
    // A repetition in which the candidate takes 4 s and 20 s against 4 s and 10 s.
    let mut again = turns();
    again.header.run_id = "again".to_owned();
    let slow = [("i0", 2), ("i1", 2), ("i2", 10), ("i3", 10)];
    for item in again.items.iter_mut().filter(|item| item.at.model == 1) {
        let seconds = slow.iter().find(|(id, _)| *id == item.item).unwrap().1;
        item.usage.prefill_us = 1_000_000 * seconds;
    }
    let mut both = sides(&turns(), Path::new("runs/x"));
    for (side, own) in both.iter_mut().zip(sides(&again, Path::new("runs/y"))) {
        side.repeats.push(std::rc::Rc::new(own));
    }
    let comparison = compare(&both, &options()).unwrap();
    let time = comparison.rows[0].rounds.time;
    // 0.75, 1, 1 and 2.
    assert_eq!((time.n, time.median, time.low, time.high), (4, Some(1.0), Some(0.75), Some(2.0)));
    assert_eq!(
        comparison.rows[0].time_ratio,
        Some(13.0 / 14.0),
        "answers and pooled figures are the first run's"
    );
}

#[test]
fn what_is_noted_of_the_reference_is_told_once() {
    let of = |name| side(made(name, answers("rr")));
    let comparison = compare(&[of("a"), of("b"), of("c")], &options()).unwrap();
    let told = |words: &str| comparison.notes.iter().filter(|note| note.starts_with(words)).count();
    assert_eq!([told("a: the run is not complete"), told("b: the run"), told("c: the run")], [1, 1, 1]);
}

#[test]
fn peak_memory_is_told_model_by_model_where_it_was_measured() {
    let mut run = turns();
    let used = |group, model, high_water_bytes| MemoryUse {
        at: GroupRef { group, model, task: 0 },
        peaks: Peaks { high_water_bytes, ..Peaks::default() },
        storm: false,
    };
    run.memory_uses = vec![used(0, 0, 600 << 20), used(1, 0, 800 << 20), used(2, 1, 400 << 20)];
    let sides = |run: &RunLog| compare(&sides(run, Path::new("x")), &options()).unwrap();
    let told = sides(&run);
    assert_eq!((told.reference.peak_bytes, told.candidates[0].peak_ratio), (Some(800 << 20), Some(0.5)));
    assert!(told.sentences[0].ends_with("0.50x peak memory"), "{:?}", told.sentences);
    // A system that does not tell is no model without memory.
    run.memory_uses[2].peaks.high_water_bytes = 0;
    assert_eq!((sides(&run).candidates[0].peak_bytes, sides(&run).candidates[0].peak_ratio), (None, None));
}

#[test]
fn holm_counts_every_row() {
    let candidates = ["a", "b", "c"].map(|name| side(made(name, answers(&"w".repeat(8)))));
    let [a, b, c] = candidates;
    let comparison = compare(&[side(made("m", answers(&"r".repeat(8)))), a, b, c], &options()).unwrap();
    // 2 / 2^8 each, three of them.
    assert!(
        comparison.rows.iter().all(|row| (row.holm.unwrap() - 6.0 / 256.0).abs() < 1e-12),
        "{:?}",
        comparison.rows
    );
}

#[test]
fn models_called_alike_are_told_apart() {
    let named = |dir| sides(&made("m", answers("r")), Path::new(dir)).remove(0);
    let names =
        |sides: Vec<Side>| names::distinct(sides).into_iter().map(|side| side.name).collect::<Vec<_>>();
    assert_eq!(names(vec![named("runs/a"), named("runs/b")]), ["m @ a", "m @ b"]);
    assert_eq!(names(vec![named("x/a"), named("y/a")]), ["m @ a (1)", "m @ a (2)"]);
}

#[test]
fn every_column_is_documented_and_has_a_field() {
    let page = include_str!("../../../docs/compare.md");
    let named = |line: &str| Some(line.strip_prefix("| `")?.split_once('`')?.0.to_owned());
    let table = page.split("## Columns").nth(1).unwrap();
    assert_eq!(table.lines().filter_map(named).collect::<Vec<_>>(), COLUMNS);
    let mut out = Vec::new();
    write_csv(&compared("rrw", "rww"), &mut out).unwrap();
    let mut reader = ::csv::Reader::from_reader(&out[..]);
    let rows: Vec<::csv::StringRecord> = reader.records().collect::<Result<_, _>>().unwrap();
    assert_eq!((rows.len(), rows[0].len()), (1, COLUMNS.len()));
    assert_eq!((&rows[0][0], &rows[0][10], &rows[0][18]), ("Q8_0", "1", "score"));
}

#[test]
fn the_text_ends_in_the_verdicts() {
    let comparison = compared("rrw", "rww");
    let text = text(&comparison, None, Extent::Brief);
    assert!(text.trim_end().ends_with(&comparison.sentences[0]), "{text}");
}

#[test]
fn intervals_end_where_no_mean_can_lie() {
    // Two families, one degree of freedom: its t quantile is 12.7.
    let wide = estimate::estimate(&[("a", 0.5), ("b", -0.5)], 1, &["test"]);
    assert!(wide.low.is_some_and(|low| low < -1.0) && wide.high.is_some_and(|high| high > 1.0), "{wide:?}");
    let within = wide.within(1.0);
    assert_eq!((within.low, within.high, within.value), (Some(-1.0), Some(1.0), Some(0.0)));
}

#[test]
fn a_reference_that_guesses_has_nothing_to_lose_and_the_sentence_says_so() {
    let of = |name, verdicts: &str| {
        let mut items = answers(verdicts);
        items.iter_mut().for_each(|item| item.turns = vec![turn(0, Said::Choice(0))]);
        side(made(name, items))
    };
    let sentence = |reference: &str| {
        let comparison = compare(&[of("a", reference), of("b", reference)], &options()).unwrap();
        (comparison.rows[0].reference_guesses, comparison.sentences[0].clone())
    };
    // Two labels: half of the answers are right by chance. 50 % is no more than that, 75 % of 400 is.
    let (guesses, words) = sentence(&"rw".repeat(200));
    assert!(
        guesses && words.contains("but a does not surely beat chance, where there is nothing to lose"),
        "{words}"
    );
    let (guesses, words) = sentence(&"rrrw".repeat(100));
    assert!(!guesses && !words.contains("chance"), "{words}");
    // Without labels the chance level is not known.
    assert!(!compared(&"rw".repeat(200), &"rw".repeat(200)).rows[0].reference_guesses);
}

#[test]
fn of_many_conditions_those_that_vary_nothing_are_shown_with_their_own_sentences() {
    let conditions =
        ["direct", "cot-prefix", "direct+labels=numbers", "direct+end=hint", "cot-prefix+cue=raw"];
    let asked = |count: usize| {
        let of = |condition: &&str| {
            let verdicts = [Verdict::Right, Verdict::Wrong, Verdict::Right];
            let items = verdicts.into_iter().enumerate();
            items.map(|(at, verdict)| item(0, &format!("i{at}"), &[], condition, verdict)).collect::<Vec<_>>()
        };
        let one = |name| {
            let mut run = made(name, conditions[..count].iter().flat_map(of).collect());
            run.header.tasks[0].interfaces =
                conditions[..count].iter().map(|name| name.to_string()).collect();
            side(run)
        };
        compare(&[one("Q8_0"), one("Q4_0")], &options()).unwrap()
    };
    let many = asked(5);
    assert_eq!(many.sentences.len(), 5);
    let brief = text(&many, None, Extent::Brief);
    assert!(brief.contains("Q4_0, direct: ") && brief.contains("Q4_0, cot-prefix: "), "{brief}");
    assert!(!brief.contains("labels=") && !brief.contains("+end") && !brief.contains("+cue"), "{brief}");
    assert!(
        brief.ends_with(
            "Left out: 3 conditions that vary something; --all-rows, --csv and --json have them.\n"
        )
    );
    for (comparison, extent) in [(&many, Extent::Whole), (&asked(4), Extent::Brief)] {
        let whole = text(comparison, None, extent);
        assert!(whole.contains("Q4_0, direct+end=hint: ") && !whole.contains("Left out"), "{whole}");
    }
}

/// A run of `logic` with two cues: 40 items each, of which the second task has the prompts of the first where `same`.
fn of_two_cues(name: &str, same: bool, right: impl Fn(usize) -> bool) -> Side {
    let mut items = Vec::new();
    for task in 0..2u16 {
        for at in 0..40_usize {
            let verdict = if right(at) { Verdict::Right } else { Verdict::Wrong };
            let mut item = item(task, &format!("p{at:02}"), &[], "direct", verdict);
            item.turns = vec![turn(0, Said::Choice(u16::from(!right(at))))];
            item.turns[0].prompt_hash = [1 + at as u8 + if same { 0 } else { 100 * task as u8 }; 8];
            items.push(item);
        }
    }
    let mut run = run(&["logic", "logic"], items);
    run.header.tasks[1].name = "logic-explain".to_owned();
    run.header.models[0].name = name.to_owned();
    side(run)
}

#[test]
fn questions_that_are_asked_twice_count_once_over_tasks() {
    let of = |same| {
        let reference = of_two_cues("a", same, |at| at < 30);
        let candidate = of_two_cues("b", same, |at| (3..31).contains(&at));
        compare(&[reference, candidate], &options()).unwrap()
    };
    let (once, twice) = (of(true), of(false));
    // Both tasks say the same: that is the interval of one of them, and 80 pairs would make it narrower by the square root of 2.
    let row = &once.rows[0].difference;
    let width = |low: Option<f64>, high: Option<f64>| high.unwrap() - low.unwrap();
    let overall = &once.overall[0];
    assert_eq!((overall.tasks, overall.pairs, overall.difference), (1, 40, Some(-0.05)));
    assert!((width(overall.low, overall.high) - width(row.low, row.high)).abs() < 1e-12, "{overall:?}");
    let both = &twice.overall[0];
    assert_eq!((both.tasks, both.pairs), (2, 80));
    let ratio = width(overall.low, overall.high) / width(both.low, both.high);
    assert!((ratio - 2.0_f64.sqrt()).abs() < 0.05, "{ratio}");
    // Three losses and a gain: 2 (1 + 4) / 2^4, tested once or twice.
    assert!((once.rows[0].holm.unwrap() - 0.625).abs() < 1e-12 && once.rows[1].holm.is_none());
    assert_eq!((twice.rows[0].holm, twice.rows[1].holm), (Some(1.0), Some(1.0)));
    assert_eq!(once.rows[1].repeats.as_deref(), Some("logic"));
    let note = "logic-explain asks the prompts of logic once more through direct: it has no part in the verdict over tasks and in \
                Holm p";
    assert!(once.notes.iter().any(|own| own == note), "{:?}", once.notes);
    assert!(!twice.notes.iter().any(|own| own.contains("once more")), "{:?}", twice.notes);
}

#[test]
fn families_that_share_a_prompt_are_one_witness() {
    let of = |name, verdict| {
        let mut items: Vec<ItemRecord> = answers(&"r".repeat(12));
        for (at, item) in items.iter_mut().enumerate() {
            item.verdict = verdict;
            item.turns = vec![turn(0, Said::Choice(0))];
            item.turns[0].prompt_hash = [1 + at as u8 % 3; 8];
        }
        side(made(name, items))
    };
    let comparison = compare(&[of("a", Verdict::Right), of("b", Verdict::Wrong)], &options()).unwrap();
    let row = &comparison.rows[0];
    // Three prompts that were all lost: 2 / 2^3, where twelve items would give 2 / 2^12.
    assert_eq!((row.pairs, row.families), (12, 3));
    assert!((row.by_family.unwrap().two_sided - 0.25).abs() < 1e-12, "{row:?}");
}

#[test]
fn a_reference_of_one_family_is_not_above_chance() {
    let of = |name, families: usize| {
        let mut items = answers(&"r".repeat(200));
        for (at, item) in items.iter_mut().enumerate() {
            item.family = format!("f{}", at % families);
            item.turns = vec![turn(0, Said::Choice(0))];
        }
        side(made(name, items))
    };
    let guesses = |families| {
        let comparison = compare(&[of("a", families), of("b", families)], &options()).unwrap();
        comparison.rows[0].reference_guesses
    };
    // All of 200 items are right, and half would be by chance.
    assert_eq!([1, 2, 20, 200].map(guesses), [true, false, false, false]);
}

#[test]
fn speed_beside_other_programs_is_told() {
    let mut run = turns();
    let sides = |run: &RunLog| compare(&sides(run, Path::new("x")), &options()).unwrap().notes;
    assert!(!sides(&run).iter().any(|note| note.contains("other programs")), "not measured");
    // Groups of 60 s each: the mean of 400 and 100 thousandths for a, 50 for b.
    for (_, window) in &mut run.measured.windows {
        let group = window.group.unwrap().group;
        window.state.others_permille = Some(match (window.model, group) {
            (0, 0) => 400,
            (0, _) => 100,
            _ => 50,
        });
    }
    let notes = sides(&run);
    let told: Vec<&String> = notes.iter().filter(|note| note.contains("other programs")).collect();
    assert_eq!(told.len(), 1, "{notes:?}");
    assert!(told[0].starts_with("a: other programs took 25 % of all processors"), "{told:?}");
}

#[test]
fn small_probabilities_are_no_zeros() {
    let comparison = compared(&"r".repeat(60), &"w".repeat(60));
    let table = tables(&comparison).into_iter().find(|table| table.title == DIFFERENCES).unwrap();
    assert_eq!(table.rows[0][5..10], ["<0.0001"; 5]);
}
