//! Which level is chosen, by processors that are made up; what is refused, and in which words.

use super::image::Image;
use super::*;

fn names(levels: &[&str]) -> Vec<String> {
    levels.iter().map(|name| (*name).to_owned()).collect()
}

fn all() -> Vec<String> {
    ALL.iter().map(|level| level.name.to_owned()).collect()
}

/// A processor that has what a level needs, and nothing more.
fn just(level: &'static Level) -> impl Fn(&str) -> bool {
    move |feature| level.needs.contains(&feature)
}

#[test]
fn every_processor_gets_the_highest_level_that_it_can_run() {
    for level in ALL {
        assert_eq!(choose(AUTO, &all(), &just(level)).unwrap(), level);
    }
    let everything = |_: &str| true;
    assert_eq!(choose(AUTO, &all(), &everything).unwrap(), ALL.last().unwrap());
}

#[test]
fn each_level_needs_what_the_one_below_needs_and_more() {
    for pair in ALL.windows(2) {
        assert!(pair[0].needs.iter().all(|need| pair[1].needs.contains(need)));
        assert!(pair[1].needs.len() > pair[0].needs.len());
    }
    assert!(ALL[0].needs.is_empty(), "the lowest runs everywhere");
}

#[test]
fn one_missing_feature_takes_its_level_away() {
    for (at, level) in ALL.iter().enumerate().skip(1) {
        for need in level.needs {
            let has = |feature: &str| feature != *need && level.needs.contains(&feature);
            let chosen = choose(AUTO, &all(), &has).unwrap();
            assert!(ALL[..at].contains(chosen), "without {need}");
        }
    }
}

#[test]
fn sys_01_a_level_that_the_processor_lacks_is_refused_by_what_is_missing() {
    let (low, high) = (&ALL[0], &ALL[1]);
    let message = choose(high.name, &all(), &just(low)).unwrap_err();
    let expected = format!(
        "CPU level {}: this processor lacks {}; the best that it can run is {}",
        high.name,
        high.needs.join(" "),
        low.name
    );
    assert_eq!(message, expected);
    assert_eq!(choose(low.name, &all(), &|_: &str| true).unwrap(), low, "a lower one may be wanted");
}

#[test]
fn levels_that_are_not_carried_or_do_not_exist_are_refused() {
    let has = |_: &str| true;
    let only = names(&[ALL[0].name]);
    assert_eq!(choose(AUTO, &only, &has).unwrap(), &ALL[0]);
    let message = choose(ALL[1].name, &only, &has).unwrap_err();
    assert_eq!(message, format!("CPU level {}: this program carries only {}", ALL[1].name, ALL[0].name));
    assert!(choose(ALL[1].name, &[], &has).unwrap_err().contains("carries no levels"));
    let message = choose("pentium", &all(), &has).unwrap_err();
    assert!(
        message.starts_with("unknown CPU level \"pentium\": there are auto, ")
            && message.contains(ALL[0].name)
    );
    // A program for another architecture, or one whose lowest level is above the processor.
    assert!(
        choose(AUTO, &names(&["riscv"]), &has).unwrap_err().contains("no CPU level of this architecture")
    );
    let message = choose(AUTO, &names(&[ALL[1].name]), &|_: &str| false).unwrap_err();
    assert!(message.contains(ALL[1].needs[0]) && message.contains("take a program"), "{message}");
}

#[test]
fn sys_03_an_illegal_instruction_comes_with_the_level_and_what_to_do() {
    assert!(advice(ALL[1].name).ends_with(&format!("take --cpu-level {}", ALL[0].name)));
    assert!(advice(ALL[0].name).contains("is the lowest"));
    assert!(advice(OWN_BUILD).contains("built for another processor"));
}

#[test]
fn every_feature_that_a_level_needs_is_known() {
    // Names that detection does not know would make a level unreachable on every machine.
    let source = include_str!("processor.rs");
    for need in ALL.iter().flat_map(|level| level.needs) {
        assert!(source.contains(&format!("\"{need}\" => has!(\"{need}\")")), "{need}");
    }
}

#[test]
fn a_program_starts_from_memory_and_from_a_folder_that_keeps_nothing_of_it() {
    let bytes = std::fs::read("/bin/echo").unwrap();
    let dir = tempfile::tempdir().unwrap();
    let says = |image: &Image| {
        let output = std::process::Command::new(image.path()).arg("hello").output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    let image = Image::in_folder(&bytes, dir.path()).unwrap();
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0, "nothing is left behind");
    assert_eq!((says(&image).as_str(), says(&image).as_str()), ("hello\n", "hello\n"), "more than once");
    // Some systems forbid it; then the fall-back is what is used.
    match Image::in_memory(&bytes) {
        Ok(image) => assert_eq!(says(&image), "hello\n"),
        Err(error) => println!("not tested: programs cannot be started from memory here: {error}"),
    }
}

#[test]
fn a_folder_that_does_not_take_a_program_is_an_error_and_no_worker() {
    let dir = tempfile::tempdir().unwrap();
    assert!(Image::in_folder(b"x", &dir.path().join("absent")).is_err());
}
