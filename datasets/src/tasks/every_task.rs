//! Holds for every task with every interface, so that a new one of either is tested without new test code: a
//! perfect reply grades right, and garbage is never right more often than chance.

use models::{Prompt, Reply, Request};

use crate::interfaces::{self, Move, Settings};
use crate::item::Gold;
use crate::replies::{scores, text};
use crate::{
    Condition, Heard, Interface, Item, Outcome, Params, Question, Said, Step, Stream, Task, Verdict, reading,
};

/// Items of each task that are played; spread over all of them.
const PLAYED: usize = 60;

/// Parameters where a task has none to begin with.
fn params(task: &Task) -> Params {
    let text = match task.name {
        "file" | "scienceqa" | "ai2d" | "mmbench" => {
            "rows = [{ id = 'a', question = 'Q', options = ['acid', 'acid rain', 'A'], gold = 1 }, \
             { id = 'b', question = 'Q', options = ['x', 'y'], gold = 0 }]"
        }
        _ => "",
    };
    Params(text.parse().unwrap())
}

fn items(task: &Task) -> Vec<Item> {
    let items = (task.items)(&params(task), 1).unwrap_or_else(|error| panic!("{}: {error}", task.name));
    crate::sample::limited(items, PLAYED, 1, task)
}

/// Plays an item with a model that answers each request by `answer`.
fn play(
    item: &Item,
    interface: &'static Interface,
    answer: &mut dyn FnMut(&Question, &Prompt, &Request) -> Reply,
) -> Outcome {
    played(item, &Condition::plain(interface), answer)
}

/// The same under a condition.
fn played(
    item: &Item,
    condition: &Condition,
    answer: &mut dyn FnMut(&Question, &Prompt, &Request) -> Reply,
) -> Outcome {
    let mut episode = item.open();
    let mut heard: Option<Heard> = None;
    for _ in 0..1000 {
        let question = match episode.next(heard.as_ref()) {
            Step::Done(outcome) => return outcome,
            Step::Ask(question) => condition.question(&question),
        };
        let settings = condition.settings(&Settings::default());
        let mut exchange = (condition.interface.open)(&question, &settings);
        let mut replies = Vec::new();
        let mut asked = String::new();
        heard = loop {
            match exchange.step(&replies) {
                Move::Ask(asks) => {
                    if asked.is_empty() {
                        asked = asks[0].0.turns.last().map_or_else(String::new, |turn| turn.text.clone());
                    }
                    replies =
                        asks.iter().map(|(prompt, request)| answer(&question, prompt, request)).collect();
                }
                Move::Said { said, reply, .. } => {
                    let verdict = crate::grade::grade(&question.gold, &said);
                    break Some(Heard { said: Some(said), verdict, asked, reply });
                }
                other => panic!("{}: {other:?}", item.id),
            }
        };
    }
    panic!("{}: no end after 1000 questions", item.id)
}

/// What a model says that knows the answer and the format.
fn perfect(question: &Question, prompt: &Prompt, request: &Request) -> Reply {
    let label = question.gold.label();
    match request {
        Request::Score(score) => {
            let right = label.map(usize::from);
            scores((0..score.continuations.len()).map(|index| if Some(index) == right { -0.5 } else { -3.0 }))
        }
        Request::Generate(_) if interfaces::is_vote(prompt) => text("Answer: 1"),
        Request::Generate(_) => match &question.gold {
            Gold::Ordering { chain, free } => {
                let group = |rank: &String| match rank.chars().count() {
                    1 => rank.clone(),
                    _ => format!("{{{}}}", rank.chars().map(String::from).collect::<Vec<_>>().join(",")),
                };
                let chain = chain.iter().map(group).collect::<Vec<_>>().join(" > ");
                text(&if free.is_empty() { chain } else { format!("{chain}, {{{free}}}") })
            }
            _ => text(&reading::statement(question.reading, &question.labels, label.unwrap_or_default())),
        },
    }
}

fn fitting(item: &Item) -> impl Iterator<Item = &'static Interface> {
    interfaces::ALL.iter().copied().filter(|interface| (interface.fits)(item.first_question()))
}

#[test]
fn a_perfect_reply_grades_right() {
    for task in crate::tasks::ALL {
        for item in items(task) {
            assert!(fitting(&item).next().is_some(), "{} {}: no interface fits", task.name, item.id);
            for interface in fitting(&item) {
                let outcome = play(&item, interface, &mut perfect);
                assert_eq!(outcome.verdict, Verdict::Right, "{} {} {}", task.name, item.id, interface.name);
            }
        }
    }
}

#[test]
fn a_perfect_reply_after_reasoning_and_in_bold_grades_right() {
    for task in crate::tasks::ALL {
        for item in items(task) {
            for interface in fitting(&item) {
                let mut dressed = |question: &Question, prompt: &Prompt, request: &Request| match perfect(
                    question, prompt, request,
                ) {
                    Reply::Generated(generated) => text(&format!(
                        "<think>\nMaybe yes, no, A, left, 1 or Route C.\n</think>\n\n**{}**\n",
                        generated.text()
                    )),
                    scored => scored,
                };
                let outcome = play(&item, interface, &mut dressed);
                assert_eq!(outcome.verdict, Verdict::Right, "{} {} {}", task.name, item.id, interface.name);
            }
        }
    }
}

