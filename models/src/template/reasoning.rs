//! Whether a rendered prompt ends inside an open reasoning block, and how to close it.

use serde::{Deserialize, Serialize};

/// The marks of a reasoning block.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReasoningBlock {
    /// Opens it.
    pub open: String,
    /// Closes it.
    pub close: String,
    /// What follows the generation prompt to leave the block empty and closed.
    pub closing: String,
}

/// Marks that models reason between.
const MARKS: &[(&str, &str)] = &[
    ("<think>", "</think>"),
    ("<thinking>", "</thinking>"),
    ("<thought>", "</thought>"),
    ("<reasoning>", "</reasoning>"),
    ("<|begin_of_thought|>", "<|end_of_thought|>"),
    ("<|START_THINKING|>", "<|END_THINKING|>"),
    ("<seed:think>", "</seed:think>"),
    ("[THINK]", "[/THINK]"),
    ("◁think▷", "◁/think▷"),
];

/// What opens and what closes reasoning blocks, pair by pair.
pub fn marks() -> Vec<(String, String)> {
    MARKS.iter().map(|&(open, close)| (open.to_owned(), close.to_owned())).collect()
}

/// The block that is open at the end of what a template wrote after the last user text.
pub(crate) fn open_block(tail: &str) -> Option<ReasoningBlock> {
    MARKS.iter().find_map(|&(open, close)| {
        let at = tail.rfind(open)?;
        if tail.rfind(close).is_some_and(|end| end > at) {
            return None;
        }
        // An empty block as models see it: the marks on lines of their own with an empty line between.
        let newline = if tail.ends_with('\n') { "\n" } else { "\n\n" };
        let closing = format!("{newline}{close}\n\n");
        Some(ReasoningBlock { open: open.to_owned(), close: close.to_owned(), closing })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tok_14_a_block_left_open_by_the_generation_prompt_is_seen_with_what_closes_it() {
        let block = open_block("<|assistant|>\n<think>\n").expect("open");
        assert_eq!(block.closing, "\n</think>\n\n");
        assert_eq!(open_block("<|assistant|><think>").expect("open").closing, "\n\n</think>\n\n");
    }

    #[test]
    fn a_closed_or_absent_block_is_not_open() {
        assert_eq!(open_block("<|im_start|>assistant\n<think>\n\n</think>\n\n"), None);
        assert_eq!(open_block("<|im_start|>assistant\n"), None);
    }
}
