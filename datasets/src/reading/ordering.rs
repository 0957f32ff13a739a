//! Preference orders: `M > {X,Y,Z}, {N}`. Finds the one a reply states, and parses it.
//!
//! An order is a chain of ranks joined by `>`; a rank is a letter, a braced group, or a comma list of both. A braced
//! `{N}` at the very end is free: it may stand anywhere. Alternatives are joined by `;`.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use regex::Regex;
use unicode_normalization::UnicodeNormalization;

/// A preference order, as sets: two texts that mean the same are equal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Order {
    /// Ranks, best first.
    pub chain: Vec<BTreeSet<char>>,
    /// Letters that may stand anywhere.
    pub free: BTreeSet<char>,
}

/// What a text says of the order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stated {
    /// One order.
    One(Order),
    /// Several that exclude each other.
    Several(Vec<Order>),
}

/// The letters that orders are made of.
const LETTERS: &str = "XYZMN";

/// The letter that a trailing brace of its own sets free: the one that never parks.
const FREE: char = 'N';

static STATEMENT: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let rank = r"(?:\b[XYZMNxyzmn]\b|\{[\s,;XYZMNxyzmn{}]*\})";
    Regex::new(&format!(r"{rank}(?:\s*[>,;]\s*{rank})*")).ok()
});

/// The order that a reply states: the last complete one that an "answer" or "preference order" announces, else the last
/// complete one (four letters or more), else the last one with a `>` at all.
pub fn find(reply: &str) -> Option<String> {
    let reply = normalise(reply);
    let statement = STATEMENT.as_ref()?;
    let mut best: Option<(u8, String)> = None;
    let mut above = String::new();
    for line in reply.lines() {
        let mut from = 0;
        for found in statement.find_iter(line) {
            let text = found.as_str().trim();
            let before = line[from..found.start()].to_lowercase();
            from = found.end();
            if !text.contains('>') {
                continue;
            }
            // A lead such as "Answer:" may stand on the line above.
            let lead = if before.trim().is_empty() && found.start() == 0 { &above } else { &before };
            let announced = ["answer", "preference"].iter().any(|word| lead.contains(word));
            let complete = text.chars().filter(|c| LETTERS.contains(c.to_ascii_uppercase())).count() >= 4;
            let strength = u8::from(complete) * 2 + u8::from(announced);
            if best.as_ref().is_none_or(|(known, _)| *known <= strength) {
                best = Some((strength, text.to_owned()));
            }
        }
        if !line.trim().is_empty() {
            above = line.to_lowercase();
        }
    }
    best.map(|(_, text)| text)
}

/// Parses a text that is an order and nothing else. `None` when it is none, or names a letter twice.
pub fn parse(text: &str) -> Option<Stated> {
    let text: String = normalise(text).to_uppercase().chars().filter(|c| !c.is_whitespace()).collect();
    let mut orders = Vec::new();
    for part in split(&text, ';')?.into_iter().filter(|part| !part.is_empty()) {
        orders.push(order(part)?);
    }
    match orders.len() {
        0 => None,
        1 => orders.pop().map(Stated::One),
        _ => Some(Stated::Several(orders)),
    }
}

/// One spelling for what means the same: full-width signs, Markdown and LaTeX marks.
fn normalise(text: &str) -> String {
    let text: String = text.nfkc().filter(|c| !matches!(c, '*' | '$' | '`' | '_')).collect();
    let text = text.replace("\\succ", ">").replace('≻', ">").replace("&gt;", ">").replace("\\text", "");
    text.replace('\\', "")
}

/// Splits at a sign outside braces. `None` when the braces do not match.
fn split(text: &str, at: char) -> Option<Vec<&str>> {
    let mut parts = Vec::new();
    let (mut depth, mut start) = (0usize, 0);
    for (index, sign) in text.char_indices() {
        match sign {
            '{' => depth += 1,
            '}' => depth = depth.checked_sub(1)?,
            _ if sign == at && depth == 0 => {
                parts.push(&text[start..index]);
                start = index + sign.len_utf8();
            }
            _ => {}
        }
    }
    parts.push(&text[start..]);
    (depth == 0).then_some(parts)
}

fn order(text: &str) -> Option<Order> {
    let mut order = Order { chain: Vec::new(), free: BTreeSet::new() };
    let mut named = BTreeSet::new();
    let ranks = split(text, '>')?;
    for (index, rank) in ranks.iter().enumerate() {
        let pieces = split(rank, ',')?;
        let mut group = BTreeSet::new();
        for (place, piece) in pieces.iter().enumerate() {
            let letters = letters(piece)?;
            let last = index + 1 == ranks.len() && place + 1 == pieces.len();
            let free = last && place > 0 && piece.starts_with('{') && letters == [FREE];
            for letter in letters {
                if !named.insert(letter) {
                    return None;
                }
                if free {
                    order.free.insert(letter)
                } else {
                    group.insert(letter)
                };
            }
        }
        if group.is_empty() {
            return None;
        }
        order.chain.push(group);
    }
    Some(order)
}

