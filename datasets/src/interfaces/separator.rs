//! What stands between the end of a prompt and a label.

use super::{Separator, Settings};

/// The text between a prompt that ends with `before` and a label that follows.
///
/// - Nothing after a chat template's header (`before` is empty): templates end with a line end or a marker, and
///   models answer `B` there, not ` B`.
/// - Nothing after white space, after an opening bracket, quote or mark (`[[`, `(`, `**` with a space before it), and
///   after Chinese, Japanese or Korean text, which puts no spaces.
/// - One space after anything else: `Answer:` is followed by ` B`.
pub fn separator(before: &str) -> &'static str {
    let Some(last) = before.chars().next_back() else { return "" };
    match last {
        _ if last.is_whitespace() => "",
        '(' | '[' | '{' | '<' | '\u{2018}' | '\u{201C}' | '\u{00AB}' => "",
        '*' | '_' | '$' | '`' | '"' | '\'' => {
            // The same mark opens and closes: it opens where nothing, space or a bracket stands before it.
            let head = before.trim_end_matches(last);
            let opens = head.chars().next_back().is_none_or(|c| c.is_whitespace() || "([{:".contains(c));
            if opens && !head.ends_with(':') { "" } else { " " }
        }
        '\u{2E80}'..='\u{9FFF}'
        | '\u{AC00}'..='\u{D7AF}'
        | '\u{F900}'..='\u{FAFF}'
        | '\u{FE30}'..='\u{FE4F}' => "",
        '\u{FF00}'..='\u{FFEF}' | '\u{20000}'..='\u{3FFFF}' => "",
        _ => " ",
    }
}

/// The labels as they follow a prompt that ends with `lead`, or with `turn` where there is no lead and no template.
pub(super) fn continuations(labels: &[String], lead: &str, turn: &str, settings: &Settings) -> Vec<String> {
    let before = match lead {
        "" if settings.raw_prompt => turn,
        lead => lead,
    };
    let separator = match settings.separator {
        Separator::Auto => separator(before),
        Separator::None => "",
        Separator::Space => " ",
    };
    labels.iter().map(|label| format!("{separator}{label}")).collect()
}
