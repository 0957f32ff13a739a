//! A picture inside the page: small, and as data, so that the page fetches nothing.

use datasets::{Picture, Pixels};

use crate::disk::Disk;

/// Longest side of a picture in the page.
const MOST_PIXELS: u32 = 320;

/// A data URI that shows a picture, made smaller where it is large.
pub(super) fn thumbnail(picture: &Picture) -> Result<String, String> {
    let pixels = picture.pixels(&mut Disk).map_err(|error| error.to_string())?;
    let png = shrunk(pixels).png().map_err(|error| error.to_string())?;
    Ok(format!("data:image/png;base64,{}", base64(&png)))
}

/// The mean of whole blocks of pixels: enough to recognise a picture, and the same everywhere.
fn shrunk(pixels: Pixels) -> Pixels {
    let factor = pixels.width.max(pixels.height).div_ceil(MOST_PIXELS);
    if factor <= 1 {
        return pixels;
    }
    let (width, height) = ((pixels.width / factor).max(1), (pixels.height / factor).max(1));
    let mut rgb = Vec::with_capacity(3 * width as usize * height as usize);
    for y in 0..height {
        for x in 0..width {
            let mut sums = [0u32; 3];
            let (mut count, right, bottom) = (0, (x + 1) * factor, (y + 1) * factor);
            for row in y * factor..bottom.min(pixels.height) {
                for column in x * factor..right.min(pixels.width) {
                    let at = 3 * (row as usize * pixels.width as usize + column as usize);
                    for (sum, byte) in sums.iter_mut().zip(&pixels.rgb[at..at + 3]) {
                        *sum += u32::from(*byte);
                    }
                    count += 1;
                }
            }
            rgb.extend(sums.map(|sum| (sum / count.max(1)) as u8));
        }
    }
    Pixels { width, height, rgb }
}

fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for three in bytes.chunks(3) {
        let word =
            three.iter().fold(0u32, |word, byte| word << 8 | u32::from(*byte)) << (8 * (3 - three.len()));
        for place in 0..4 {
            match place <= three.len() {
                true => out.push(char::from(DIGITS[(word >> (18 - 6 * place)) as usize & 63])),
                false => out.push('='),
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_written_as_rfc_4648_has_them() {
        let of = |text: &str| base64(text.as_bytes());
        assert_eq!(
            ["", "f", "fo", "foo", "foob", "fooba", "foobar"].map(of),
            ["", "Zg==", "Zm8=", "Zm9v", "Zm9vYg==", "Zm9vYmE=", "Zm9vYmFy"]
        );
    }

    #[test]
    fn a_large_picture_shrinks_to_block_means_and_a_small_one_stays() {
        let pixels = |width: u32, height: u32, of: &dyn Fn(u32) -> u8| Pixels {
            width,
            height,
            rgb: (0..height).flat_map(|_| (0..width).flat_map(|x| [of(x); 3])).collect(),
        };
        let small = pixels(320, 2, &|x| x as u8);
        assert_eq!(shrunk(small.clone()), small);
        // Columns of 0 and 100 in turn have the mean 50.
        let large = shrunk(pixels(640, 4, &|x| if x % 2 == 0 { 0 } else { 100 }));
        assert_eq!((large.width, large.height), (320, 2));
        assert!(large.rgb.iter().all(|&byte| byte == 50));
    }
}
