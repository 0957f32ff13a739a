//! Integration tests of the whole program, as one binary: it links once.
//!
//! Those in `real` need the llama feature and the default model in `models/gguf/` (`make fetch`).

mod bad_input;
mod bench;
mod bundle;
mod bundle_faults;
mod case_table;
mod command_line;
mod compare;
mod damage;
mod damaged_models;
mod decoding;
mod disks;
mod doctor;
mod exchange;
mod faults;
mod fleets;
mod kill;
mod levels;
mod memory;
mod pictures;
mod power;
mod probes;
#[cfg(feature = "llama")]
mod real;
mod replay;
mod reports;
mod shards;
mod states;
mod strikes;
mod support;
mod sweeps;
