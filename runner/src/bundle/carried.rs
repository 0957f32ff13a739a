//! Data files of a started bundle, read where they lie: nothing is unpacked for them.

use std::collections::BTreeMap;
use std::io::Read;
use std::sync::{Arc, Mutex, OnceLock};

use super::Manifest;
use crate::parcel::Parcel;

/// Largest compressed file that is unpacked into memory for a stretch of it.
const MAX_HELD_BYTES: u64 = 256 << 20;

/// The process is one bundle or none, and files are asked for in many places: while planning, when pictures are made.
static OWN: OnceLock<Carried> = OnceLock::new();

/// Makes the files of this process's bundle those that tasks and pictures read. The first call decides.
pub fn carry(files: Carried) -> &'static Carried {
    OWN.get_or_init(|| files)
}

/// The files of this process's bundle, if it is one.
pub fn carried() -> Option<&'static Carried> {
    OWN.get()
}

/// Files in a parcel, by the path that configuration and tables give them.
#[derive(Debug)]
pub struct Carried {
    parcel: Parcel,
    members: BTreeMap<String, String>,
    folders: BTreeMap<String, Vec<String>>,
    /// The compressed file that a stretch was read from last.
    held: Mutex<Option<(String, Arc<Vec<u8>>)>>,
}

impl Carried {
    /// The data files of a bundle.
    pub fn of(parcel: Parcel, manifest: &Manifest) -> Carried {
        let members = manifest.files.iter().map(|file| (file.path.clone(), file.member.clone())).collect();
        let folders =
            manifest.folders.iter().map(|folder| (folder.path.clone(), folder.names.clone())).collect();
        Carried { parcel, members, folders, held: Mutex::default() }
    }

    /// Opens a file from its beginning.
    pub fn open(&self, path: &str) -> Result<Box<dyn Read>, String> {
        let content = self.parcel.open(self.member(path)?).map_err(|error| error.to_string())?;
        Ok(Box::new(content))
    }

    /// A stretch of a file.
    pub fn stretch(&self, path: &str, offset: u64, bytes: u64) -> Result<Vec<u8>, String> {
        let member = self.member(path)?;
        if let Some(found) = self.parcel.stretch(member, offset, bytes).map_err(|error| error.to_string())? {
            return Ok(found);
        }
        let whole = self.whole(member)?;
        let range = usize::try_from(offset)
            .ok()
            .zip(offset.checked_add(bytes).and_then(|end| usize::try_from(end).ok()));
        let found = range.and_then(|(start, end)| whole.get(start..end));
        found
            .map(<[u8]>::to_vec)
            .ok_or_else(|| format!("{path}: ends before byte {}", offset.saturating_add(bytes)))
    }

    /// Names of what lay in a folder.
    pub fn list(&self, folder: &str) -> Result<Vec<String>, String> {
        self.folders
            .get(folder)
            .cloned()
            .ok_or_else(|| format!("{folder}: the bundle carries no such folder"))
    }

    fn member(&self, path: &str) -> Result<&str, String> {
        self.members
            .get(path)
            .map(String::as_str)
            .ok_or_else(|| format!("{path}: the bundle carries no such file"))
    }

    fn whole(&self, member: &str) -> Result<Arc<Vec<u8>>, String> {
        let mut held = self.held.lock().map_err(|_| "another thread failed here".to_owned())?;
        if let Some((_, bytes)) = held.as_ref().filter(|(name, _)| name == member) {
            return Ok(bytes.clone());
        }
        let bytes = self.parcel.bytes(member, MAX_HELD_BYTES).map_err(|error| error.to_string())?;
        let bytes = Arc::new(bytes);
        *held = Some((member.to_owned(), bytes.clone()));
        Ok(bytes)
    }
}
