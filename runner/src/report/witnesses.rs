//! Lines on how many witnesses the items are: few families, and questions that were asked more than once.

use std::collections::BTreeMap;

use datasets::Task;

use super::cells::{Cell, places};
use super::clusters::questions;
use super::load::RunLog;
use super::strata::{broken_down, in_words};
use crate::entry::ItemRecord;

/// Families below which the reader is warned.
pub(crate) const FEW_FAMILIES: u64 = 10;

/// The notes.
pub(super) fn witnesses(run: &RunLog, cells: &[Cell]) -> Vec<String> {
    few_families(cells).into_iter().chain(repeated(run)).collect()
}

/// Tasks whose items come from few families, each with the fewest that a row has; and those with a single one.
pub(super) fn few_families(cells: &[Cell]) -> Vec<String> {
    let mut tasks: BTreeMap<&str, (u64, u64)> = BTreeMap::new();
    for cell in cells.iter().filter(|cell| cell.families > 0 && cell.families < FEW_FAMILIES.min(cell.n)) {
        let own = (cell.families, cell.n);
        tasks.entry(&cell.task).and_modify(|least| *least = own.min(*least)).or_insert(own);
    }
    let of = |is_told: fn(u64) -> bool| -> String {
        let told = tasks.iter().filter(|(_, (families, _))| is_told(*families));
        told.map(|(task, (families, items))| format!("{task}: {items} items from {families}"))
            .collect::<Vec<_>>()
            .join(", ")
    };
    let (one, few) = (of(|families| families == 1), of(|families| families > 1));
    let one = (!one.is_empty()).then(|| {
        format!("one family ({one}): items of one family are one witness, and there is no interval; ask for more families")
    });
    let few = (!few.is_empty()).then(|| {
        format!("few families ({few}): items of one family are one witness, so intervals are wide; ask for more families")
    });
    one.into_iter().chain(few).collect()
}

/// Tasks that asked some questions more than once, with the stratum that has the most of it. Questions do not depend on the
/// model, and how they are asked changes little: each task is told once.
fn repeated(run: &RunLog) -> Vec<String> {
    let mut tasks: BTreeMap<usize, (usize, String)> = BTreeMap::new();
    for place in places(run) {
        let Some(repeated) = Repeated::of(&place.items) else { continue };
        if tasks.get(&place.task_index).is_some_and(|(most, _)| *most >= repeated.times()) {
            continue;
        }
        let task = run.header.tasks.get(place.task_index).and_then(|record| Task::named(&record.task));
        let strata = task.map(|task| task.analysis.strata).unwrap_or_default();
        let strata = strata.iter().flat_map(|tags| broken_down(&place, tags));
        let own = strata.filter_map(|(by, items)| Some((in_words(&by), Repeated::of(&items)?)));
        // The stratum whose items are worth the least.
        let worst = own.min_by(|(_, a), (_, b)| (a.questions * b.items).cmp(&(b.questions * a.items)));
        let most = match worst {
            Some((stratum, own)) => format!(" ({stratum}: {})", own.in_words()),
            None => String::new(),
        };
        let note = format!(
            "{}: {}{most}: a prompt that is asked again is no second witness",
            place.task,
            repeated.in_words()
        );
        tasks.insert(place.task_index, (repeated.times(), note));
    }
    tasks.into_values().map(|(_, note)| note).collect()
}

/// Items with fewer questions.
struct Repeated {
    items: usize,
    questions: usize,
}

impl Repeated {
    fn of(items: &[&ItemRecord]) -> Option<Repeated> {
        let counted = items.iter().filter(|item| super::worth(item.verdict).is_some()).count();
        let questions = questions(items);
        (questions < counted).then_some(Repeated { items: counted, questions })
    }

    fn times(&self) -> usize {
        self.items - self.questions
    }

    fn in_words(&self) -> String {
        format!("{} items, {} distinct prompts", self.items, self.questions)
    }
}

#[cfg(test)]
mod tests {
    use datasets::{Said, Verdict};

    use super::*;
    use crate::report::cells;
    use crate::report::made_up::{item, run, turn};

    fn asked(id: &str, family: &str, depth: &str, prompt: u8) -> ItemRecord {
        let verdict = if prompt.is_multiple_of(2) { Verdict::Right } else { Verdict::Wrong };
        let mut item = item(0, id, &[("depth", depth)], "direct", verdict);
        item.family = family.to_owned();
        item.turns = vec![turn(0, Said::Choice(0))];
        item.turns[0].prompt_hash = [prompt; 8];
        item
    }

    #[test]
    fn items_with_few_prompts_say_so_with_their_stratum_and_count_as_few() {
        // Six items of depth 0 have two prompts, three of depth 1 have three.
        let mut items: Vec<ItemRecord> =
            (0..6).map(|at| asked(&format!("a{at}"), &format!("a{at}"), "0", 1 + at % 2)).collect();
        items.extend((0..3).map(|at| asked(&format!("b{at}"), &format!("b{at}"), "1", 10 + at)));
        let run = run(&["hand-swap"], items);
        let cells = cells(&run);
        assert_eq!((cells[0].n, cells[0].families), (9, 5), "nine families, five prompts");
        let notes = witnesses(&run, &cells);
        assert!(notes[0].starts_with("few families (hand-swap: 9 items from 5)"), "{notes:?}");
        assert_eq!(
            notes[1],
            "hand-swap: 9 items, 5 distinct prompts (depth 0: 6 items, 2 distinct prompts): a prompt that is asked again is no \
             second witness"
        );
    }

    #[test]
    fn one_family_has_no_interval_and_says_why() {
        let items = (0..11).map(|at| asked(&format!("a{at}"), "f", "0", 1 + at)).collect();
        let run = run(&["hand-swap"], items);
        let cells = cells(&run);
        assert_eq!((cells[0].families, cells[0].low, cells[0].accuracy), (1, None, Some(5.0 / 11.0)));
        let notes = witnesses(&run, &cells);
        assert!(
            notes.len() == 1 && notes[0].starts_with("one family (hand-swap: 11 items from 1)"),
            "{notes:?}"
        );
    }

    #[test]
    fn items_of_their_own_say_nothing() {
        let items = (0..5).map(|at| asked(&format!("a{at}"), &format!("f{at}"), "0", 1 + at)).collect();
        let run = run(&["hand-swap"], items);
        assert!(witnesses(&run, &cells(&run)).is_empty());
    }
}
