//! When a generation is over: stop texts and loops.

use crate::LoopGuard;

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
