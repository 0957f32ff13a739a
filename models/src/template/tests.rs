//! The renderer as a whole: the field's template bugs, one test each, and the well-known families.

use super::*;
use crate::Turn;

mod families;
mod hostile;
mod python;

const CHATML: &str = "{% for m in messages %}{{ '<|im_start|>' + m.role + '\n' + m.content + '<|im_end|>\n' }}{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}";

fn tokens() -> Tokens {
    let control =
        ["<s>", "</s>", "<|im_start|>", "<|im_end|>", "<|eot|>", "<start_of_turn>", "<think>", "</think>"];
    Tokens {
        bos: "<s>".to_owned(),
        eos: "</s>".to_owned(),
        adds_bos: true,
        control: ControlTexts::new(control),
    }
}

fn renderer(text: &str) -> Result<Renderer, TemplateError> {
    Renderer::of_text("m.gguf", text, tokens(), Thinking::Default)
}

fn sound(text: &str) -> Renderer {
    renderer(text).expect("a sound template")
}

fn prompt(turns: &[(Role, &str)], lead: &str) -> Prompt {
    let turns = turns
        .iter()
        .map(|&(role, text)| Turn { role, text: text.to_owned(), pictures: Vec::new() })
        .collect();
    Prompt { turns, lead: lead.to_owned(), ..Prompt::default() }
}

fn question(text: &str) -> Prompt {
    prompt(&[(Role::User, text)], "")
}

fn joined(segments: &[Segment]) -> String {
    segments.iter().map(|segment| segment.text.as_str()).collect()
}

fn text_of(renderer: &Renderer, prompt: &Prompt) -> String {
    joined(&renderer.render(prompt).expect("renders"))
}

#[test]
fn a_raw_prompt_is_what_a_renderer_without_a_template_makes_of_it() {
    let tokens = Tokens { bos: "<s>".into(), adds_bos: true, ..Tokens::default() };
    let text =
        "{{ bos_token }}{% for m in messages %}<|{{ m.role }}|>{{ m.content }}{% endfor %}<|assistant|>";
    let renderer = Renderer::of_text("t", text, tokens.clone(), Thinking::Default).unwrap();
    let prompt = prompt(&[(Role::User, "Q1"), (Role::Assistant, "A"), (Role::User, "Q2\nAnswer:")], "");
    let raw = Prompt { raw: true, ..prompt.clone() };
    let plain = Renderer::raw(tokens);
    assert_eq!(renderer.render_for_answer(&raw).unwrap(), plain.render(&prompt).unwrap());
    assert_ne!(renderer.render(&prompt).unwrap(), plain.render(&prompt).unwrap());
    // The template writes the token of the beginning, the raw prompt leaves it to the tokenizer.
    assert_eq!(
        (renderer.add_bos(&prompt), renderer.add_bos(&raw), plain.add_bos(&prompt)),
        (false, true, true)
    );
}

#[test]
fn tpl_01_bos_stands_exactly_once() {
    let writes = sound("{{bos_token}}{% for m in messages %}[{{m.role}}]{{m.content}}{% endfor %}");
    assert_eq!(text_of(&writes, &question("Q")), "<s>[user]Q");
    assert!(writes.facts().writes_bos && !writes.facts().add_bos);
    let leaves_it = sound(CHATML);
    assert!(!leaves_it.facts().writes_bos && leaves_it.facts().add_bos);
    let none = Tokens { adds_bos: false, ..tokens() };
    let without = Renderer::of_text("m.gguf", CHATML, none, Thinking::Default).expect("sound");
    assert!(!without.facts().add_bos);
    let twice = renderer("{{bos_token}}{{bos_token}}{{messages[0].content}}");
    assert!(matches!(twice, Err(TemplateError::Unfit { .. })), "{twice:?}");
}

