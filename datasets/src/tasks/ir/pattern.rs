//! The shortcut test's answer: all twelve conclusions as labels, one for each kind and pick. The paper's fine-tuned model wrote
//! the order; here it is scored, or read out of the hidden state, so that a readout can be learnt without some kinds.

use super::prompt;
use super::scene::Kind;

/// Kinds in the paper's order.
pub(super) const KINDS: [Kind; 3] = [Kind::Intermediate, Kind::Last, Kind::Previsited];
/// Trucks that can be picked.
pub(super) const PICKS: u8 = 4;

/// Every conclusion, kind by kind.
pub(super) fn labels() -> Vec<String> {
    KINDS.iter().flat_map(|&kind| (0..PICKS).map(move |pick| prompt::conclusion(kind, pick).0)).collect()
}

/// Place of a conclusion among [`labels`].
pub(super) fn place(kind: Kind, pick: u8) -> u16 {
    let kind = KINDS.iter().position(|known| *known == kind).unwrap_or_default();
    kind as u16 * u16::from(PICKS) + u16::from(pick)
}

/// Deals scenes out for training and for test, whole, because the walks of one scene tell of each other; in the paper's ratio of
/// five to one, each kind by itself as far as whole scenes allow. A scene's part depends on the scenes before it alone.
#[derive(Default)]
pub(super) struct Split {
    /// Items of each kind so far, and those of them that are for test.
    counts: [(i64, i64); KINDS.len()],
}

impl Split {
    /// The part that the next scene goes to, by the kinds of its walks.
    pub(super) fn part(&mut self, walks: impl Iterator<Item = Kind>) -> &'static str {
        let mut new = [0; KINDS.len()];
        for kind in walks {
            new[kind as usize] += 1;
        }
        // How far the counts are from one in six, had the scene gone to the test or not.
        let off = |test: i64| -> i64 {
            let counts = self.counts.iter().zip(new);
            counts.map(|((all, for_test), new)| (6 * (for_test + test * new) - all - new).pow(2)).sum()
        };
        let test = off(1) < off(0);
        for ((all, for_test), new) in self.counts.iter_mut().zip(new) {
            *all += new;
            *for_test += i64::from(test) * new;
        }
        if test { "test" } else { "train" }
    }
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
