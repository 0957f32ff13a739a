//! What of a plan asks nothing: conditions that fit no item of a task, and settings of a sweep that make none. Neither may
//! be dropped without a word, and a task that nothing is asked of is no task.

use datasets::interfaces::{ALL, Interface};
use datasets::{Condition, Item, Settings};

/// Lines on what a task cannot be asked. `Err` is the line for a task that has nothing to ask at all.
pub(super) fn notes(
    task: &str,
    items: &[Item],
    conditions: &[Condition],
    settings: &Settings,
) -> Result<Vec<String>, String> {
    let fits = |condition: &&Condition| fits_any(condition, items);
    let fitting: Vec<&Condition> = conditions.iter().filter(fits).collect();
    let mut unasked: Vec<&str> = conditions
        .iter()
        .filter(|condition| !fitting.iter().any(|fit| fit.interface.name == condition.interface.name))
        .map(|condition| condition.interface.name)
        .collect();
    unasked.dedup();
    let none = |interfaces: &str| {
        let of = match items.len() {
            1 => "its one item cannot".to_owned(),
            count => format!("none of its {count} items can"),
        };
        format!("task {task}: {of} be asked through {interfaces}")
    };
    if fitting.is_empty() {
        let others: Vec<&str> = ALL.iter().filter(|it| suits(it, items)).map(|it| it.name).collect();
        let do_what = match others.is_empty() {
            true => "leave the task out".to_owned(),
            false => format!("leave the task out, or ask it through {}", others.join(", ")),
        };
        return Err(format!("{}, so there is nothing to ask: {do_what}", none(&unasked.join(", "))));
    }
    let mut lines: Vec<String> = unasked.into_iter().map(|name| format!("! {}", none(name))).collect();
    lines.extend(idle(items, &fitting, settings).map(|why| format!("! task {task}: {why}")));
    Ok(lines)
}

/// Whether some item can be asked under the condition.
pub(super) fn fits_any(condition: &Condition, items: &[Item]) -> bool {
    items.iter().any(|item| condition.fits(item))
}

fn suits(interface: &Interface, items: &[Item]) -> bool {
    items.iter().any(|item| (interface.fits)(item.first_question()))
}

/// Settings of a sweep that change nothing, each in words.
fn idle<'a>(
    items: &'a [Item],
    fitting: &'a [&'a Condition],
    settings: &'a Settings,
) -> impl Iterator<Item = String> + 'a {
    let none = |varies: fn(&Condition) -> bool| !fitting.iter().any(|condition| varies(condition));
    let is_permuted = items.iter().any(|item| item.tags.contains_key("permutation"));
    let written = |it: &Condition| it.ending.is_some() && it.interface.generates;
    let sweeps = [
        (
            !settings.endings.is_empty() && none(|it| it.ending.is_some()),
            "endings",
            "none of them suits the interfaces that its items are asked through",
        ),
        (
            settings.write_endings && none(written),
            "write-endings",
            "no reply is written after an ending: it takes `endings`, the interface free-cot, and items with labels",
        ),
        (
            !settings.label_sets.is_empty() && none(|it| it.labels.is_some()),
            "label-sets",
            "its items cannot be asked under other labels, or not through these interfaces",
        ),
        (
            !settings.cue_places.is_empty() && none(|it| it.place.is_some()),
            "cue-places",
            "no other place than cue-place is named, or no interface that scores labels is asked",
        ),
        (
            !settings.caps.is_empty() && none(|it| it.cap.is_some()),
            "caps",
            "none of the interfaces that its items are asked through has a cap of its own",
        ),
        (
            settings.permutations > 0 && !is_permuted,
            "permutations",
            "its items show no options with labels that could stand in another order",
        ),
    ];
    let idle = sweeps.into_iter().filter(|(is_idle, ..)| *is_idle);
    idle.map(|(_, key, why)| format!("{key} changes nothing: {why}"))
}

