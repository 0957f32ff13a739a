//! Parcels. A compressed member may ask for a window of 64 MiB.
#![no_main]

mod heap;
#[path = "../seeds/parcels.rs"]
mod parcels;
#[path = "../properties/parcel.rs"]
mod property;
mod seeds;

libfuzzer_sys::fuzz_target!(
    init: seeds::write(parcels::all),
    |bytes: &[u8]| heap::bounded((80 << 20) + 256 * bytes.len(), || property::check(bytes))
);
