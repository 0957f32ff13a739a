//! Hostile and odd pictures. Bytes are put together here by hand from the formats' definitions.

use image::codecs::jpeg::JpegEncoder;
use image::{ExtendedColorType, ImageEncoder};

use super::*;

/// CRC-32 of the PNG specification, bit by bit.
fn crc(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(u32::MAX, |crc, &byte| {
        (0..8).fold(
            crc ^ u32::from(byte),
            |crc, _| if crc & 1 == 1 { crc >> 1 ^ 0xEDB8_8320 } else { crc >> 1 },
        )
    })
}

fn chunk(kind: &[u8; 4], data: &[u8]) -> Vec<u8> {
    let body = [&kind[..], data].concat();
    [&(data.len() as u32).to_be_bytes()[..], &body, &crc(&body).to_be_bytes()].concat()
}

/// A zlib stream that stores its data uncompressed.
fn stored(data: &[u8]) -> Vec<u8> {
    let (mut a, mut b) = (1u32, 0u32);
    for &byte in data {
        a = (a + u32::from(byte)) % 65_521;
        b = (b + a) % 65_521;
    }
    let length = data.len() as u16;
    [
        &[0x78, 0x01, 0x01][..],
        &length.to_le_bytes(),
        &(!length).to_le_bytes(),
        data,
        &(b << 16 | a).to_be_bytes(),
    ]
    .concat()
}

/// A PNG of these chunks between signature and end.
fn png_of(chunks: &[Vec<u8>]) -> Vec<u8> {
    [b"\x89PNG\r\n\x1a\n".to_vec(), chunks.concat(), chunk(b"IEND", &[])].concat()
}

fn header(width: u32, height: u32, depth: u8, colour: u8) -> Vec<u8> {
    let sizes = [width.to_be_bytes(), height.to_be_bytes()].concat();
    chunk(b"IHDR", &[&sizes[..], &[depth, colour, 0, 0, 0]].concat())
}

/// Two pixels, red and blue, side by side.
pub(crate) fn red_and_blue() -> Vec<u8> {
    png_of(&[header(2, 1, 8, 2), chunk(b"IDAT", &stored(&[0, 255, 0, 0, 0, 0, 255]))])
}

fn jpeg_bytes(width: u32, height: u32) -> Vec<u8> {
    let mut bytes = Vec::new();
    let grey = vec![200; (width * height * 3) as usize];
    JpegEncoder::new(&mut bytes).write_image(&grey, width, height, ExtendedColorType::Rgb8).unwrap();
    bytes
}

/// An EXIF block with nothing but an orientation, big endian.
fn exif(orientation: u8) -> Vec<u8> {
    [
        &b"MM\0\x2A\0\0\0\x08"[..],
        &[0, 1],
        &[0x01, 0x12, 0, 3, 0, 0, 0, 1, 0, orientation, 0, 0],
        &[0, 0, 0, 0],
    ]
    .concat()
}

fn refused(bytes: &[u8]) -> String {
    let reason = inspect(bytes).unwrap_err();
    assert_eq!(decode(bytes).unwrap_err(), reason);
    reason
}

#[test]
fn a_png_is_decoded_to_its_pixels() {
    let pixels = decode(&red_and_blue()).unwrap();
    assert_eq!((pixels.width, pixels.height, pixels.rgb.as_slice()), (2, 1, &[255, 0, 0, 0, 0, 255][..]));
    // And written back to the same ones.
    assert_eq!(decode(&pixels.png().unwrap()).unwrap(), pixels);
}

#[test]
fn grey_palette_deep_and_transparent_pictures_become_rgb_on_white() {
    let grey = png_of(&[header(1, 1, 8, 0), chunk(b"IDAT", &stored(&[0, 77]))]);
    assert_eq!(decode(&grey).unwrap().rgb, [77; 3]);
    let deep = png_of(&[header(1, 1, 16, 0), chunk(b"IDAT", &stored(&[0, 77, 77]))]);
    assert_eq!(decode(&deep).unwrap().rgb, [77; 3]);
    let palette =
        png_of(&[header(1, 1, 8, 3), chunk(b"PLTE", &[1, 2, 3, 9, 8, 7]), chunk(b"IDAT", &stored(&[0, 1]))]);
    assert_eq!(decode(&palette).unwrap().rgb, [9, 8, 7]);
    let clear = png_of(&[header(2, 1, 8, 6), chunk(b"IDAT", &stored(&[0, 10, 20, 30, 0, 0, 0, 0, 51]))]);
    // Wholly clear is white; a fifth of black leaves 204.
    assert_eq!(decode(&clear).unwrap().rgb, [255, 255, 255, 204, 204, 204]);
}

