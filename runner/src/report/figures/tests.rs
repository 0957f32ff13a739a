//! Means by hand.

use datasets::{NoAnswer, Skip, Verdict};

use super::*;
use crate::report::made_up::{item, run, scores, text, turn};

fn find<'a>(rows: &'a [FigureRow], task: &str, figure: &str, by: &[(&str, &str)]) -> &'a FigureRow {
    let by: Values = by.iter().map(|(tag, value)| ((*tag).to_owned(), (*value).to_owned())).collect();
    let found = rows.iter().find(|row| row.task == task && row.figure == figure && row.by == by);
    found.unwrap_or_else(|| panic!("{task} {figure} {by:?} is not in {rows:#?}"))
}

#[test]
fn scores_are_averaged_over_the_items_that_have_them() {
    let learner = |id, verdict, of: &[(&str, f64)]| {
        let mut item = item(0, id, &[], "direct", verdict);
        item.scores = scores(of);
        item
    };
    let run = run(
        &["vehicles"],
        vec![
            learner(
                "a",
                Verdict::Right,
                &[("rounds", 3.0), ("solved", 1.0), ("correct_pass_01", 6.0), ("correct_pass_02", 10.0)],
            ),
            // Cut in its second pass.
            learner(
                "b",
                Verdict::Unanswered(NoAnswer::Truncated),
                &[("rounds", 15.0), ("solved", 0.0), ("correct_pass_01", 4.0)],
            ),
            learner("c", Verdict::Skipped(Skip::TooLong), &[]),
        ],
    );
    let rows = figures(&run, &[]);
    let value = |figure: &str| {
        let row = find(&rows, "vehicles", figure, &[]);
        (row.value, row.n)
    };
    assert_eq!(value("rounds"), (Some(9.0), 2));
    assert_eq!(value("solved"), (Some(0.5), 2));
    assert_eq!(value("correct_pass_01"), (Some(5.0), 2));
    assert_eq!(value("correct_pass_02"), (Some(10.0), 1));
    assert_eq!((value("accuracy"), value("no answer")), ((Some(0.5), 2), (Some(0.5), 2)));
}

#[test]
fn a_learning_curve_stays_in_order_when_the_first_item_ended_early() {
    let names = |of: &[(&str, f64)]| {
        let mut item = item(0, "x", &[], "direct", Verdict::Wrong);
        item.scores = scores(of);
        item
    };
    let short = names(&[("rounds", 1.0), ("correct_pass_01", 1.0), ("correct_pass_03", 1.0)]);
    let long = names(&[
        ("rounds", 1.0),
        ("correct_pass_01", 1.0),
        ("correct_pass_02", 1.0),
        ("correct_pass_03", 1.0),
    ]);
    let rows = figures(&run(&["vehicles"], vec![short, long]), &[]);
    let names: Vec<&str> = rows.iter().map(|row| row.figure.as_str()).skip(2).collect();
    assert_eq!(names, ["rounds", "correct_pass_01", "correct_pass_02", "correct_pass_03"]);
}

#[test]
fn route_kinds_are_distributed_by_type_and_overall() {
    let chose = |id, route_type, kind: &str| {
        let mut item = item(0, id, &[("type", route_type)], "direct", Verdict::Wrong);
        item.scores = ["avoidant", "hybrid", "reversed", "shortest"]
            .map(|name| (name.to_owned(), f64::from(u8::from(name == kind))))
            .to_vec();
        item
    };
    let run = run(
        &["iip"],
        vec![
            chose("a", "I", "hybrid"),
            chose("b", "I", "shortest"),
            chose("c", "IV", "hybrid"),
            chose("d", "IV", "hybrid"),
        ],
    );
    let rows = figures(&run, &[]);
    let share = |kind, by: &[(&str, &str)]| find(&rows, "iip", kind, by).value;
    assert_eq!(share("hybrid", &[]), Some(0.75));
    assert_eq!(
        (share("hybrid", &[("type", "I")]), share("shortest", &[("type", "I")])),
        (Some(0.5), Some(0.5))
    );
    assert_eq!(
        (share("hybrid", &[("type", "IV")]), share("reversed", &[("type", "IV")])),
        (Some(1.0), Some(0.0))
    );
}

