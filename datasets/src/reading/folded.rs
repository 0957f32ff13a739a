//! Brings a reply to one spelling before anything is looked for in it, and remembers where each piece came from.
//!
//! Full-width letters, circled letters, typographic quotes and odd spaces must not decide whether an answer is
//! found (NFKC plus a short list of our own); yet what is logged are places in the reply as it was generated.

use std::ops::Range;

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::canonical_combining_class;

use super::Span;

/// A base character with more marks than this is split; real text has one to four.
const LONGEST_CLUSTER: usize = 32;

/// The visible part of a reply in one spelling.
pub(super) struct Folded {
    /// The folded text: `\n` is the only line end, ' ' the only other white space.
    pub(super) text: String,
    pieces: Vec<Piece>,
}

/// A stretch of folded text and where it came from.
struct Piece {
    folded: usize,
    original: Range<usize>,
    /// Byte for byte the same in both.
    same: bool,
}

impl Folded {
    /// Folds the given stretches of a reply; a line end separates what was not adjacent.
    pub(super) fn new(reply: &str, visible: &[Range<usize>]) -> Self {
        let mut folded = Folded { text: String::with_capacity(reply.len()), pieces: Vec::new() };
        for (nth, range) in visible.iter().enumerate() {
            if nth > 0 {
                folded.push("\n", range.start..range.start, false);
            }
            folded.add(reply, range.clone());
        }
        folded
    }

    /// The place in the reply of a stretch of the folded text.
    pub(super) fn span(&self, range: Range<usize>) -> Span {
        let start = self.original(range.start).0;
        let end = if range.is_empty() { start } else { self.original(range.end - 1).1 };
        Span { start: narrow(start), end: narrow(end.max(start)) }
    }

    /// First and one-past-last byte in the reply of what the folded byte at `place` came from.
    fn original(&self, place: usize) -> (usize, usize) {
        let after = self.pieces.partition_point(|piece| piece.folded <= place);
        let Some(piece) = after.checked_sub(1).and_then(|index| self.pieces.get(index)) else {
            return (0, 0);
        };
        if piece.same {
            let at = piece.original.start + (place - piece.folded);
            (at.min(piece.original.end), (at + 1).min(piece.original.end))
        } else {
            (piece.original.start, piece.original.end)
        }
    }

    fn add(&mut self, reply: &str, range: Range<usize>) {
        let text = &reply[range.clone()];
        let mut chars = text.char_indices().peekable();
        while let Some((start, first)) = chars.next() {
            let at = range.start + start;
            if first == '\r' && chars.peek().is_some_and(|&(_, next)| next == '\n') {
                continue;
            }
            let marked = chars.peek().is_some_and(|&(_, next)| is_mark(next));
            if (first.is_ascii_graphic() || first == ' ' || first == '\n') && !marked {
                self.keep(first, at);
                continue;
            }
            let mut end = start + first.len_utf8();
            let mut count = 1;
            while let Some(&(place, mark)) = chars.peek() {
                if !is_mark(mark) || count == LONGEST_CLUSTER {
                    break;
                }
                chars.next();
                end = place + mark.len_utf8();
                count += 1;
            }
            let mut spelling = String::new();
            spell(&text[start..end], &mut spelling);
            if !spelling.is_empty() {
                self.push(&spelling, at..range.start + end, false);
            }
        }
    }

    fn keep(&mut self, ascii: char, at: usize) {
        match self.pieces.last_mut() {
            Some(piece) if piece.same && piece.original.end == at => {
                piece.original.end = at + 1;
                self.text.push(ascii);
            }
            _ => {
                let mut one = [0u8; 4];
                self.push(ascii.encode_utf8(&mut one), at..at + 1, true);
            }
        }
    }

    fn push(&mut self, spelling: &str, original: Range<usize>, same: bool) {
        self.pieces.push(Piece { folded: self.text.len(), original, same });
        self.text.push_str(spelling);
    }
}

