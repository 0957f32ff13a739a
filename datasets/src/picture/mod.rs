//! Pictures of questions: what they are, and how their pixels come about.
//!
//! An item carries a picture as plain data that decides every pixel: what is to be drawn, or which bytes of which file
//! with their hash. Pixels are made when a model is to see them, so that a plan over thousands of items draws nothing.

mod encoded;
mod file;
mod pixels;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

pub use encoded::{Encoded, MOST_BYTES, MOST_PIXELS, decode, inspect};
pub(crate) use file::base64;
pub use file::{FilePicture, Place};
pub use pixels::Pixels;

use crate::files::Files;
use crate::import::hex;
use crate::tasks::{campus, faces, glasses};

/// Raised by any change that moves a pixel of a drawn picture.
const DRAWING: u32 = 1;

/// A picture.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Picture {
    /// Two glasses with marks.
    Glasses(glasses::Figure),
    /// A face.
    Face(faces::Portrait),
    /// A campus with a walk on it.
    Campus(campus::Map),
    /// Bytes of a file.
    File(FilePicture),
}

/// Why a picture cannot be shown: one line that names it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct PictureError(pub String);

impl Picture {
    /// Width and height in pixels, known without making any.
    pub fn size(&self) -> (u32, u32) {
        match self {
            Picture::Glasses(figure) => figure.size(),
            Picture::Face(portrait) => portrait.size(),
            Picture::Campus(map) => map.size(),
            Picture::File(file) => (file.width, file.height),
        }
    }

    /// Hex SHA-256 that names the content: of a file's bytes, or of what is drawn and by which version of drawing.
    pub fn address(&self) -> String {
        if let Picture::File(file) = self {
            return file.sha256.clone();
        }
        let mut hash = Sha256::new();
        hash.update(format!("drawing {DRAWING} "));
        // A recipe is plain data; it always has a JSON form.
        hash.update(serde_json::to_vec(self).unwrap_or_default());
        hex(&hash.finalize())
    }

    /// Makes the pixels. Drawn pictures read no file.
    pub fn pixels(&self, files: &mut dyn Files) -> Result<Pixels, PictureError> {
        Ok(match self {
            Picture::Glasses(figure) => figure.draw().into(),
            Picture::Face(portrait) => portrait.draw().into(),
            Picture::Campus(map) => map.draw().into(),
            Picture::File(file) => file.pixels(files)?,
        })
    }

    /// The parameter that asks the same task without pictures.
    pub fn text_form(&self) -> &'static str {
        match self {
            Picture::Glasses(_) => "`form = \"numbers\"` (or \"withheld\" as a control)",
            Picture::Face(_) => "`form = \"described\"` or \"withheld\", which are controls,",
            Picture::Campus(_) => "`pictures = \"none\"` (or \"withheld\" as a control)",
            Picture::File(_) => "`images = \"left-out\"` (or \"withheld\" as a control)",
        }
    }

    /// Where a task has the parameter that withholds its pictures, as a control: tables first, the key last. Its value is
    /// `"withheld"`.
    pub fn withheld_key(&self, task: &str) -> &'static [&'static str] {
        match self {
            Picture::Glasses(_) | Picture::Face(_) => &["form"],
            Picture::Campus(_) => &["pictures"],
            Picture::File(_) if task == "file" => &["import", "images"],
            Picture::File(_) => &["images"],
        }
    }

    /// What it is, in a few words.
    pub fn caption(&self) -> String {
        let (width, height) = self.size();
        let what = match self {
            Picture::Glasses(_) => "two glasses",
            Picture::Face(_) => "a face",
            Picture::Campus(_) => "a campus",
            Picture::File(file) => &file.path,
        };
        format!("{what}, {width} x {height}")
    }
}
