//! Memory budgets and deaths, over the real process pair with the fake engine.

use std::process::{Command, Output};

use runner::entry::{Death, DeathCause};
use runner::memory::{OwnGroup, System};

use crate::support::{Bench, assert_same, complaint, program, run, told};

const LIGHTS: &str = "limit = 4\n[[task]]\nname = \"lights\"\n[log]\nsync = \"never\"\n";

/// Two models: one as told, and one that always runs.
fn sweep(first: &str, more: &str) -> Bench {
    Bench::new(&format!(
        "{LIGHTS}{more}\n[[model]]\npath = \"{first}\"\nname = \"first\"\n[[model]]\npath = \"fake\"\nname = \"second\"\n"
    ))
}

/// The second model's answers are those of a run without the first.
fn second_is_whole(bench: &Bench, out: &str) {
    let log = bench.log(out);
    let second = log.items.iter().filter(|item| item.at.model == 1).count();
    assert_eq!(second, 12, "4 items through 3 interfaces");
}

#[test]
fn a_model_that_does_not_fit_is_refused_with_its_own_code_and_the_others_run() {
    let bench = sweep("fake:allocate=200", "[memory]\nbudget = \"100MiB\"");
    let (code, out, errors) = told(&run(&["plan", &bench.config, "--json"]));
    assert_eq!(code, Some(8), "{errors}");
    let plan: serde_json::Value = serde_json::from_str(&out).expect("JSON");
    let first = &plan["models"][0]["memory"];
    assert!(first["load"].is_null() && first["limit"]["bytes"] == 104_857_600, "{first}");
    let smallest = first["refusal"]["smallest_budget_bytes"].as_u64().expect("bytes");
    assert!(smallest > 200 << 20, "{smallest}");
    assert!(plan["models"][1]["memory"]["refusal"].is_null());

    let output = bench.run("run", &[]);
    assert_eq!(output.status.code(), Some(8), "{output:?}");
    let line = complaint(&output);
    assert!(
        line.contains("model first") && line.contains("short") && line.contains("--memory-budget"),
        "{line}"
    );
    let (_, _, errors) = told(&output);
    assert!(errors.contains("ballast of the fake engine") && errors.contains("remains"), "{errors}");
    let log = bench.log("run");
    assert!(log.failed.len() == 1 && log.failed[0].refused && log.failed[0].model == 0);
    second_is_whole(&bench, "run");

    // What the message says would do, does.
    let enough = format!("{}MiB", smallest.div_ceil(1 << 20));
    let output = bench.run("run", &["--memory-budget", &enough]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let log = bench.log("run");
    assert!(log.complete.is_some());
    let used = log.memory_uses.iter().find(|used| used.at.model == 0).expect("it was watched");
    assert!(used.peaks.private_bytes > 200 << 20 && used.peaks.private_bytes < smallest, "{used:?}");
    let (_, report, _) = told(&run(&["report", &bench.path("run"), "--memory"]));
    assert!(report.contains("first: predicted 2") && report.contains(" left"), "{report}");
}

#[test]
fn a_worker_that_grows_over_its_budget_is_stopped_and_the_rest_goes_on() {
    let bench = sweep("fake:grow=8,delay-us=40000", "[memory]\nbudget = \"64MiB\"\ncounts = \"private\"");
    let output = bench.run("run", &[]);
    // Every worker lasts for some jobs: what it dies on when it is asked alone is lost.
    assert_eq!(output.status.code(), Some(7), "{output:?}");
    let log = bench.log("run");
    assert!(log.complete.is_some());
    assert!(!log.deaths.is_empty());
    for death in &log.deaths {
        let DeathCause::OverBudget { observed_bytes, budget_bytes } = death.cause else {
            panic!("{death:?}")
        };
        assert!(observed_bytes > budget_bytes && budget_bytes == 64 << 20, "{death:?}");
    }
    assert!(log.items.iter().any(|item| item.at.model == 0 && item.tries == 3));
    second_is_whole(&bench, "run");
    let (_, report, _) = told(&run(&["report", &bench.path("run")]));
    assert!(report.contains("memory ended a worker"), "{report}");
}

#[test]
fn a_limit_of_private_memory_makes_allocations_fail_by_name() {
    let bench =
        sweep("fake:grow=200", "[memory]\nbudget = \"64MiB\"\ncounts = \"private\"\nenforce = \"rlimit\"");
    let output = bench.run("run", &[]);
    assert_eq!(output.status.code(), Some(7), "{output:?}");
    let log = bench.log("run");
    assert!(log.deaths.iter().all(|death| death.cause == DeathCause::AllocationFailed), "{:?}", log.deaths);
    assert!(log.deaths[0].last_words.iter().any(|line| line.contains("memory allocation of")));
    second_is_whole(&bench, "run");
}

/// A group with a limit, or the reason why this system gives none.
#[allow(clippy::print_stdout)]
fn group(limit_bytes: u64) -> Option<OwnGroup> {
    match OwnGroup::make(&System::default(), limit_bytes) {
        Ok(group) => Some(group),
        Err(why) => {
            println!("skipped: no memory group can be made here: {why}");
            None
        }
    }
}

/// The program as a member of a group from its first instruction on.
fn run_inside(group: &OwnGroup, arguments: &[String]) -> Output {
    let procs = group.cgroup().dir.join("cgroup.procs");
    let program = program();
    Command::new("sh")
        .args(["-c", "echo $$ > \"$0\" && exec \"$@\""])
        .arg(procs)
        .arg(program.get_program())
        .args(arguments)
        .current_dir(crate::support::root())
        .output()
        .expect("sh starts")
}

#[test]
fn in_a_memory_group_that_is_a_fifth_too_small_the_kernel_kills_the_worker_and_the_sweep_goes_on() {
    const BALLAST_MIB: u64 = 150;
    // Four fifths of what worker and supervisor need together.
    let Some(group) = group((BALLAST_MIB << 20) * 4 / 5) else { return };
    let bench = sweep(&format!("fake:allocate={BALLAST_MIB}"), "");
    // Without a budget the model is loaded, and the kernel decides.
    let output = run_inside(&group, &bench.arguments("killed", &["--memory-budget", "none"]));
    assert_eq!(output.status.code(), Some(3), "{output:?}");
    let log = bench.log("killed");
    assert_eq!(log.failed.len(), 1);
    assert_eq!(log.failed[0].cause, Some(DeathCause::OutOfMemoryInGroup), "{:?}", log.failed);
    second_is_whole(&bench, "killed");
    // With one, the group's limit is seen before anything is loaded.
    let output = run_inside(&group, &bench.arguments("refused", &[]));
    assert_eq!(output.status.code(), Some(8), "{output:?}");
    let line = complaint(&output);
    assert!(line.contains("room in memory group") && !line.contains("available memory"), "{line}");
    second_is_whole(&bench, "refused");
}

#[test]
fn a_worker_gets_a_memory_group_of_its_own_where_the_configuration_wants_it() {
    if group(64 << 20).is_none() {
        return;
    }
    let enforce = "[memory]\nbudget = \"64MiB\"\ncounts = \"private\"\nenforce = \"cgroup\"";
    let bench = sweep("fake:grow=100", enforce);
    let output = bench.run("run", &[]);
    assert_eq!(output.status.code(), Some(7), "{output:?}");
    let log = bench.log("run");
    assert!(!log.deaths.is_empty());
    // The kernel acts first, but for a worker that the watch happens to look at between two pages.
    let by_kernel = log.deaths.iter().filter(|death| death.cause == DeathCause::OutOfMemoryInGroup).count();
    let seen =
        |death: &Death| matches!(death.cause, DeathCause::OutOfMemoryInGroup | DeathCause::OverBudget { .. });
    assert!(2 * by_kernel > log.deaths.len() && log.deaths.iter().all(seen), "{:?}", log.deaths);
    second_is_whole(&bench, "run");
    let used = log.memory_uses.iter().find(|used| used.at.model == 1).expect("it was watched");
    let group_bytes = used.peaks.group_bytes.expect("version 1 always tells, version 2 since Linux 5.19");
    assert!(group_bytes > 0 && group_bytes < 64 << 20, "{group_bytes}");
}

/// A user without rights finds no group to make: then systemd's user session is asked for a scope.
#[test]
#[allow(clippy::print_stdout)]
fn where_no_group_can_be_made_the_program_asks_systemd_for_a_scope_once() {
    use std::os::unix::fs::PermissionsExt;
    use std::os::unix::process::CommandExt;
    const NOBODY: u32 = 65_534;
    let bench = sweep("fake", "[memory]\nbudget = \"1GiB\"\nenforce = \"cgroup\"");
    let open =
        |path: &str| std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o777)).expect("mine");
    open(&bench.path(""));
    // Stands for systemd: writes down what it is asked, and starts it where it is.
    let (tool, asked) = (bench.path("systemd-run"), bench.path("asked"));
    let text = format!(
        "#!/bin/sh\necho \"$@\" >>{asked}\nwhile [ \"$1\" != -- ]; do shift; done\nshift\nexec \"$@\"\n"
    );
    std::fs::write(&tool, text).expect("written");
    open(&tool);
    let mut command = program();
    command.args(bench.arguments("run", &[])).env("PATH", format!("{}:/usr/bin:/bin", bench.path("")));
    if rustix::process::getuid().is_root() {
        command.uid(NOBODY).gid(NOBODY);
    }
    let output = match command.output() {
        Ok(output) => output,
        Err(error) => return println!("skipped: this user may not start the program: {error}"),
    };
    let Ok(asked) = std::fs::read_to_string(&asked) else {
        return println!("skipped: a memory group can be made here without systemd");
    };
    let asked: Vec<&str> = asked.lines().collect();
    let scope = "--user --scope --quiet --collect --property=Delegate=yes --";
    assert_eq!(asked[0], format!("{scope} true"));
    assert!(asked[1].starts_with(scope) && asked[1].contains(" run ") && asked.len() == 2, "{asked:?}");
    // This scope has no group to give: then that is what the user reads.
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    assert!(complaint(&output).contains("no memory group can be made"), "{output:?}");
}

