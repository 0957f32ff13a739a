//! Compares what was said with what is right. The only place that does.

mod order;

use crate::item::Gold;
use crate::reading::signal_steps;
use crate::verdict::{Said, Verdict};

/// What an answer is worth.
pub fn grade(gold: &Gold, said: &Said) -> Verdict {
    match (gold, said) {
        (_, Said::Nothing(reason)) => Verdict::Unanswered(*reason),
        (Gold::Label(right) | Gold::Route { label: right, .. }, Said::Choice(choice)) if right == choice => {
            Verdict::Right
        }
        (Gold::Label(_) | Gold::Route { .. }, Said::Choice(_) | Said::Text(_)) => Verdict::Wrong,
        (Gold::Ordering { chain, free }, Said::Text(text)) => order::verdict(chain, free, text),
        (Gold::Ordering { .. }, Said::Choice(_)) => Verdict::Wrong,
    }
}

/// Named figures of an answer beside the verdict; empty for plain labels. `reply` is the reply's whole text.
pub fn scores(gold: &Gold, said: &Said, reply: &str) -> Vec<(String, f64)> {
    match gold {
        Gold::Label(_) => Vec::new(),
        Gold::Ordering { chain, free } => order::scores(chain, free, said),
        Gold::Route { kinds, steps, .. } => routes(kinds, *steps, said, reply),
    }
}

/// Which kind was chosen, and whether the reply states the right number of steps to signal. The number is left out
/// where the reply states none.
fn routes(kinds: &[String], steps: u16, said: &Said, reply: &str) -> Vec<(String, f64)> {
    let chosen = match said {
        Said::Choice(choice) => kinds.get(usize::from(*choice)),
        _ => None,
    };
    let mut kinds: Vec<&String> = kinds.iter().collect();
    kinds.sort_unstable();
    let mut scores: Vec<(String, f64)> =
        kinds.into_iter().map(|kind| (kind.clone(), f64::from(u8::from(Some(kind) == chosen)))).collect();
    if let Some(stated) = signal_steps::find(reply) {
        scores.push(("signal-steps".to_owned(), f64::from(u8::from(stated == steps))));
    }
    scores
}