#[test]
fn replies_of_state_tracking_are_counted_and_correlated_with_depth() {
    let reply = |id, depth, reply: &str| {
        let mut item = item(0, id, &[("depth", depth)], "free-cot", Verdict::Wrong);
        item.turns.push(turn(0, datasets::Said::Choice(1)));
        item.turns[0].replies.push(text(reply));
        item
    };
    // Lengths 9, 9, 19: deviations from the means are (-1, 0, 1) and (-10/3, -10/3, 20/3); r = 10 / sqrt(2 * 600/9).
    let run = run(
        &["hand-swap"],
        vec![
            reply("a", "0", "1 + 1 = 2"),
            reply("b", "1", "2 - 1 = 3"),
            reply("c", "2", "nothing to sum up.."),
        ],
    );
    let rows = figures(&run, &[]);
    let r = find(&rows, "hand-swap", "pearson r of response length and depth", &[]);
    assert!((r.value.unwrap() - 0.866_025_403_784).abs() < 1e-9 && r.n == 3, "{r:?}");
    let per_reply = find(&rows, "hand-swap", "arithmetic expressions per reply", &[]);
    assert_eq!((per_reply.value, per_reply.n), (Some(2.0 / 3.0), 3));
    let right = find(&rows, "hand-swap", "arithmetic expressions right", &[]);
    assert_eq!((right.value, right.n), (Some(0.5), 2));
    let of_depth = |figure: &&FigureRow| figure.by == [("depth".to_owned(), "1".to_owned())];
    assert!(
        rows.iter().filter(of_depth).all(|row| !row.figure.starts_with("pearson")),
        "one depth has no correlation with depth"
    );
}

#[test]
fn two_cues_on_the_same_items_are_averaged_and_equal_prompts_are_not() {
    let asked = |task, interface, hash: u8, verdict| {
        let mut item = item(task, "p001", &[("source", "own"), ("conflict", "yes")], interface, verdict);
        item.turns.push(turn(0, datasets::Said::Choice(0)));
        item.turns[0].prompt_hash = [hash; 8];
        item
    };
    let mut run = run(
        &["logic", "logic"],
        vec![
            asked(0, "direct", 1, Verdict::Right),
            asked(1, "direct", 1, Verdict::Right),
            asked(0, "free-cot", 2, Verdict::Right),
            asked(1, "free-cot", 3, Verdict::Wrong),
        ],
    );
    run.header.tasks[1].name = "logic-explain".to_owned();
    run.header.config_json =
        run.header.config_json.replace("[{},{}]", r#"[{"cue":"reason"},{"cue":"explain"}]"#);
    let rows = figures(&run, &[]);
    let mean = "logic (mean of cues reason, explain)";
    let row = find(&rows, mean, "accuracy", &[("conflict", "yes")]);
    assert_eq!((row.value, row.n, row.interface.as_str()), (Some(0.5), 2, "free-cot"));
    assert!(rows.iter().filter(|row| row.task == mean).all(|row| row.interface == "free-cot"));
}

#[test]
fn named_tags_replace_the_tasks_own_strata() {
    let run = run(
        &["lights"],
        vec![item(0, "a", &[("depth", "1"), ("dependent", "true")], "direct", Verdict::Right)],
    );
    let rows = figures(&run, &["dependent".to_owned()]);
    assert_eq!(find(&rows, "lights", "accuracy", &[("dependent", "true")]).value, Some(1.0));
    assert!(rows.iter().all(|row| row.by.iter().all(|(tag, _)| tag != "depth")));
}
