//! The manifests of `configs/`, run as their schedulers would run them: with the variables that those set.

use std::process::{Command, Output};

use yaml_rust2::{Yaml, YamlLoader};

use crate::support::{Bench, answers, root, told};

const PARTED: &str = "limit = 40\n[engine]\ngroup-items = 8\n[[model]]\npath = \"fake\"\n[[task]]\nname = \"logic\"\n[[task]]\nname = \"lights\"\n";

/// A command that finds the program by its name.
fn with_program(program: &str) -> Command {
    let own = std::path::Path::new(env!("CARGO_BIN_EXE_edge-eval"));
    let mut path = own.parent().expect("a folder").as_os_str().to_owned();
    path.push(":");
    path.push(std::env::var_os("PATH").unwrap_or_default());
    let mut command = Command::new(program);
    command.current_dir(root()).env("PATH", path);
    command
}

fn done(output: &Output) {
    assert_eq!(output.status.code(), Some(0), "{output:?}");
}

/// The parts, merged, are the whole run.
fn assert_parts_are_the_run(bench: &Bench, parts: usize) {
    done(&bench.run("whole", &["--quiet"]));
    let dirs: Vec<String> = (0..parts).map(|part| bench.path(&format!("parts/{part}"))).collect();
    let merged = bench.path("merged");
    let arguments: Vec<&str> =
        ["merge"].into_iter().chain(dirs.iter().map(String::as_str)).chain(["-o", &merged]).collect();
    done(&crate::support::run(&arguments));
    let (merged, whole) = (bench.log("merged"), bench.log("whole"));
    assert!(merged.complete.is_some());
    assert_eq!(answers(&merged), answers(&whole));
}

#[test]
fn the_slurm_script_runs_every_part_of_its_array() {
    let bench = Bench::new(PARTED);
    let script = root().join("configs/slurm.sh");
    let text = std::fs::read_to_string(&script).unwrap();
    let array = text.lines().find_map(|line| line.strip_prefix("#SBATCH --array=0-")).expect("an array");
    let last: usize = array.parse().expect("its last task");
    for task in 0..=last {
        let mut part = with_program("bash");
        part.arg(&script).env("CONFIG", &bench.config).env("OUT", bench.path("parts"));
        for (name, value) in [("ID", task), ("MIN", 0), ("MAX", last), ("COUNT", last + 1)] {
            part.env(format!("SLURM_ARRAY_TASK_{name}"), value.to_string());
        }
        done(&part.output().unwrap());
    }
    assert_parts_are_the_run(&bench, last + 1);
}

#[test]
fn the_slurm_script_fails_where_there_is_no_array() {
    let mut alone = with_program("bash");
    alone.arg(root().join("configs/slurm.sh")).env_remove("SLURM_ARRAY_TASK_ID");
    let output = alone.output().unwrap();
    assert_ne!(output.status.code(), Some(0));
    assert!(told(&output).2.contains("SLURM_ARRAY_TASK_ID"), "{output:?}");
}

#[test]
fn the_kubernetes_job_is_indexed_and_runs_every_part() {
    let text = std::fs::read_to_string(root().join("configs/kubernetes.yaml")).unwrap();
    let documents = YamlLoader::load_from_str(&text).expect("YAML");
    assert_eq!(documents.len(), 1);
    let job = &documents[0];
    assert_eq!((job["apiVersion"].as_str(), job["kind"].as_str()), (Some("batch/v1"), Some("Job")));
    let spec = &job["spec"];
    assert_eq!(spec["completionMode"].as_str(), Some("Indexed"));
    let completions = spec["completions"].as_i64().expect("completions");
    let pod = &spec["template"]["spec"];
    // A job's pods may not be restarted always.
    assert!(["OnFailure", "Never"].contains(&pod["restartPolicy"].as_str().unwrap()));
    let container = &pod["containers"][0];
    let mounts = container["volumeMounts"].as_vec().unwrap();
    let volumes = pod["volumes"].as_vec().unwrap();
    assert!(mounts.iter().all(|mount| volumes.iter().any(|volume| volume["name"] == mount["name"])));
    let command: Vec<&str> =
        container["command"].as_vec().unwrap().iter().map(|word| word.as_str().expect("a word")).collect();
    let variables = container["env"].as_vec().unwrap();
    let variable = |name: &str| {
        variables.iter().find(|variable| variable["name"].as_str() == Some(name)).map(|found| &found["value"])
    };
    // Kubernetes takes strings alone as values.
    let parts = variable("JOB_COMPLETIONS").and_then(Yaml::as_str).expect("a quoted number");
    assert_eq!(parts, completions.to_string());
    assert!(variable("CONFIG").is_some() && variable("OUT").is_some());

    let bench = Bench::new(PARTED);
    for index in 0..completions {
        let mut part = with_program(command[0]);
        part.args(&command[1..]).env("JOB_COMPLETIONS", parts).env("JOB_COMPLETION_INDEX", index.to_string());
        part.env("CONFIG", &bench.config).env("OUT", bench.path("parts"));
        part.env_remove("SLURM_ARRAY_TASK_ID");
        done(&part.output().unwrap());
    }
    assert_parts_are_the_run(&bench, completions as usize);
}
