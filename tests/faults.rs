//! Workers that die, hang, babble and fail: nothing but the item at fault is lost.

use std::time::{Duration, Instant};

use datasets::{Loss, Verdict};
use runner::entry::DeathCause;

use crate::support::{Bench, answers, assert_same};

const LIGHTS: &str = "limit = 6\n[[task]]\nname = \"lights\"\n[log]\nsync = \"never\"\n";

/// A part of exactly one item's prompts: what its task says after the shared example.
fn poison() -> (String, String) {
    let bench = Bench::new(LIGHTS);
    assert_eq!(bench.run("run", &["--model", "fake"]).status.code(), Some(0));
    let log = bench.log("run");
    let task = datasets::Task::named("lights").expect("the task exists");
    let items = (task.items)(&datasets::Params::default(), 1).expect("items");
    let chosen: Vec<_> =
        items.iter().filter(|item| log.items.iter().any(|logged| logged.item == item.id)).collect();
    let text = |item: &datasets::Item| match &item.first_question().stem[..] {
        [datasets::Part::Text(text)] => text.clone(),
        other => panic!("lights items have one text: {other:?}"),
    };
    let own = |item: &datasets::Item| {
        // Commas separate the options of the fake engine, so the poison must have none.
        let text = text(item);
        let instance = &text[text.rfind("Now your turn").expect("the instance")..];
        instance.split(',').max_by_key(|piece| piece.len()).expect("a piece").to_owned()
    };
    let victim = chosen
        .iter()
        .find(|item| chosen.iter().filter(|other| text(other).contains(&own(item))).count() == 1)
        .expect("some item has a piece of its own");
    (victim.id.clone(), own(victim))
}

fn lose_only_the_culprit(fault: &str, loss: Loss, deaths_at_least: usize) {
    let (victim, poison) = poison();
    let bench = Bench::new(&format!("{LIGHTS}[engine]\ndeadline-s = 2\n"));
    let output = bench.run("hurt", &["--model", &format!("fake:{fault}={poison}")]);
    assert_eq!(output.status.code(), Some(7), "lost items have their own exit code: {output:?}");
    assert_eq!(bench.run("whole", &["--model", "fake"]).status.code(), Some(0));
    let (hurt, whole) = (bench.log("hurt"), bench.log("whole"));
    assert!(hurt.complete.is_some());
    assert!(hurt.deaths.len() >= deaths_at_least, "{:?}", hurt.deaths);
    let whole = answers(&whole);
    for (key, item) in answers(&hurt) {
        if item.item == victim {
            assert_eq!(item.verdict, Verdict::Lost(loss), "{key:?}");
        } else {
            assert_eq!(item.verdict, whole[&key].verdict, "{key:?}");
            assert_eq!(item.turns, whole[&key].turns, "{key:?}");
        }
    }
}

#[test]
fn a_prompt_that_kills_the_worker_loses_its_own_item_only() {
    lose_only_the_culprit("die-on", Loss::WorkerDied, 3);
}

#[test]
fn a_prompt_that_hangs_the_worker_loses_its_own_item_only() {
    lose_only_the_culprit("hang-on", Loss::Deadline, 3);
}

#[test]
fn kvc_09_a_job_that_fails_does_not_touch_the_others() {
    lose_only_the_culprit("fail-on", Loss::EngineError, 0);
}

#[test]
fn a_worker_that_dies_once_in_a_while_costs_nothing() {
    let bench = Bench::new(LIGHTS);
    assert_eq!(bench.run("whole", &["--model", "fake"]).status.code(), Some(0));
    // 18 jobs in one group: a worker that dies after 25 jobs dies in no group; one that dies after 7 always does,
    // and then gets through item by item, because each new worker lives for 7 jobs.
    let output = bench.run("hurt", &["--model", "fake:die-after=7"]);
    let hurt = bench.log("hurt");
    assert!(!hurt.deaths.is_empty());
    assert!(hurt.deaths.iter().all(|death| death.cause == DeathCause::Signal(6)), "{:?}", hurt.deaths);
    let lost = hurt.items.iter().filter(|item| matches!(item.verdict, Verdict::Lost(_))).count();
    assert_eq!(output.status.code(), Some(if lost > 0 { 7 } else { 0 }));
    // Every 8th job alone kills its worker, whatever it asks: 18 jobs lose 2.
    assert_eq!(lost, 2);
}

#[test]
fn noise_on_the_workers_output_disturbs_nothing() {
    let bench = Bench::new(LIGHTS);
    assert_eq!(bench.run("whole", &["--model", "fake"]).status.code(), Some(0));
    assert_eq!(bench.run("noise", &["--model", "fake:babble"]).status.code(), Some(0));
    assert_same(&bench.log("noise"), &bench.log("whole"));
}

