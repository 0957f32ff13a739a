//! The sampler allocates nothing once it runs: counted, thread by thread.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use super::*;
use crate::telemetry::root::{Folder, Root};
use crate::telemetry::sampler::{Setup, assemble};
use crate::telemetry::state::StateReader;

struct Counting;

thread_local! {
    static COUNT: Cell<u64> = const { Cell::new(0) };
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

#[allow(unsafe_code)]
// SAFETY: every call is passed on to the system's allocator as it came; the counter is a plain cell of the thread.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let _ = COUNT.try_with(|count| count.set(count.get() + 1));
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        unsafe { System.dealloc(memory, layout) }
    }
}

fn allocations() -> u64 {
    COUNT.with(Cell::get)
}

/// Writes a made-up system into a folder, so that real files are read.
fn folder(manifests: &[&str]) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    let lines = manifests.iter().flat_map(|manifest| manifest.lines());
    for line in lines.filter(|line| !line.starts_with('#')) {
        let Some((path, value)) = line.split_once(" = ") else { continue };
        let path = dir.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, format!("{value}\n")).unwrap();
    }
    dir
}

#[test]
fn nothing_is_allocated_while_sampling() {
    let dir = folder(&[
        include_str!("../fixtures/rapl-laptop.txt"),
        include_str!("../fixtures/agx-orin-12v.txt"),
        include_str!("../fixtures/thinkpad-two-packs.txt"),
        include_str!("../fixtures/pi5.txt"),
        "sys/class/hwmon/hwmon9/name = amdgpu\nsys/class/hwmon/hwmon9/power1_average = 118000000",
        include_str!("../fixtures/jetson-thermal.txt"),
        "proc/stat = cpu  1000 0 500 8000 500 0 0 0 0 0\nproc/meminfo = MemAvailable: 1000 kB",
    ]);
    let root: Arc<dyn Root> = Arc::new(Folder::at(dir.path()));
    let clock = clock();
    let probed = probe(root.as_ref(), &clock, &Wanted::default());
    let ids: Vec<String> = probed.sources.iter().map(|source| source.info().id.clone()).collect();
    assert_eq!(ids, ["jetson", "hwmon", "rapl", "battery"]);
    let state = StateReader::find(root.as_ref());
    let setup = Setup { sources: probed.sources, state, root, period_us: 1, clock };
    let (mut core, handle) = assemble(setup);
    core.tick(true);
    let before = allocations();
    drop(std::hint::black_box(Box::new(7u8)));
    assert_eq!(allocations(), before + 1, "the counter counts");
    let before = allocations();
    for round in 0..3000 {
        if round % 7 == 0 {
            handle.mark();
        }
        core.tick(true);
    }
    assert_eq!(allocations(), before);
    let mut power = Vec::new();
    handle.drain(&mut |sample| power = sample.power_uw.to_vec());
    assert_eq!(power[0], 8_711_200, "and it did read");
}
