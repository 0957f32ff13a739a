//! The file of this very program.

use std::path::{Path, PathBuf};

/// Where it lies, under the name that it was started by. Works without `/proc`, as in a bare `chroot`.
pub fn path() -> Option<PathBuf> {
    std::env::current_exe().ok().filter(|path| path.exists()).or_else(|| {
        let first = std::env::args_os().next()?;
        let named = PathBuf::from(&first);
        if named.components().count() > 1 {
            return std::path::absolute(named).ok().filter(|path| path.is_file());
        }
        let folders = std::env::var_os("PATH")?;
        std::env::split_paths(&folders).map(|folder| folder.join(&named)).find(|path| path.is_file())
    })
}

/// What workers are started from.
pub fn program() -> Option<PathBuf> {
    // The link survives that the file is replaced while the run goes on.
    let link = Path::new("/proc/self/exe");
    if link.exists() { Some(link.to_owned()) } else { path() }
}
