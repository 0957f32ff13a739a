//! Where in a configuration's text a key stands. The text is parsed once more for it, so that a key in an inline table, a
//! dotted one and one of a second table of the same name are found for what they are.

use std::ops::Range;

use toml::de::{DeTable, DeValue};

/// The byte at which the deepest of these keys that is there begins; numbers stand for places in lists. `None` where not even
/// the first is there.
pub(super) fn of_path(text: &str, path: &[&str]) -> Option<usize> {
    let root = DeTable::parse(text).ok()?;
    let (first, rest) = path.split_first()?;
    let (key, value) = root.get_ref().iter().find(|(key, _)| key.get_ref() == *first)?;
    Some(within(value.get_ref(), rest).unwrap_or(key.span().start))
}

/// The place in the list of tasks of the one whose name stands at these bytes.
pub(super) fn task_at(text: &str, name: &Range<usize>) -> Option<usize> {
    let root = DeTable::parse(text).ok()?;
    let (_, tasks) = root.get_ref().iter().find(|(key, _)| key.get_ref() == "task")?;
    let has_name =
        |task: &DeTable<'_>| task.iter().any(|(key, value)| key.get_ref() == "name" && value.span() == *name);
    let DeValue::Array(tasks) = tasks.get_ref() else { return None };
    tasks.iter().position(|task| matches!(task.get_ref(), DeValue::Table(task) if has_name(task)))
}

fn within(value: &DeValue<'_>, path: &[&str]) -> Option<usize> {
    let (first, rest) = path.split_first()?;
    let (at, value) = match value {
        DeValue::Table(table) => {
            let (key, value) = table.iter().find(|(key, _)| key.get_ref() == *first)?;
            (key.span().start, value)
        }
        DeValue::Array(list) => {
            let value = list.get(first.parse::<usize>().ok()?)?;
            (value.span().start, value)
        }
        _ => return None,
    };
    Some(within(value.get_ref(), rest).unwrap_or(at))
}

/// The full key of the value that begins at a byte: `engine.threads`, without places in lists.
pub(super) fn key_at(text: &str, byte: usize) -> Option<String> {
    let root = DeTable::parse(text).ok()?;
    let mut best: Option<(usize, String)> = None;
    find(root.get_ref(), "", byte, &mut best);
    best.map(|(_, key)| key)
}

fn find(table: &DeTable<'_>, above: &str, byte: usize, best: &mut Option<(usize, String)>) {
    for (key, value) in table.iter() {
        let full = match above {
            "" => key.get_ref().to_string(),
            above => format!("{above}.{}", key.get_ref()),
        };
        consider(value.get_ref(), value.span(), &full, byte, best);
    }
}

fn consider(
    value: &DeValue<'_>,
    span: Range<usize>,
    key: &str,
    byte: usize,
    best: &mut Option<(usize, String)>,
) {
    let narrower = best.as_ref().is_none_or(|(length, _)| span.len() <= *length);
    if span.contains(&byte) && narrower {
        *best = Some((span.len(), key.to_owned()));
    }
    match value {
        DeValue::Table(table) => find(table, key, byte, best),
        DeValue::Array(list) => {
            list.iter().for_each(|value| consider(value.get_ref(), value.span(), key, byte, best))
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "interfaces = [\"direct\"]\n[[task]]\nname = \"a\"\nparams = {\n  grammars = 3 }\n[[task]]\nname = \"b\"\n\
                        [task.params.import]\nanswer-is = \"x\"\n[engine]\nthreads = 2\n";

    #[test]
    fn keys_are_found_where_they_stand() {
        let line = |path: &[&str]| of_path(TEXT, path).map(|at| 1 + TEXT[..at].matches('\n').count());
        assert_eq!(line(&["interfaces"]), Some(1));
        assert_eq!(line(&["task", "0", "params", "grammars"]), Some(5));
        assert_eq!(line(&["task", "1", "params", "import", "answer-is"]), Some(9));
        assert_eq!(line(&["engine", "threads"]), Some(11));
        // The deepest that is there.
        assert_eq!(line(&["task", "0", "params", "words"]), Some(4));
        assert_eq!(line(&["engine", "mode"]), Some(10));
        assert_eq!(line(&["nowhere"]), None);
    }

    #[test]
    fn values_know_their_keys() {
        let key = |value: &str| key_at(TEXT, TEXT.find(value).unwrap());
        assert_eq!(key("\"direct\"").as_deref(), Some("interfaces"));
        assert_eq!(key("3 }").as_deref(), Some("task.params.grammars"));
        assert_eq!(key("\"x\"").as_deref(), Some("task.params.import.answer-is"));
        assert_eq!(key("2\n").as_deref(), Some("engine.threads"));
    }
}