#[test]
fn a_perfect_reply_grades_right_under_every_condition_that_fits() {
    let sweep = "endings = ['all']\nwrite-endings = true\nlabel-sets = ['letters', 'numbers', 'consonants']\n\
                 cue-places = ['assistant-lead', 'raw']\ncaps = [9]";
    let conditions = Condition::of(interfaces::ALL, &toml::from_str(sweep).unwrap());
    assert!(conditions.len() > 200, "{}", conditions.len());
    let mut relabelled = 0;
    for task in crate::tasks::ALL {
        let items = items(task);
        let forms =
            items.iter().step_by(items.len().div_ceil(4)).flat_map(|item| crate::forms::forms(item, 2));
        for item in forms {
            for condition in conditions.iter().filter(|condition| condition.fits(&item)) {
                let outcome = played(&item, condition, &mut perfect);
                assert_eq!(outcome.verdict, Verdict::Right, "{} {} {}", task.name, item.id, condition.name());
                relabelled += u32::from(condition.labels.is_some());
            }
        }
    }
    assert!(relabelled > 100, "{relabelled}");
}

#[test]
fn garbage_is_never_read_as_an_answer() {
    for task in crate::tasks::ALL {
        let mut stream = Stream::new(5, &["garbage", task.name]);
        for item in items(task) {
            for interface in fitting(&item) {
                let mut garbage = |_: &Question, _: &Prompt, request: &Request| match request {
                    Request::Score(score) => scores(score.continuations.iter().map(|_| f32::NAN)),
                    Request::Generate(_) => {
                        let words = [
                            "lever", "Gas", "expands", "because", "\u{fffd}", "heat", "\n", "an", "{}",
                            "<br>", "...",
                        ];
                        text(
                            &(0..stream.below(30))
                                .map(|_| *stream.pick(&words))
                                .collect::<Vec<_>>()
                                .join(" "),
                        )
                    }
                };
                let outcome = play(&item, interface, &mut garbage);
                assert_ne!(outcome.verdict, Verdict::Right, "{} {} {}", task.name, item.id, interface.name);
            }
        }
    }
}

#[test]
fn random_labels_are_right_about_as_often_as_chance() {
    for task in crate::tasks::ALL {
        let mut stream = Stream::new(6, &["chance", task.name]);
        let (mut right, mut expected, mut variance) = (0.0, 0.0, 0.0);
        for item in items(task) {
            // Several rounds of one item are no independent trials.
            let crate::Script::One(question) = &item.script else { continue };
            if question.labels.len() < 2 {
                continue;
            }
            for interface in fitting(&item) {
                let chance = 1.0 / question.labels.len() as f64;
                let mut random = |question: &Question, prompt: &Prompt, request: &Request| {
                    let drawn = stream.below(question.labels.len());
                    match request {
                        Request::Score(score) => scores(
                            (0..score.continuations.len())
                                .map(|index| if index == drawn { -0.5 } else { -3.0 }),
                        ),
                        Request::Generate(_) if interfaces::is_vote(prompt) => text("Answer: 2"),
                        Request::Generate(_) => {
                            text(&reading::statement(question.reading, &question.labels, drawn as u16))
                        }
                    }
                };
                let outcome = play(&item, interface, &mut random);
                assert!(
                    matches!(outcome.verdict, Verdict::Right | Verdict::Wrong),
                    "{} {}",
                    task.name,
                    item.id
                );
                right += f64::from(u8::from(outcome.verdict == Verdict::Right));
                expected += chance;
                variance += chance * (1.0 - chance);
            }
        }
        let off: f64 = right - expected;
        assert!(off * off <= 25.0 * variance.max(1.0), "{}: {right} right, {expected} expected", task.name);
    }
}

#[test]
fn answers_of_baselines_are_labels() {
    for task in crate::tasks::ALL {
        let items = items(task);
        for baseline in task.baselines {
            let answers = (baseline.answers)(&items);
            assert_eq!(answers.len(), items.len(), "{} {}", task.name, baseline.name);
            for (item, answer) in items.iter().zip(answers) {
                let labels = item.first_question().labels.len();
                assert!(
                    answer.is_none_or(|answer| usize::from(answer) < labels),
                    "{} {}",
                    task.name,
                    baseline.name
                );
            }
        }
    }
}

#[test]
fn ids_are_unique_and_nothing_heard_is_nothing_right() {
    for task in crate::tasks::ALL {
        let items = items(task);
        let ids: std::collections::BTreeSet<&String> = items.iter().map(|item| &item.id).collect();
        assert_eq!(ids.len(), items.len(), "{}", task.name);
        for item in &items {
            let gold = &item.first_question().gold;
            let verdict = crate::grade::grade(gold, &Said::Nothing(crate::NoAnswer::Empty));
            assert_eq!(verdict, Verdict::Unanswered(crate::NoAnswer::Empty));
        }
    }
}
