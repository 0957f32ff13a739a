//! Finds the reasoning blocks of a reply, so that nothing in them is taken for the answer.
//!
//! A block does not nest: a model that mentions the opening tag while it reasons has not opened a second one. A
//! closing tag without an opening one ends a block that the prompt opened, so all before it is reasoning. A block
//! that is still open at the end means that there is no answer.

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

/// Where a reply reasons and where it speaks.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Blocks {
    /// The stretches outside all blocks.
    pub(super) visible: Vec<Range<usize>>,
    /// From the first byte of the first block to the last byte of the last.
    pub(super) reasoning: Option<Range<usize>>,
    /// The closing text of the block that is open at the end.
    pub(super) open: Option<String>,
}

/// Opening and closing texts, group `open` or `close`. The word of a tag is the group `word`.
static TAGS: LazyLock<Regex> = LazyLock::new(|| {
    const WORDS: &str =
        "think|thinking|thought|thoughts|reasoning|reason|reflection|scratchpad|seed:think|mm:think";
    Regex::new(&format!(
        r"(?ix)
        (?P<close>
            </(?:{WORDS})> | \[/THINK\] | \u{{25C1}}/think\u{{25B7}} | <\|(?:end_of_thought|END_THINKING|/think)\|> | <channel\|>
          | (?:<\|(?:end|return)\|>\s{{0,8}})? (?:<\|start\|>assistant\s{{0,8}})? <\|channel\|>\s{{0,8}}final\s{{0,8}}<\|message\|>
        )
      | (?P<open>
            <(?P<word>{WORDS})> | (?P<square>\[THINK\]) | (?P<kimi>\u{{25C1}}think\u{{25B7}})
          | (?P<thought><\|begin_of_thought\|>) | (?P<command><\|START_THINKING\|>) | (?P<gemma><\|channel>\s{{0,8}}thought)
          | (?P<channel>(?:<\|start\|>assistant\s{{0,8}})?<\|channel\|>\s{{0,8}}(?:analysis|commentary)[^<>|\n]{{0,64}}<\|message\|>)
        )"
    ))
    .expect("the pattern is constant")
});

/// Closes the bare channel form: a decoder that drops control tokens leaves `analysis...assistantfinal...`.
const BARE_OPEN: &str = "analysis";
const BARE_CLOSE: &str = "assistantfinal";

/// Finds the blocks; `inside` when the prompt itself opened one.
pub(super) fn find(reply: &str, inside: bool) -> Blocks {
    let mut visible: Vec<Range<usize>> = Vec::new();
    let mut reasoning: Option<Range<usize>> = None;
    let mut open: Option<(usize, String)> = inside.then(|| (0, "</think>".to_owned()));
    let mut spoken_from = 0;
    let mut start = 0;
    if !inside && let Some(end) = bare_channel(reply) {
        reasoning = Some(0..end.unwrap_or(reply.len()));
        match end {
            Some(end) => (start, spoken_from) = (end, end),
            None => return Blocks { visible, reasoning, open: Some(BARE_CLOSE.to_owned()) },
        }
    }
    for tag in TAGS.captures_iter(&reply[start..]) {
        let Some(whole) = tag.get(0) else { continue };
        let (from, to) = (start + whole.start(), start + whole.end());
        if tag.name("close").is_some() {
            // Also a closing tag without an opening one: what came before is reasoning, spoken or not.
            let began = match open.take() {
                Some((began, _)) => began,
                None => {
                    visible.clear();
                    0
                }
            };
            reasoning = Some(reasoning.map_or(began, |known| known.start.min(began))..to);
            spoken_from = to;
        } else if open.is_none() {
            if spoken_from < from {
                visible.push(spoken_from..from);
            }
            open = Some((from, closing(&tag)));
        }
    }
    match &open {
        Some((began, _)) => {
            reasoning = Some(reasoning.map_or(*began, |known| known.start.min(*began))..reply.len());
        }
        None if spoken_from < reply.len() => visible.push(spoken_from..reply.len()),
        None => {}
    }
    Blocks { visible, reasoning, open: open.map(|(_, closing)| closing) }
}