#[cfg(test)]
mod tests {
    use crate::config::Config;
    use crate::exit::Exit;
    use crate::plan::Plan;

    fn plan(text: &str) -> Result<Plan, crate::exit::Failure> {
        let text = format!("limit = 2\n{text}");
        Plan::make(Config::parse(&text, "x.toml").unwrap(), "x.toml", &text)
    }

    const FAKE: &str = "[[model]]\npath = \"fake\"\n";

    #[test]
    fn a_task_with_nothing_to_ask_is_refused_with_its_line_and_what_can_be_asked() {
        let text = format!("{FAKE}[[task]]\nname = \"logic\"\ninterfaces = [\"full-string\"]\n");
        let failure = plan(&text).err().unwrap();
        assert_eq!(failure.exit, Exit::Usage);
        let line = failure.message;
        assert!(
            line.starts_with("x.toml:6: task logic: none of its 2 items can be asked through full-string"),
            "{line}"
        );
        assert!(line.contains("direct, cot-prefix, free-cot"), "{line}");
    }

    #[test]
    fn an_interface_that_fits_no_item_is_told_and_the_others_are_asked() {
        let plan = plan(&format!(
            "interfaces = [\"direct\", \"full-string\"]\n{FAKE}[[task]]\nname = \"lights\"\n[[task]]\nname = \"logic\"\n"
        ));
        let notes = plan.ok().unwrap().notes;
        let wanted = "! task logic: none of its 2 items can be asked through full-string";
        assert!(notes.iter().any(|note| note == wanted), "{notes:?}");
        assert!(notes.iter().all(|note| !note.contains("through direct")), "{notes:?}");
    }

    #[test]
    fn a_setting_of_a_sweep_that_changes_nothing_for_a_task_is_told() {
        let of = |asking: &str, interfaces: &str| {
            let text = format!(
                "{FAKE}[asking]\n{asking}\n[[task]]\nname = \"lights\"\ninterfaces = [{interfaces}]\n"
            );
            plan(&text).ok().unwrap().notes
        };
        for (asking, interfaces, key) in [
            ("label-sets = [\"numbers\"]", "\"direct\"", "label-sets"),
            ("permutations = 3", "\"direct\"", "permutations"),
            ("caps = [8]", "\"direct\"", "caps"),
            ("cue-places = [\"raw\"]", "\"free-cot\"", "cue-places"),
            ("cue-places = [\"user-turn\"]", "\"cot-prefix\"", "cue-places"),
            ("endings = [\"step-by-step\"]", "\"direct\"", "endings"),
            ("write-endings = true", "\"free-cot\"", "write-endings"),
        ] {
            let notes = of(asking, interfaces);
            let start = format!("! task lights: {key} changes nothing: ");
            assert!(notes.len() == 1 && notes[0].starts_with(&start), "{asking}: {notes:?}");
        }
        for (asking, interfaces) in [
            ("caps = [8]", "\"free-cot\""),
            ("cue-places = [\"raw\"]", "\"direct\", \"free-cot\""),
            ("endings = [\"all\"]", "\"direct\", \"free-cot\""),
            ("endings = [\"all\"]\nwrite-endings = true", "\"free-cot\""),
        ] {
            assert_eq!(of(asking, interfaces), Vec::<String>::new(), "{asking}");
        }
    }

    #[test]
    fn a_set_whose_options_have_labels_is_moved_by_every_setting() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("items.csv");
        std::fs::write(&path, "question,A,B,answer\nWhich?,x,y,A\nWhat?,p,q,B\n").unwrap();
        let text = format!(
            "{FAKE}[asking]\nlabel-sets = [\"numbers\"]\npermutations = 2\n[[task]]\nname = \"file\"\ninterfaces = [\"direct\"]\n\
             params = {{ path = {path:?} }}\n"
        );
        let notes = plan(&text).ok().unwrap().notes;
        assert!(notes.iter().all(|note| !note.starts_with('!')), "{notes:?}");
    }
}