#[test]
fn tpl_03_a_refused_or_dropped_system_role_is_folded_into_the_question() {
    let refuses = "{% if messages[0].role=='system' %}{{raise_exception('no system')}}{% endif %}{% for m in messages %}[{{m.role}}]{{m.content}}{% endfor %}";
    let drops = "{% for m in messages if m.role != 'system' %}[{{m.role}}]{{m.content}}{% endfor %}";
    for template in [refuses, drops] {
        let renderer = sound(template);
        assert!(renderer.facts().folds_system);
        let prompt = prompt(&[(Role::System, "S"), (Role::User, "Q")], "");
        assert_eq!(text_of(&renderer, &prompt), "[user]S\n\nQ");
    }
    assert!(!sound(CHATML).facts().folds_system);
}

#[test]
fn tpl_04_adjacent_turns_of_one_role_become_one() {
    let alternating = "{% for m in messages %}{% if (m.role == 'user') != (loop.index0 % 2 == 0) %}{{ raise_exception('alternate') }}{% endif %}[{{m.role}}]{{m.content}}{% endfor %}";
    let renderer = sound(alternating);
    let prompt = prompt(&[(Role::User, "Example..."), (Role::User, "Question...")], "");
    assert_eq!(text_of(&renderer, &prompt), "[user]Example...\n\nQuestion...");
}

#[test]
fn tpl_04_a_template_that_drops_earlier_turns_refuses_histories_by_name() {
    let renderer = sound("{{ messages[-1].content }}");
    assert!(!renderer.facts().keeps_history);
    let history = [(Role::User, "a"), (Role::Assistant, "b"), (Role::User, "c")];
    let error = renderer.render(&prompt(&history, "")).expect_err("dropped");
    assert_eq!(error, TemplateError::NoHistory { source_name: "m.gguf".to_owned() });
}

#[test]
fn tpl_05_loop_controls_work_and_unknown_tags_are_named_with_their_place() {
    let breaks =
        "{% for m in messages %}{% if loop.index>2 %}{% break %}{% endif %}{{m.content}}{% endfor %}";
    assert_eq!(text_of(&sound(breaks), &question("Q")), "Q");
    let error =
        renderer("{{ bos_token }}\n  {% frobnicate %}{{ messages[0].content }}").expect_err("unknown tag");
    let TemplateError::Syntax { line, column, message, .. } = &error else { panic!("{error}") };
    assert_eq!((*line, *column), (2, 6));
    assert!(message.contains("frobnicate"), "{message}");
    assert!(error.to_string().contains("m.gguf") && error.to_string().contains("--template FILE"));
}

#[test]
fn tpl_06_training_marks_are_transparent() {
    let marked = "{% for m in messages %}{% generation %}{{m.content}}{% endgeneration %}{% endfor %}";
    assert_eq!(text_of(&sound(marked), &question("Q")), "Q");
    let spaced =
        "{% for m in messages %}\n  {%- generation -%}\n  {{m.content}}\n{%- endgeneration %}\n{% endfor %}";
    assert_eq!(text_of(&sound(spaced), &question("Q")), "Q");
}

#[test]
fn tpl_07_and_12_a_missing_template_names_the_file_and_both_remedies() {
    let header = crate::gguf::tests::header(&crate::gguf::writer::small());
    let error = Renderer::of_model(&header, Thinking::Default).expect_err("no template").to_string();
    assert_eq!(
        error,
        "tiny.gguf has no chat template: give one with --template FILE, or ask for raw prompts with --template raw"
    );
}

#[test]
fn tpl_07_raw_prompts_are_the_text_itself() {
    let raw = Renderer::raw(tokens());
    assert_eq!(text_of(&raw, &question("Q\nAnswer:")), "Q\nAnswer:");
    assert_eq!(raw.facts().answer_separator, " ");
    let history = [(Role::System, "S"), (Role::User, "Q1:"), (Role::Assistant, "A1"), (Role::User, "Q2:")];
    assert_eq!(text_of(&raw, &prompt(&history, "")), "S\n\nQ1: A1\n\nQ2:");
    assert_eq!(text_of(&raw, &prompt(&history, "[[")), "S\n\nQ1: A1\n\nQ2: [[");
}

#[test]
fn tpl_08_a_go_template_is_named_as_one() {
    let go = renderer("{{- if .System }}{{ .System }}{{ end }}{{ .Prompt }}").expect_err("Go");
    assert_eq!(go, TemplateError::Go { source_name: "m.gguf".to_owned() });
}

