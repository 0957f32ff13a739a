//! CPU levels from outside: a program with workers behind it, made of the program under test.

use std::path::Path;
use std::process::Command;

use runner::levels::{ALL, has};
use runner::parcel::{Base, LEVELS, Material, write};

use crate::support::{Bench, run, told};

const CONFIG: &str = "limit = 2\ninterfaces = [\"direct\"]\n[[model]]\npath = \"fake\"\n[[task]]\nname = \"grammar\"\n[log]\nsync = \"never\"\n";

/// Carries copies of the program under test as workers of all levels.
#[allow(clippy::print_stdout)]
fn carrying(dir: &Path, levels: &[&str]) -> Option<std::path::PathBuf> {
    if ALL.is_empty() {
        println!("not tested: this architecture has no levels");
        return None;
    }
    let own = Path::new(env!("CARGO_BIN_EXE_edge-eval"));
    let out = dir.join("edge-eval-one-file");
    let base = Base::of(own).expect("a program");
    // Not compressed: a development build is large, and only made here.
    let workers = levels.iter().map(|level| Material::stored(format!("{LEVELS}{level}"), own)).collect();
    write(&base, workers, &out, &mut |_| ()).expect("one file");
    Some(out)
}

#[test]
fn the_best_level_that_runs_here_is_started_from_memory_and_the_log_names_it() {
    let bench = Bench::new(CONFIG);
    // One level keeps the file small; the lowest runs everywhere.
    let Some(file) = carrying(bench.dir.path(), &[ALL[0].name]) else { return };
    let output = Command::new(&file).args(bench.arguments("run", &["--quiet"])).output().expect("it starts");
    let (code, _, errors) = told(&output);
    assert_eq!(code, Some(0), "{errors}");
    assert_eq!(bench.log("run").header.level, ALL[0].name);
    // The program that carries nothing is its own worker, and that is another run.
    let (code, _, errors) = told(&bench.run("run", &["--quiet"]));
    assert_eq!(code, Some(5), "{errors}");
    let expected = format!("level is \"{}\" in the log and \"own-build\" now", ALL[0].name);
    assert!(errors.contains(&expected), "{errors}");
}

#[test]
fn a_level_that_cannot_be_had_is_refused_in_one_line() {
    let bench = Bench::new(CONFIG);
    let refused = |output, words: &str| {
        let (code, _, errors) = told(&output);
        assert_eq!((code, errors.lines().count()), (Some(2), 1), "{errors}");
        assert!(errors.contains(words), "{errors}");
    };
    refused(bench.run("run", &["--cpu-level", "pentium"]), "unknown CPU level \"pentium\"");
    let Some(lowest) = ALL.first() else { return };
    refused(bench.run("run", &["--cpu-level", lowest.name]), "this program carries no levels");
    refused(run(&["bench", "fake", "--cpu-level", lowest.name]), "this program carries no levels");
    refused(run(&["doctor", "fake", "--cpu-level", lowest.name]), "this program carries no levels");
    if let Some(above) = ALL.iter().find(|level| !level.lacking(&has).is_empty()) {
        let Some(file) = carrying(bench.dir.path(), &[lowest.name, above.name]) else { return };
        let output = Command::new(&file)
            .args(bench.arguments("run", &["--cpu-level", above.name]))
            .output()
            .expect("it starts");
        refused(output, "this processor lacks");
    } else {
        println!("not tested: this processor has every level");
    }
}
