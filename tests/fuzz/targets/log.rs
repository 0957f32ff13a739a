//! Logs. A sequence may be given a megabyte in advance.
#![no_main]

#[path = "../seeds/entries.rs"]
mod entries;
mod heap;
#[path = "../properties/log.rs"]
mod property;
mod seeds;

libfuzzer_sys::fuzz_target!(
    init: seeds::write(entries::all),
    |bytes: &[u8]| heap::bounded((4 << 20) + 256 * bytes.len(), || property::check(bytes))
);
