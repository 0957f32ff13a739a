//! Markdown, LaTeX, HTML and quotes around a label: they say nothing and are passed over.

/// Passes over everything that only dresses what follows; at most 64 bytes, line ends included.
pub(super) fn undress(text: &str, from: usize) -> usize {
    let mut at = from;
    while at < text.len() && at - from < 64 {
        let rest = &text[at..];
        let Some(c) = rest.chars().next() else { break };
        match c {
            '\\' => match command(rest) {
                Some(length) => at += length,
                None => break,
            },
            '<' => match tag(rest) {
                Some(length) => at += length,
                None => at += 1,
            },
            '*' | '_' | '$' | '(' | ')' | '[' | ']' | '{' | '}' | '"' | '\'' | '`' | '~' | '|' | '#'
            | '>' | ' ' | '\n' => at += 1,
            _ => break,
        }
    }
    at
}

/// Length of a dressing LaTeX command at the start of the text.
fn command(rest: &str) -> Option<usize> {
    let name = rest[1..].split(|c: char| !c.is_ascii_alphabetic()).next().unwrap_or("");
    if DRESS.contains(&name) {
        return Some(1 + name.len());
    }
    match rest[1..].chars().next()? {
        '(' | ')' | '[' | ']' | '{' | '}' | ' ' | ',' | ';' | '!' => Some(2),
        _ => None,
    }
}

/// Length of a dressing HTML tag at the start of the text.
fn tag(rest: &str) -> Option<usize> {
    let inner = rest.strip_prefix("</").or_else(|| rest.strip_prefix('<'))?;
    TAGS.iter().find_map(|name| {
        let after = inner.strip_prefix(name)?.trim_start_matches(['/', ' ']);
        after.starts_with('>').then(|| rest.len() - after.len() + 1)
    })
}

/// LaTeX commands that only dress their argument.
#[rustfmt::skip]
const DRESS: &[&str] = &[
    "boxed", "fbox", "text", "textbf", "textit", "textrm", "mathrm", "mathbf", "mathit", "mathsf",
    "operatorname", "bf", "rm", "large", "Large", "quad", "left", "right",
];

/// HTML tags that only dress what they hold.
#[rustfmt::skip]
const TAGS: &[&str] = &[
    "b", "strong", "i", "em", "u", "code", "p", "span", "br", "answer", "mark",
];
