//! Which items are one witness: those of one family, or those that asked the very same.

use std::collections::{BTreeSet, HashMap};

use super::cells::worth;
use crate::entry::ItemRecord;

/// The name of each item's witness: its family, or, in a row that has fewer questions than families, its question (by the first
/// item that asks it). Generators repeat themselves where there is little to draw from, and a repeated question is no second
/// witness. Both at once would not do: where families share one easy question, all of them would be joined to one. Where
/// equal prompts have different right answers, what tells the items apart is not in the prompt (a picture that was
/// withheld), and they stay apart.
pub(crate) fn clusters<'a>(items: &[&'a ItemRecord]) -> Vec<&'a str> {
    let counted = items.iter().filter(|item| worth(item.verdict).is_some());
    let families: BTreeSet<&str> = counted.map(|item| item.family.as_str()).collect();
    if families.len() <= questions(items) {
        return items.iter().map(|item| item.family.as_str()).collect();
    }
    let mut names: Vec<&str> = items.iter().map(|item| item.item.as_str()).collect();
    for same in repeats(items) {
        same.iter().for_each(|&at| names[at] = &items[same[0]].item);
    }
    names
}

/// How many questions the items that count are: equal ones are one.
pub(crate) fn questions(items: &[&ItemRecord]) -> usize {
    let counted = items.iter().filter(|item| worth(item.verdict).is_some()).count();
    counted - repeats(items).iter().map(|same| same.len() - 1).sum::<usize>()
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

    fn of(items: &[ItemRecord]) -> (Vec<&str>, usize) {
        let items: Vec<&ItemRecord> = items.iter().collect();
        (clusters(&items), questions(&items))
    }

    #[test]
    fn families_are_the_witnesses_unless_there_are_fewer_questions() {
        // Two families of three, which share a question: five questions.
        let shared =
            [("a", "f", 1), ("b", "f", 2), ("c", "f", 3), ("d", "g", 1), ("e", "g", 4), ("x", "g", 5)];
        let shared = shared.map(|(id, family, prompt)| asked(id, family, prompt, 0));
        assert_eq!(of(&shared), (vec!["f", "f", "f", "g", "g", "g"], 5));
        // Four families with two questions.
        let few = [("a", "f", 1), ("b", "g", 2), ("c", "h", 1), ("d", "i", 2)];
        let few = few.map(|(id, family, prompt)| asked(id, family, prompt, 0));
        assert_eq!(of(&few), (vec!["a", "b", "a", "b"], 2));
    }

    #[test]
    fn equal_prompts_with_different_answers_are_told_apart_by_something_else() {
        let items = [asked("a", "f", 1, 0), asked("b", "g", 1, 1), asked("c", "h", 1, 0)];
        assert_eq!(of(&items), (vec!["f", "g", "h"], 3));
    }

    #[test]
    fn a_prompt_that_is_not_known_repeats_nothing_and_what_does_not_count_is_no_question() {
        let mut items = [asked("a", "f", 0, 0), asked("b", "g", 0, 0), asked("c", "h", 2, 0)];
        assert_eq!(of(&items), (vec!["f", "g", "h"], 3));
        items[1].verdict = Verdict::Lost(Loss::WorkerDied);
        assert_eq!(of(&items).1, 2);
    }
}
