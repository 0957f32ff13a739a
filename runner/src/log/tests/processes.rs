//! Two processes and one run folder. The second process is this test binary, started again.

use std::io::{BufRead, BufReader, Lines};
use std::process::{Child, ChildStdout, Command, Stdio};

use super::*;

/// Names the folder to the child; the test below is a test only of the parent otherwise.
const FOLDER: &str = "EDGE_EVAL_LOG_TEST_FOLDER";

/// The second process of the tests below; without their variable it has nothing to do. It appends entries and says the
/// number of each, until it is killed or has written 2000.
#[test]
fn child_that_writes() {
    let Some(folder) = std::env::var_os(FOLDER) else { return };
    let mut log = Log::create(Path::new(&folder), &header(), Fsync::Never).unwrap();
    println!("\nholding");
    for seq in 1..2000 {
        println!("wrote {}", log.append(&note(seq)).unwrap());
    }
    println!("done");
    // Holds the lock until it is killed, or its parent is gone and nobody keeps its input open.
    let _ = std::io::stdin().read_line(&mut String::new());
}

struct Writer(Child, Lines<BufReader<ChildStdout>>);

impl Writer {
    fn start(folder: &Path, locale: &str) -> Self {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "--nocapture", "log::tests::processes::child_that_writes"])
            .env(FOLDER, folder)
            .env("LC_ALL", locale)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        Writer(child, lines)
    }

    /// Reads the child's output up to a line.
    fn wait_for(&mut self, line: &str) {
        assert!(self.1.any(|read| read.unwrap() == line), "the child ended before \"{line}\"");
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn log_08_a_second_writer_is_turned_away_and_told_who_holds_the_run() {
    let dir = tempfile::tempdir().unwrap();
    let mut first = Writer::start(dir.path(), "C");
    first.wait_for("done");
    let holder = format!("pid {}", first.0.id());
    for error in [
        Log::<Note>::open_append(dir.path(), Fsync::Never).unwrap_err(),
        Log::create(dir.path(), &header(), Fsync::Never).unwrap_err(),
    ] {
        assert!(matches!(error, LogError::Locked { .. }), "{error}");
        assert!(error.to_string().contains(&holder), "{holder}: {error}");
    }
    let summary = verify::<Note>(dir.path()).unwrap();
    assert!(summary.is_whole() && summary.good_frames == 2000, "readers need no lock: {summary}");
    first.0.kill().unwrap();
    first.0.wait().unwrap();
    assert!(dir.path().join(LOCK_FILE).exists(), "the dead process left its lock file");
    let (mut log, _) = resume(dir.path());
    assert_eq!(log.append(&note(2000)).unwrap(), 2000);
    let own = std::fs::read_to_string(dir.path().join(LOCK_FILE)).unwrap();
    assert!(own.starts_with(&format!("pid {}", std::process::id())), "{own}");
}

#[test]
fn log_08_one_process_cannot_open_a_run_twice_either() {
    let dir = tempfile::tempdir().unwrap();
    let log = Log::create(dir.path(), &header(), Fsync::Never).unwrap();
    assert!(matches!(Log::<Note>::open_append(dir.path(), Fsync::Never), Err(LogError::Locked { .. })));
    drop(log);
    resume(dir.path());
}

#[test]
fn log_08_a_lock_ends_though_a_process_being_started_still_shares_the_file() {
    let dir = tempfile::tempdir().unwrap();
    let lock = Lock::acquire(dir.path()).unwrap();
    let shared = lock.shared();
    assert!(Lock::acquire(dir.path()).is_err());
    drop(lock);
    Lock::acquire(dir.path()).unwrap();
    drop(shared);
}

#[test]
fn log_08_a_lock_file_with_other_text_does_not_block() {
    let dir = folder_with(&log_bytes(3).0);
    std::fs::write(dir.path().join(LOCK_FILE), "pid 1 on a machine that is long gone, and much more text\n")
        .unwrap();
    let (log, _) = resume(dir.path());
    let text = std::fs::read_to_string(dir.path().join(LOCK_FILE)).unwrap();
    assert!(text.starts_with(&format!("pid {}", std::process::id())) && !text.contains("gone"), "{text}");
    drop(log);
}

#[test]
fn a_writer_killed_in_the_middle_loses_no_entry_that_it_reported() {
    for kill_after in [1, 57, 400] {
        let dir = tempfile::tempdir().unwrap();
        let mut writer = Writer::start(dir.path(), "C");
        writer.wait_for(&format!("wrote {kill_after}"));
        writer.0.kill().unwrap();
        writer.0.wait().unwrap();
        let (mut log, recovery) = resume(dir.path());
        let next = log.next_seq();
        assert!(next > kill_after, "{recovery}");
        log.append(&note(next)).unwrap();
        drop(log);
        let (seqs, damages) = read(&std::fs::read(dir.path().join(LOG_FILE)).unwrap());
        assert_eq!((seqs, damages), ((0..=next).collect(), vec![]));
    }
}

#[test]
fn txt_07_the_log_does_not_depend_on_the_locale() {
    let logs = ["C", "de_DE.UTF-8"].map(|locale| {
        let dir = tempfile::tempdir().unwrap();
        Writer::start(dir.path(), locale).wait_for("done");
        std::fs::read(dir.path().join(LOG_FILE)).unwrap()
    });
    assert!(logs[0].len() > 10_000);
    assert_eq!(logs[0], logs[1]);
}
