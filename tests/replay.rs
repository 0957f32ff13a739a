//! Replays inputs that fuzzers found worth keeping: every fault they met, and the smallest set that reaches the most.
//!
//! The checks are those of the fuzz targets in `tests/fuzz`.

use std::path::Path;
use std::time::{Duration, Instant};

#[path = "fuzz/properties/gguf.rs"]
mod gguf;
#[path = "fuzz/properties/log.rs"]
mod log;
#[path = "fuzz/properties/parcel.rs"]
mod parcel;
#[path = "fuzz/properties/reading.rs"]
mod reading;
#[path = "fuzz/properties/template.rs"]
mod template;

/// Ten times what the slowest takes in an unoptimised build.
const TIME: Duration = Duration::from_secs(5);

fn replay(target: &str, check: fn(&[u8])) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/fixtures/fuzz").join(target);
    let files = std::fs::read_dir(&folder).expect("the inputs are part of the project");
    let mut count = 0;
    for file in files {
        let path = file.expect("the folder can be read").path();
        let bytes = std::fs::read(&path).expect("the input can be read");
        let start = Instant::now();
        check(&bytes);
        assert!(start.elapsed() < TIME, "{}: {:?}", path.display(), start.elapsed());
        count += 1;
    }
    assert!(count > 0, "{} is empty", folder.display());
}

#[test]
fn replies_that_fuzzers_found_are_read() {
    replay("reading", reading::check);
}

#[test]
fn chat_templates_that_fuzzers_found_render_or_are_refused() {
    replay("template", template::check);
}

#[test]
fn logs_that_fuzzers_found_are_read() {
    replay("log", log::check);
}

#[test]
fn parcels_that_lie_are_refused() {
    replay("parcel", parcel::check);
}

#[test]
fn model_files_that_fuzzers_found_are_read_or_refused() {
    replay("gguf", gguf::check);
}