#[test]
fn a_model_that_cannot_be_opened_does_not_stop_the_others() {
    let bench = Bench::new(LIGHTS);
    let started = Instant::now();
    let output = bench.run("run", &["--model", "fake:explode", "--model", "fake"]);
    assert!(started.elapsed() < Duration::from_secs(60));
    assert_eq!(output.status.code(), Some(2), "two fake models need names of their own");
    let config = format!(
        "{LIGHTS}[[model]]\npath = \"fake:explode\"\nname = \"broken\"\n[[model]]\npath = \"fake\"\nname = \"good\"\n"
    );
    let bench = Bench::new(&config);
    let output = bench.run("run", &[]);
    assert_eq!(output.status.code(), Some(3), "{output:?}");
    let log = bench.log("run");
    assert!(log.complete.is_none());
    assert_eq!(log.items.len(), 18);
    assert!(log.items.iter().all(|item| item.at.model == 1));
}

/// 18 prompts of two groups; the context is chosen over both.
const TWO_GROUPS: &str =
    "limit = 3\n[[task]]\nname = \"lights\"\n[[task]]\nname = \"logic\"\n[log]\nsync = \"never\"\n";

#[test]
fn a_worker_that_dies_while_prompts_are_measured_is_replaced() {
    let bench = Bench::new(TWO_GROUPS);
    assert_eq!(bench.run("whole", &["--model", "fake"]).status.code(), Some(0));
    // Dies in the second group, of 9 prompts; the next worker begins with that group and lives.
    let output = bench.run("hurt", &["--model", "fake:die-measuring=12"]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert!(
        String::from_utf8_lossy(&output.stderr).contains("while prompts were measured; starting another")
    );
    let (hurt, whole) = (bench.log("hurt"), bench.log("whole"));
    assert_same(&hurt, &whole);
    assert!(hurt.complete.is_some());
    let [death] = &hurt.deaths[..] else { panic!("{:?}", hurt.deaths) };
    assert_eq!((death.cause, death.at.group, &death.culprit), (DeathCause::Signal(6), 1, &None));
    // What was measured before the death still counts.
    assert_eq!(hurt.loaded[0].spec.context_tokens, whole.loaded[0].spec.context_tokens);
}

#[test]
fn prompts_that_always_kill_their_measurer_end_the_model_in_one_line() {
    let bench = Bench::new(TWO_GROUPS);
    let output = bench.run("run", &["--model", "fake:die-measuring=4"]);
    assert_eq!(output.status.code(), Some(3), "{output:?}");
    let line = crate::support::complaint(&output);
    assert!(line.contains("while prompts were measured") && line.contains("SIGABRT"), "{line}");
    assert_eq!(bench.log("run").deaths.len(), 1, "the last death is the message");
}

/// A build that this processor cannot run: every item would end like that.
#[test]
fn an_instruction_that_the_processor_lacks_ends_the_model_and_uses_up_no_items() {
    let bench = Bench::new(LIGHTS);
    let output = bench.run("run", &["--model", "fake:strike=ill,strike-after=0"]);
    let log = bench.log("run");
    assert_eq!((log.items.len(), log.complete.is_some(), log.failed.len()), (0, false, 1), "{output:?}");
    assert_eq!(log.failed[0].cause, Some(DeathCause::IllegalInstruction));
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(told.contains("SIGILL") && told.contains("built for another processor"), "{told}");
    assert_eq!(output.status.code(), Some(3), "{told}");
}

#[test]
fn a_group_that_fits_no_frame_is_asked_item_by_item() {
    let bench = Bench::new("");
    // 3 items of 1.5 MB, asked 16 times each.
    let text = "x ".repeat(750_000);
    let row = |id: usize| {
        let question = format!("{text}{id}");
        serde_json::json!({ "id": id.to_string(), "question": question, "options": ["a", "b"], "answer": "A" }).to_string()
    };
    std::fs::write(bench.path("long.jsonl"), (0..3).map(|id| row(id) + "\n").collect::<String>())
        .expect("written");
    let path = bench.path("long.jsonl");
    let config = format!(
        "interfaces = [\"self-consistency\"]\n[asking]\nsamples = 16\n[[task]]\nname = \"file\"\nparams = {{ path = {path:?} }}\n[engine]\ncontext-tokens = 2000000\n"
    );
    std::fs::write(&bench.config, config).expect("written");
    let output = bench.run("run", &["--model", "fake"]);
    let log = bench.log("run");
    assert_eq!((log.items.len(), log.deaths.len()), (3, 0), "{output:?}");
    assert_eq!(output.status.code(), Some(0), "{output:?}");
}
