//! Cuts items into groups: a pure function of items and conditions.

use std::ops::Range;

use datasets::forms::base;
use datasets::{Condition, Item};

use crate::supervisor::pixel_bytes;

/// Items of a group whose answers are all scores: a whole grammar.
const SCORED_ITEMS: usize = 44;
/// Items of a group with generations, which take much longer: a stop waits for the group at hand.
const GENERATED_ITEMS: usize = 22;

/// Conditions beyond which a group has fewer items, so that a sweep makes no group of thousands of prompts.
const USUAL_CONDITIONS: usize = 4;

/// Most items of a group: the number that was chosen, or what suits the conditions.
pub(super) fn most(chosen: usize, conditions: &[Condition]) -> usize {
    if chosen > 0 {
        return chosen;
    }
    let writes = conditions.iter().any(|condition| condition.interface.generates);
    let usual = if writes { GENERATED_ITEMS } else { SCORED_ITEMS };
    (usual * USUAL_CONDITIONS / conditions.len().max(USUAL_CONDITIONS)).max(1)
}

/// Most items of a group, so that the pixels of its pictures take a modest part of a worker's memory.
pub(super) fn most_shown(most: usize, items: &[Item]) -> usize {
    const PIXEL_BYTES: u64 = 64 << 20;
    let bytes = |item: &Item| item.pictures().map(pixel_bytes).sum::<u64>();
    match items.iter().map(bytes).max() {
        None | Some(0) => most,
        Some(largest) => most.min((PIXEL_BYTES / largest) as usize).max(1),
    }
}

/// Ranges of items, one per group. Families are kept together where they fit, and cut evenly where they do not. The forms of
/// one item are never parted: they share its question.
pub fn chunks(items: &[Item], most: usize) -> Vec<Range<usize>> {
    let mut chunks: Vec<Range<usize>> = Vec::new();
    let mut start = 0;
    while start < items.len() {
        let family = items[start..].iter().take_while(|item| item.family == items[start].family).count();
        match chunks.last_mut() {
            Some(open) if open.len() + family <= most => open.end = start + family,
            _ => {
                let parts = family.div_ceil(most);
                for part in 0..parts {
                    let bound = |part: usize| whole(items, start + family * part / parts);
                    let range = bound(part)..bound(part + 1);
                    if !range.is_empty() {
                        chunks.push(range);
                    }
                }
            }
        }
        start += family;
    }
    chunks
}

/// The first place from `at` on where another item begins.
fn whole(items: &[Item], mut at: usize) -> usize {
    while at > 0 && at < items.len() && base(&items[at].id) == base(&items[at - 1].id) {
        at += 1;
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;
    use datasets::{Params, Task};

    fn sizes(task: &str, params: &str, most: usize) -> Vec<usize> {
        let task = Task::named(task).unwrap();
        let items = (task.items)(&Params(params.parse().unwrap()), 1).unwrap();
        let chunks = chunks(&items, most);
        assert!(chunks.windows(2).all(|pair| pair[0].end == pair[1].start));
        assert_eq!((chunks[0].start, chunks[chunks.len() - 1].end), (0, items.len()));
        chunks.iter().map(|chunk| chunk.len()).collect()
    }

    #[test]
    fn a_grammar_is_one_group_or_is_cut_evenly() {
        assert_eq!(sizes("grammar", "grammars = 2", 44), [44, 44]);
        assert_eq!(sizes("grammar", "grammars = 2", 11), [11; 8]);
        assert_eq!(sizes("grammar", "grammars = 1", 43), [22, 22]);
        assert_eq!(sizes("grammar", "grammars = 1", 1), [1; 44]);
    }

    #[test]
    fn groups_with_generations_are_smaller_unless_their_size_is_chosen() {
        let of =
            |names: &[&str]| names.iter().map(|name| Condition::named(name).unwrap()).collect::<Vec<_>>();
        let (scored, written) = (of(&["direct", "cot-prefix"]), of(&["direct", "free-cot"]));
        assert!(most(0, &written) < most(0, &scored));
        assert_eq!((most(7, &written), most(7, &scored)), (7, 7));
    }

    #[test]
    fn a_sweep_has_smaller_groups_and_parts_no_forms() {
        let names = ["direct", "direct+answer-colon", "direct+nothing", "cot-prefix", "direct+the-answer-is"];
        let conditions: Vec<Condition> = names.iter().map(|name| Condition::named(name).unwrap()).collect();
        assert_eq!((most(0, &conditions[..4]), most(0, &conditions)), (44, 44 * 4 / 5));
        let task = Task::named("iip").unwrap();
        let items = (task.items)(&Params("scenes = 6".parse().unwrap()), 1).unwrap();
        let mut items: Vec<Item> = items.iter().flat_map(|item| datasets::forms::forms(item, 5)).collect();
        items.iter_mut().for_each(|item| item.family = "one".into());
        for most in [1, 4, 7, 12, 100] {
            let chunks = chunks(&items, most);
            assert_eq!(chunks.iter().map(|chunk| chunk.len()).sum::<usize>(), 30);
            assert!(chunks.iter().all(|chunk| chunk.len() % 5 == 0), "{chunks:?}");
        }
    }

    #[test]
    fn episodes_are_kept_whole_and_small_families_share_a_group() {
        assert_eq!(sizes("linear-world", "episodes = 5", 44), [44, 11]);
        // 100 pairs of 2 questions: 22 pairs fill a group of 44, 5 one of 11.
        assert_eq!(sizes("logic", "", 44), [44, 44, 44, 44, 24]);
        assert_eq!(sizes("logic", "", 11), [10; 20]);
    }
}
