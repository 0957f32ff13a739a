//! The number of steps that a reply to a route question states beside its choice.

use std::sync::LazyLock;

use regex::Regex;

static STATEMENTS: LazyLock<Vec<Regex>> = LazyLock::new(|| {
    let number = r"(\d{1,3}|one|two|three|four|five|six|seven|eight|nine|ten)\b";
    [
        // Steps for Signaling: 3
        format!(
            r"(?i)\bsteps?\s+(?:required\s+|needed\s+)?(?:for|to)\s+signal\w*[^\n\d.]{{0,40}}?\b{number}"
        ),
        // Signaling steps: 3
        format!(r"(?i)\bsignal\w*\s+steps?\W{{0,6}}(?:is\s+|are\s+)?{number}"),
        // signals the preference in 3 steps
        format!(r"(?i)\bsignal\w*[^\n\d.]{{0,60}}\b(?:in|after|within)\s+{number}\s+steps?"),
        // 3 steps to signal
        format!(r"(?i)\b{number}\s+steps?\s+(?:for|to)\s+signal"),
    ]
    .iter()
    .filter_map(|pattern| Regex::new(pattern).ok())
    .collect()
});

/// The number stated last, by the most explicit wording that the reply has.
pub fn find(reply: &str) -> Option<u16> {
    let reply = reply.replace(['*', '_', '`'], "");
    let last = |pattern: &Regex| pattern.captures_iter(&reply).last().and_then(|found| number(&found[1]));
    STATEMENTS.iter().find_map(last)
}

fn number(word: &str) -> Option<u16> {
    const WORDS: [&str; 10] = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"];
    let word = word.to_lowercase();
    word.parse().ok().or_else(|| WORDS.iter().position(|known| *known == word).map(|index| index as u16 + 1))
}

#[cfg(test)]
mod tests {
    use super::find;

    #[test]
    fn labelled_lines_and_sentences_state_the_number() {
        for (reply, steps) in [
            ("Best Route: B\nSteps for Signaling: 3\nExplanation: it goes up for 5 steps.", 3),
            ("**Steps for Signaling:** two", 2),
            ("Steps required to signal the preference: 1", 1),
            ("Signaling steps: 4.", 4),
            ("Route A signals the preference after 2 steps, then walks 7 steps.", 2),
            ("It takes 3 steps to signal X.", 3),
            ("Steps for Signaling: 2\nNo, wait.\nSteps for Signaling: 1", 1),
        ] {
            assert_eq!(find(reply), Some(steps), "{reply}");
        }
    }

    #[test]
    fn other_numbers_are_not_taken() {
        for reply in ["", "Route B", "B. The route has 7 steps.", "Move right from (1, 0) to (2, 0)"] {
            assert_eq!(find(reply), None, "{reply}");
        }
    }
}