/// Folds a whole text: for labels, options and golds, so that both sides are spelled alike.
pub fn fold(text: &str) -> String {
    Folded::new(text, std::slice::from_ref(&(0..text.len()))).text
}

fn narrow(offset: usize) -> u32 {
    u32::try_from(offset).unwrap_or(u32::MAX)
}

fn is_mark(c: char) -> bool {
    !c.is_ascii() && canonical_combining_class(c) != 0
}

fn spell(cluster: &str, into: &mut String) {
    let replaced = cluster.chars().filter_map(replace);
    for c in replaced.nfkc() {
        // NFKC itself may bring out characters of our list (a full-width quote becomes a plain one, and so on).
        match replace(c) {
            Some(c) if c.is_whitespace() && c != '\n' => into.push(' '),
            Some(c) => into.push(c),
            None => {}
        }
    }
}

/// One character for another; `None` drops it.
fn replace(c: char) -> Option<char> {
    Some(match c {
        '\u{2018}' | '\u{2019}' | '\u{201A}' | '\u{201B}' | '\u{02BC}' | '\u{2032}' | '\u{00B4}' => '\'',
        '\u{201C}'..='\u{201F}' | '\u{2033}' | '\u{00AB}' | '\u{00BB}' | '\u{2039}' | '\u{203A}' => '"',
        '\u{3008}'..='\u{300B}' | '\u{300C}'..='\u{300F}' => '"',
        '\u{3010}' | '\u{3014}' | '\u{3016}' => '[',
        '\u{3011}' | '\u{3015}' | '\u{3017}' => ']',
        '\u{2010}'..='\u{2015}' | '\u{2212}' => '-',
        '\u{3002}' | '\u{FF61}' => '.',
        '\u{3001}' => ',',
        '\r' | '\u{0085}' | '\u{2028}' | '\u{2029}' => '\n',
        // Letters in dark boxes and circles, which NFKC leaves alone.
        '\u{1F170}'..='\u{1F189}' => letter(c as u32 - 0x1F170),
        '\u{1F150}'..='\u{1F169}' => letter(c as u32 - 0x1F150),
        // Invisible characters, variation selectors, key caps.
        '\u{00AD}' | '\u{200B}'..='\u{200F}' | '\u{202A}'..='\u{202E}' | '\u{2060}'..='\u{2069}' => {
            return None;
        }
        '\u{FE00}'..='\u{FE0F}' | '\u{FEFF}' | '\u{20E3}' => return None,
        other => other,
    })
}

fn letter(index: u32) -> char {
    char::from(b'A' + (index % 26) as u8)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ext_23_quotes_apostrophes_and_widths_fold_alike() {
        assert_eq!(fold("\u{201C}Newton\u{2019}s law\u{201D}"), "\"Newton's law\"");
        assert_eq!(fold("Newton\u{02BC}s law"), fold("Newton's law"));
        assert_eq!(fold("\u{7B54}\u{6848}\u{FF1A}\u{FF08}\u{FF22}\u{FF09}"), "\u{7B54}\u{6848}:(B)");
        assert_eq!(fold("re\u{301}ponse"), "r\u{e9}ponse");
        assert_eq!(fold("a\r\nb\rc\u{a0}d\u{200b}e"), "a\nb\nc de");
    }

    #[test]
    fn places_lead_back_into_the_reply() {
        let reply = "x\u{FF22}y\u{200b}\u{2460}z e\u{301}!";
        let folded = Folded::new(reply, std::slice::from_ref(&(0..reply.len())));
        assert_eq!(folded.text, "xBy1z \u{e9}!");
        for (piece, original) in [("B", "\u{FF22}"), ("1", "\u{2460}"), ("\u{e9}", "e\u{301}"), ("z", "z")] {
            let at = folded.text.find(piece).expect("present");
            let span = folded.span(at..at + piece.len());
            assert_eq!(&reply[span.start as usize..span.end as usize], original);
        }
        let all = folded.span(0..folded.text.len());
        assert_eq!((all.start, all.end as usize), (0, reply.len()));
    }
}