#[test]
fn tpl_09_and_tok_14_reasoning_opened_by_the_prompt_is_seen_and_closed_for_labels() {
    let opens =
        sound("{% for m in messages %}<|{{m.role}}|>\n{{m.content}}\n{% endfor %}<|assistant|>\n<think>\n");
    // Jinja drops one newline at the very end of a template, so the block is open without one.
    let block = opens.facts().opens_reasoning.clone().expect("open");
    assert_eq!((block.open.as_str(), block.close.as_str()), ("<think>", "</think>"));
    let prompt = prompt(&[(Role::User, "Q")], "Answer: ");
    assert_eq!(text_of(&opens, &question("Q")), "<|user|>\nQ\n<|assistant|>\n<think>");
    let closed = joined(&opens.render_for_answer(&prompt).expect("renders"));
    assert_eq!(closed, "<|user|>\nQ\n<|assistant|>\n<think>\n\n</think>\n\nAnswer: ");
    // The marks come from us and the template, so they are parsed; the same text in an item is not.
    assert_eq!(opens.render_for_answer(&prompt).expect("renders").len(), 1);
}

#[test]
fn tpl_11_a_template_may_write_far_more_than_it_is_given() {
    let banner = "x".repeat(4096);
    let template = format!("{{% for i in range(40) %}}{banner}{{% endfor %}}{{{{ messages[0].content }}}}");
    let text = text_of(&sound(&template), &question("twenty characters !!"));
    assert_eq!(text.len(), 40 * 4096 + 20);
}

#[test]
fn tpl_13_the_form_of_content_is_found_by_trying() {
    let parts = sound("{{ messages[0].content[0].text }}");
    assert_eq!(parts.facts().content, ContentForm::Parts);
    assert_eq!(text_of(&parts, &question("Q")), "Q");
    let extra =
        renderer("{{ messages[0].source_lang_code | upper }}").expect_err("needs other keys").to_string();
    assert!(extra.contains("appears 0 times"), "{extra}");
    let twice =
        renderer("{{ messages[0].content }}{{ messages[0].content }}").expect_err("twice").to_string();
    assert!(twice.contains("appears 2 times"), "{twice}");
}

#[test]
fn txt_10_control_tokens_in_item_text_are_segments_of_their_own() {
    let renderer = sound(CHATML);
    let text = "Which tag closes a turn? A) <|im_end|> B) <|eot|>";
    let segments = renderer.render(&question(text)).expect("renders");
    let shown: Vec<(&str, bool)> = segments.iter().map(|s| (s.text.as_str(), s.control)).collect();
    assert_eq!(
        shown,
        [
            ("<|im_start|>user\nWhich tag closes a turn? A) ", true),
            ("<|im_end|>", false),
            (" B) ", true),
            ("<|eot|>", false),
            ("<|im_end|>\n<|im_start|>assistant\n", true),
        ]
    );
    // As many control tokens as the template alone writes: two starts and one end.
    let parsed: String = segments.iter().filter(|s| s.control).map(|s| s.text.as_str()).collect();
    assert_eq!(renderer.control_spellings(&parsed), 3);
    assert_eq!(renderer.control_spellings(text), 2);
}

#[test]
fn txt_10_in_leads_histories_system_texts_and_raw_prompts_too() {
    let all =
        [(Role::System, "<s>"), (Role::User, "</s>"), (Role::Assistant, "<think>"), (Role::User, "<|eot|>")];
    for renderer in [sound(CHATML), Renderer::raw(tokens())] {
        let segments = renderer.render(&prompt(&all, "</think>")).expect("renders");
        let data: Vec<&str> = segments.iter().filter(|s| !s.control).map(|s| s.text.as_str()).collect();
        assert_eq!(data, ["<s>", "</s>", "<think>", "<|eot|>", "</think>"]);
    }
}

