//! Replies. The constant of the limit pays for the patterns, which are compiled once.
#![no_main]

mod heap;
#[path = "../seeds/literals.rs"]
mod literals;
#[path = "../properties/reading.rs"]
mod property;
#[path = "../seeds/replies.rs"]
mod replies;
mod seeds;

libfuzzer_sys::fuzz_target!(
    init: seeds::write(replies::all),
    |bytes: &[u8]| heap::bounded((8 << 20) + 256 * bytes.len(), || property::check(bytes))
);
