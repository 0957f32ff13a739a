//! Files that are no models: one clear line, the right exit code, nothing half written.

use std::path::Path;

use crate::support::{Bench, complaint, run};

const CONFIG: &str = "limit = 2\n[[task]]\nname = \"logic\"\n";

#[test]
fn gguf_02_what_is_no_model_is_named_for_what_it_is() {
    let bench = Bench::new(CONFIG);
    let page = "<!DOCTYPE html><html><head><title>404</title></head><body>not found</body></html>\n";
    let pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:0000\nsize 12345\n";
    for (name, content, words) in [
        ("page.gguf", page, &["web page", "HTML"][..]),
        ("pointer.gguf", pointer, &["git-lfs"]),
        ("empty.gguf", "", &["empty"]),
        ("text.gguf", "dear diary, today I fetched a model\n", &["text"]),
    ] {
        std::fs::write(bench.path(name), content).expect("a file");
        is_refused(&bench, name, words);
    }
    std::fs::create_dir(bench.path("folder.gguf")).expect("a folder");
    is_refused(&bench, "folder.gguf", &["directory", "folder"]);
    is_refused(&bench, "missing.gguf", &["neither a file"]);
}

/// Every command that takes a model refuses it in one line, with code 3, and leaves nothing behind.
fn is_refused(bench: &Bench, name: &str, words: &[&str]) {
    let path = bench.path(name);
    let inspected = run(&["models", "inspect", &path]);
    let planned = run(&["plan", &bench.config, "--model", &path]);
    let ran = bench.run("run", &["--model", &path]);
    for output in [&inspected, &planned, &ran] {
        assert_eq!(output.status.code(), Some(3), "{name}: {output:?}");
        let line = complaint(output);
        assert!(line.contains(name), "{line}");
        assert!(output.stdout.is_empty(), "{output:?}");
    }
    let line = complaint(&planned);
    assert!(words.iter().any(|word| line.contains(word)), "{line}");
    assert!(!Path::new(&bench.path("run")).exists(), "{name} left a run folder");
}
