//! Whether a file can be mapped into memory: some mounts (network, FUSE) let a file be read and not be mapped, and a
//! small address space has no room for a large one.

use std::fs::File;
use std::path::Path;

/// Why a file cannot be mapped; `None` where it can, or where it cannot even be opened: loading it says that better.
#[allow(unsafe_code)]
pub fn refusal(path: &Path) -> Option<String> {
    use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};
    let file = File::open(path).ok()?;
    let bytes = usize::try_from(file.metadata().ok()?.len()).ok()?.max(1);
    // SAFETY: a mapping at an address of the kernel's choice, never read, and gone before this function returns.
    let mapped = unsafe {
        mmap(std::ptr::null_mut(), bytes, ProtFlags::READ, MapFlags::SHARED, &file, 0)
            .and_then(|start| munmap(start, bytes))
    };
    mapped.err().map(|error| std::io::Error::from(error).to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sys_12_what_the_system_does_not_map_is_known_with_its_reason() {
        let kept = tempfile::NamedTempFile::new().expect("a file");
        std::fs::write(kept.path(), b"GGUF").expect("it can be written");
        assert_eq!(refusal(kept.path()), None);
        assert_eq!(refusal(Path::new("/nowhere/model.gguf")), None, "loading says that it is not there");
        // Files of the kernel can be read and not be mapped.
        let reason = refusal(Path::new("/proc/self/status")).expect("it has no pages to map");
        assert!(reason.contains("os error"), "{reason}");
    }
}
