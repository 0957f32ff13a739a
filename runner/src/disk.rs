//! Files that tasks and pictures name, read from the disk; paths are relative to where the program was started. In a
//! started bundle they are those that it carries, and no others.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

use datasets::Files;

use crate::bundle::carried;

/// The files of the disk.
#[derive(Clone, Copy, Debug, Default)]
pub struct Disk;

fn named(path: &str, error: &std::io::Error) -> String {
    let is_missing = error.kind() == std::io::ErrorKind::NotFound;
    match std::env::current_dir() {
        Ok(folder) if is_missing && Path::new(path).is_relative() => {
            format!(
                "{path}: not found in {} (paths are relative to the folder of the call)",
                folder.display()
            )
        }
        _ => format!("{path}: {error}"),
    }
}

pub(crate) fn opened(path: &str) -> Result<File, String> {
    let file = File::open(path).map_err(|error| named(path, &error))?;
    match file.metadata().map_err(|error| named(path, &error))?.is_dir() {
        true => Err(format!("{path}: a folder, where a file is meant")),
        false => Ok(file),
    }
}

impl Files for Disk {
    fn open(&mut self, path: &str) -> Result<Box<dyn Read + '_>, String> {
        if let Some(carried) = carried() {
            return carried.open(path);
        }
        Ok(Box::new(opened(path)?))
    }

    fn stretch(&mut self, path: &str, offset: u64, bytes: u64) -> Result<Vec<u8>, String> {
        if let Some(carried) = carried() {
            return carried.stretch(path, offset, bytes);
        }
        let mut file = opened(path)?;
        file.seek(SeekFrom::Start(offset)).map_err(|error| named(path, &error))?;
        let mut found = Vec::new();
        file.take(bytes).read_to_end(&mut found).map_err(|error| named(path, &error))?;
        match found.len() as u64 == bytes {
            true => Ok(found),
            false => Err(format!("{path}: ends before byte {}", offset.saturating_add(bytes))),
        }
    }

    fn list(&mut self, folder: &str) -> Result<Vec<String>, String> {
        if let Some(carried) = carried() {
            return carried.list(folder);
        }
        let entries = std::fs::read_dir(folder).map_err(|error| named(folder, &error))?;
        let name = |entry: std::io::Result<std::fs::DirEntry>| {
            entry.map(|entry| entry.file_name().to_string_lossy().into_owned())
        };
        let mut names: Vec<String> =
            entries.map(name).collect::<Result<_, _>>().map_err(|error| named(folder, &error))?;
        names.sort_unstable();
        Ok(names)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_disk_gives_what_files_in_memory_give() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("b.txt"), "hello").unwrap();
        std::fs::create_dir(dir.path().join("a")).unwrap();
        let path = dir.path().join("b.txt").display().to_string();
        let folder = dir.path().display().to_string();
        assert_eq!(Disk.text(&path).unwrap(), "hello");
        assert_eq!(Disk.stretch(&path, 1, 3).unwrap(), b"ell");
        assert!(Disk.stretch(&path, 3, 3).unwrap_err().ends_with("ends before byte 6"));
        assert_eq!(Disk.list(&folder).unwrap(), ["a", "b.txt"]);
        assert!(Disk.text(&folder).unwrap_err().contains("a folder"));
        assert!(Disk.text("no-such-file").unwrap_err().starts_with("no-such-file: "));
    }
}
