//! Which parameter a task's fault is about, so that its line can be told.

use datasets::TaskError;
use toml::{Table, Value};

/// The keys that lead to the parameter, from `params` on. What a fault names and the table does not have is left to the deepest
/// table that is there.
pub(super) fn path(params: &Table, fault: &TaskError) -> Vec<String> {
    match fault {
        TaskError::Key { key, message } => {
            let mut path: Vec<String> = key.split('.').map(str::to_owned).collect();
            // An unknown key is named behind the table that it stands in.
            let unknown = message.split_once("unknown key `").and_then(|(_, rest)| rest.split_once('`'));
            path.extend(unknown.map(|(key, _)| key.to_owned()));
            path
        }
        TaskError::Data { key, .. } => vec!["params".to_owned(), key.clone()],
        TaskError::Params(message) => {
            let mut path = vec!["params".to_owned()];
            path.extend(named(params, message));
            path
        }
    }
}

/// The keys of the given parameter that a message names first.
fn named(params: &Table, message: &str) -> Vec<String> {
    let is_part = |c: char| c.is_alphanumeric() || c == '-' || c == '_';
    let place = |key: &str| {
        message.match_indices(key).map(|(place, _)| place).find(|&place| {
            let before = message[..place].chars().next_back();
            let after = message[place + key.len()..].chars().next();
            !before.is_some_and(is_part) && !after.is_some_and(is_part)
        })
    };
    let mut all = Vec::new();
    collect(params, &mut Vec::new(), &mut all);
    let found = all.into_iter().filter_map(|path| Some((place(path.last()?)?, path)));
    found.min_by_key(|(place, _)| *place).map(|(_, path)| path).unwrap_or_default()
}

fn collect(table: &Table, above: &mut Vec<String>, all: &mut Vec<Vec<String>>) {
    for (key, value) in table {
        above.push(key.clone());
        all.push(above.clone());
        if let Value::Table(inner) = value {
            collect(inner, above, all);
        }
        above.pop();
    }
}

#[cfg(test)]
mod tests {
    use crate::config::Config;
    use crate::exit::Exit;
    use crate::plan::Plan;

    /// Code and message of a plan that is refused.
    fn refused(text: &str) -> (Exit, String) {
        let config = Config::parse(text, "x.toml").unwrap();
        let failure = Plan::make(config, "x.toml", text).err().unwrap();
        (failure.exit, failure.message)
    }

    #[test]
    fn faults_of_parameters_name_line_and_key() {
        for (text, parts) in [
            (
                "[[task]]\nname = \"grammar\"\nparams = {\n  words = 4,\n  grammars = -2 }\n",
                &["x.toml:5: ", "params.grammars is -2", "a whole number"][..],
            ),
            ("[[task]]\nname = \"grammar\"\n[task.params]\nseed = 1\n", &["x.toml:4: ", "`seed`"]),
            (
                "[[task]]\nname = \"grammar\"\n[[task]]\nname = \"linear-world\"\n[task.params]\npersons = 9\n",
                &["x.toml:6: ", "persons must be"],
            ),
            ("interfaces = [\"dirct\"]\nseed = 3\n[[task]]\nname = \"logic\"\n", &["x.toml:1: ", "`dirct`"]),
            (
                "seed = 3\n[[task]]\nname = \"logic\"\ninterfaces = [\"dirct\"]\n",
                &["x.toml:4: ", "`dirct`", "free-cot"],
            ),
            ("[[task]]\nname = \"gramar\"\n", &["x.toml:2: ", "`gramar`"]),
        ] {
            let (exit, line) = refused(text);
            assert_eq!(exit, Exit::Usage, "{line}");
            assert!(parts.iter().all(|part| line.contains(part)), "{line}");
            assert_eq!(line.lines().count(), 1, "{line}");
        }
    }

    #[test]
    fn a_data_file_that_cannot_be_used_is_a_fault_of_the_input_and_a_wrong_parameter_is_none() {
        let dir = tempfile::tempdir().unwrap();
        let file = |name: &str, text: &str| {
            let path = dir.path().join(name);
            std::fs::write(&path, text).unwrap();
            path.display().to_string()
        };
        let of = |path: &str, more: &str| {
            refused(&format!("[[task]]\nname = \"file\"\n[task.params]\npath = {path:?}\n{more}"))
        };
        let sound = file("sound.csv", "question,A,B,answer\nQ,x,y,A\n");
        for (path, more) in [
            (file("there.csv", "").replace("there", "absent"), ""),
            (file("empty.csv", ""), ""),
            (file("columns.csv", "stem,A,B\nQ,x,y\n"), ""),
            (file("cut.jsonl", "{\"question\": \"Q\", "), ""),
            (sound.clone(), "import = { tags = [\"nope\"] }\n"),
        ] {
            let (exit, line) = of(&path, more);
            assert_eq!(exit, Exit::Input, "{line}");
            assert!(line.starts_with("x.toml:4: ") && line.matches(&path).count() == 1, "{line}");
        }
        for more in ["import = { answer-is = \"first\" }\n", "format = \"xls\"\n", "shuffle = true\n"] {
            let (exit, line) = of(&sound, more);
            assert_eq!(exit, Exit::Usage, "{line}");
            assert!(line.starts_with("x.toml:5: "), "{line}");
        }
        let (_, line) = of(&sound, "import = { answer-is = \"first\" }\n");
        assert!(line.contains("params.import.answer-is: unknown value `first`"), "{line}");
    }

    #[test]
    fn the_documented_task_for_a_csv_can_be_run() {
        let page = include_str!("../../../datasets/docs/file.md");
        let (_, rest) = page.split_once("```toml\n").unwrap();
        let (example, _) = rest.split_once("```").unwrap();
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("biology.csv");
        std::fs::write(&file, "stem,A,B,C,key,chapter\nWhich?,x,y,z,2,cells\nWhat?,p,q,r,0,roots\n").unwrap();
        let named = "\"data/biology.csv\"";
        assert!(example.contains(named));
        let text = format!("[[model]]\npath = \"fake\"\n{}", example.replace(named, &format!("{file:?}")));
        let plan = Plan::make(Config::parse(&text, "x.toml").unwrap(), "x.toml", &text).ok().unwrap();
        let items = &plan.tasks[0].items;
        assert_eq!((items.len(), items[0].tags["chapter"].as_str()), (2, "cells"));
    }

    #[test]
    fn a_relative_file_that_is_missing_is_named_once_with_the_folder_that_it_was_looked_for_in() {
        let (exit, line) = refused("[[task]]\nname = \"file\"\nparams = { path = \"none.csv\" }\n");
        let folder = std::env::current_dir().unwrap().display().to_string();
        assert_eq!(exit, Exit::Input);
        assert!(line.matches("none.csv").count() == 1 && line.contains(&folder), "{line}");
    }
}
