//! When a generation is over, and when its reasoning is: stop texts, loops, thinking budgets.

use crate::{LoopGuard, ThinkingCap};

/// Looks for stop texts in a growing reply, including those that arrive split over tokens.
#[derive(Clone, Debug)]
pub struct StopTexts<'a> {
    texts: &'a [String],
    searched: usize,
}

impl<'a> StopTexts<'a> {
    /// Nothing has been searched yet. Empty texts are ignored.
    pub fn new(texts: &'a [String]) -> Self {
        StopTexts { texts, searched: 0 }
    }

    /// Where the reply ends, if it now holds a stop text: the first one, even in the middle of a token.
    pub fn find(&mut self, reply: &[u8]) -> Option<usize> {
        let longest = self.texts.iter().map(String::len).max().unwrap_or(0);
        let from = self.searched.saturating_sub(longest.saturating_sub(1));
        self.searched = reply.len();
        let first = |text: &String| {
            let text = text.as_bytes();
            if text.is_empty() {
                return None;
            }
            reply[from..].windows(text.len()).position(|window| window == text)
        };
        self.texts.iter().filter_map(first).min().map(|place| from + place)
    }
}

/// Whether the end of `tokens` repeats itself; see [`LoopGuard`].
pub fn loops(tokens: &[i32], guard: LoopGuard) -> bool {
    let repeats = usize::from(guard.repeats).max(2);
    (1..=usize::from(guard.max_period)).any(|period| {
        let span = (repeats * period).max(usize::from(guard.min_tokens));
        if span > tokens.len() {
            return false;
        }
        let tail = &tokens[tokens.len() - span..];
        tail[period..].iter().zip(tail).all(|(later, earlier)| later == earlier)
    })
}

/// Watches a growing reply for reasoning blocks that take longer than their budget.
#[derive(Clone, Debug)]
pub struct ThinkingWatch<'a> {
    cap: &'a ThinkingCap,
    /// What closes the block that is open.
    closing: Option<&'a str>,
    /// Tokens of the open block.
    tokens: u32,
    searched: usize,
}

impl<'a> ThinkingWatch<'a> {
    /// At the start of a reply.
    pub fn new(cap: &'a ThinkingCap) -> Self {
        ThinkingWatch { cap, closing: cap.inside.as_deref(), tokens: 0, searched: 0 }
    }

    /// Looks at the reply after another token. Gives what must be written to close a block whose budget is spent.
    pub fn see(&mut self, reply: &[u8]) -> Option<&'a str> {
        let longest =
            self.cap.marks.iter().map(|(open, close)| open.len().max(close.len())).max().unwrap_or(0);
        let from = self.searched.saturating_sub(longest);
        let fresh = &reply[from.min(reply.len())..];
        let ends = |mark: &str| {
            let mark = mark.as_bytes();
            // Only a mark that this token completed counts; earlier ones have been seen.
            let last = fresh.windows(mark.len().max(1)).rposition(|window| window == mark);
            last.map(|at| from + at + mark.len()).filter(|&end| end > self.searched)
        };
        self.tokens += 1;
        match self.closing {
            Some(close) => {
                if ends(close).is_some() {
                    self.closing = None;
                }
            }
            None => {
                let opened = self.cap.marks.iter().find(|(open, _)| ends(open).is_some());
                if let Some((_, close)) = opened {
                    (self.closing, self.tokens) = (Some(close.as_str()), 0);
                }
            }
        }
        self.searched = reply.len();
        let spent = self.closing.filter(|_| self.tokens >= self.cap.max_tokens);
        if spent.is_some() {
            self.closing = None;
        }
        spent
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ext_24_a_stop_text_is_found_across_and_inside_tokens() {
        let texts = ["\n\nQuestion".to_owned()];
        let mut stop = StopTexts::new(&texts);
        assert_eq!(stop.find(b"17\n"), None);
        assert_eq!(stop.find(b"17\n\nQues"), None);
        assert_eq!(stop.find(b"17\n\nQuestion: what"), Some(2));
    }

    #[test]
    fn the_first_of_several_stop_texts_counts_and_empty_ones_do_not() {
        let texts = ["b".to_owned(), String::new(), "a".to_owned()];
        assert_eq!(StopTexts::new(&texts).find(b"xab"), Some(1));
        assert_eq!(StopTexts::new(&[]).find(b"xab"), None);
    }

    #[test]
    fn ext_19_a_block_is_closed_when_its_budget_is_spent_and_left_alone_otherwise() {
        let marks = vec![("<think>".to_owned(), "</think>".to_owned())];
        let cap = ThinkingCap { max_tokens: 3, inside: None, marks: marks.clone() };
        let mut reply = Vec::new();
        let mut see = |watch: &mut ThinkingWatch<'_>, token: &str| {
            reply.extend(token.as_bytes());
            watch.see(&reply).map(str::to_owned)
        };
        let mut watch = ThinkingWatch::new(&cap);
        // The mark comes in two tokens; then one token, a close in time, and a second block that takes too long.
        for token in ["<thi", "nk>", "a", "</think>", "x", "y", "z", "w", "<think>", "b", "c"] {
            assert_eq!(see(&mut watch, token), None, "{token}");
        }
        assert_eq!(see(&mut watch, "d").as_deref(), Some("</think>"));
        assert_eq!(see(&mut watch, "e"), None, "closed once");
        // A block that the prompt opened counts from the first token.
        let cap = ThinkingCap { max_tokens: 2, inside: Some("</think>".into()), marks };
        let mut watch = ThinkingWatch::new(&cap);
        assert_eq!((watch.see(b"a"), watch.see(b"ab")), (None, Some("</think>")));
    }

    #[test]
    fn ext_20_periodic_tokens_are_a_loop_and_short_runs_are_none() {
        let guard = LoopGuard { max_period: 64, repeats: 32, min_tokens: 64 };
        let looping: Vec<i32> = [5, 6, 7, 8].repeat(60);
        assert!(loops(&looping, guard));
        let mut ruler: Vec<i32> = (100..130).collect();
        ruler.extend([9; 20]);
        assert!(!loops(&ruler, guard));
        assert!(!loops(&[9; 63], guard));
        assert!(loops(&[9; 64], guard));
        assert!(!loops(&[], guard));
    }
}
