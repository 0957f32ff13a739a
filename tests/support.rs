//! Runs the program and compares what it left.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use models::{Generated, Reply, Scored, Usage};
use runner::entry::ItemRecord;
use runner::report::RunLog;

/// The root of the project.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the runner lies in the project").to_owned()
}

/// A file of the fixtures.
pub(crate) fn fixture(name: &str) -> PathBuf {
    root().join("tests/fixtures").join(name)
}

/// The program, run from the project's root.
pub(crate) fn program() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_edge-eval"));
    command.current_dir(root());
    command
}

/// Runs the program to its end.
pub(crate) fn run(arguments: &[&str]) -> Output {
    program().args(arguments).output().expect("the program starts")
}

/// Exit code, standard output, standard error.
pub(crate) fn told(output: &Output) -> (Option<i32>, String, String) {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code(), text(&output.stdout), text(&output.stderr))
}

/// A configuration in a temporary folder, with the folder that runs go to.
pub(crate) struct Bench {
    pub(crate) dir: tempfile::TempDir,
    pub(crate) config: String,
}

impl Bench {
    pub(crate) fn new(config: &str) -> Self {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let path = dir.path().join("config.toml");
        std::fs::write(&path, config).expect("the configuration is written");
        Bench { config: path.display().to_string(), dir }
    }

    /// A path in the folder, as text.
    pub(crate) fn path(&self, name: &str) -> String {
        self.dir.path().join(name).display().to_string()
    }

    /// Runs the configuration into a folder, with further arguments.
    pub(crate) fn run(&self, out: &str, more: &[&str]) -> Output {
        run(&self.arguments(out, more).iter().map(String::as_str).collect::<Vec<_>>())
    }

    pub(crate) fn arguments(&self, out: &str, more: &[&str]) -> Vec<String> {
        let mut arguments = vec!["run".to_owned(), self.config.clone(), "--out".to_owned(), self.path(out)];
        arguments.extend(more.iter().map(|&argument| argument.to_owned()));
        arguments
    }

    /// The log of a run.
    pub(crate) fn log(&self, out: &str) -> RunLog {
        RunLog::read(&self.dir.path().join(out)).expect("the log is readable")
    }
}

/// What a run answered: by model, task, item and interface, with the durations taken out.
pub(crate) fn answers(run: &RunLog) -> BTreeMap<(u16, u16, String, String), ItemRecord> {
    let mut all = BTreeMap::new();
    for item in &run.items {
        let mut item = item.clone();
        item.tries = 1;
        untime(&mut item.usage);
        for reply in item.turns.iter_mut().flat_map(|turn| &mut turn.replies) {
            match reply {
                Reply::Scored(Scored { usage, .. })
                | Reply::Generated(Generated { usage, .. })
                | Reply::Failed { usage, .. } => untime(usage),
                Reply::TooLong { .. } => {}
            }
        }
        let key = (item.at.model, item.at.task, item.item.clone(), item.interface.clone());
        assert!(all.insert(key, item).is_none(), "an item is in the log twice");
    }
    all
}

fn untime(usage: &mut Usage) {
    (usage.prefill_us, usage.decode_us, usage.encode_us) = (0, 0, 0);
}

/// Fails unless two runs gave the same answers, scores bit for bit.
pub(crate) fn assert_same(run: &RunLog, reference: &RunLog) {
    let (run, reference) = (answers(run), answers(reference));
    assert_eq!(run.keys().collect::<Vec<_>>(), reference.keys().collect::<Vec<_>>());
    for (key, item) in &reference {
        assert_eq!(&run[key], item, "{key:?}");
    }
}

/// The one line that a failed command leaves on standard error.
pub(crate) fn complaint(output: &Output) -> String {
    let (code, _, errors) = told(output);
    assert!(!errors.contains("panicked"), "{errors}");
    let lines: Vec<&str> = errors.lines().filter(|line| line.starts_with("edge-eval: ")).collect();
    assert_eq!(lines.len(), 1, "one line of complaint (code {code:?}):\n{errors}");
    lines[0].to_owned()
}
