//! What tasks and pictures may read. This crate opens no files: the caller gives the access.

use std::collections::BTreeMap;
use std::io::{Cursor, Read};

/// Access to files, given by the caller.
pub trait Files {
    /// Opens a file from its beginning.
    fn open(&mut self, path: &str) -> Result<Box<dyn Read + '_>, String>;

    /// A stretch of a file; an error where the file ends before it.
    fn stretch(&mut self, path: &str, offset: u64, bytes: u64) -> Result<Vec<u8>, String>;

    /// Names of what lies in a folder, sorted.
    fn list(&mut self, folder: &str) -> Result<Vec<String>, String>;

    /// The whole of a text file.
    fn text(&mut self, path: &str) -> Result<String, String> {
        let mut bytes = Vec::new();
        self.open(path)?.read_to_end(&mut bytes).map_err(|error| format!("{path}: {error}"))?;
        String::from_utf8(bytes).map_err(|error| {
            let at = error.utf8_error().valid_up_to();
            format!("{path}: not UTF-8 at byte {at}: save the file as UTF-8")
        })
    }

    /// The whole of a file that has at most so many bytes.
    fn bytes(&mut self, path: &str, most: u64) -> Result<Vec<u8>, String> {
        let mut bytes = Vec::new();
        let mut reader = self.open(path)?.take(most + 1);
        reader.read_to_end(&mut bytes).map_err(|error| format!("{path}: {error}"))?;
        if bytes.len() as u64 > most {
            return Err(format!("{path}: more than {most} bytes"));
        }
        Ok(bytes)
    }
}

/// Files that are held in memory, by path.
#[derive(Clone, Debug, Default)]
pub struct Held(pub BTreeMap<String, Vec<u8>>);

impl Held {
    /// These files.
    pub fn of<const N: usize>(files: [(&str, &[u8]); N]) -> Self {
        Held(files.into_iter().map(|(path, bytes)| (path.to_owned(), bytes.to_vec())).collect())
    }

    fn file(&self, path: &str) -> Result<&[u8], String> {
        self.0.get(path).map(Vec::as_slice).ok_or_else(|| format!("{path}: no such file"))
    }
}

impl Files for Held {
    fn open(&mut self, path: &str) -> Result<Box<dyn Read + '_>, String> {
        Ok(Box::new(Cursor::new(self.file(path)?)))
    }

    fn stretch(&mut self, path: &str, offset: u64, bytes: u64) -> Result<Vec<u8>, String> {
        let file = self.file(path)?;
        let range = usize::try_from(offset).ok().zip(usize::try_from(offset.saturating_add(bytes)).ok());
        let found = range.and_then(|(start, end)| file.get(start..end));
        found.map(<[u8]>::to_vec).ok_or_else(|| format!("{path}: ends before byte {}", offset + bytes))
    }

    fn list(&mut self, folder: &str) -> Result<Vec<String>, String> {
        let inside = format!("{}/", folder.trim_end_matches('/'));
        let mut names: Vec<String> = self
            .0
            .keys()
            .filter_map(|path| path.strip_prefix(&inside)?.split('/').next().map(str::to_owned))
            .collect();
        names.dedup();
        if names.is_empty() { Err(format!("{folder}: no such folder")) } else { Ok(names) }
    }
}

/// Text files that a closure gives.
pub struct Texts<F>(pub F);

impl<F: FnMut(&str) -> Result<String, String>> Files for Texts<F> {
    fn open(&mut self, path: &str) -> Result<Box<dyn Read + '_>, String> {
        Ok(Box::new(Cursor::new((self.0)(path)?.into_bytes())))
    }

    fn stretch(&mut self, path: &str, offset: u64, bytes: u64) -> Result<Vec<u8>, String> {
        Held::of([(path, (self.0)(path)?.as_bytes())]).stretch(path, offset, bytes)
    }

    fn list(&mut self, folder: &str) -> Result<Vec<String>, String> {
        Err(format!("{folder}: no such folder"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_given_whole_in_part_and_up_to_a_limit() {
        let mut files = Held::of([("d/a.txt", b"hello"), ("d/e/b", b"\xff"), ("d/e/c", b"")]);
        assert_eq!(files.text("d/a.txt").unwrap(), "hello");
        assert_eq!(files.stretch("d/a.txt", 1, 3).unwrap(), b"ell");
        assert!(files.stretch("d/a.txt", 3, 3).unwrap_err().contains("ends before byte 6"));
        assert_eq!(files.list("d").unwrap(), ["a.txt", "e"]);
        assert!(files.text("d/e/b").unwrap_err().contains("not UTF-8 at byte 0"));
        assert!(files.bytes("d/a.txt", 4).unwrap_err().contains("more than 4 bytes"));
        assert_eq!(files.bytes("d/a.txt", 5).unwrap().len(), 5);
        assert!(files.open("x").is_err() && files.list("x").is_err());
    }
}
