#![allow(irrefutable_let_patterns, reason = "holds whether or not other parts exist")]

use models::Role;

use super::*;
use crate::item::{Ask, Item, Part, Question, Script, Tags};
use crate::reading::Reading;
use crate::verdict::{Loss, Said, Skip};

/// Three cards with golds 0, 1, 0, of which the last is the exception; orders 0 1 2, then 2 1 0, and so on.
fn item(passes: usize) -> Item {
    let cards: Vec<Card> = [("sun", 0, false), ("rain", 1, false), ("snow", 0, true)]
        .map(|(text, gold, exception)| Card {
            text: format!("{text}?"),
            gold,
            truth: format!("It is {gold}."),
            exception,
        })
        .to_vec();
    let first = Question {
        history: Vec::new(),
        stem: vec!["sun?".to_owned().into()],
        ask: Ask { direct: "\nSay 0 or 1.".to_owned(), ..Ask::default() },
        labels: vec!["0".to_owned(), "1".to_owned()],
        options: Vec::new(),
        reading: Reading::Statement,
        gold: Gold::Label(0),
    };
    let orders = (0..passes).map(|pass| if pass % 2 == 0 { vec![0, 1, 2] } else { vec![2, 1, 0] }).collect();
    let [right, wrong, join] = ["Right.", "No.", "\n\n"].map(str::to_owned);
    let passes = Passes { first, cards, orders, right, wrong, join };
    Item {
        id: "x".to_owned(),
        family: "x".to_owned(),
        tags: Tags::new(),
        script: Script::Passes(Box::new(passes)),
    }
}

/// Plays an item; the player turns the number of a question into a verdict.
fn play(item: &Item, player: impl Fn(usize, &Question) -> Verdict) -> (Vec<Question>, Outcome) {
    let mut episode = item.open();
    let mut questions = Vec::new();
    let mut step = episode.next(None);
    loop {
        match step {
            Step::Done(outcome) => return (questions, outcome),
            Step::Ask(question) => {
                let verdict = player(questions.len(), &question);
                let reply = format!("I think (reply {})", questions.len());
                let [Part::Text(stem)] = &question.stem[..] else { panic!("one text") };
                let asked = format!("{stem}{}", question.ask.direct);
                questions.push(*question);
                let said =
                    (!matches!(verdict, Verdict::Skipped(_) | Verdict::Lost(_))).then_some(Said::Choice(0));
                step = episode.next(Some(&Heard { said, verdict, asked, reply }));
            }
        }
    }
}

fn score(outcome: &Outcome, name: &str) -> Option<f64> {
    outcome.scores.iter().find(|(key, _)| key == name).map(|&(_, value)| value)
}

#[test]
fn a_first_pass_without_mistake_ends_the_item() {
    let (questions, outcome) = play(&item(4), |_, _| Verdict::Right);
    assert_eq!(questions.len(), 3);
    assert_eq!(outcome.verdict, Verdict::Right);
    assert_eq!(score(&outcome, "rounds"), Some(1.0));
    assert_eq!(score(&outcome, "solved"), Some(1.0));
    // All passes after it count as learnt.
    let curve: Vec<_> = (1..=5).map(|pass| score(&outcome, &format!("correct_pass_{pass:02}"))).collect();
    assert_eq!(curve, [Some(3.0), Some(3.0), Some(3.0), Some(3.0), None]);
}

#[test]
fn feedback_opens_the_next_turn_and_everything_said_stays_in_view() {
    let right = |n: usize| if n == 0 { Verdict::Wrong } else { Verdict::Right };
    let (questions, _) = play(&item(4), |n, _| right(n));
    assert_eq!(questions.len(), 6);
    assert_eq!(questions[1].stem, ["No. It is 0.\n\nrain?".to_owned().into()]);
    assert_eq!(questions[2].stem, ["Right. It is 1.\n\nsnow?".to_owned().into()]);
    // The second pass has its own order.
    assert_eq!(questions[3].stem, ["Right. It is 0.\n\nsnow?".to_owned().into()]);
    assert_eq!(questions[4].gold, Gold::Label(1));
    for (question, n) in questions.iter().zip(0..) {
        assert_eq!(question.history.len(), 2 * n);
        let roles = question.history.iter().map(|turn| turn.role);
        assert!(roles.zip([Role::User, Role::Assistant].into_iter().cycle()).all(|(a, b)| a == b));
    }
    assert_eq!(questions[5].history[2].text, "No. It is 0.\n\nrain?\nSay 0 or 1.");
    assert_eq!(questions[5].history[3].text, "I think (reply 1)");
    // A later history extends an earlier one: its evaluation can be kept.
    assert_eq!(questions[5].history[..6], questions[3].history[..]);
}

#[test]
fn who_misses_the_exception_for_ever_is_never_done() {
    let (questions, outcome) = play(&item(4), |_, question| {
        let [Part::Text(stem)] = &question.stem[..] else { panic!("one text") };
        if stem.ends_with("snow?") { Verdict::Wrong } else { Verdict::Right }
    });
    assert_eq!(questions.len(), 12);
    assert_eq!(outcome.verdict, Verdict::Wrong);
    for (name, value) in [
        ("rounds", 4.0),
        ("solved", 0.0),
        ("cut", 0.0),
        ("questions", 12.0),
        ("wrong_exception", 4.0),
        ("wrong_regular", 0.0),
        ("correct_pass_04", 2.0),
    ] {
        assert_eq!(score(&outcome, name), Some(value), "{name}");
    }
}

#[test]
fn no_answer_counts_as_wrong_and_is_told_the_truth() {
    let (questions, outcome) =
        play(&item(2), |n, _| if n == 1 { Verdict::Unanswered(NoAnswer::Unparsed) } else { Verdict::Right });
    assert_eq!(questions[2].stem, ["No. It is 1.\n\nsnow?".to_owned().into()]);
    assert_eq!(score(&outcome, "unanswered"), Some(1.0));
    assert_eq!(score(&outcome, "rounds"), Some(2.0));
}

#[test]
fn a_conversation_that_outgrows_the_context_ends_unsolved_and_marked() {
    let (questions, outcome) = play(&item(4), |n, _| match n {
        4 => Verdict::Skipped(Skip::TooLong),
        0 => Verdict::Wrong,
        _ => Verdict::Right,
    });
    assert_eq!(questions.len(), 5);
    assert_eq!(outcome.verdict, Verdict::Unanswered(NoAnswer::Truncated));
    for (name, value) in [("cut", 1.0), ("solved", 0.0), ("rounds", 4.0), ("questions", 4.0)] {
        assert_eq!(score(&outcome, name), Some(value), "{name}");
    }
    assert_eq!(score(&outcome, "correct_pass_01"), Some(2.0));
    assert_eq!(score(&outcome, "correct_pass_02"), None);
}

#[test]
fn a_first_question_that_does_not_fit_is_skipped_and_a_lost_one_is_lost() {
    let skipped = Verdict::Skipped(Skip::TooLong);
    assert_eq!(play(&item(4), |_, _| skipped).1, Outcome { verdict: skipped, scores: Vec::new() });
    let lost = Verdict::Lost(Loss::Deadline);
    let (questions, outcome) = play(&item(4), |n, _| if n == 2 { lost } else { Verdict::Right });
    assert_eq!((questions.len(), outcome), (3, Outcome { verdict: lost, scores: Vec::new() }));
}
