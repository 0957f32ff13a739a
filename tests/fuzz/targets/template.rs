//! Chat templates. The sandbox gives one up at 256 MiB and looks every 20 ms.
#![no_main]

mod heap;
#[path = "../seeds/literals.rs"]
mod literals;
#[path = "../properties/template.rs"]
mod property;
mod seeds;
#[path = "../seeds/templates.rs"]
mod templates;

libfuzzer_sys::fuzz_target!(
    init: seeds::write(templates::all),
    |bytes: &[u8]| heap::bounded(512 << 20, || property::check(bytes))
);
