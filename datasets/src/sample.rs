//! Which items a limit keeps.

use std::collections::{BTreeMap, BTreeSet};

use crate::{Item, Stream, Task};

/// Items that a family gives where there are more families than [`FEWEST_FAMILIES`]: all eleven depths of an episode, a
/// quarter of a grammar. Fewer would share less of their prompts.
const PER_FAMILY: usize = 11;

/// Families that there are at least, where the task has them: items of one family are one witness, and an interval on fewer
/// witnesses says next to nothing.
const FEWEST_FAMILIES: usize = 10;

/// Keeps `limit` items: families in an order drawn from the seed, spread evenly over as many families as the limit asks for
/// and over the task's strata and right answers, canonical order within the result. A limit of the first n would see one
/// class of sorted data only.
pub fn limited(items: Vec<Item>, limit: usize, seed: u64, task: &Task) -> Vec<Item> {
    if items.len() <= limit {
        return items;
    }
    let mut families: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (index, item) in items.iter().enumerate() {
        families.entry(&item.family).or_default().push(index);
    }
    let mut families: Vec<Vec<usize>> = families.into_values().collect();
    families.sort_unstable_by_key(|family| family[0]);
    let mut stream = Stream::new(seed, &["limit", task.name]);
    stream.shuffle(&mut families);
    let wanted = limit.div_ceil(PER_FAMILY).max(FEWEST_FAMILIES.min(limit));
    let mut count = wanted.min(families.len());
    while families[..count].iter().map(Vec::len).sum::<usize>() < limit {
        count += 1;
    }
    families.truncate(count);
    for family in &mut families {
        stream.shuffle(family);
    }
    let mut taken = Taken::of(task);
    let mut kept = BTreeSet::new();
    while kept.len() < limit {
        for family in &mut families {
            // Of equals the first, which is any: they were shuffled.
            let rarest = (0..family.len()).min_by_key(|&place| taken.alike(&items[family[place]]));
            if let Some(place) = rarest.filter(|_| kept.len() < limit) {
                let index = family.remove(place);
                taken.count(&items[index]);
                kept.insert(index);
            }
        }
    }
    items.into_iter().enumerate().filter(|(index, _)| kept.contains(index)).map(|(_, item)| item).collect()
}

/// What has been taken of each stratum, and of each right answer.
struct Taken {
    tags: BTreeSet<&'static str>,
    strata: BTreeMap<(&'static str, String), usize>,
    golds: BTreeMap<Option<u16>, usize>,
}

impl Taken {
    fn of(task: &Task) -> Self {
        let tags = task.analysis.strata.iter().copied().flatten().copied().collect();
        Taken { tags, strata: BTreeMap::new(), golds: BTreeMap::new() }
    }

    fn strata<'t>(
        tags: &'t BTreeSet<&'static str>,
        item: &'t Item,
    ) -> impl Iterator<Item = (&'static str, String)> + 't {
        tags.iter().filter_map(|&tag| Some((tag, item.tags.get(tag)?.clone())))
    }

    /// How many like an item have been taken: of its strata first, then of its right answer.
    fn alike(&self, item: &Item) -> (usize, usize) {
        let known = Taken::strata(&self.tags, item).filter_map(|stratum| self.strata.get(&stratum));
        let golds = self.golds.get(&item.first_question().gold.label());
        (known.sum(), golds.copied().unwrap_or_default())
    }

    fn count(&mut self, item: &Item) {
        for stratum in Taken::strata(&self.tags, item) {
            *self.strata.entry(stratum).or_default() += 1;
        }
        *self.golds.entry(item.first_question().gold.label()).or_default() += 1;
    }
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
        let kept = limited(items.clone(), 10, 1, task);
        assert_eq!(kept.len(), 10);
        let golds: BTreeSet<_> = kept.iter().map(|item| item.first_question().gold.label()).collect();
        assert_eq!(golds.len(), 2, "{golds:?}");
        assert_eq!(ids(&kept), ids(&limited(items.clone(), 10, 1, task)));
        assert_ne!(ids(&kept), ids(&limited(items, 10, 2, task)));
    }

    #[test]
    fn stat_08_an_item_s_prompt_does_not_depend_on_the_limit() {
        for task in ["grammar", "vehicles"] {
            let task = Task::named(task).unwrap();
            let items = (task.items)(&Params::default(), 1).unwrap();
            for kept in limited(items.clone(), 30, 5, task) {
                assert_eq!(items.iter().find(|item| item.id == kept.id), Some(&kept));
            }
        }
    }

    #[test]
    fn a_limit_sees_ten_families_and_every_stratum_alike() {
        // Per task: its tag, and how many of its values there are.
        for (name, tag, values) in
            [("linear-world", "depth", 11), ("hand-swap", "depth", 11), ("lights", "depth", 11)]
        {
            let task = Task::named(name).unwrap();
            let items = (task.items)(&Params::default(), 1).unwrap();
            for limit in [10, 22, 33, 44] {
                let kept = limited(items.clone(), limit, 1, task);
                let families: BTreeSet<&str> = kept.iter().map(|item| item.family.as_str()).collect();
                assert_eq!((kept.len(), families.len()), (limit, 10), "{name}");
                let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
                kept.iter().for_each(|item| *counts.entry(&item.tags[tag]).or_default() += 1);
                assert_eq!(counts.len(), values.min(limit), "{name}, {limit}: {counts:?}");
                let (least, most) = (counts.values().min().unwrap(), counts.values().max().unwrap());
                assert!(most - least <= 1, "{name}, {limit}: {counts:?}");
            }
            // Twelve whole episodes.
            let whole = limited(items, 132, 1, task);
            let families: BTreeSet<&str> = whole.iter().map(|item| item.family.as_str()).collect();
            assert_eq!((whole.len(), families.len()), (132, 12), "{name}");
        }
        let task = Task::named("grammar").unwrap();
        let kept = limited((task.items)(&Params::default(), 1).unwrap(), 22, 1, task);
        let families: BTreeSet<&str> = kept.iter().map(|item| item.family.as_str()).collect();
        let golds = kept.iter().filter(|item| item.first_question().gold.label() == Some(0)).count();
        assert_eq!((families.len(), golds), (10, 11));
    }
}
