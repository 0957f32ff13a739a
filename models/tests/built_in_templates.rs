//! Our renderer beside the one that llama.cpp has built in.
//!
//! The built-in one is no Jinja: it guesses the family from the template's text and writes what it knows of the family.
//! Where the two differ, the template is right, because it is what the model was trained with; each such place is
//! stated here with its reason, and must be real.
#![cfg(feature = "llama")]

use std::path::Path;
use std::sync::LazyLock;

use llama_cpp_2::llama_backend::LlamaBackend;
use llama_cpp_2::model::params::LlamaModelParams;
use llama_cpp_2::model::{LlamaChatMessage, LlamaChatTemplate, LlamaModel};
use models::template::{ControlTexts, Renderer, Thinking, Tokens};
use models::{Prompt, Role, Turn};

/// A family, by a template in its style.
struct Family {
    template: &'static str,
    /// The template's file, for messages.
    file: &'static str,
    /// The family's name in llama.cpp.
    name: &'static str,
    /// The family that llama.cpp takes the template's text for.
    taken_for: &'static str,
    eos: &'static str,
    differences: &'static [Difference],
}

/// What the template writes, what is built in instead, and why.
type Difference = (&'static str, &'static str, &'static str);

macro_rules! family {
    ($file:literal, $name:literal, $taken_for:literal, $eos:literal, $differences:expr) => {
        Family {
            template: include_str!(concat!("templates/", $file)),
            file: $file,
            name: $name,
            taken_for: $taken_for,
            eos: $eos,
            differences: &$differences,
        }
    };
}

const BOS: Difference = ("^<s>", "^", "the tokenizer is to add it");
const LAST: &str =
    "the template puts the system text where the model was trained to find it, in the last question";

static FAMILIES: &[Family] = &[
    family!(
        "chatml.jinja",
        "chatml",
        "chatml",
        "<|im_end|>",
        [("^<|im_start|>system\nBe helpful.<|im_end|>\n", "^", "the template has a system text of its own")]
    ),
    family!(
        "headers.jinja",
        "llama3",
        "llama3",
        "<|eot_id|>",
        [
            BOS,
            (
                "^<|start_header_id|>system<|end_header_id|>\n\nToday: 26 Jul 2024\n\n<|eot_id|>",
                "^",
                "the template always has a system turn"
            ),
            ("Today: 26 Jul 2024\n\n", "", "the template tells the day"),
        ]
    ),
    family!("alternating.jinja", "gemma", "gemma", "<eos>", [BOS]),
    family!(
        "llama2.jinja",
        "llama2-sys-bos",
        "llama2-sys-bos",
        "</s>",
        [BOS, ("[/INST] A1. </s>", "[/INST]A1.</s>", "the template has spaces around replies")]
    ),
    family!("mistral_v1.jinja", "mistral-v1", "mistral-v1", "</s>", [BOS]),
    family!(
        "brackets.jinja",
        "mistral-v3",
        "mistral-v3",
        "</s>",
        [BOS, ("[INST] Q1?", "[INST] Sys.\n\nQ1?", LAST), ("[INST] Sys.\n\n Q2?", "[INST]  Q2?", LAST),]
    ),
    family!(
        "mistral_tekken.jinja",
        "mistral-v3-tekken",
        "mistral-v3-tekken",
        "</s>",
        [BOS, ("[INST]Q1?", "[INST]Sys.\n\nQ1?", LAST), ("[INST]Sys.\n\n Q2?", "[INST] Q2?", LAST)]
    ),
    family!("mistral_v7.jinja", "mistral-v7", "mistral-v7", "</s>", [BOS]),
    family!("phi.jinja", "phi3", "phi3", "<|end|>", []),
    family!("phi4.jinja", "phi4", "phi4", "<|im_end|>", []),
    // The text spells the marks of another family, which is asked for first: every end of a turn is lost there.
    family!("zephyr.jinja", "zephyr", "glmedge", "<|endoftext|>", []),
    family!("openchat.jinja", "openchat", "openchat", "<|end_of_turn|>", [BOS]),
    family!("command_r.jinja", "command-r", "command-r", "<|END_OF_TURN_TOKEN|>", [BOS]),
    family!(
        "deepseek_coder.jinja",
        "deepseek",
        "deepseek",
        "<|EOT|>",
        [BOS, ("### Response:$", "### Response:\n$", "the template leaves the line end to the model")]
    ),
    family!("deepseek2.jinja", "deepseek2", "deepseek2", "<｜end▁of▁sentence｜>", [BOS]),
    family!(
        "deepseek3.jinja",
        "deepseek3",
        "deepseek3",
        "<｜end▁of▁sentence｜>",
        [BOS, ("^Sys.", "^Sys.\n\n", "the template has nothing between system text and question")]
    ),
    family!("thinking.jinja", "chatml", "chatml", "<|im_end|>", []),
];

/// A plain question, one with a system text, and a conversation with everything in it.
const CONVERSATIONS: [&[(Role, &str)]; 3] = [
    &[(Role::User, "Q?")],
    &[(Role::System, "Sys."), (Role::User, "Q?")],
    &[(Role::System, "Sys."), (Role::User, "Q1?"), (Role::Assistant, "A1."), (Role::User, " Q2? ")],
];

fn tokens(eos: &str) -> Tokens {
    Tokens {
        bos: "<s>".to_owned(),
        eos: eos.to_owned(),
        adds_bos: true,
        control: ControlTexts::new(["<s>", eos]),
    }
}

fn ours(renderer: &Renderer, turns: &[(Role, &str)]) -> String {
    let turns = turns
        .iter()
        .map(|&(role, text)| Turn { role, text: text.to_owned(), pictures: Vec::new() })
        .collect();
    let segments = renderer.render(&Prompt { turns, ..Prompt::default() }).expect("renders");
    segments.iter().map(|segment| segment.text.as_str()).collect()
}

/// llama.cpp's own rendering, by the name of a family or by the text of a template.
struct BuiltIn {
    model: LlamaModel,
    /// Lives as long as the model.
    _backend: LlamaBackend,
}

static BUILT_IN: LazyLock<BuiltIn> = LazyLock::new(BuiltIn::load);

impl BuiltIn {
    fn load() -> Self {
        let mut backend = LlamaBackend::init().expect("the backend starts");
        backend.void_logs();
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/fixtures/tiny-vlm.gguf");
        let params = LlamaModelParams::default().with_vocab_only(true);
        // The binding wants a model for it; which one makes no difference.
        let model = LlamaModel::load_from_file(&backend, path, &params).expect("the vocabulary loads");
        BuiltIn { model, _backend: backend }
    }

    fn render(&self, template: &str, turns: &[(Role, &str)]) -> Option<String> {
        let template = LlamaChatTemplate::new(template).expect("no zero byte");
        let message = |&(role, text): &(Role, &str)| {
            LlamaChatMessage::new(role.as_str().to_owned(), text.to_owned()).expect("no zero byte")
        };
        let chat: Vec<LlamaChatMessage> = turns.iter().map(message).collect();
        self.model.apply_chat_template(&template, &chat, true).ok()
    }
}

/// With marks at both ends, so that a difference can say where it stands.
fn marked(text: &str) -> String {
    format!("^{text}$")
}

#[test]
fn templates_of_the_well_known_families_render_as_what_is_built_in_but_for_stated_differences() {
    let built_in = &*BUILT_IN;
    for family in FAMILIES {
        let renderer = Renderer::of_text(family.file, family.template, tokens(family.eos), Thinking::Default)
            .unwrap_or_else(|error| panic!("{error}"));
        let mut seen = vec![false; family.differences.len()];
        for turns in CONVERSATIONS {
            let named = built_in.render(family.name, turns).expect("a known family");
            let mut expected = marked(&ours(&renderer, turns));
            for ((ours, theirs, _), seen) in family.differences.iter().zip(&mut seen) {
                *seen |= expected.contains(ours);
                expected = expected.replace(ours, theirs);
            }
            assert_eq!(marked(&named), expected, "{} of {} turns", family.file, turns.len());
            let guessed = built_in.render(family.template, turns);
            assert_eq!(
                guessed,
                built_in.render(family.taken_for, turns),
                "{} is taken for another",
                family.file
            );
        }
        for ((_, _, why), seen) in family.differences.iter().zip(seen) {
            assert!(seen, "{}: the difference is gone: {why}", family.file);
        }
    }
}

#[test]
fn what_the_built_in_renderer_lacks_is_rendered_here() {
    let built_in = &*BUILT_IN;
    let turns = CONVERSATIONS[2];
    // A template of no family that it knows.
    let template = include_str!("templates/always_thinking.jinja");
    assert_eq!(built_in.render(template, turns), None);
    let renderer = Renderer::of_text("own", template, tokens("</s>"), Thinking::Default).expect("sound");
    assert!(ours(&renderer, turns).ends_with("<think>\n"));
    // A switch for reasoning.
    let template = include_str!("templates/thinking.jinja");
    let renderer = Renderer::of_text("own", template, tokens("<|im_end|>"), Thinking::Off).expect("sound");
    let theirs = built_in.render(template, turns).expect("taken for ChatML");
    assert_eq!(ours(&renderer, turns), format!("{theirs}<think>\n\n</think>\n\n"));
}