#[test]
fn turned_pictures_stand_upright() {
    let turned = |orientation| {
        let chunks = [
            header(2, 1, 8, 2),
            chunk(b"eXIf", &exif(orientation)),
            chunk(b"IDAT", &stored(&[0, 255, 0, 0, 0, 0, 255])),
        ];
        png_of(&chunks)
    };
    // 6: the camera was turned; what it stored first stands top right, so that red is above blue.
    let seen = inspect(&turned(6)).unwrap();
    assert_eq!(seen, Encoded { width: 1, height: 2, turned: true });
    assert_eq!(decode(&turned(6)).unwrap().rgb, [255, 0, 0, 0, 0, 255]);
    assert_eq!(decode(&turned(8)).unwrap().rgb, [0, 0, 255, 255, 0, 0]);
    assert_eq!(decode(&turned(3)).unwrap().rgb, [0, 0, 255, 255, 0, 0]);
    assert_eq!(inspect(&turned(1)).unwrap(), Encoded { width: 2, height: 1, turned: false });
    let plain = jpeg_bytes(8, 16);
    let block = [&b"Exif\0\0"[..], &exif(6)].concat();
    let segment = [&[0xFF, 0xE1][..], &((block.len() + 2) as u16).to_be_bytes(), &block].concat();
    let sideways = [&plain[..2], &segment, &plain[2..]].concat();
    assert_eq!(inspect(&sideways).unwrap(), Encoded { width: 16, height: 8, turned: true });
    let pixels = decode(&sideways).unwrap();
    assert_eq!((pixels.width, pixels.height, pixels.rgb.len()), (16, 8, 16 * 8 * 3));
}

#[test]
fn bombs_are_refused_by_their_header_before_anything_is_decoded() {
    let bomb = |width, height| png_of(&[header(width, height, 8, 2), chunk(b"IDAT", &stored(&[0]))]);
    for (width, height) in [(60_000, 60_000), (16_385, 1), (16_000, 16_000), (u32::MAX, 1)] {
        let reason = refused(&bomb(width, height));
        assert!(
            reason.contains("the most is 16384 a side") && reason.contains("make it smaller"),
            "{reason}"
        );
    }
    assert!(refused(&bomb(0, 5)).contains("nothing to see"));
    let mut jpeg = jpeg_bytes(8, 8);
    let frame = jpeg.windows(2).position(|pair| pair == [0xFF, 0xC0]).unwrap();
    jpeg[frame + 5..frame + 9].copy_from_slice(&[0xFF, 0xFF, 0xFF, 0xFF]);
    assert!(refused(&jpeg).contains("65535 x 65535"));
}

#[test]
fn animated_cmyk_and_foreign_files_are_refused_with_their_kind() {
    let animated = png_of(&[
        header(1, 1, 8, 2),
        chunk(b"acTL", &[0, 0, 0, 2, 0, 0, 0, 0]),
        chunk(b"IDAT", &stored(&[0, 1, 2, 3])),
    ]);
    assert!(refused(&animated).starts_with("animated"));
    let mut cmyk = jpeg_bytes(8, 8);
    let frame = cmyk.windows(2).position(|pair| pair == [0xFF, 0xC0]).unwrap();
    cmyk[frame + 9] = 4;
    assert!(refused(&cmyk).starts_with("CMYK"));
    for (bytes, word) in [
        (&b"GIF89a\x01\0"[..], "a GIF"),
        (b"RIFF\x10\0\0\0WEBPVP8 ", "a WebP"),
        (b"BM\x10\0", "a BMP"),
        (b"II*\0", "a TIFF"),
        (b"\0\0\0\x1cftypavif", "an AVIF"),
        (b"<!DOCTYPE html>", "a text such as SVG or HTML"),
        (b"version https://git-lfs.github.com/spec/v1", "Git LFS"),
        (b"", "an empty file"),
        (b"\x89PNG", "cut off"),
        (b"\x01\x02", "not known"),
    ] {
        let reason = refused(bytes);
        assert!(reason.contains(word), "{reason}");
    }
}

#[test]
fn every_cut_of_a_picture_is_refused_and_none_panics() {
    for whole in [red_and_blue(), jpeg_bytes(9, 7)] {
        assert!(decode(&whole).is_ok());
        for length in 0..whole.len() {
            assert!(decode(&whole[..length]).is_err(), "{length} of {}", whole.len());
        }
        assert!(decode(&[&whole[..], b"appended"].concat()).is_ok());
    }
    assert!(refused(&red_and_blue()[..40]).starts_with("truncated"));
    assert!(refused(&jpeg_bytes(9, 7)[..300]).starts_with("truncated"));
}

#[test]
fn spoilt_bytes_never_panic_and_never_give_another_size() {
    for whole in [red_and_blue(), jpeg_bytes(9, 7)] {
        for at in 0..whole.len() {
            for value in [0, 0x7F, 0xFF] {
                let mut spoilt = whole.clone();
                spoilt[at] = value;
                if let Ok(pixels) = decode(&spoilt) {
                    assert_eq!(pixels.rgb.len(), pixels.width as usize * pixels.height as usize * 3);
                }
            }
        }
    }
}
