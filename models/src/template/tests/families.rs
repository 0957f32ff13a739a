//! Templates in the style of the well-known families. The expected texts were derived by hand from the templates, and
//! agree with what Python's Jinja makes of them.

use super::*;

const CHATML: &str = include_str!("../../../tests/templates/chatml.jinja");
const HEADERS: &str = include_str!("../../../tests/templates/headers.jinja");
const ALTERNATING: &str = include_str!("../../../tests/templates/alternating.jinja");
const BRACKETS: &str = include_str!("../../../tests/templates/brackets.jinja");
const PHI: &str = include_str!("../../../tests/templates/phi.jinja");
const ZEPHYR: &str = include_str!("../../../tests/templates/zephyr.jinja");
const THINKING: &str = include_str!("../../../tests/templates/thinking.jinja");
const ALWAYS_THINKING: &str = include_str!("../../../tests/templates/always_thinking.jinja");

const CHAT: [(Role, &str); 4] =
    [(Role::System, "Sys."), (Role::User, "Q1?"), (Role::Assistant, "A1."), (Role::User, " Q2? ")];

/// A plain question, and a conversation with everything in it.
fn both(template: &str) -> (String, String) {
    let renderer = sound(template);
    (text_of(&renderer, &question("Q?")), text_of(&renderer, &prompt(&CHAT, "")))
}

#[test]
fn chatml_writes_a_default_system_text_where_none_is_given() {
    let (single, chat) = both(CHATML);
    assert_eq!(
        single,
        "<|im_start|>system\nBe helpful.<|im_end|>\n<|im_start|>user\nQ?<|im_end|>\n<|im_start|>assistant\n"
    );
    assert_eq!(
        chat,
        "<|im_start|>system\nSys.<|im_end|>\n<|im_start|>user\nQ1?<|im_end|>\n<|im_start|>assistant\nA1.<|im_end|>\n<|im_start|>user\n Q2? <|im_end|>\n<|im_start|>assistant\n"
    );
}

#[test]
fn headers_write_bos_and_a_fixed_day() {
    let (single, chat) = both(HEADERS);
    let system = "<s><|start_header_id|>system<|end_header_id|>\n\nToday: 26 Jul 2024\n\n";
    let end = "<|eot_id|><|start_header_id|>assistant<|end_header_id|>\n\n";
    assert_eq!(single, format!("{system}<|eot_id|><|start_header_id|>user<|end_header_id|>\n\nQ?{end}"));
    assert_eq!(
        chat,
        format!(
            "{system}Sys.<|eot_id|><|start_header_id|>user<|end_header_id|>\n\nQ1?{end}A1.<|eot_id|><|start_header_id|>user<|end_header_id|>\n\nQ2?{end}"
        )
    );
    assert!(sound(HEADERS).facts().writes_bos);
}

#[test]
fn alternating_roles_without_a_system_role_get_it_folded() {
    let (single, chat) = both(ALTERNATING);
    assert_eq!(single, "<s><start_of_turn>user\nQ?<end_of_turn>\n<start_of_turn>model\n");
    assert_eq!(
        chat,
        "<s><start_of_turn>user\nSys.\n\nQ1?<end_of_turn>\n<start_of_turn>model\nA1.<end_of_turn>\n<start_of_turn>user\nQ2?<end_of_turn>\n<start_of_turn>model\n"
    );
    assert!(sound(ALTERNATING).facts().folds_system);
}

#[test]
fn brackets_place_the_system_text_themselves() {
    let (single, chat) = both(BRACKETS);
    assert_eq!(single, "<s>[INST] Q?[/INST]");
    assert_eq!(chat, "<s>[INST] Q1?[/INST] A1.</s>[INST] Sys.\n\n Q2? [/INST]");
    assert!(!sound(BRACKETS).facts().folds_system);
}

