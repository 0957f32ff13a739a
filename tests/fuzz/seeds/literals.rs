//! Finds the texts of the project's own tests, which are the best inputs to start from.

/// The string literals of a source text; what is no literal among them does no harm.
pub(crate) fn literals(source: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut rest = source;
    while let Some(start) = rest.find('"') {
        let (text, length) = literal(&rest[start + 1..]);
        if !text.is_empty() {
            found.push(text);
        }
        rest = rest.get(start + 1 + length..).unwrap_or_default();
    }
    found
}

/// The text up to the closing quote, and the bytes of it and the quote.
fn literal(source: &str) -> (String, usize) {
    let mut text = String::new();
    let mut chars = source.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '"' => return (text, at + 1),
            '\\' => match chars.next().map(|(_, escaped)| escaped) {
                Some('n') => text.push('\n'),
                Some('r') => text.push('\r'),
                Some('t') => text.push('\t'),
                Some('u') => {
                    let digits: String = chars.by_ref().map(|(_, c)| c).take_while(|&c| c != '}').collect();
                    let code = u32::from_str_radix(digits.trim_start_matches('{'), 16);
                    text.extend(code.ok().and_then(char::from_u32));
                }
                Some(other) => text.push(other),
                None => break,
            },
            c => text.push(c),
        }
    }
    (text, source.len())
}
