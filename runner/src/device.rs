//! What machine this is, without names of people or hosts.

use sysinfo::{CpuRefreshKind, MemoryRefreshKind, RefreshKind, System};

use crate::entry::Device;

/// Reads the facts once.
pub fn facts() -> Device {
    let what = RefreshKind::nothing()
        .with_cpu(CpuRefreshKind::nothing())
        .with_memory(MemoryRefreshKind::nothing().with_ram());
    let system = System::new_with_specifics(what).ok();
    let cpus = system.as_ref().map(System::cpus).unwrap_or_default();
    let cpu = cpus.first().map(|cpu| cpu.brand().trim().to_owned()).unwrap_or_default();
    let words = [
        System::name().ok(),
        System::os_version().ok(),
        System::kernel_version().ok(),
        Some(System::cpu_arch()),
    ];
    Device {
        model: board().unwrap_or_default(),
        system: words.into_iter().flatten().collect::<Vec<_>>().join(" "),
        cpu,
        physical_cores: System::physical_core_count().unwrap_or(0) as u32,
        logical_cores: cpus.len() as u32,
        memory_bytes: system.as_ref().map(System::total_memory).unwrap_or_default(),
    }
}

/// Boards say what they are in the device tree, PCs in their firmware tables.
fn board() -> Option<String> {
    let read = |path: &str| std::fs::read_to_string(path).ok();
    let text = read("/proc/device-tree/model").or_else(|| read("/sys/class/dmi/id/product_name"))?;
    let text = text.trim_matches(['\0', '\n', ' ']).to_owned();
    (!text.is_empty()).then_some(text)
}
