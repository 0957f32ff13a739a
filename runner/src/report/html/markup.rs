//! HTML in the making: what is text stays text.

use std::fmt;

/// Markup that is safe to put into a page.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Markup(String);

impl fmt::Display for Markup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Text, every character shown as itself. Control characters that a page cannot hold show as U+FFFD.
pub(super) fn text(text: &str) -> Markup {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\t' | '\n' => out.push(character),
            // Marks that turn the direction of writing would reorder what stands around them.
            '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => out.push('\u{fffd}'),
            control if control.is_control() => out.push('\u{fffd}'),
            other => out.push(other),
        }
    }
    Markup(out)
}

/// Markup written by this program.
pub(super) fn raw(markup: &str) -> Markup {
    Markup(markup.to_owned())
}

/// An element with attributes and content.
pub(super) fn element(
    name: &str,
    attributes: &[(&str, &str)],
    content: impl IntoIterator<Item = Markup>,
) -> Markup {
    let mut out = format!("<{name}");
    for (key, value) in attributes {
        out.push_str(&format!(" {key}=\"{}\"", text(value)));
    }
    out.push('>');
    content.into_iter().for_each(|part| out.push_str(&part.0));
    out.push_str(&format!("</{name}>"));
    Markup(out)
}

/// Parts one after another.
pub(super) fn all(parts: impl IntoIterator<Item = Markup>) -> Markup {
    Markup(parts.into_iter().map(|part| part.0).collect::<Vec<_>>().join("\n"))
}

/// A paragraph of plain words.
pub(super) fn paragraph(words: &str) -> Markup {
    element("p", &[], [prose(words)])
}

/// Words in which what stands between back-ticks is to be typed.
pub(super) fn prose(words: &str) -> Markup {
    let parts: Vec<&str> = words.split('`').collect();
    if parts.len().is_multiple_of(2) {
        return text(words);
    }
    let part = |(at, part): (usize, &&str)| match at % 2 {
        0 => text(part),
        _ => element("code", &[], [text(part)]),
    };
    Markup(parts.iter().enumerate().map(|part_at| part(part_at).0).collect())
}

/// A table; columns behind the first `words` hold numbers. It scrolls by itself where it is wider than the page.
pub(super) fn table(caption: &str, headings: &[&str], words: usize, rows: &[Vec<String>]) -> Markup {
    let cells = |row: &Vec<String>| {
        let cell = |(at, content): (usize, &String)| {
            let class: &[(&str, &str)] = if at >= words { &[("class", "n")] } else { &[] };
            element("td", class, [text(content)])
        };
        element("tr", &[], row.iter().enumerate().map(cell))
    };
    let head = headings.iter().enumerate().map(|(at, heading)| {
        let class: &[(&str, &str)] =
            if at >= words { &[("scope", "col"), ("class", "n")] } else { &[("scope", "col")] };
        element("th", class, [text(heading)])
    });
    let table = element(
        "table",
        &[],
        [
            element("caption", &[], [text(caption)]),
            element("thead", &[], [element("tr", &[], head)]),
            element("tbody", &[], rows.iter().map(cells)),
        ],
    );
    // What scrolls must be reachable by the keyboard.
    element("div", &[("class", "scroll"), ("tabindex", "0")], [table])
}

/// Content behind a line that opens it.
pub(super) fn details(summary: &str, content: impl IntoIterator<Item = Markup>) -> Markup {
    let summary = element("summary", &[], [text(summary)]);
    element("details", &[], std::iter::once(summary).chain(content))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_to_be_typed_is_marked_and_stays_text() {
        assert_eq!(
            prose("ask `report <DIR>` & `x`").to_string(),
            "ask <code>report &lt;DIR&gt;</code> &amp; <code>x</code>"
        );
        assert_eq!(prose("a ` alone").to_string(), "a ` alone");
    }
}
