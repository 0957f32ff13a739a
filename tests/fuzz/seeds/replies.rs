//! Replies: every text of the extractor's own tests, under every rule.

const TESTS: &[&str] = &[
    include_str!("../../../datasets/src/reading/ext_tests.rs"),
    include_str!("../../../datasets/src/reading/task_tests.rs"),
    include_str!("../../../datasets/src/reading/hostile_tests.rs"),
];

pub(crate) fn all() -> Vec<Vec<u8>> {
    let texts = TESTS.iter().flat_map(|source| crate::literals::literals(source));
    let seed = |(number, text): (usize, String)| {
        let mut bytes = vec![(number % 8) as u8 | ((number % 5) << 4) as u8, (number / 7 % 4) as u8];
        bytes.extend(text.into_bytes());
        bytes
    };
    texts.enumerate().map(seed).collect()
}
