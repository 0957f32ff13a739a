//! Which items are one witness: those of one family, and those that asked the very same.

use std::collections::HashMap;

use super::cells::worth;
use crate::entry::ItemRecord;

/// The number of each item's cluster: families, and families that share a prompt as one. Generators repeat themselves where
/// there is little to draw from, and a repeated question is no second witness. Where equal prompts have different right
/// answers, what tells the items apart is not in the prompt (a picture that was withheld), and they stay apart.
pub(crate) fn clusters(items: &[&ItemRecord]) -> Vec<usize> {
    let mut families: HashMap<&str, usize> = HashMap::new();
    // Each cluster with the one that it was joined to.
    let mut joined: Vec<usize> = Vec::new();
    let own: Vec<usize> = items
        .iter()
        .map(|item| {
            *families.entry(item.family.as_str()).or_insert_with(|| {
                joined.push(joined.len());
                joined.len() - 1
            })
        })
        .collect();
    for same in repeats(items) {
        let first = root(&joined, own[same[0]]);
        for &at in &same[1..] {
            let other = root(&joined, own[at]);
            joined[other] = first;
        }
    }
    own.into_iter().map(|cluster| root(&joined, cluster)).collect()
}

/// How many questions the items that count are: equal ones are one.
pub(crate) fn questions(items: &[&ItemRecord]) -> usize {
    let counted = items.iter().filter(|item| worth(item.verdict).is_some()).count();
    counted - repeats(items).iter().map(|same| same.len() - 1).sum::<usize>()
}

fn root(joined: &[usize], mut cluster: usize) -> usize {
    while joined[cluster] != cluster {
        cluster = joined[cluster];
    }
    cluster
}

/// Places of items that count and asked the very same, in the order of the first of each.
fn repeats(items: &[&ItemRecord]) -> Vec<Vec<usize>> {
    let mut seen: HashMap<Vec<[u8; 8]>, Vec<usize>> = HashMap::new();
    for (at, item) in items.iter().enumerate() {
        let prompts: Vec<[u8; 8]> = item.turns.iter().map(|turn| turn.prompt_hash).collect();
        // Nothing is known of a prompt without a hash.
        if worth(item.verdict).is_some() && !prompts.is_empty() && !prompts.contains(&[0; 8]) {
            seen.entry(prompts).or_default().push(at);
        }
    }
    let golds = |at: usize| items[at].turns.iter().map(|turn| &turn.gold);
    let is_one = |same: &Vec<usize>| same.len() > 1 && same.iter().all(|&at| golds(at).eq(golds(same[0])));
    let mut repeats: Vec<Vec<usize>> = seen.into_values().filter(is_one).collect();
    repeats.sort_unstable();
    repeats
}

#[cfg(test)]
mod tests {
    use datasets::{Loss, Said, Verdict};

    use super::*;
    use crate::report::made_up::{item, turn};

    fn asked(id: &str, family: &str, prompt: u8, gold: u16) -> ItemRecord {
        let mut item = item(0, id, &[], "direct", Verdict::Right);
        item.family = family.to_owned();
        item.turns = vec![turn(gold, Said::Choice(0))];
        item.turns[0].prompt_hash = [prompt; 8];
        item
    }

    fn of(items: &[ItemRecord]) -> (Vec<usize>, usize) {
        let items: Vec<&ItemRecord> = items.iter().collect();
        (clusters(&items), questions(&items))
    }

    #[test]
    fn families_that_share_a_prompt_are_one_through_others_too() {
        let items = [
            asked("a", "f", 1, 0),
            asked("b", "g", 2, 0),
            asked("c", "f", 3, 0),
            asked("d", "h", 3, 0),
            asked("e", "h", 2, 0),
        ];
        // f and h share prompt 3, h and g prompt 2.
        let (clusters, questions) = of(&items);
        assert!(clusters.iter().all(|cluster| *cluster == clusters[0]), "{clusters:?}");
        assert_eq!(questions, 3);
    }

    #[test]
    fn equal_prompts_with_different_answers_are_told_apart_by_something_else() {
        let items = [asked("a", "f", 1, 0), asked("b", "g", 1, 1), asked("c", "h", 1, 0)];
        assert_eq!(of(&items), (vec![0, 1, 2], 3));
    }

    #[test]
    fn a_prompt_that_is_not_known_joins_nothing_and_what_does_not_count_is_no_question() {
        let mut items = [asked("a", "f", 0, 0), asked("b", "g", 0, 0), asked("c", "g", 2, 0)];
        assert_eq!(of(&items), (vec![0, 1, 1], 3));
        items[1].verdict = Verdict::Lost(Loss::WorkerDied);
        assert_eq!(of(&items).1, 2);
    }
}
