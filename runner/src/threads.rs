//! How many threads an engine gets when nobody says: one for each physical core of the fastest kind that this process
//! may use. Hyper-threads share the units that llama.cpp keeps busy, and slow cores make the fast ones wait.

mod cores;
#[cfg(test)]
mod tests;

use std::path::Path;

pub use cores::{Cores, Told};

/// The number asked for, or that of the fastest physical cores.
pub fn chosen(asked: u32) -> u32 {
    match asked {
        0 => here().fastest,
        asked => asked,
    }
}

/// The cores of this machine as this process may use them.
pub fn here() -> Cores {
    let usable = std::thread::available_parallelism().map_or(1, usize::from) as u32;
    let cores = Cores::read(Path::new("/")).unwrap_or_else(|| {
        let physical = sysinfo::System::physical_core_count().unwrap_or(usable as usize) as u32;
        Cores { logical: usable, physical, fastest: physical, told: Told::Nothing, quota: None }
    });
    cores.at_most(usable)
}
