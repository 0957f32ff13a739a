//! Counts and lists in the words of lines for people.

/// `1 item`, `2 items`: the noun takes an s where there are more or fewer than one.
pub(crate) fn counted(count: impl TryInto<u64>, noun: &str) -> String {
    match count.try_into().unwrap_or(u64::MAX) {
        1 => format!("1 {noun}"),
        count => format!("{count} {noun}s"),
    }
}

/// `1`, `1 and 2`, `1, 2 and 3`.
pub(crate) fn listed(words: &[String]) -> String {
    match words {
        [] => String::new(),
        [only] => only.clone(),
        [before @ .., last] => format!("{} and {last}", before.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_is_no_plural_and_three_have_one_and() {
        assert_eq!((counted(1_u32, "item"), counted(0_u64, "item")), ("1 item".into(), "0 items".into()));
        let words = |count: u32| listed(&(1..=count).map(|n| n.to_string()).collect::<Vec<_>>());
        assert_eq!((words(1), words(2), words(3)), ("1".into(), "1 and 2".into(), "1, 2 and 3".into()));
    }
}