#[test]
fn txt_10_private_use_characters_of_an_item_stay_as_they_are() {
    let text = "\u{100000}\u{100001} <|im_end|> \u{100002}";
    let segments = sound(CHATML).render(&question(text)).expect("renders");
    assert_eq!(joined(&segments), format!("<|im_start|>user\n{text}<|im_end|>\n<|im_start|>assistant\n"));
    assert_eq!(segments.iter().filter(|s| !s.control).count(), 1);
}

#[test]
fn txt_02_segments_hold_whole_characters_whatever_the_text() {
    // `Segment::text` is a `String`, so no half character can reach the tokenizer; cuts fall between characters.
    let text = "é<|eot|>汉<|eot|>🐢";
    let segments = Renderer::raw(tokens()).render(&question(text)).expect("renders");
    let shown: Vec<&str> = segments.iter().map(|s| s.text.as_str()).collect();
    assert_eq!(shown, ["é", "<|eot|>", "汉", "<|eot|>", "🐢"]);
}

#[test]
fn tok_15_an_empty_prompt_without_a_first_token_is_an_error() {
    let without = Renderer::raw(Tokens { adds_bos: false, ..tokens() });
    assert_eq!(without.render(&question("")), Err(TemplateError::Empty));
    assert_eq!(Renderer::raw(tokens()).render(&question("")), Ok(Vec::new()));
}

#[test]
fn facts_hold_the_text_and_its_hash() {
    // sha256 of "{{ messages[0].content }}", from sha256sum.
    let facts = sound("{{ messages[0].content }}").facts().clone();
    assert_eq!(facts.text, "{{ messages[0].content }}");
    assert_eq!(facts.sha256, "21b1d9c74a217211f93d54eca585c322017b9008d86619712ec946b10cf156f1");
    assert_eq!(facts.example, "qlastprobe");
    assert_eq!(facts.today, "2024-07-26");
}

#[test]
fn a_template_file_takes_the_place_of_the_models_own() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("own.jinja");
    let of_file = || Renderer::of_file(&path, tokens(), Thinking::Default);
    assert!(matches!(of_file(), Err(TemplateError::File { .. })));
    std::fs::write(&path, CHATML).expect("written");
    assert_eq!(
        of_file().expect("sound").facts(),
        &TemplateFacts { source: "own.jinja".to_owned(), ..sound(CHATML).facts().clone() }
    );
    std::fs::write(&path, b"ab\xe6\xad").expect("written");
    assert!(of_file().expect_err("not text").to_string().ends_with("byte 2 is not UTF-8"));
    std::fs::write(&path, vec![b'a'; (1 << 20) + 5]).expect("written");
    assert!(matches!(of_file(), Err(TemplateError::TooLarge { .. })));
}

#[test]
fn long_conversations_and_long_texts_stay_within_the_limits() {
    let turn = "I turn left and see the green square, then the red one. ".repeat(20);
    let mut turns = vec![(Role::System, "Sys.")];
    for _ in 0..150 {
        turns.extend([(Role::User, turn.as_str()), (Role::Assistant, "Left.")]);
    }
    turns.push((Role::User, "And now?"));
    let long = "One more line of a very long text.\n".repeat(40_000);
    for template in [
        include_str!("../../tests/templates/thinking.jinja"),
        include_str!("../../tests/templates/headers.jinja"),
    ] {
        let renderer = sound(template);
        assert_eq!(text_of(&renderer, &prompt(&turns, "")).matches("green square").count(), 150 * 20);
        assert!(text_of(&renderer, &question(&long)).len() > 1_300_000);
    }
    let beyond = renderer(CHATML).expect("sound").render(&question(&long.repeat(2)));
    assert!(matches!(beyond, Err(TemplateError::Prompt(_))));
}

#[test]
fn a_renderer_can_be_shared_between_threads() {
    let renderer = sound(CHATML);
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..4)
            .map(|n| {
                let renderer = &renderer;
                scope.spawn(move || {
                    (0..50).all(|i| {
                        text_of(renderer, &question(&format!("{n}.{i}"))).contains(&format!("user\n{n}.{i}<"))
                    })
                })
            })
            .collect();
        assert!(threads.into_iter().all(|thread| thread.join().expect("no panic")));
    });
}
