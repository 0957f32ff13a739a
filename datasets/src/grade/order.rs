//! Grades preference orders: Favorite, Visible and Strict, on sets and never on strings.

use crate::reading::ordering::{self, Order, Stated};
use crate::verdict::{NoAnswer, Said, Verdict};

/// Strictly right, wrong, or no order at all.
pub(super) fn verdict(chain: &[String], free: &str, text: &str) -> Verdict {
    match ordering::parse(text) {
        None => Verdict::Unanswered(NoAnswer::Unparsed),
        Some(Stated::One(order)) if order == Order::new(chain, free) => Verdict::Right,
        Some(_) => Verdict::Wrong,
    }
}

/// Whether the favourite is named, the order of the trucks that park is right, the whole order is right.
pub(super) fn scores(chain: &[String], free: &str, said: &Said) -> Vec<(String, f64)> {
    let gold = Order::new(chain, free);
    let stated = match said {
        Said::Text(text) => ordering::parse(text),
        _ => None,
    };
    let order = match stated {
        // Several alternatives answer nothing, even equivalent ones.
        Some(Stated::One(order)) => Some(order),
        _ => None,
    };
    let score = |name: &str, holds: &dyn Fn(&Order) -> bool| {
        (name.to_owned(), f64::from(u8::from(order.as_ref().is_some_and(holds))))
    };
    vec![
        score("favorite", &|order| order.favorite().is_some() && order.favorite() == gold.favorite()),
        score("visible", &|order| order.visible() == gold.visible()),
        score("strict", &|order| *order == gold),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn graded(chain: &[&str], free: &str, answer: &str) -> [f64; 3] {
        let chain: Vec<String> = chain.iter().map(|rank| (*rank).to_owned()).collect();
        let scores = scores(&chain, free, &Said::Text(answer.to_owned()));
        let strict = verdict(&chain, free, answer) == Verdict::Right;
        assert_eq!(f64::from(u8::from(strict)), scores[2].1, "the verdict is Strict");
        [scores[0].1, scores[1].1, scores[2].1]
    }

    #[test]
    fn the_three_scores_differ_as_in_the_scored_human_answers() {
        let last = |answer| graded(&["M", "XYZ"], "N", answer);
        assert_eq!(last("M > {X,Y,Z}, {N}"), [1.0, 1.0, 1.0]);
        assert_eq!(last("M>{X,Y,Z,N}"), [1.0, 1.0, 0.0]);
        assert_eq!(last("M>{X,Y,Z}"), [1.0, 1.0, 0.0]);
        assert_eq!(last("M>{X,Y,Z},N"), [1.0, 1.0, 0.0]);
        assert_eq!(last("M>X>{Y,Z},{N}"), [1.0, 0.0, 0.0]);
        let intermediate = |answer| graded(&["X", "MNYZ"], "", answer);
        assert_eq!(intermediate("X>{Y,M,Z},{N}"), [1.0, 1.0, 0.0]);
        assert_eq!(intermediate("X>{Y,M,Z},N"), [1.0, 1.0, 1.0]);
        let previsited = |answer| graded(&["N", "Z", "MXY"], "", answer);
        assert_eq!(previsited("N>Z>{X,Y,M}"), [1.0, 1.0, 1.0]);
        assert_eq!(previsited("Z>{X,Y,M}"), [0.0, 1.0, 0.0]);
        assert_eq!(previsited("{N,Z}>{X,Y,M}"), [0.0, 1.0, 0.0]);
    }

    #[test]
    fn alternatives_score_nothing_and_are_wrong() {
        assert_eq!(graded(&["M", "XYZ"], "N", "M>{X,Y,Z},{N}; M>{X,Y,Z},{N}"), [0.0, 0.0, 0.0]);
        assert_eq!(verdict(&["M".into(), "XYZ".into()], "N", "M>X; M>Y"), Verdict::Wrong);
    }

    #[test]
    fn a_letter_named_twice_is_no_answer() {
        assert_eq!(graded(&["M", "XYZ"], "N", "M>M>{X,Y,Z}"), [0.0, 0.0, 0.0]);
        let verdict = verdict(&["M".into()], "", "M>M");
        assert_eq!(verdict, Verdict::Unanswered(NoAnswer::Unparsed));
    }
}
