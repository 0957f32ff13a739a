//! Generating a token takes no memory from this side's allocator: what the library does beneath is its own.

#![cfg(feature = "llama")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use models::{Engine, Finish, Generate, Job, LoadSpec, Mode, Reply, Request, Sampling, Segment};

/// The system's allocator, counting.
struct Counting;

static TAKEN: AtomicU64 = AtomicU64::new(0);

// SAFETY: every call goes on to the system's allocator unchanged.
#[allow(unsafe_code)]
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        TAKEN.fetch_add(1, Ordering::Relaxed);
        // SAFETY: the caller keeps the contract.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: as above.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        TAKEN.fetch_add(1, Ordering::Relaxed);
        // SAFETY: as above.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Allocations of a round that writes that many tokens in each of some replies.
fn allocations(engine: &mut impl Engine, replies: u32, max_tokens: u32) -> u64 {
    let job = |id: u32| Job {
        id,
        prompt: vec![Segment::text(format!("picture {id}: which colour"), true)],
        add_bos: true,
        request: Request::Generate(Generate {
            max_tokens,
            stop: vec!["no such text".into()],
            // Drawn, so that replies go their own ways and none ends early by chance: asserted below.
            sampling: Sampling::Temperature { temperature: 50.0, seed: u64::from(id) },
            loop_guard: None,
            thinking: None,
        }),
        follow_up: false,
    };
    let jobs: Vec<Job> = (0..replies).map(job).collect();
    let before = TAKEN.load(Ordering::Relaxed);
    let reply = engine.round(&jobs, &mut |_| ()).expect("a round");
    engine.end_group();
    let taken = TAKEN.load(Ordering::Relaxed) - before;
    for reply in &reply.replies {
        let Reply::Generated(text) = reply else { panic!("{reply:?}") };
        assert_eq!((text.finish, text.tokens.len()), (Finish::Length, max_tokens as usize));
    }
    taken
}

#[test]
fn twice_the_tokens_take_no_more_allocations() {
    let model = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/fixtures/tiny-vlm.gguf");
    let spec = LoadSpec {
        context_tokens: 128,
        mode: Mode::Packed,
        cells: 1024,
        sequences: 8,
        parallel: 4,
        batch_tokens: 64,
        ..LoadSpec::plain(model)
    };
    let mut engine = models::llama::Llama::open(&spec).expect("the model loads");
    allocations(&mut engine, 4, 8);
    let (short, long) = (allocations(&mut engine, 4, 24), allocations(&mut engine, 4, 96));
    // 288 more tokens; a reply's text grows by doubling, two more times for each of the four.
    assert!(long <= short + 4 * 4, "{short} allocations for 24 tokens each, {long} for 96");
}
