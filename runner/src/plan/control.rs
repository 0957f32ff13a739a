//! The control of a task with pictures: the same items with their pictures withheld, as a task beside it.

use datasets::interfaces::Interface;
use datasets::{Item, Picture};

use super::PlannedTask;
use super::fitting::fits_any;
use crate::config::{Config, PictureControl, TaskChoice};

/// The control of a task; none where it shows no pictures, or none is wanted.
pub(super) fn of(
    config: &Config,
    choice: &TaskChoice,
    task: &PlannedTask,
    notes: &mut Vec<String>,
) -> Option<TaskChoice> {
    let picture = task.items.iter().find_map(|item| Item::pictures(item).next())?;
    let fits = |interface: &&Interface| match config.picture_control {
        PictureControl::Scored => !interface.generates,
        PictureControl::All => true,
        PictureControl::None => false,
    };
    // What fits no item has been told, and is no control.
    let asked = task.conditions.iter().filter(|condition| fits_any(condition, &task.items));
    let mut interfaces: Vec<String> =
        asked.map(|it| it.interface).filter(fits).map(|it| it.name.to_owned()).collect();
    // Conditions of one interface stand together; the control is swept like its task.
    interfaces.dedup();
    if interfaces.is_empty() {
        if config.picture_control == PictureControl::Scored {
            notes.push(format!(
                "{}: no control with pictures withheld is asked, since no interface of it scores labels (picture-control = \"all\" asks \
                 it through the others)",
                task.record.name
            ));
        }
        return None;
    }
    let mut control = TaskChoice { interfaces: Some(interfaces), ..choice.clone() };
    control.label = Some(format!("{} (withheld)", choice.display_name()));
    withhold(&mut control.params, picture, &task.record.task);
    Some(control)
}

/// Sets the parameter that withholds the pictures.
fn withhold(params: &mut toml::Table, picture: &Picture, task: &str) {
    let Some((key, tables)) = picture.withheld_key(task).split_last() else { return };
    let mut table = params;
    for name in tables {
        let inner = table.entry(*name).or_insert_with(|| toml::Value::Table(toml::Table::new()));
        let toml::Value::Table(inner) = inner else { return };
        table = inner;
    }
    table.insert((*key).to_owned(), toml::Value::String("withheld".to_owned()));
}

#[cfg(test)]
mod tests {
    use crate::config::Config;
    use crate::plan::Plan;

    fn plan(which: &str, text: &str) -> Plan {
        let text = format!("limit = 3\n{which}[[model]]\npath = \"fake\"\nmmproj = \"fake\"\n{text}");
        Plan::make(Config::parse(&text, "x.toml").unwrap(), "x.toml", &text).ok().unwrap()
    }

    #[test]
    fn every_drawn_task_has_a_control_of_the_same_items_without_pictures() {
        for (task, params) in [
            ("glasses", ""),
            ("faces", ""),
            ("ir", "pictures = \"instead\""),
            ("iip", "pictures = \"instead\""),
        ] {
            // These two cannot be asked through an interface that scores labels: a control of such would ask nothing.
            let is_written = params.contains("instead");
            let which = if is_written { "picture-control = \"all\"\n" } else { "" };
            let plan = plan(which, &format!("[[task]]\nname = \"{task}\"\nparams = {{ {params} }}\n"));
            assert_eq!(plan.tasks.len(), 2, "{task}");
            let [shown, withheld] = &plan.tasks[..] else { panic!("two tasks") };
            assert_eq!(withheld.record.name, format!("{task} (withheld)"));
            assert!(withheld.conditions.iter().all(|it| is_written || !it.interface.generates));
            let ids = |task: &crate::plan::PlannedTask| {
                task.items.iter().map(|it| it.id.clone()).collect::<Vec<_>>()
            };
            assert_eq!(ids(shown), ids(withheld));
            assert!(shown.items.iter().all(|item| item.pictures().next().is_some()), "{task}");
            assert!(withheld.items.iter().all(|item| item.pictures().next().is_none()), "{task}");
            assert_eq!(plan.settings(&plan.models[0]).len(), 2, "settings go by task");
        }
    }

    #[test]
    fn a_control_can_be_had_whole_or_not_at_all_and_a_task_in_text_has_none() {
        let of = |control: &str, params: &str| {
            let text = format!(
                "limit = 2\npicture-control = \"{control}\"\n[[model]]\npath = \"fake\"\nmmproj = \"fake\"\n[[task]]\nname = \"glasses\"\n{params}\n"
            );
            Plan::make(Config::parse(&text, "x.toml").unwrap(), "x.toml", &text).ok().unwrap()
        };
        assert_eq!(of("all", "").tasks[1].conditions.len(), of("all", "").tasks[0].conditions.len());
        assert_eq!(of("none", "").tasks.len(), 1);
        assert_eq!(of("all", "params = { form = \"numbers\" }").tasks.len(), 1);
        let written = of("scored", "interfaces = [\"free-cot\"]");
        assert_eq!((written.tasks.len(), written.notes.len()), (1, 1));
        assert!(written.notes[0].contains("picture-control"), "{:?}", written.notes);
    }
}
