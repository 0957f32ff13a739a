//! Model files. Nothing is held that the file does not justify.
#![no_main]

#[path = "../seeds/models.rs"]
mod files;
mod heap;
#[path = "../properties/gguf.rs"]
mod property;
mod seeds;

libfuzzer_sys::fuzz_target!(
    init: seeds::write(files::all),
    |bytes: &[u8]| heap::bounded((1 << 20) + 64 * bytes.len(), || property::check(bytes))
);
