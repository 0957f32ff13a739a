//! Systems that are made of text: one `path = value` a line, `path ! ERRNO` for a file that cannot be read.

use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, Mutex};

use super::root::{Attribute, Root, in_order};
use super::sources::mailbox::Firmware;

type Files = Arc<Mutex<BTreeMap<String, Result<Vec<u8>, i32>>>>;

/// A made-up system.
#[derive(Clone, Default)]
pub(crate) struct Tree {
    files: Files,
    firmware: Arc<Mutex<Option<Result<String, i32>>>>,
}

impl Tree {
    /// Reads a manifest. Lines that begin with `#` are talk; the first one says where the values come from.
    pub(crate) fn of(manifest: &str) -> Self {
        let tree = Tree::default();
        let first = manifest.lines().next().unwrap_or_default();
        assert!(
            ["# captured", "# synthetic", "# unit-test"].iter().any(|word| first.starts_with(word)),
            "{first}"
        );
        for line in manifest.lines().filter(|line| !line.starts_with('#') && !line.trim().is_empty()) {
            if let Some((path, errno)) = line.split_once(" ! ") {
                tree.fail(path.trim(), errno_of(errno.trim()));
            } else {
                let (path, value) = line.split_once(" = ").unwrap_or_else(|| panic!("no value: {line}"));
                tree.set(path.trim(), &value.replace("\\0", "\0").replace("\\n", "\n"));
            }
        }
        tree
    }

    pub(crate) fn set(&self, path: &str, value: &str) {
        let path = path.trim_start_matches('/').to_owned();
        self.files.lock().unwrap().insert(path, Ok(format!("{value}\n").into_bytes()));
    }

    /// Sets a file without allocating: the value must be as long as the old one.
    pub(crate) fn fail(&self, path: &str, errno: i32) {
        self.files.lock().unwrap().insert(path.trim_start_matches('/').to_owned(), Err(errno));
    }

    pub(crate) fn remove(&self, path: &str) {
        self.files.lock().unwrap().retain(|known, _| !known.starts_with(path.trim_start_matches('/')));
    }

    pub(crate) fn answer(&self, reply: Result<&str, i32>) {
        *self.firmware.lock().unwrap() = Some(reply.map(str::to_owned));
    }
}

pub(crate) const EACCES: i32 = 13;
pub(crate) const ENODATA: i32 = 61;

fn errno_of(name: &str) -> i32 {
    match name {
        "EACCES" => EACCES,
        "ENODATA" => ENODATA,
        "EIO" => 5,
        "ENODEV" => 19,
        "EAGAIN" => 11,
        "EINVAL" => 22,
        other => panic!("unknown errno {other}"),
    }
}

struct Made {
    files: Files,
    path: String,
}

impl Attribute for Made {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self.files.lock().unwrap().get(&self.path) {
            Some(Ok(bytes)) => {
                let length = bytes.len().min(buffer.len());
                buffer[..length].copy_from_slice(&bytes[..length]);
                Ok(length)
            }
            Some(Err(errno)) => Err(io::Error::from_raw_os_error(*errno)),
            // Taken away while it was open.
            None => Err(io::Error::from_raw_os_error(19)),
        }
    }
}

impl Root for Tree {
    fn open(&self, path: &str) -> io::Result<Box<dyn Attribute>> {
        match self.files.lock().unwrap().get(path) {
            None => Err(io::Error::from_raw_os_error(2)),
            Some(Err(EACCES)) => Err(io::Error::from_raw_os_error(EACCES)),
            Some(_) => Ok(Box::new(Made { files: Arc::clone(&self.files), path: path.to_owned() })),
        }
    }

    fn list(&self, path: &str) -> Vec<String> {
        let folder = format!("{path}/");
        let files = self.files.lock().unwrap();
        let mut names: Vec<String> = files
            .keys()
            .filter_map(|known| known.strip_prefix(&folder)?.split('/').next().map(str::to_owned))
            .collect();
        names.dedup();
        in_order(names)
    }

    fn firmware(&self) -> io::Result<Box<dyn Firmware>> {
        match &*self.firmware.lock().unwrap() {
            None => Err(io::Error::from_raw_os_error(2)),
            Some(Err(errno)) => Err(io::Error::from_raw_os_error(*errno)),
            Some(Ok(_)) => Ok(Box::new(Answers(Arc::clone(&self.firmware)))),
        }
    }

    fn is_own(&self) -> bool {
        false
    }
}

struct Answers(Arc<Mutex<Option<Result<String, i32>>>>);

impl Firmware for Answers {
    fn ask(&mut self, _: &str, reply: &mut [u8]) -> io::Result<usize> {
        match &*self.0.lock().unwrap() {
            Some(Ok(text)) => {
                reply[..text.len()].copy_from_slice(text.as_bytes());
                Ok(text.len())
            }
            Some(Err(errno)) => Err(io::Error::from_raw_os_error(*errno)),
            None => Err(io::Error::from_raw_os_error(19)),
        }
    }
}
