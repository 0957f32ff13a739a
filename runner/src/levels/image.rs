//! Bytes as a file in memory, that what is started from here can open: a program to be started, a model to be loaded.
//! Nothing of it touches a disk, which may be read-only or forbid programs. Where the system does not allow that, a file
//! that is gone before it is used.

use std::fs::File;
use std::io::{self, Write};
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::fs::{Access, MemfdFlags, Mode, access, memfd_create};

/// A file that can be opened and started as long as this is kept.
#[derive(Debug)]
pub(crate) struct Image {
    file: OwnedFd,
    /// Where it lies, for people.
    pub(super) place: String,
}

impl Image {
    /// In memory, else in the first folder that takes it.
    pub(crate) fn new(bytes: &[u8]) -> io::Result<Image> {
        if !Path::new("/proc/self/fd").exists() {
            let reason = "there is no /proc, through which it is started: mount -t proc proc /proc";
            return Err(io::Error::other(reason));
        }
        let in_memory = match Image::in_memory(bytes) {
            Ok(image) => return Ok(image),
            Err(error) => error,
        };
        let mut failed = format!("in memory: {in_memory}");
        for folder in folders() {
            match Image::in_folder(bytes, &folder) {
                Ok(image) => return Ok(image),
                Err(error) => failed.push_str(&format!("; in {}: {error}", folder.display())),
            }
        }
        Err(io::Error::other(format!("{failed}: set TMPDIR to a folder from which programs may be started")))
    }

    /// In memory that has no name.
    pub(super) fn in_memory(bytes: &[u8]) -> io::Result<Image> {
        // Kernels before 6.3 do not know the flag, and allow starting by themselves. The descriptor is inherited by
        // what is started: an emulator opens the program by it.
        let fd = memfd_create("edge-eval-worker", MemfdFlags::EXEC)
            .or_else(|_| memfd_create("edge-eval-worker", MemfdFlags::empty()))?;
        let mut file = File::from(fd);
        file.write_all(bytes)?;
        Image::usable(file.into(), "memory".into())
    }

    /// In a private folder below `parent`. Folder and name are gone when this returns.
    pub(super) fn in_folder(bytes: &[u8], parent: &Path) -> io::Result<Image> {
        let dir = private(parent)?;
        let path = dir.join("worker");
        let made = (|| {
            let mut file = File::create_new(&path)?;
            file.write_all(bytes)?;
            file.set_permissions(std::os::unix::fs::PermissionsExt::from_mode(0o700))?;
            // A file that is open for writing cannot be started: it is opened anew, to be inherited.
            drop(file);
            rustix::fs::open(&path, rustix::fs::OFlags::RDONLY, Mode::empty()).map_err(io::Error::from)
        })();
        let _ = std::fs::remove_file(&path);
        let _ = std::fs::remove_dir(&dir);
        Image::usable(made?, parent.display().to_string())
    }

    fn usable(file: OwnedFd, place: String) -> io::Result<Image> {
        let image = Image { file, place };
        access(image.path(), Access::EXEC_OK).map_err(|error| {
            io::Error::new(io::Error::from(error).kind(), "programs may not be started there")
        })?;
        Ok(image)
    }

    /// The path that this process and what it starts know it by.
    pub(crate) fn path(&self) -> PathBuf {
        PathBuf::from(format!("/proc/self/fd/{}", self.file.as_raw_fd()))
    }
}

/// Folders for the fall-back.
fn folders() -> Vec<PathBuf> {
    let runtime = std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from);
    [Some(std::env::temp_dir()), runtime, Some("/dev/shm".into()), Some("/var/tmp".into())]
        .into_iter()
        .flatten()
        .collect()
}

/// A new folder that nobody else can look into.
fn private(parent: &Path) -> io::Result<PathBuf> {
    use std::os::unix::fs::DirBuilderExt;
    for number in 0..100 {
        let dir = parent.join(format!(".edge-eval-{}-{number}", std::process::id()));
        match std::fs::DirBuilder::new().mode(0o700).create(&dir) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
            made => return made.map(|()| dir),
        }
    }
    Err(io::ErrorKind::AlreadyExists.into())
}
