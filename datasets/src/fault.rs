//! Faults of a configuration's values in the words of its readers: what is there, and what has to be there. The parser names
//! types of the language that this is written in, which mean nothing to them.

/// Says what is wrong with a value; `key` is its full key where it is known. A message of another kind stays, behind the key.
pub fn in_words(key: Option<&str>, message: &str) -> String {
    let subject = key.unwrap_or("a value");
    let wrong = message.strip_prefix("invalid type: ").or_else(|| message.strip_prefix("invalid value: "));
    if let Some((found, expected)) = wrong.and_then(|rest| rest.split_once(", expected ")) {
        return format!("{subject} is {}: give {}", found_in_words(found), expected_in_words(expected));
    }
    if let Some(rest) = message.strip_prefix("unknown variant ") {
        return format!("{subject}: unknown value {rest}");
    }
    if let Some(rest) = message.strip_prefix("unknown field ") {
        return match key.filter(|key| !key.is_empty()) {
            Some(table) => format!("{table}: unknown key {rest}"),
            None => format!("unknown key {rest}"),
        };
    }
    match key {
        Some(key) if !message.contains(key) => format!("{key}: {message}"),
        _ => message.to_owned(),
    }
}

/// A list of known keys without those that nobody sets by hand.
pub(crate) fn without(message: &str, hidden: &[&str]) -> String {
    let Some((before, known)) = message.split_once(", expected one of ") else { return message.to_owned() };
    let known: Vec<&str> =
        known.split(", ").filter(|name| !hidden.contains(&name.trim_matches('`'))).collect();
    format!("{before}, expected one of {}", known.join(", "))
}

fn found_in_words(found: &str) -> String {
    let (kind, value) = found.split_once(' ').unwrap_or((found, ""));
    let value_alone = value.rsplit_once(' ').map_or(value, |(_, last)| last).trim_matches('`');
    match kind {
        "string" => format!("the text {value}"),
        "integer" | "floating" | "boolean" if !value_alone.is_empty() => value_alone.to_owned(),
        "sequence" => "a list".to_owned(),
        "map" => "a table".to_owned(),
        _ => found.to_owned(),
    }
}

fn expected_in_words(expected: &str) -> String {
    let up_to = |most: u64| format!("a whole number from 0 to {most}");
    match expected {
        "u8" => up_to(u8::MAX.into()),
        "u16" => up_to(u16::MAX.into()),
        "u32" => up_to(u32::MAX.into()),
        "u64" | "usize" => "a whole number, 0 or more".to_owned(),
        "i8" | "i16" | "i32" | "i64" | "isize" => "a whole number".to_owned(),
        "f32" | "f64" => "a number".to_owned(),
        "a string" => "a text in quotes".to_owned(),
        "path string" => "a path in quotes".to_owned(),
        "a boolean" => "true or false".to_owned(),
        "a sequence" => "a list in [ ]".to_owned(),
        "a map" | "map" => "a table".to_owned(),
        other if other.starts_with("struct ") => "a table".to_owned(),
        other => other.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faults_speak_of_numbers_texts_and_tables() {
        for (key, message, words) in [
            (
                Some("seed"),
                "invalid type: string \"x\", expected u64",
                "seed is the text \"x\": give a whole number, 0 or more",
            ),
            (
                Some("params.grammars"),
                "invalid value: integer `-2`, expected u16",
                "params.grammars is -2: give a whole number from 0 to 65535",
            ),
            (
                Some("asking.rescue"),
                "invalid type: floating point `1.5`, expected a boolean",
                "asking.rescue is 1.5: give true or false",
            ),
            (None, "invalid type: map, expected a sequence", "a value is a table: give a list in [ ]"),
            (
                Some("asking.cue-place"),
                "unknown variant `x`, expected `raw` or `y`",
                "asking.cue-place: unknown value `x`, expected `raw` or `y`",
            ),
            (Some("engine"), "unknown field `a`, expected `b`", "engine: unknown key `a`, expected `b`"),
            (None, "unknown field `a`, expected `b`", "unknown key `a`, expected `b`"),
            (Some("limit"), "duplicate key", "limit: duplicate key"),
        ] {
            assert_eq!(in_words(key, message), words);
        }
    }

    #[test]
    fn keys_that_nobody_sets_are_not_offered() {
        let message = "unknown field `row`, expected one of `path`, `rows`, `show`";
        assert_eq!(without(message, &["rows"]), "unknown field `row`, expected one of `path`, `show`");
        assert_eq!(without("anything", &["rows"]), "anything");
    }
}
