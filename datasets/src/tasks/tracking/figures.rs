//! What the state-tracking paper counts in replies: whether they grow with the depth, and their arithmetic.

use crate::analysis::{Analysis, Figure, Played};
use crate::statistics::{Expressions, expressions, pearson};

/// Shared by the three state-tracking tasks.
pub(in crate::tasks) const ANALYSIS: Analysis = Analysis { strata: &[&["depth"]], figures };

/// Length is counted in characters, as the paper does not say otherwise; an item without a reply has no length.
fn figures(played: &[Played<'_>]) -> Vec<Figure> {
    let mut lengths = Vec::new();
    let mut arithmetic = Expressions::default();
    let mut replies = 0;
    for item in played {
        for reply in &item.replies {
            replies += 1;
            arithmetic += expressions(reply);
            if let Some(depth) = item.tag("depth").and_then(|depth| depth.parse().ok()) {
                lengths.push((depth, reply.chars().count() as f64));
            }
        }
    }
    if replies == 0 {
        return Vec::new();
    }
    let checked = arithmetic.found - arithmetic.unchecked;
    let figure = |name: &str, value, n| Figure { name: name.to_owned(), value, n };
    let share = |part: u32, whole: u64| (whole > 0).then(|| f64::from(part) / whole as f64);
    vec![
        figure("pearson r of response length and depth", pearson(&lengths), lengths.len() as u64),
        figure("arithmetic expressions per reply", share(arithmetic.found, replies), replies),
        figure("arithmetic expressions right", share(arithmetic.right, checked.into()), checked.into()),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Verdict;

    fn tags(depth: &str) -> Vec<(String, String)> {
        vec![("depth".to_owned(), depth.to_owned())]
    }

    #[test]
    fn replies_that_grow_by_a_fixed_length_per_depth_correlate_fully() {
        let tags: Vec<_> = ["0", "1", "2"].map(tags).into();
        let texts = ["ab", "ab 1 + 7 = 8", "ab 1 + 7 = 8 2 - 2 = 1"];
        let played: Vec<Played<'_>> = tags
            .iter()
            .zip(&texts)
            .map(|(tags, text)| Played { tags, verdict: Verdict::Wrong, replies: vec![(*text).into()] })
            .collect();
        // Lengths 2, 12, 22; one expression in the second reply, two in the third, of which one is wrong.
        let figures = figures(&played);
        assert!((figures[0].value.unwrap() - 1.0).abs() < 1e-12 && figures[0].n == 3, "{figures:?}");
        assert_eq!((figures[1].value, figures[1].n), (Some(1.0), 3));
        assert_eq!((figures[2].value, figures[2].n), (Some(2.0 / 3.0), 3));
    }

    #[test]
    fn scored_labels_have_no_replies_and_no_figures() {
        let tags = tags("3");
        let played = [Played { tags: &tags, verdict: Verdict::Right, replies: Vec::new() }];
        assert_eq!(figures(&played), []);
    }

    #[test]
    fn one_depth_alone_gives_no_correlation() {
        let tags = tags("3");
        let item =
            |text: &'static str| Played { tags: &tags, verdict: Verdict::Right, replies: vec![text.into()] };
        let figures = figures(&[item("left"), item("to the right")]);
        assert_eq!((figures[0].value, figures[2].value, figures[2].n), (None, None, 0));
    }
}
