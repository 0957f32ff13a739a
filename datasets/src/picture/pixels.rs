//! Decoded pixels, as a model's image encoder takes them.

use image::ImageEncoder;
use image::codecs::png::{CompressionType, FilterType, PngEncoder};
use sha2::{Digest, Sha256};

use super::PictureError;
use crate::drawing::Canvas;
use crate::import::hex;

/// Pixels of a picture: red, green, blue, row by row, no transparency.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pixels {
    /// Pixels in a row.
    pub width: u32,
    /// Rows.
    pub height: u32,
    /// Three bytes for each pixel.
    pub rgb: Vec<u8>,
}

impl Pixels {
    /// Hex SHA-256 over size and pixels.
    pub fn sha256(&self) -> String {
        let mut hash = Sha256::new();
        hash.update(self.width.to_le_bytes());
        hash.update(self.height.to_le_bytes());
        hash.update(&self.rgb);
        hex(&hash.finalize())
    }

    /// The picture as a PNG file.
    pub fn png(&self) -> Result<Vec<u8>, PictureError> {
        let mut bytes = Vec::new();
        PngEncoder::new_with_quality(&mut bytes, CompressionType::Fast, FilterType::Adaptive)
            .write_image(&self.rgb, self.width, self.height, image::ExtendedColorType::Rgb8)
            .map_err(|error| PictureError(format!("{} x {}: {error}", self.width, self.height)))?;
        Ok(bytes)
    }
}

impl From<Canvas> for Pixels {
    fn from(canvas: Canvas) -> Self {
        Pixels { width: canvas.width, height: canvas.height, rgb: canvas.rgb }
    }
}
