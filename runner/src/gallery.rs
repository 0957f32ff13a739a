//! The pictures of items as PNG files, for people.

use std::path::{Path, PathBuf};

use datasets::{Item, Picture};
use serde_json::{Value, json};

use crate::disk::Disk;
use crate::exit::Failure;

/// Pictures of one item under the names of their files.
pub struct Gallery<'a> {
    named: Vec<(String, &'a Picture)>,
}

impl<'a> Gallery<'a> {
    /// The pictures of the item at this place of its task.
    pub fn of(item: &'a Item, place: usize) -> Self {
        // Ids come from files too, and not every sign of theirs can stand in a file's name.
        let plain =
            |sign: char| if sign.is_ascii_alphanumeric() || "-_.".contains(sign) { sign } else { '_' };
        let id: String = item.id.chars().take(60).map(plain).collect();
        let mut named: Vec<(String, &Picture)> = Vec::new();
        for picture in item.pictures() {
            if !named.iter().any(|(_, known)| *known == picture) {
                named.push((format!("{place:05}-{id}-{}.png", named.len() + 1), picture));
            }
        }
        Gallery { named }
    }

    /// Writes the files into a folder, which is made where it is missing.
    pub fn write(&self, folder: &Path) -> Result<(), Failure> {
        if self.named.is_empty() {
            return Ok(());
        }
        let failed =
            |path: &Path, error: std::io::Error| Failure::disk(format!("{}: {error}", path.display()));
        std::fs::create_dir_all(folder).map_err(|error| failed(folder, error))?;
        for (name, picture) in &self.named {
            let pixels = picture.pixels(&mut Disk).map_err(|error| Failure::input(error.to_string()))?;
            let png = pixels.png().map_err(|error| Failure::input(error.to_string()))?;
            let path: PathBuf = folder.join(name);
            std::fs::write(&path, png).map_err(|error| failed(&path, error))?;
        }
        Ok(())
    }

    /// Names, sizes and hashes for an exported item.
    pub fn json(&self) -> Vec<Value> {
        let one = |(name, picture): &(String, &Picture)| {
            let (width, height) = picture.size();
            json!({ "file": name, "address": picture.address(), "width": width, "height": height })
        };
        self.named.iter().map(one).collect()
    }

    /// What stands for a picture in a text for people: `[picture 1: a face, 256 x 256: 00000-f000-1.png]`.
    pub fn label(&self, address: &str) -> String {
        let found = self.named.iter().zip(1..).find(|((_, picture), _)| picture.address() == address);
        match found {
            Some(((name, picture), number)) => format!("[picture {number}: {}: {name}]", picture.caption()),
            None => "[picture]".to_owned(),
        }
    }
}
