//! Options in another order: the contents move, the labels stay in display order, the gold follows its content.

use super::lines::shown;
use crate::item::{Gold, Item, Question, Script};
use crate::rng::Stream;

/// Stands between an item's id and the number of a form.
const MARK: &str = "@p";

/// The order of `count` options under one of the fixed seeds (1, 2 ...): for each place, which option stands there. It depends
/// on the seed, the item and nothing else.
pub fn permutation(seed: u64, item: &str, count: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..count).collect();
    Stream::new(seed, &["permutation", item]).shuffle(&mut order);
    order
}

/// An item in so many orders of its options, under the seeds 1 to `count`; the item as it is where it has no other order or
/// where none is asked for.
pub fn forms(item: &Item, count: u16) -> Vec<Item> {
    let permuted: Option<Vec<Item>> = (1..=count).map(|seed| permuted(item, seed)).collect();
    permuted.filter(|forms| !forms.is_empty()).unwrap_or_else(|| vec![item.clone()])
}

/// The id of the item that a form is one of.
pub fn base(id: &str) -> &str {
    match id.rsplit_once(MARK) {
        Some((base, number)) if !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()) => {
            base
        }
        _ => id,
    }
}

fn permuted(item: &Item, seed: u16) -> Option<Item> {
    let Script::One(question) = &item.script else { return None };
    let order = permutation(u64::from(seed), &item.id, question.options.len());
    let now = reordered(question, &order)?;
    let mut tags = item.tags.clone();
    let label = |question: &Question| question.labels.get(usize::from(question.gold.label()?)).cloned();
    // Strata that name the right label name where it stands now.
    for key in ["gold", "position"] {
        if tags.get(key) == label(question).as_ref()
            && let Some(gold) = label(&now)
        {
            tags.insert(key.to_owned(), gold);
        }
    }
    let of_label = |label: &String| format!("option-{}", label.to_lowercase());
    for (label, from) in question.labels.iter().zip(&order) {
        if let Some(moved) = question.labels.get(*from).and_then(|from| item.tags.get(&of_label(from))) {
            tags.insert(of_label(label), moved.clone());
        }
    }
    tags.insert("permutation".to_owned(), seed.to_string());
    let shown: Vec<String> = order.iter().map(|from| (from + 1).to_string()).collect();
    tags.insert("permuted".to_owned(), shown.join("-"));
    let id = format!("{}{MARK}{seed}", item.id);
    Some(Item { id, family: item.family.clone(), tags, script: Script::One(Box::new(now)) })
}

/// The question with its options in another order. By place and not by text: two options can have the same text.
fn reordered(question: &Question, order: &[usize]) -> Option<Question> {
    if question.options.iter().any(|option| names_a_place(option, &question.labels)) {
        return None;
    }
    let moved =
        |texts: &[String]| order.iter().filter_map(|from| texts.get(*from).cloned()).collect::<Vec<_>>();
    let mut now = shown(question, &question.labels, &moved(&question.options))?;
    let place = |label: u16| order.iter().position(|from| *from == usize::from(label));
    now.gold = match &question.gold {
        Gold::Label(label) => Gold::Label(u16::try_from(place(*label)?).ok()?),
        Gold::Route { label, kinds, steps } => {
            Gold::Route { label: u16::try_from(place(*label)?).ok()?, kinds: moved(kinds), steps: *steps }
        }
        Gold::Ordering { .. } => return None,
    };
    Some(now)
}

