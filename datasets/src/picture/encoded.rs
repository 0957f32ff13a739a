//! Encoded pictures from files, which may be anything: what they are is read from their structure before a single
//! pixel is made, and what cannot be shown is refused with its reason.
//!
//! PNG and JPEG are taken. Turned (EXIF), transparent, grey, palette and 16-bit pictures are brought to upright RGB of
//! 8 bits; animated, CMYK, oversized, truncated and foreign ones are refused.

use std::io::Cursor;

use image::metadata::Orientation;
use image::{DynamicImage, ImageDecoder, Limits};
use serde::{Deserialize, Serialize};

use super::Pixels;

/// Most bytes of an encoded picture.
pub const MOST_BYTES: u64 = 64 << 20;
/// Longest side in pixels.
const LONGEST_SIDE: u32 = 16_384;
/// Most pixels: 22 million, 66 MB when decoded, which a worker is sent at once.
pub const MOST_PIXELS: u64 = 22_000_000;
/// Most memory that decoding may take.
const MOST_MEMORY_BYTES: u64 = 512 << 20;

/// What the structure of an encoded picture tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Encoded {
    /// Width as it will be shown.
    pub width: u32,
    /// Height as it will be shown.
    pub height: u32,
    /// Whether pixels are turned or mirrored to stand upright.
    pub turned: bool,
}

/// Looks at the structure and decodes nothing. `Err` says why the picture cannot be shown.
pub fn inspect(bytes: &[u8]) -> Result<Encoded, String> {
    if bytes.len() as u64 > MOST_BYTES {
        return Err(format!("{} bytes; the most is {MOST_BYTES}", bytes.len()));
    }
    let (width, height) = match bytes {
        [0x89, b'P', b'N', b'G', 0x0D, 0x0A, 0x1A, 0x0A, ..] => png(bytes)?,
        [0xFF, 0xD8, 0xFF, ..] => jpeg(bytes)?,
        _ => return Err(foreign(bytes)),
    };
    if width == 0 || height == 0 {
        return Err(format!("{width} x {height} pixels: there is nothing to see"));
    }
    if width > LONGEST_SIDE || height > LONGEST_SIDE || u64::from(width) * u64::from(height) > MOST_PIXELS {
        return Err(format!(
            "{width} x {height} pixels; the most is {LONGEST_SIDE} a side and {MOST_PIXELS} in all: make it smaller"
        ));
    }
    let orientation = decoder(bytes)?.orientation().map_err(|error| error.to_string())?;
    let sideways = matches!(
        orientation,
        Orientation::Rotate90
            | Orientation::Rotate270
            | Orientation::Rotate90FlipH
            | Orientation::Rotate270FlipH
    );
    let (width, height) = if sideways { (height, width) } else { (width, height) };
    Ok(Encoded { width, height, turned: orientation != Orientation::NoTransforms })
}

/// Decodes to upright RGB; what is transparent becomes white.
pub fn decode(bytes: &[u8]) -> Result<Pixels, String> {
    let seen = inspect(bytes)?;
    let mut decoder = decoder(bytes)?;
    let orientation = decoder.orientation().map_err(|error| error.to_string())?;
    let mut picture = DynamicImage::from_decoder(decoder).map_err(|error| format!("damaged: {error}"))?;
    picture.apply_orientation(orientation);
    let rgb = match picture.color().has_alpha() {
        false => picture.into_rgb8().into_raw(),
        true => {
            let opaque = |pixel: &[u8]| {
                let [r, g, b, a] = [pixel[0], pixel[1], pixel[2], pixel[3]].map(u32::from);
                [r, g, b].map(|channel| ((channel * a + 255 * (255 - a) + 127) / 255) as u8)
            };
            picture.into_rgba8().into_raw().chunks_exact(4).flat_map(opaque).collect()
        }
    };
    let pixels = Pixels { width: seen.width, height: seen.height, rgb };
    match pixels.rgb.len() == seen.width as usize * seen.height as usize * 3 {
        true => Ok(pixels),
        false => Err("its pixels are not as many as its header says".to_owned()),
    }
}

