//! How many threads an engine gets when nobody says.

/// The number asked for, or that of the physical cores.
pub fn chosen(asked: u32) -> u32 {
    match asked {
        0 => physical_cores(),
        asked => asked,
    }
}

/// Physical cores that this process may use; hyper-threads slow llama.cpp down.
pub fn physical_cores() -> u32 {
    let usable = std::thread::available_parallelism().map_or(1, usize::from);
    let physical = sysinfo::System::physical_core_count().unwrap_or(usable);
    physical.clamp(1, usable) as u32
}