/// The letters of one piece, which is a letter or a braced list.
fn letters(piece: &str) -> Option<Vec<char>> {
    let inner = piece.chars().filter(|sign| !matches!(sign, '{' | '}' | ',' | ';')).collect::<Vec<_>>();
    let braced = piece.starts_with('{') && piece.ends_with('}');
    let fits = inner.iter().all(|letter| LETTERS.contains(*letter)) && !inner.is_empty();
    (fits && (braced || inner.len() == 1)).then_some(inner)
}

impl Order {
    /// An order from strings of letters: `Order::new(&["N", "Y", "XZM"], "")`.
    pub fn new<S: AsRef<str>>(chain: &[S], free: &str) -> Self {
        Order {
            chain: chain.iter().map(|rank| rank.as_ref().chars().collect()).collect(),
            free: free.chars().collect(),
        }
    }

    /// The first letter, where the first rank has no other.
    pub fn favorite(&self) -> Option<char> {
        let first = self.chain.first()?;
        first.first().copied().filter(|_| first.len() == 1)
    }

    /// The order of the trucks that park: without the one that never does.
    pub fn visible(&self) -> Order {
        let without =
            |group: &BTreeSet<char>| group.iter().copied().filter(|letter| *letter != FREE).collect();
        let mut chain: Vec<BTreeSet<char>> = self.chain.iter().map(without).collect();
        chain.retain(|group| !group.is_empty());
        Order { chain, free: without(&self.free) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(text: &str) -> Order {
        match parse(text) {
            Some(Stated::One(order)) => order,
            other => panic!("{text}: {other:?}"),
        }
    }

    #[test]
    fn the_papers_printed_answers_parse() {
        assert_eq!(one("N>Y>{X,Z,M}"), Order::new(&["N", "Y", "MXZ"], ""));
        assert_eq!(one("X > {M, N, Y, Z}"), Order::new(&["X", "MNYZ"], ""));
        assert_eq!(one("Z > {M, X, Y}, {N}"), Order::new(&["Z", "MXY"], "N"));
    }

    #[test]
    fn only_a_braced_trailing_n_is_free() {
        assert_eq!(one("M>{X,Y,Z},{N}").free.len(), 1);
        assert_eq!(one("M>{X,Y,Z},N"), one("M>{X,Y,Z,N}"));
        assert_eq!(one("X>Y,{M,N,Z}"), one("X>{Y,M,N,Z}"));
        assert_eq!(one("{N},M>{X,Y,Z}"), Order::new(&["NM", "XYZ"], ""));
        assert_eq!(one("X>Y>{N}"), Order::new(&["X", "Y", "N"], ""));
    }

    #[test]
    fn typing_quirks_mean_the_same() {
        for text in
            ["ｍ＞｛x，y，z｝", "**M > {Z, Y, X}**", "M>{X;Y;Z}", "$M \\succ \\{X, Y, Z\\}$", "m>{x,y,z};"]
        {
            assert_eq!(one(text), Order::new(&["M", "XYZ"], ""), "{text}");
        }
    }

    #[test]
    fn what_is_no_order_is_none() {
        for text in ["", ">", "X>X>Y", "X>{Y,Z},{Y}", "A>B", "X>", "X>{}", "X>{Y", "XY>Z", "X}>{Y"] {
            assert_eq!(parse(text), None, "{text}");
        }
    }

    #[test]
    fn alternatives_are_several() {
        assert!(matches!(parse("X>Y>Z>M>N; N>X>Y>M>Z"), Some(Stated::Several(orders)) if orders.len() == 2));
    }

    #[test]
    fn the_announced_order_wins_over_partial_ones_after_it() {
        let reply = "First X > Y seems likely.\n**Answer:** Y > {X, Z, M}, {N}\nThis means Y > X and Y > Z.";
        assert_eq!(one(&find(reply).unwrap()), Order::new(&["Y", "XZM"], "N"));
        let reply = "Final answer:\n\nN>Y>{X,Z,M}\n\nNote that Z > Y > {X,M,N} would need another walk.";
        assert_eq!(one(&find(reply).unwrap()), Order::new(&["N", "Y", "XZM"], ""));
    }

    #[test]
    fn the_last_complete_order_stands_where_none_is_announced() {
        let reply = "Maybe M > {X,Y,Z,N}. No: A saw all four, so M > {X,Y,Z}, {N}. M > X follows.";
        assert_eq!(one(&find(reply).unwrap()), Order::new(&["M", "XYZ"], "N"));
        assert_eq!(find("Student A likes Y, Z and M."), None);
        assert_eq!(find("I am > you"), None);
    }

    #[test]
    fn an_order_inside_words_is_not_torn_off() {
        assert_eq!(find("the axiom > Yellow > Zebra"), None);
        assert_eq!(one(&find("So we get N>Z>{X,M,Y}.").unwrap()), Order::new(&["N", "Z", "XMY"], ""));
    }
}
