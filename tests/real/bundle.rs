//! A bundle with the project's own tiny model: what a field tester sees.

use std::process::Command;

use runner::report::RunLog;

use crate::support::{Bench, assert_same, fixture, run, told};

const CONFIG: &str =
    "limit = 4\ninterfaces = [\"direct\"]\n[engine]\nthreads = 1\nparity = 0\n[[task]]\nname = \"lights\"\n";

#[test]
fn a_bundle_with_the_tiny_model_answers_as_a_run_does_and_one_beside_does_too() {
    let bench = Bench::new(CONFIG);
    let tiny = fixture("tiny-vlm.gguf").display().to_string();
    let reference = bench.run("reference", &["--quiet", "--model", &tiny]);
    assert_eq!(reference.status.code(), Some(0), "{reference:?}");
    let start = |name: &str| {
        let output =
            Command::new(bench.path(name)).current_dir(bench.dir.path()).output().expect("it starts");
        let (code, _, talk) = told(&output);
        assert_eq!(code, Some(0), "{talk}");
        (RunLog::read(&bench.dir.path().join(format!("{name}.eval"))).expect("the result"), talk)
    };
    let packed = run(&["pack", &bench.config, "--model", &tiny, "-o", &bench.path("inside")]);
    assert_eq!(packed.status.code(), Some(0), "{packed:?}");
    let (inside, talk) = start("inside");
    assert!(talk.contains("unpacking tiny-vlm.gguf") && talk.contains("time: about "), "{talk}");
    assert_same(&inside, &bench.log("reference"));
    let packed = run(&["pack", &bench.config, "--any-model", "-o", &bench.path("any")]);
    assert_eq!(packed.status.code(), Some(0), "{packed:?}");
    std::fs::copy(&tiny, bench.path("tiny-vlm.gguf")).expect("a copy beside");
    let (beside, _) = start("any");
    assert_same(&beside, &inside);
    // The same weights in another way: the logs name the same model.
    assert_eq!(beside.header.models[0], inside.header.models[0]);
    assert!(start("inside").1.contains("everything is done"));
    std::fs::remove_file(bench.path("tiny-vlm.gguf")).expect("the model goes");
    assert!(start("any").1.contains("everything is done"));
}