/// Whether an option speaks of others by where they stand: `Both A and C`, `None of the above`. Such a question has one order.
fn names_a_place(option: &str, labels: &[String]) -> bool {
    let lower = option.to_lowercase();
    if ["the above", "of these above", "the below", "mentioned above"]
        .iter()
        .any(|words| lower.contains(words))
    {
        return true;
    }
    let words: Vec<&str> =
        option.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    let is_label = |word: &str| labels.iter().any(|label| label == word);
    words.windows(3).any(|three| is_label(three[0]) && matches!(three[1], "and" | "or") && is_label(three[2]))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::import::question;
    use crate::item::Part;
    use crate::item::tags;

    fn item(options: &[&str], gold: u16) -> Item {
        let labels = crate::LabelSet::Letters.of(options.len()).unwrap();
        let options = options.iter().map(|&option| option.to_owned()).collect();
        let gold_tag = tags([("gold", labels[usize::from(gold)].clone())]);
        Item::one("q7", "f", gold_tag, question("Which?", "", labels, options, gold))
    }

    #[test]
    fn opt_03_all_options_are_shown_in_every_order_and_the_gold_follows_its_place() {
        // Seven options, two of the same text; the gold is one of the two.
        let item = item(&["a", "b", "same", "d", "e", "same", "g"], 5);
        let forms = forms(&item, 5);
        assert_eq!(forms.len(), 5);
        for (form, seed) in forms.iter().zip(1..) {
            let order = permutation(seed, "q7", 7);
            let question = form.first_question();
            let Part::Text(text) = &question.stem[0] else { panic!("text") };
            let expected: String = order
                .iter()
                .zip(b'A'..)
                .map(|(from, label)| {
                    format!("\n{}. {}", char::from(label), item.first_question().options[*from])
                })
                .collect();
            assert_eq!(*text, format!("Which?{expected}"));
            let gold = usize::from(question.gold.label().unwrap());
            assert_eq!(order[gold], 5);
            assert_eq!(form.tags["gold"], question.labels[gold]);
            assert_eq!((form.id.clone(), form.family.as_str()), (format!("q7@p{seed}"), "f"));
            assert_eq!(base(&form.id), "q7");
            assert_eq!(
                (&question.labels, &question.ask),
                (&item.first_question().labels, &item.first_question().ask)
            );
        }
        let orders: BTreeSet<&String> = forms.iter().map(|form| &form.tags["permuted"]).collect();
        assert!(orders.len() >= 4, "{orders:?}");
    }

    #[test]
    fn orders_are_uniform_over_items() {
        // 3000 items of three options: each of six orders 500 times, standard deviation 20.
        let mut seen = std::collections::BTreeMap::new();
        for number in 0..3000 {
            *seen.entry(permutation(1, &format!("q{number}"), 3)).or_insert(0u32) += 1;
        }
        assert_eq!(seen.len(), 6);
        assert!(seen.values().all(|count| (400..600).contains(count)), "{seen:?}");
    }

    #[test]
    fn what_cannot_be_reordered_is_asked_as_it_is() {
        let fixed = [
            item(&["x", "y", "none of the above"], 0),
            item(&["x", "y", "Both A and B"], 0),
            (crate::Task::named("logic").unwrap().items)(&crate::Params::default(), 1).unwrap().remove(0),
        ];
        for item in fixed {
            assert_eq!(forms(&item, 5), std::slice::from_ref(&item));
        }
        let plain = item(&["a band", "A minor and D major"], 1);
        assert_eq!(forms(&plain, 2).len(), 2);
        assert_eq!(forms(&plain, 0), std::slice::from_ref(&plain));
        assert_eq!((base("a@p"), base("a@px"), base("x@p12"), base("plain")), ("a@p", "a@px", "x", "plain"));
    }

    #[test]
    fn routes_keep_their_kinds() {
        let task = crate::Task::named("iip").unwrap();
        let items = (task.items)(&crate::Params("scenes = 3".parse().unwrap()), 1).unwrap();
        for item in items {
            let forms = forms(&item, 3);
            assert_eq!(forms.len(), 3, "{}", item.id);
            for form in forms {
                let question = form.first_question();
                let Gold::Route { label, kinds, .. } = &question.gold else { panic!("routes") };
                assert_eq!(kinds[usize::from(*label)], "hybrid");
                for (label, kind) in ["a", "b", "c", "d"].iter().zip(kinds) {
                    assert_eq!(&form.tags[&format!("option-{label}")], kind);
                }
                assert_eq!(form.tags["position"], question.labels[usize::from(*label)]);
            }
        }
    }
}