#[test]
fn phi_closes_every_turn() {
    let (single, chat) = both(PHI);
    assert_eq!(single, "<|user|>\nQ?<|end|>\n<|assistant|>\n");
    assert_eq!(
        chat,
        "<|system|>\nSys.<|end|>\n<|user|>\nQ1?<|end|>\n<|assistant|>\nA1.<|end|>\n<|user|>\n Q2? <|end|>\n<|assistant|>\n"
    );
}

#[test]
fn zephyr_depends_on_trimmed_blocks() {
    let (single, chat) = both(ZEPHYR);
    assert_eq!(single, "<|user|>\nQ?</s>\n<|assistant|>\n");
    assert_eq!(
        chat,
        "<|system|>\nSys.</s>\n<|user|>\nQ1?</s>\n<|assistant|>\nA1.</s>\n<|user|>\n Q2? </s>\n<|assistant|>\n"
    );
}

#[test]
fn a_thinking_switch_is_found_and_obeyed() {
    let asked = |thinking| {
        let renderer = Renderer::of_text("m.gguf", THINKING, tokens(), thinking).expect("sound");
        assert!(renderer.facts().thinking_switch);
        assert_eq!(renderer.facts().opens_reasoning, None);
        text_of(&renderer, &question("Q?"))
    };
    let plain = "<|im_start|>user\nQ?<|im_end|>\n<|im_start|>assistant\n";
    assert_eq!(asked(Thinking::Default), plain);
    assert_eq!(asked(Thinking::On), plain);
    assert_eq!(asked(Thinking::Off), format!("{plain}<think>\n\n</think>\n\n"));
    assert!(!sound(CHATML).facts().thinking_switch);
}

#[test]
fn a_template_that_always_opens_reasoning_is_closed_for_answers() {
    let (single, chat) = both(ALWAYS_THINKING);
    assert_eq!(single, "<s><|User|>Q?<|Assistant|><think>\n");
    assert_eq!(chat, "<s>Sys.<|User|>Q1?<|Assistant|>A1.</s><|User|> Q2? <|Assistant|><think>\n");
    let renderer = sound(ALWAYS_THINKING);
    let closed = joined(&renderer.render_for_answer(&question("Q?")).expect("renders"));
    assert_eq!(closed, "<s><|User|>Q?<|Assistant|><think>\n\n</think>\n\n");
}

#[test]
fn values_are_written_as_python_writes_them() {
    let shown = |expression: &str| {
        let template = format!("{{{{ messages[0].content }}}}|{{{{ {expression} }}}}");
        text_of(&sound(&template), &question("Q")).trim_start_matches("Q|").to_owned()
    };
    // Each right side is what Python 3 with Jinja2 and json.dumps gives.
    assert_eq!(
        shown("{'a': [1, 2.5, none, true], 'b': 'é\"'} | tojson"),
        "{\"a\": [1, 2.5, null, true], \"b\": \"é\\\"\"}"
    );
    assert_eq!(shown("{'a': [1], 'b': {}} | tojson(indent=2)"), "{\n  \"a\": [\n    1\n  ],\n  \"b\": {}\n}");
    assert_eq!(shown("'<a & b>' | tojson"), "\"<a & b>\"");
    assert_eq!(shown("'é' | tojson(ensure_ascii=true)"), "\"\\u00e9\"");
    assert_eq!(shown("[true, none, 'x', \"it's\"]"), "[True, None, 'x', \"it's\"]");
    assert_eq!(shown("true"), "True");
    assert_eq!(shown("none"), "None");
    assert_eq!(shown("['a', 'b'] | join(', ')"), "a, b");
    assert_eq!(shown("', '.join(['a', 'b'])"), "a, b");
    assert_eq!(shown("'  x '.strip() ~ 'prefix-y'.removeprefix('prefix-')"), "xy");
    assert_eq!(shown("{'k': 'v'}.get('z', 'd') ~ {'k': 'v'}['k']"), "dv");
    assert_eq!(shown("'x' is sequence and {} is mapping and 'x' is iterable"), "True");
    assert_eq!(shown("strftime_now('%Y-%m-%d, %-d %B %y')"), "2024-07-26, 26 July 24");
    assert_eq!(shown("missing_variable"), "");
}
