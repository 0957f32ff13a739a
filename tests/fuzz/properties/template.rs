//! Any template renders any conversation or says in one line why not, in bounded time, and item text stays data.

use models::template::{ControlTexts, Renderer, TemplateError, Thinking, Tokens};
use models::{Prompt, Role, Segment, Turn};

const CONTROL: &[&str] = &[
    "<s>",
    "</s>",
    "<|im_start|>",
    "<|im_end|>",
    "<|",
    "think>",
    "<think>",
    "</think>",
    "\n\u{1b}",
    "\u{662f}",
];

/// The first byte chooses the circumstances. The rest is cut at zero bytes: the template, the lead, and the turns in
/// turn, a user's first.
pub(crate) fn check(bytes: &[u8]) {
    let Some((choice, rest)) = bytes.split_first() else { return };
    let mut pieces = rest.split(|&byte| byte == 0).map(|piece| String::from_utf8_lossy(piece).into_owned());
    let (template, lead) = (pieces.next().unwrap_or_default(), pieces.next().unwrap_or_default());
    let mut turns: Vec<Turn> = Vec::new();
    if choice & 8 != 0 {
        turns.push(Turn {
            role: Role::System,
            text: pieces.next().unwrap_or_default(),
            pictures: Vec::new(),
        });
    }
    let roles = [Role::User, Role::Assistant].into_iter().cycle();
    turns.extend(pieces.zip(roles).map(|(text, role)| Turn { role, text, pictures: Vec::new() }));
    let prompt = Prompt { turns, lead, ..Prompt::default() };
    let thinking = [Thinking::Default, Thinking::On, Thinking::Off][usize::from(choice % 3)];
    let tokens = || Tokens {
        bos: ["<s>", "", "\n\u{1b}", "qlastprobe"][usize::from(choice >> 4 & 3)].to_owned(),
        eos: "</s>".to_owned(),
        adds_bos: choice & 64 == 0,
        control: ControlTexts::new(CONTROL.iter().copied()),
    };
    let renderer = match Renderer::of_text("fuzz", &template, tokens(), thinking) {
        Ok(renderer) => renderer,
        Err(error) => return failed(&error),
    };
    assert!(renderer.facts().example.contains("qlastprobe"));
    for render in [Renderer::render, Renderer::render_for_answer] {
        match render(&renderer, &prompt) {
            Ok(segments) => {
                sound(&segments, &renderer);
                assert_eq!(render(&renderer, &prompt), Ok(segments), "the same prompt renders differently");
            }
            Err(error) => failed(&error),
        }
    }
    if let Ok(segments) = Renderer::raw(tokens()).render(&prompt) {
        sound(&segments, &renderer);
        for turn in &prompt.turns {
            let whole: String = segments.iter().map(|segment| segment.text.as_str()).collect();
            assert!(whole.contains(&turn.text), "{turn:?}");
        }
    }
}

/// What is not parsed for control tokens is made of their spellings, and neighbours differ.
fn sound(segments: &[Segment], renderer: &Renderer) {
    for segment in segments {
        assert!(!segment.text.is_empty());
        assert!(segment.control || renderer.control_spellings(&segment.text) > 0, "{segment:?}");
    }
    assert!(segments.windows(2).all(|pair| pair[0].control != pair[1].control), "{segments:?}");
}

/// One line, and never a thread that had to be given up: steps are to bound everything.
fn failed(error: &TemplateError) {
    let text = error.to_string();
    assert!(!text.contains(char::is_control), "{text:?}");
    if let TemplateError::Limit { limit, .. } = error {
        assert!(limit.contains("too many steps") || limit.contains("writes more than"), "{limit}");
    }
}
