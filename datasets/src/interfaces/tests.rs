//! The requests that interfaces make, and what they make of the replies.

use models::{Finish, Prompt, Reply, Request, Role, Turn, Usage};

use super::*;
use crate::item::{Ask, Cue, Gold, Part, Question};
use crate::reading::Reading;
use crate::replies::{generated, scored, text};
use crate::verdict::NoAnswer;

fn question() -> Question {
    Question {
        history: vec![Turn::user("Q0"), Turn::assistant("B")],
        stem: vec![Part::Text("Q1".into()), Part::Text("\nA. x\nB. y".into())],
        ask: Ask {
            direct: "\nAnswer now.".into(),
            direct_lead: String::new(),
            reason: vec![
                Cue { name: "steps".into(), stem: None, text: "\nLet me think step by step.".into() },
                Cue {
                    name: "shots".into(),
                    stem: Some(vec![Part::Text("Shots Q1".into())]),
                    text: "\nReasoning:".into(),
                },
            ],
        },
        labels: vec!["A".into(), "B".into()],
        options: vec!["x".into(), "y".into()],
        reading: Reading::Statement,
        gold: Gold::Label(1),
    }
}

fn asked(exchange: &mut dyn Exchange, replies: &[Reply]) -> (Prompt, Request) {
    match exchange.step(replies) {
        Move::Ask(mut asks) if asks.len() == 1 => asks.remove(0),
        other => panic!("{other:?}"),
    }
}

fn open(name: &str, question: &Question, settings: &Settings) -> Box<dyn Exchange + Send> {
    (Interface::named(name).expect("listed").open)(question, settings)
}

fn said(step: Move) -> (Said, String, bool) {
    match step {
        Move::Said { said, reply, rescued, .. } => (said, reply, rescued),
        other => panic!("{other:?}"),
    }
}

fn pick(labels: &[&[f32]], normalisation: Normalisation) -> Said {
    let names: Vec<String> = (0..labels.len()).map(|index| "x".repeat(index + 1)).collect();
    match scored(labels) {
        Reply::Scored(scored) => choose(&scored, &names, normalisation),
        _ => unreachable!(),
    }
}

#[test]
fn direct_asks_history_then_stem_then_its_terminal_text() {
    let mut exchange = open("direct", &question(), &Settings::default());
    let (prompt, request) = asked(&mut *exchange, &[]);
    let texts: Vec<&str> = prompt.turns.iter().map(|turn| turn.text.as_str()).collect();
    assert_eq!(texts, ["Q0", "B", "Q1\nA. x\nB. y\nAnswer now."]);
    assert_eq!(prompt.turns[2].role, Role::User);
    assert_eq!(prompt.lead, "");
    assert!(matches!(request, Request::Score(score) if score.continuations == ["A", "B"] && score.top == 10));
    assert_eq!(said(exchange.step(&[scored(&[&[-2.0], &[-1.0]])])), (Said::Choice(1), "B".into(), false));
}

#[test]
fn cot_prefix_differs_from_direct_in_the_terminal_text_alone() {
    let settings = Settings::default();
    let (direct, _) = asked(&mut *open("direct", &question(), &settings), &[]);
    let (prefix, request) = asked(&mut *open("cot-prefix", &question(), &settings), &[]);
    assert_eq!(direct.turns[..2], prefix.turns[..2]);
    assert_eq!(prefix.turns[2].text, "Q1\nA. x\nB. y\nLet me think step by step.");
    assert!(matches!(request, Request::Score(score) if score.continuations == ["A", "B"]));
    let (own_stem, _) = asked(
        &mut *open("cot-prefix", &question(), &Settings { cue: Some("shots".into()), ..settings }),
        &[],
    );
    assert_eq!(own_stem.turns[2].text, "Shots Q1\nReasoning:");
}

#[test]
fn the_cue_can_begin_the_assistant_turn_and_is_then_followed_by_a_space() {
    let settings = Settings { cue_place: CuePlace::AssistantLead, ..Settings::default() };
    let (prompt, request) = asked(&mut *open("cot-prefix", &question(), &settings), &[]);
    assert_eq!(prompt.turns[2].text, "Q1\nA. x\nB. y");
    assert_eq!(prompt.lead, "Let me think step by step.");
    assert!(matches!(request, Request::Score(score) if score.continuations == [" A", " B"]));
    let bracketed =
        Question { ask: Ask { direct_lead: "Answer: [[".into(), ..question().ask }, ..question() };
    let (prompt, request) = asked(&mut *open("cot-prefix", &bracketed, &settings), &[]);
    assert_eq!(prompt.lead, "Let me think step by step.\nAnswer: [[");
    assert!(matches!(request, Request::Score(score) if score.continuations == ["A", "B"]));
}