fn decoder(bytes: &[u8]) -> Result<Box<dyn ImageDecoder + '_>, String> {
    let mut limits = Limits::default();
    limits.max_image_width = Some(LONGEST_SIDE);
    limits.max_image_height = Some(LONGEST_SIDE);
    limits.max_alloc = Some(MOST_MEMORY_BYTES);
    let source = Cursor::new(bytes);
    let damaged = |error: image::ImageError| format!("damaged: {error}");
    Ok(match bytes.starts_with(&[0xFF]) {
        true => {
            let mut decoder = image::codecs::jpeg::JpegDecoder::new(source).map_err(damaged)?;
            decoder.set_limits(limits).map_err(damaged)?;
            Box::new(decoder)
        }
        false => Box::new(image::codecs::png::PngDecoder::with_limits(source, limits).map_err(damaged)?),
    })
}

/// Walks the chunks: width and height.
fn png(bytes: &[u8]) -> Result<(u32, u32), String> {
    let truncated = || "truncated: the PNG ends before its last chunk; fetch the file again".to_owned();
    let (mut at, mut size) = (8usize, None);
    loop {
        let head = bytes.get(at..at + 8).ok_or_else(truncated)?;
        let length = u32::from_be_bytes([head[0], head[1], head[2], head[3]]) as usize;
        let body = at.checked_add(8 + 4).and_then(|start| start.checked_add(length)).ok_or_else(truncated)?;
        if body > bytes.len() {
            return Err(truncated());
        }
        let data = &bytes[at + 8..body - 4];
        match &head[4..8] {
            b"IHDR" if length >= 8 => {
                let number =
                    |at: usize| u32::from_be_bytes([data[at], data[at + 1], data[at + 2], data[at + 3]]);
                size = Some((number(0), number(4)));
            }
            b"acTL" => return Err("animated: give one frame as a PNG of its own".to_owned()),
            b"IEND" => return size.ok_or_else(|| "damaged: a PNG without a header".to_owned()),
            _ => {}
        }
        at = body;
    }
}

/// Walks the segments up to the frame header: width and height. Four components are CMYK.
fn jpeg(bytes: &[u8]) -> Result<(u32, u32), String> {
    let truncated = || "truncated: the JPEG ends before its end mark; fetch the file again".to_owned();
    // Some programs append bytes, so the end mark may stand before the end.
    if !bytes.windows(2).rev().take(1 << 16).any(|pair| pair == [0xFF, 0xD9]) {
        return Err(truncated());
    }
    let mut at = 2;
    loop {
        let head = bytes.get(at..at + 4).ok_or_else(truncated)?;
        if head[0] != 0xFF {
            return Err("damaged: no JPEG segment where one must begin".to_owned());
        }
        let length = usize::from(u16::from_be_bytes([head[2], head[3]]));
        match head[1] {
            0xFF => at += 1,
            0x01 | 0xD0..=0xD7 => at += 2,
            0xC0..=0xCF if ![0xC4, 0xC8, 0xCC].contains(&head[1]) => {
                let frame = bytes.get(at + 4..at + 10).ok_or_else(truncated)?;
                let number = |at: usize| u32::from(u16::from_be_bytes([frame[at], frame[at + 1]]));
                return match frame[5] {
                    4 => Err("CMYK: its colours have no agreed meaning without a profile; save it as RGB"
                        .to_owned()),
                    _ => Ok((number(3), number(1))),
                };
            }
            0xDA | 0xD9 => return Err("damaged: a JPEG without a frame header".to_owned()),
            _ => at += 2 + length.max(2),
        }
    }
}

/// Names what is no PNG and no JPEG.
fn foreign(bytes: &[u8]) -> String {
    let kind = match bytes {
        [] => "an empty file",
        [b'G', b'I', b'F', b'8', ..] => "a GIF, which may be animated",
        [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => "a WebP",
        [b'B', b'M', ..] => "a BMP",
        [b'I', b'I', 42, 0, ..] | [b'M', b'M', 0, 42, ..] => "a TIFF",
        [_, _, _, _, b'f', b't', b'y', b'p', ..] => "an AVIF, HEIC or video file",
        [b'<', ..] => "a text such as SVG or HTML",
        [b'v', b'e', b'r', b's', b'i', b'o', b'n', ..] => "a Git LFS pointer: fetch the file itself",
        [0x89, b'P', ..] | [0xFF, 0xD8, ..] => "a file cut off at its first bytes",
        _ => "of a kind that is not known",
    };
    format!("{kind}; pictures are PNG or JPEG files")
}

#[cfg(test)]
mod tests;