#[test]
fn sys_12_a_file_that_cannot_be_mapped_is_read_and_the_log_says_so() {
    let bench = Bench::new(&format!("{LIGHTS}[[model]]\npath = \"fake:unmappable\"\n"));
    let (code, out, _) = told(&run(&["plan", &bench.config, "--json"]));
    assert_eq!(code, Some(0));
    let plan: serde_json::Value = serde_json::from_str(&out).expect("JSON");
    let memory = &plan["models"][0]["memory"];
    assert!(memory["load"]["mmap"] == false && memory["steps"][0]["what"] == "mmap", "{memory}");
    let (code, _, errors) = told(&bench.run("run", &[]));
    assert_eq!(code, Some(0), "{errors}");
    assert!(errors.contains("the file cannot be mapped here (on request)"), "{errors}");
    let log = bench.log("run");
    assert!(!log.loaded[0].spec.mmap && log.memory_plans[0].steps.len() == 1);
    // Where reading is what was wanted nothing has changed.
    let bench =
        Bench::new(&format!("{LIGHTS}[engine]\nmmap = false\n[[model]]\npath = \"fake:unmappable\"\n"));
    assert_eq!(bench.run("run", &[]).status.code(), Some(0));
    assert!(bench.log("run").memory_plans[0].steps.is_empty());
}

#[test]
fn a_budget_is_no_part_of_what_a_run_is() {
    let bench = Bench::new(&format!("{LIGHTS}[[model]]\npath = \"fake\"\n"));
    assert_eq!(bench.run("a", &["--memory-budget", "1GiB"]).status.code(), Some(0));
    assert_eq!(bench.run("b", &["--memory-budget", "none"]).status.code(), Some(0));
    assert_same(&bench.log("a"), &bench.log("b"));
    let again = bench.run("a", &["--memory-budget", "50%"]);
    assert_eq!(again.status.code(), Some(0), "{again:?}");
    let wrong = bench.run("c", &["--memory-budget", "lots"]);
    assert_eq!(wrong.status.code(), Some(2));
}
