//! Which items a limit keeps.

use std::collections::BTreeMap;

use crate::{Item, Stream};

/// Items that one family gives before the next family is taken: all eleven depths of an episode, a quarter of a
/// grammar. Fewer would share less of their prompts, more would see too few families.
const PER_FAMILY: usize = 11;

/// Keeps `limit` items: families in an order drawn from the seed, spread evenly over as many families as the limit
/// asks for, canonical order within the result. A limit of the first n would see one class of sorted data only.
pub fn limited(items: Vec<Item>, limit: usize, seed: u64, task: &str) -> Vec<Item> {
    if items.len() <= limit {
        return items;
    }
    let mut families: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (index, item) in items.iter().enumerate() {
        families.entry(&item.family).or_default().push(index);
    }
    let mut families: Vec<Vec<usize>> = families.into_values().collect();
    families.sort_unstable_by_key(|family| family[0]);
    let mut stream = Stream::new(seed, &["limit", task]);
    stream.shuffle(&mut families);
    let mut count = limit.div_ceil(PER_FAMILY).min(families.len());
    while families[..count].iter().map(Vec::len).sum::<usize>() < limit {
        count += 1;
    }
    families.truncate(count);
    for family in &mut families {
        stream.shuffle(family);
    }
    let mut kept = vec![false; items.len()];
    let mut left = limit;
    for turn in 0.. {
        if left == 0 {
            break;
        }
        for family in families.iter().filter(|family| family.len() > turn) {
            if left > 0 {
                kept[family[turn]] = true;
                left -= 1;
            }
        }
    }
    items.into_iter().zip(kept).filter_map(|(item, keep)| keep.then_some(item)).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::{Params, Task};

    fn ids(items: &[Item]) -> Vec<&str> {
        items.iter().map(|item| item.id.as_str()).collect()
    }

    #[test]
    fn stat_09_a_limit_is_a_seeded_sample_and_not_the_first_items() {
        let task = Task::named("logic").unwrap();
        let mut items = (task.items)(&Params::default(), 1).unwrap();
        // Sorted by class, as some files are: the first ten would all have one gold.
        items.sort_by_key(|item| item.first_question().gold.label());
        let kept = limited(items.clone(), 10, 1, "logic");
        assert_eq!(kept.len(), 10);
        let golds: BTreeSet<_> = kept.iter().map(|item| item.first_question().gold.label()).collect();
        assert_eq!(golds.len(), 2, "{golds:?}");
        assert_eq!(ids(&kept), ids(&limited(items.clone(), 10, 1, "logic")));
        assert_ne!(ids(&kept), ids(&limited(items, 10, 2, "logic")));
    }

    #[test]
    fn stat_08_an_item_s_prompt_does_not_depend_on_the_limit() {
        for task in ["grammar", "vehicles"] {
            let items = (Task::named(task).unwrap().items)(&Params::default(), 1).unwrap();
            for kept in limited(items.clone(), 30, 5, task) {
                assert_eq!(items.iter().find(|item| item.id == kept.id), Some(&kept));
            }
        }
    }
}