#[test]
fn an_unknown_cue_falls_to_the_first_and_no_cue_fits_no_reasoning() {
    let settings = Settings { cue: Some("no-such".into()), ..Settings::default() };
    let (prompt, _) = asked(&mut *open("free-cot", &question(), &settings), &[]);
    assert!(prompt.turns[2].text.ends_with("step by step."));
    let plain = Question { ask: Ask { reason: Vec::new(), ..question().ask }, ..question() };
    let fits: Vec<&str> =
        ALL.iter().filter(|interface| (interface.fits)(&plain)).map(|interface| interface.name).collect();
    assert_eq!(fits, ["direct", "full-string"]);
}

#[test]
fn tok_06_the_separator_depends_on_what_the_label_follows() {
    let raw = Settings { raw_prompt: true, ..Settings::default() };
    let colon = Question { ask: Ask { direct: "\nAnswer:".into(), ..question().ask }, ..question() };
    let continuations = |settings: &Settings| match asked(&mut *open("direct", &colon, settings), &[]).1 {
        Request::Score(score) => score.continuations,
        other => panic!("{other:?}"),
    };
    assert_eq!(continuations(&raw), [" A", " B"]);
    assert_eq!(continuations(&Settings::default()), ["A", "B"]);
    assert_eq!(continuations(&Settings { separator: Separator::Space, ..Settings::default() }), [" A", " B"]);
    assert_eq!(continuations(&Settings { separator: Separator::None, ..raw }), ["A", "B"]);
}

#[test]
fn tok_03_prompts_that_end_in_full_width_colons_breaks_and_brackets_take_no_space() {
    for before in [
        "",
        "\u{7B54}\u{6848}\u{FF1A}",
        "Answer:\n",
        "Answer: (",
        "Answer: [[",
        "Answer: ",
        "Answer: **",
        "\u{201C}",
        "The answer is \"",
    ] {
        assert_eq!(separator(before), "", "{before:?}");
    }
    for before in ["Answer:", "**Answer:**", "step by step.", "\"answer\":", "it's", "(A)"] {
        assert_eq!(separator(before), " ", "{before:?}");
    }
}

#[test]
fn tok_07_look_alikes_and_other_cases_are_never_counted_as_a_label() {
    let labels = ["a", "b"].map(str::to_owned);
    let asked = Question {
        labels: labels.to_vec(),
        ask: Ask { direct: "\nAnswer: (".into(), ..Ask::default() },
        ..question()
    };
    let settings = Settings { raw_prompt: true, ..Settings::default() };
    let (_, request) = self::asked(&mut *open("direct", &asked, &settings), &[]);
    let models::Request::Score(score) = request else { panic!("not scored") };
    // The declared variants alone, as they follow an opening bracket.
    assert_eq!(score.continuations, labels);
    // 'a' .2, 'b' .1; the Cyrillic letter at .4 and the capital at .3 are shown, and decide nothing.
    let top = |token, piece: &str, p: f32| models::TokenProb { token, piece: piece.into(), logprob: p.ln() };
    let Reply::Scored(mut reply) = scored(&[&[0.2f32.ln()], &[0.1f32.ln()]]) else { panic!("not scored") };
    reply.top = vec![top(9, "\u{0410}", 0.4), top(8, "B", 0.3), top(7, "a", 0.2)];
    assert_eq!(choose(&reply, &labels, Normalisation::Sum), Said::Choice(0));
}

#[test]
fn tok_08_sum_and_per_token_differ_on_labels_of_different_lengths() {
    let labels: [&[f32]; 2] = [&[-0.3, -0.3, -0.3], &[-0.8]];
    assert_eq!(pick(&labels, Normalisation::Sum), Said::Choice(1));
    assert_eq!(pick(&labels, Normalisation::PerToken), Said::Choice(0));
    // -0.9 / 1 byte against -0.8 / 2 bytes.
    assert_eq!(pick(&labels, Normalisation::PerByte), Said::Choice(1));
    assert_eq!(Settings::default().normalisation, Normalisation::Sum);
}

#[test]
fn tok_10_the_normalisation_switch_changes_the_winner() {
    let labels: [&[f32]; 2] = [&[-0.5, -0.5], &[-0.25; 8]];
    assert_eq!(pick(&labels, Normalisation::Sum), Said::Choice(0));
    assert_eq!(pick(&labels, Normalisation::PerToken), Said::Choice(1));
}

#[test]
fn tok_04_low_label_mass_still_names_the_best_label() {
    let logs = [1e-4f32.ln(), 2e-4f32.ln(), 1e-4f32.ln(), 1e-4f32.ln()];
    let labels: Vec<&[f32]> = logs.iter().map(std::slice::from_ref).collect();
    assert_eq!(pick(&labels, Normalisation::Sum), Said::Choice(1));
}

