//! The shortcut test's answer: all twelve conclusions as labels, one for each kind and pick. The paper's fine-tuned model wrote
//! the order; here it is scored, or read out of the hidden state, so that a readout can be learnt without some kinds.

use super::prompt;
use super::scene::Kind;

/// Kinds in the paper's order.
const KINDS: [Kind; 3] = [Kind::Intermediate, Kind::Last, Kind::Previsited];
/// Trucks that can be picked.
const PICKS: u8 = 4;

/// Every conclusion, kind by kind.
pub(super) fn labels() -> Vec<String> {
    KINDS.iter().flat_map(|&kind| (0..PICKS).map(move |pick| prompt::conclusion(kind, pick).0)).collect()
}

/// Place of a conclusion among [`labels`].
pub(super) fn place(kind: Kind, pick: u8) -> u16 {
    let kind = KINDS.iter().position(|known| *known == kind).unwrap_or_default();
    kind as u16 * u16::from(PICKS) + u16::from(pick)
}

/// Items of a kind are numbered; every sixth is for test, as in the paper's ratio of five to one.
pub(super) fn part(number: usize) -> &'static str {
    if number % 6 == 5 { "test" } else { "train" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_conclusion_is_a_label_of_its_own_at_its_place() {
        let labels = labels();
        assert_eq!(labels.len(), 12);
        for kind in KINDS {
            for pick in 0..PICKS {
                assert_eq!(labels[usize::from(place(kind, pick))], prompt::conclusion(kind, pick).0);
            }
        }
        assert_eq!(labels[0], "X > {Y,Z,M,N}");
        assert_eq!(labels.iter().collect::<std::collections::BTreeSet<_>>().len(), 12);
    }
}
