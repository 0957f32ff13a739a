//! Keeps control tokens that item text spells from acting as such.
//!
//! Item text is data. Where it spells a control token of the vocabulary, one private-use character stands in for
//! the spelling while the template runs, and the rendered text is cut there afterwards. All other text is rendered
//! as it is, so that templates that trim or compare keep working.

use std::collections::{BTreeMap, HashMap};

use crate::Segment;

/// Finds spellings of control tokens.
#[derive(Clone, Debug, Default)]
pub struct ControlTexts {
    by_first: HashMap<char, Vec<String>>,
}

impl ControlTexts {
    /// From the spellings.
    pub fn new<'a>(texts: impl IntoIterator<Item = &'a str>) -> Self {
        let mut by_first: HashMap<char, Vec<String>> = HashMap::new();
        for text in texts {
            if let Some(first) = text.chars().next() {
                by_first.entry(first).or_default().push(text.to_owned());
            }
        }
        for list in by_first.values_mut() {
            list.sort_unstable_by(|a, b| b.len().cmp(&a.len()).then(a.cmp(b)));
            list.dedup();
        }
        ControlTexts { by_first }
    }

    /// How many control tokens a text spells.
    pub fn count(&self, text: &str) -> usize {
        self.pieces(text).filter(|piece| piece.1).count()
    }

    /// Cuts a text into stretches and whether each spells a control token; the longest spelling wins.
    fn pieces<'a>(&'a self, text: &'a str) -> impl Iterator<Item = (&'a str, bool)> {
        let mut rest = text;
        std::iter::from_fn(move || {
            if rest.is_empty() {
                return None;
            }
            let found = rest.char_indices().find_map(|(at, first)| {
                let spelled =
                    self.by_first.get(&first)?.iter().find(|s| rest[at..].starts_with(s.as_str()))?;
                Some((at, spelled.len()))
            });
            let (cut, spelled) = match found {
                None => (rest.len(), false),
                Some((0, length)) => (length, true),
                Some((at, _)) => (at, false),
            };
            let (piece, after) = rest.split_at(cut);
            rest = after;
            Some((piece, spelled))
        })
    }
}

/// The stand-ins of one prompt.
#[derive(Debug)]
pub(crate) struct Shield<'a> {
    control: &'a ControlTexts,
    stand_ins: BTreeMap<char, String>,
    taken: Vec<char>,
}

/// Stand-ins come from the last private-use plane.
const FIRST: u32 = 0x10_0000;
const LAST: u32 = 0x10_fffd;

impl<'a> Shield<'a> {
    /// `texts` is all that can reach the rendered text: stand-ins are taken from what does not occur in it.
    pub(crate) fn new<'t>(control: &'a ControlTexts, texts: impl IntoIterator<Item = &'t str>) -> Self {
        let private = |c: &char| (FIRST..=LAST).contains(&u32::from(*c));
        let taken = texts.into_iter().flat_map(|text| text.chars().filter(private)).collect();
        Shield { control, stand_ins: BTreeMap::new(), taken }
    }

    /// The text with stand-ins.
    pub(crate) fn cover(&mut self, text: &str) -> Option<String> {
        let mut out = String::with_capacity(text.len());
        for (piece, spelled) in self.control.pieces(text) {
            match spelled {
                false => out.push_str(piece),
                true => out.push(self.stand_in(piece)?),
            }
        }
        Some(out)
    }

    fn stand_in(&mut self, spelled: &str) -> Option<char> {
        if let Some((c, _)) = self.stand_ins.iter().find(|(_, text)| *text == spelled) {
            return Some(*c);
        }
        let free = |c: &char| !self.taken.contains(c) && !self.stand_ins.contains_key(c);
        let c = (FIRST..=LAST).filter_map(char::from_u32).find(free)?;
        self.stand_ins.insert(c, spelled.to_owned());
        Some(c)
    }

    /// Cuts a rendered text at the stand-ins and puts the spellings back.
    pub(crate) fn uncover(&self, rendered: &str) -> Vec<Segment> {
        let mut segments: Vec<Segment> = Vec::new();
        let mut push = |text: &str, control: bool| match segments.last_mut() {
            Some(last) if last.control == control => last.text.push_str(text),
            _ => segments.push(Segment { text: text.to_owned(), control }),
        };
        let mut rest = rendered;
        while let Some((at, c)) = rest.char_indices().find(|(_, c)| self.stand_ins.contains_key(c)) {
            if at > 0 {
                push(&rest[..at], true);
            }
            push(&self.stand_ins[&c], false);
            rest = &rest[at + c.len_utf8()..];
        }
        if !rest.is_empty() {
            push(rest, true);
        }
        segments
    }
}