#[test]
fn tok_11_ties_missing_and_nonfinite_scores_are_no_answers() {
    assert_eq!(pick(&[&[0.0], &[0.0]], Normalisation::Sum), Said::Nothing(NoAnswer::Tie));
    assert_eq!(pick(&[&[-1.0], &[-1.0], &[-2.0]], Normalisation::Sum), Said::Nothing(NoAnswer::Tie));
    assert_eq!(pick(&[&[-1.0], &[-2.0], &[-2.0]], Normalisation::Sum), Said::Choice(0));
    for bad in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
        assert_eq!(pick(&[&[-1.0], &[bad]], Normalisation::Sum), Said::Nothing(NoAnswer::Nonfinite));
    }
    assert_eq!(pick(&[&[-1.0], &[]], Normalisation::Sum), Said::Nothing(NoAnswer::Nonfinite));
    assert_eq!(pick(&[], Normalisation::Sum), Said::Nothing(NoAnswer::Nonfinite));
}

#[test]
fn prompts_too_long_are_skipped_and_failures_are_lost() {
    for name in ["direct", "cot-prefix", "free-cot"] {
        let too_long = Reply::TooLong { needed: 9, context: 8 };
        let failed = Reply::Failed { reason: "x".into(), usage: Usage::default() };
        let wrong_number = scored(&[&[-1.0]]);
        for (reply, skipped) in [(too_long, true), (failed, false), (wrong_number, false)] {
            let mut exchange = open(name, &question(), &Settings::default());
            asked(&mut *exchange, &[]);
            match exchange.step(&[reply]) {
                Move::Skipped(Skip::TooLong) => assert!(skipped),
                Move::Lost(Loss::EngineError) => assert!(!skipped),
                other => panic!("{name}: {other:?}"),
            }
        }
        let mut exchange = open(name, &question(), &Settings::default());
        asked(&mut *exchange, &[]);
        assert!(matches!(exchange.step(&[]), Move::Lost(Loss::EngineError)));
    }
}

#[test]
fn free_cot_generates_greedily_and_reads_the_chain() {
    let settings = Settings { max_tokens: 77, stop: vec!["\n\nQuestion".into()], ..Settings::default() };
    let mut exchange = open("free-cot", &question(), &settings);
    let (prompt, request) = asked(&mut *exchange, &[]);
    assert_eq!(prompt.lead, "");
    let Request::Generate(generate) = request else { panic!("{request:?}") };
    assert_eq!((generate.max_tokens, generate.stop.len()), (77, 1));
    assert_eq!(generate.sampling, models::Sampling::Greedy);
    assert!(generate.loop_guard.is_some());
    let run_on = "x, then y. Answer: B\n\nQuestion: z?\nAnswer: A";
    let (what, reply, _) = said(exchange.step(&[text(run_on)]));
    assert_eq!((what, reply.as_str()), (Said::Choice(1), "x, then y. Answer: B"));
}

#[test]
fn a_cut_chain_is_no_answer_and_a_rescue_is_reported_apart() {
    let cut = generated("<think>\nOption B is likely", Finish::Length);
    let mut exchange = open("free-cot", &question(), &Settings::default());
    asked(&mut *exchange, &[]);
    assert_eq!(said(exchange.step(std::slice::from_ref(&cut))).0, Said::Nothing(NoAnswer::Truncated));

    let settings = Settings { rescue: true, ..Settings::default() };
    for (answer, expected, rescued) in [
        (scored(&[&[-1.0], &[-2.0]]), Said::Choice(0), true),
        (scored(&[&[-1.0], &[-1.0]]), Said::Nothing(NoAnswer::Truncated), false),
        (Reply::TooLong { needed: 9, context: 8 }, Said::Nothing(NoAnswer::Truncated), false),
    ] {
        let mut exchange = open("free-cot", &question(), &settings);
        asked(&mut *exchange, &[]);
        let (prompt, request) = asked(&mut *exchange, std::slice::from_ref(&cut));
        assert_eq!(prompt.lead, "<think>\nOption B is likely\n</think>\n\nAnswer:");
        assert!(matches!(request, Request::Score(score) if score.continuations == [" A", " B"]));
        let (what, reply, apart) = said(exchange.step(&[answer]));
        assert_eq!((what, reply.as_str(), apart), (expected, "<think>\nOption B is likely", rescued));
    }
}

#[test]
fn names_are_unique_and_found() {
    for interface in ALL {
        assert!(std::ptr::eq(Interface::named(interface.name).expect("listed"), *interface));
    }
    assert!(Interface::named("no-such").is_none());
}
