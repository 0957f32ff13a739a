//! Keeps control tokens that item text spells from acting as such.
//!
//! Item text is data. Where it spells a control token of the vocabulary, one private-use character stands in for
//! the spelling while the template runs, and the rendered text is cut there afterwards. All other text is rendered
//! as it is, so that templates that trim or compare keep working. A picture goes through a template the same way, as one
//! character at its place in the text.

use std::collections::{BTreeMap, HashMap};

use crate::{PictureAt, Segment};

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
    /// Stand-ins of pictures, with their addresses.
    pictures: BTreeMap<char, String>,
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
        Shield { control, stand_ins: BTreeMap::new(), pictures: BTreeMap::new(), taken }
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
        let c = self.free()?;
        self.stand_ins.insert(c, spelled.to_owned());
        Some(c)
    }

    fn free(&self) -> Option<char> {
        let free = |c: &char| {
            !self.taken.contains(c) && !self.stand_ins.contains_key(c) && !self.pictures.contains_key(c)
        };
        (FIRST..=LAST).filter_map(char::from_u32).find(free)
    }

    /// A text with stand-ins for its pictures. They are no marks that a text could spell.
    pub(crate) fn place(&mut self, text: &str, pictures: &[PictureAt]) -> Option<String> {
        let mut out = String::with_capacity(text.len() + 4 * pictures.len());
        let mut done = 0;
        for picture in pictures {
            // A place outside the text, or inside a character, moves to the next that there is.
            let mut at = (picture.at as usize).clamp(done, text.len());
            while !text.is_char_boundary(at) {
                at += 1;
            }
            out.push_str(&text[done..at]);
            let known = self.pictures.iter().find(|(_, address)| **address == picture.address);
            let c = match known {
                Some((c, _)) => *c,
                None => {
                    let c = self.free()?;
                    self.pictures.insert(c, picture.address.clone());
                    c
                }
            };
            out.push(c);
            done = at;
        }
        out.push_str(&text[done..]);
        Some(out)
    }

    /// Cuts a rendered text at the stand-ins and puts spellings and pictures back.
    pub(crate) fn uncover(&self, rendered: &str) -> Vec<Segment> {
        let mut segments: Vec<Segment> = Vec::new();
        let push = |text: &str, control: bool, segments: &mut Vec<Segment>| match segments.last_mut() {
            Some(last) if last.control == control && last.picture.is_none() => last.text.push_str(text),
            _ => segments.push(Segment::text(text, control)),
        };
        let mut rest = rendered;
        let stands_in = |c: &char| self.stand_ins.contains_key(c) || self.pictures.contains_key(c);
        while let Some((at, c)) = rest.char_indices().find(|(_, c)| stands_in(c)) {
            if at > 0 {
                push(&rest[..at], true, &mut segments);
            }
            match self.pictures.get(&c) {
                Some(address) => segments.push(Segment::picture(address)),
                None => push(&self.stand_ins[&c], false, &mut segments),
            }
            rest = &rest[at + c.len_utf8()..];
        }
        if !rest.is_empty() {
            push(rest, true, &mut segments);
        }
        segments
    }
}
