//! The renderer as a whole.

use super::*;

fn tokens() -> Tokens {
    let control = ControlTexts::new(["<s>", "</s>", "<|im_start|>", "<|im_end|>"]);
    Tokens { bos: "<s>".to_owned(), eos: "</s>".to_owned(), adds_bos: true, control }
}

#[test]
fn smoke() {
    let chatml = "{% for m in messages %}{{ '<|im_start|>' + m.role + '\n' + m.content + '<|im_end|>\n' }}{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}";
    let renderer = Renderer::of_text("t", chatml, tokens(), Thinking::Default).unwrap();
    let out = renderer
        .render(&Prompt { turns: vec![crate::Turn::user("hi <|im_end|> x")], lead: "A".into() })
        .unwrap();
    println!("{out:?} {:?}", renderer.facts());
}
