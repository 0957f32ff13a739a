//! Images of rows: a path, base64 text, or the id of another row that holds the picture.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::record::{Field, Record};
use crate::files::Files;
use crate::picture::FilePicture;

/// What is done with items that come with images.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Images {
    /// The items are left out and counted.
    #[default]
    LeftOut,
    /// The items are kept without their images: a control.
    Withheld,
    /// The images are shown before the question.
    Shown,
}

/// Longest text that is the id of another row; pictures are longer.
const LONGEST_ID: usize = 64;

/// What the text of an image cell is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Path,
    Row,
    Base64,
}

/// Paths are told by their ending; no base64 text has a full stop in it.
pub(super) fn kind(text: &str) -> Kind {
    let text = text.trim();
    let ending = text.rsplit_once('.').map(|(_, ending)| ending.to_ascii_lowercase());
    let is_path = !text.starts_with("data:")
        && ending.is_some_and(|ending| {
            (1..=5).contains(&ending.len()) && ending.chars().all(|sign| sign.is_ascii_alphanumeric())
        });
    if is_path {
        Kind::Path
    } else if text.len() <= LONGEST_ID {
        Kind::Row
    } else {
        Kind::Base64
    }
}

/// A path inside a folder. Data files must not lead out of theirs.
pub(crate) fn inside(folder: &str, path: &str) -> Result<String, String> {
    let parts: Vec<&str> = path.split(['/', '\\']).filter(|part| !part.is_empty() && *part != ".").collect();
    if path.starts_with(['/', '\\']) || path.contains(':') || parts.is_empty() || parts.contains(&"..") {
        return Err(format!(
            "the image path `{path}` leads out of the folder of the data; give one inside it"
        ));
    }
    Ok(match folder {
        "" => parts.join("/"),
        folder => format!("{}/{}", folder.trim_end_matches('/'), parts.join("/")),
    })
}

/// The folder of a file.
fn folder_of(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

fn in_file(path: &str, picture: &FilePicture) -> FilePicture {
    FilePicture { path: path.to_owned(), ..picture.clone() }
}

/// The pictures of rows, where they are shown.
pub(super) struct Shown<'a> {
    pub(super) path: &'a str,
    pub(super) files: &'a mut dyn Files,
    held: BTreeMap<String, FilePicture>,
    seen: BTreeMap<String, FilePicture>,
}

impl<'a> Shown<'a> {
    /// Notes the pictures that rows hold, by the ids of the rows.
    pub(super) fn new(
        path: &'a str,
        files: &'a mut dyn Files,
        records: &[Record],
        id: &[String],
        image: &[String],
    ) -> Self {
        let mut held = BTreeMap::new();
        for record in records {
            let own = match record.field(id) {
                Some(Field::Text(text)) => text.trim().to_owned(),
                Some(Field::Whole(number)) => number.to_string(),
                _ => continue,
            };
            if let Some(Field::Held(picture)) = record.field(image) {
                held.entry(own).or_insert_with(|| in_file(path, picture));
            }
        }
        Shown { path, files, held, seen: BTreeMap::new() }
    }

    /// The pictures of an image cell, in order.
    pub(super) fn of(&mut self, field: &Field) -> Result<Vec<FilePicture>, String> {
        match field {
            Field::Missing => Ok(Vec::new()),
            Field::Held(picture) => Ok(vec![in_file(self.path, picture)]),
            Field::Text(text) => self.named(text.trim()).map(|picture| vec![picture]),
            Field::Whole(number) => self.named(&number.to_string()).map(|picture| vec![picture]),
            Field::List(cells) => cells.iter().flatten().map(|cell| self.named(cell.trim())).collect(),
            Field::Labelled(..) => {
                Err("the image is a list with labels; give a path or base64 text".to_owned())
            }
            Field::Other(what) => Err(format!("the image is {what}; give a path or base64 text")),
        }
    }

    fn named(&mut self, text: &str) -> Result<FilePicture, String> {
        match kind(text) {
            Kind::Path => {
                let path = inside(folder_of(self.path), text)?;
                if let Some(known) = self.seen.get(&path) {
                    return Ok(known.clone());
                }
                let picture = FilePicture::at(&path, self.files)?;
                self.seen.insert(path, picture.clone());
                Ok(picture)
            }
            Kind::Row => self.held.get(text).cloned().ok_or_else(|| {
                format!("the image `{text}` is no path to a PNG or JPEG file, and no row of that id holds a picture")
            }),
            Kind::Base64 => Err("base64 text in a list; give paths, or one picture a row".to_owned()),
        }
    }
}