/// Whether a rendered prompt ends with an opened reasoning block, so that the reply starts inside it.
pub fn opens_in_reasoning(prompt: &str) -> bool {
    let tail = prompt.trim_end();
    let mut from = tail.len().saturating_sub(128);
    while !tail.is_char_boundary(from) {
        from += 1;
    }
    let tail = &tail[from..];
    TAGS.captures_iter(tail)
        .last()
        .is_some_and(|tag| tag.name("open").is_some_and(|open| open.end() == tail.len()))
}

fn closing(tag: &regex::Captures<'_>) -> String {
    if let Some(word) = tag.name("word") {
        return format!("</{}>", word.as_str());
    }
    let forms = [
        ("square", "[/THINK]"),
        ("kimi", "\u{25C1}/think\u{25B7}"),
        ("thought", "<|end_of_thought|>"),
        ("command", "<|END_THINKING|>"),
        ("gemma", "<channel|>"),
    ];
    let known = forms.iter().find(|(name, _)| tag.name(name).is_some());
    known.map_or("<|end|><|start|>assistant<|channel|>final<|message|>", |(_, text)| text).to_owned()
}

/// The bare channel form: `Some(Some(end))` closed, `Some(None)` open, `None` not present.
fn bare_channel(reply: &str) -> Option<Option<usize>> {
    let rest = reply.strip_prefix(BARE_OPEN)?;
    match reply.find(BARE_CLOSE) {
        Some(at) => Some(Some(at + BARE_CLOSE.len())),
        // `analysisWe need` is a channel; `analysis of the data` is a sentence.
        None => rest.starts_with(|c: char| c.is_uppercase()).then_some(None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spoken(reply: &str, inside: bool) -> String {
        let blocks = find(reply, inside);
        assert!(blocks.open.is_none(), "{reply} is open");
        blocks.visible.iter().map(|range| &reply[range.clone()]).collect::<Vec<_>>().join("|")
    }

    #[test]
    fn closed_blocks_of_every_form_are_cut_out() {
        for (open, close) in [
            ("<think>", "</think>"),
            ("<THINKING>", "</thinking>"),
            ("<reasoning>", "</reasoning>"),
            ("[THINK]", "[/THINK]"),
            ("\u{25C1}think\u{25B7}", "\u{25C1}/think\u{25B7}"),
            ("<|begin_of_thought|>", "<|end_of_thought|>"),
            ("<|START_THINKING|>", "<|END_THINKING|>"),
            ("<|channel>thought", "<channel|>"),
            ("<|channel|>analysis<|message|>", "<|end|><|start|>assistant<|channel|>final<|message|>"),
            ("analysis", "assistantfinal"),
        ] {
            assert_eq!(spoken(&format!("{open}maybe A{close}B"), false), "B", "{open}");
            let cut = format!("{open}Maybe A");
            assert!(find(&cut, false).open.is_some(), "{cut}");
        }
        assert_eq!(spoken("say <think>a</think> and <think>b</think> done", false), "say | and | done");
    }

    #[test]
    fn tpl_09_a_closing_tag_alone_ends_what_the_prompt_opened() {
        assert_eq!(spoken("maybe A, or C</think>\nAnswer: B", true), "\nAnswer: B");
        assert_eq!(spoken("maybe A, or C</think>\nAnswer: B", false), "\nAnswer: B");
        assert_eq!(spoken("<think>a<think>b</think>c</think>d", false), "d");
        assert_eq!(find("Option B is likely, but", true).open.as_deref(), Some("</think>"));
    }

    #[test]
    fn tok_14_a_prompt_that_ends_in_an_open_block_is_recognised() {
        assert!(opens_in_reasoning("<|assistant|>\n<think>\n"));
        assert!(opens_in_reasoning("[INST]x[/INST][THINK]"));
        assert!(!opens_in_reasoning("<|assistant|>\n<think>\n\n</think>\n\n"));
        assert!(!opens_in_reasoning("Which tag opens? <think> or <b>?<|assistant|>\n"));
        assert!(!opens_in_reasoning(""));
    }
}
