//! Records that are read again, with replies that say what the test says.

use datasets::{NoAnswer, Params, Said, Task, Verdict};
use models::{Finish, Generated};

use super::*;
use crate::entry::GroupRef;
use crate::report::made_up::text;
use crate::track::Track;
use models::{Reply, Usage};

fn of(task: &str, params: &str) -> Vec<Item> {
    let task = Task::named(task).unwrap();
    (task.items)(&Params(params.parse().unwrap()), 1).unwrap()
}

/// Plays an item; `answer` gives the reply to the request with this number.
fn play(item: &Item, interface: &str, settings: &Settings, answer: impl Fn(usize) -> Reply) -> ItemRecord {
    let condition = Condition::named(interface).unwrap();
    let mut track = Track::start(item, &condition, settings);
    for number in 0.. {
        if track.is_over() {
            break;
        }
        let replies = track.asks().iter().map(|_| answer(number)).collect();
        track.answer(replies);
    }
    track.record(GroupRef { group: 0, model: 0, task: 0 }, 1).unwrap()
}

fn again(record: &ItemRecord, item: &Item, settings: &Settings) -> (ItemRecord, Course) {
    replay(record, item, &Condition::named(&record.interface).unwrap(), settings)
}

const READ: Course = Course::Read { unasked: false };

#[test]
fn a_record_of_this_version_reads_as_it_was_read() {
    let settings = Settings::default();
    for (task, params) in [
        ("logic", ""),
        ("lights", "episodes = 1"),
        ("vehicles", "lists = 1\npasses = 3"),
        ("iip", "scenes = 2"),
    ] {
        for item in of(task, params).iter().take(12) {
            for reply in ["Yes", "Answer: [[on]]", "Class A", "Best Route: B\nSteps for Signaling: 2", ""] {
                let record = play(item, "free-cot", &settings, |_| text(reply));
                assert_eq!(again(&record, item, &settings), (record.clone(), READ), "{task} {reply}");
            }
        }
    }
}

#[test]
fn an_answer_that_was_not_read_before_is_read_now() {
    let settings = Settings::default();
    let item = &of("logic", "")[0];
    assert_eq!(item.first_question().gold.label(), Some(1), "the conflict question: No is right");
    let read = play(item, "free-cot", &settings, |_| text("These cannot both be true: No."));
    let mut logged = read.clone();
    logged.verdict = Verdict::Unanswered(NoAnswer::Unparsed);
    logged.turns[0].verdict = logged.verdict;
    logged.turns[0].said = Some(Said::Nothing(NoAnswer::Unparsed));
    logged.usage.output_tokens = 7;
    let (now, course) = again(&logged, item, &settings);
    assert_eq!((now.verdict, course), (Verdict::Right, READ));
    assert_eq!(now.turns, read.turns);
    assert_eq!(now.usage.output_tokens, 7, "what was spent stays");
}

#[test]
fn a_lost_item_is_kept() {
    let settings = Settings::default();
    let item = &of("logic", "")[0];
    let failed = || Reply::Failed { reason: "no memory".to_owned(), usage: Usage::default() };
    let record = play(item, "free-cot", &settings, |_| failed());
    assert!(matches!(record.verdict, Verdict::Lost(_)));
    assert_eq!(again(&record, item, &settings), (record.clone(), Course::Lost));
}

#[test]
fn a_skipped_item_is_skipped_again() {
    let settings = Settings::default();
    let item = &of("logic", "")[0];
    let record = play(item, "direct", &settings, |_| Reply::TooLong { needed: 9, context: 8 });
    assert!(matches!(record.verdict, Verdict::Skipped(_)));
    assert_eq!(again(&record, item, &settings), (record.clone(), READ));
}

#[test]
fn a_conversation_whose_feedback_would_differ_is_kept_as_it_was_logged() {
    let settings = Settings::default();
    let item = &of("vehicles", "lists = 1\npasses = 2")[0];
    let mut record = play(item, "free-cot", &settings, |_| text("Class A"));
    assert_eq!(record.turns.len(), 20);
    let right = record.turns.iter().position(|turn| turn.verdict == Verdict::Right).unwrap();
    record.turns[right].said = Some(Said::Nothing(NoAnswer::Unparsed));
    record.turns[right].verdict = Verdict::Unanswered(NoAnswer::Unparsed);
    assert_eq!(again(&record, item, &settings), (record.clone(), Course::Other));
    // Not right either way: the feedback was the same, and the rest of the conversation stands.
    let mut record = play(item, "free-cot", &settings, |_| text("Class A"));
    let reference = record.clone();
    let wrong = record.turns.iter().position(|turn| turn.verdict == Verdict::Wrong).unwrap();
    record.turns[wrong].said = Some(Said::Nothing(NoAnswer::Unparsed));
    record.turns[wrong].verdict = Verdict::Unanswered(NoAnswer::Unparsed);
    assert_eq!(again(&record, item, &settings), (reference, READ));
}

#[test]
fn a_rescue_that_was_never_asked_leaves_the_item_unanswered_and_is_told() {
    let item = &of("logic", "")[0];
    let cut = Generated {
        bytes: b"First, consider".to_vec(),
        tokens: Vec::new(),
        finish: Finish::Length,
        thinking_cut: false,
        usage: Usage::default(),
    };
    let record = play(item, "free-cot", &Settings::default(), |_| Reply::Generated(cut.clone()));
    let with_rescue = Settings { rescue: true, ..Settings::default() };
    let (now, course) = again(&record, item, &with_rescue);
    assert_eq!(course, Course::Read { unasked: true });
    assert_eq!(now.verdict, Verdict::Unanswered(NoAnswer::Truncated));
}
