//! Half-precision numbers, to the bit as IEEE 754 has them. Hidden states are kept in them: half the bytes, and three
//! decimal digits are more than a linear readout needs.

/// The largest finite half.
pub const LARGEST: f32 = 65504.0;

/// The nearest half, ties to even; numbers too large become infinite.
pub fn encode(value: f32) -> u16 {
    let bits = value.to_bits();
    let sign = (bits >> 16) as u16 & 0x8000;
    let magnitude = bits & 0x7fff_ffff;
    if magnitude > 0x7f80_0000 {
        return sign | 0x7e00; // not a number
    }
    // From halfway between the largest half and the next step upwards.
    if magnitude >= 0x477f_f000 {
        return sign | 0x7c00;
    }
    // Below the smallest normal half: adding a half lets the processor's own rounding place the bits.
    if magnitude < 0x3880_0000 {
        let placed = f32::from_bits(magnitude) + 0.5;
        return sign | (placed.to_bits() - 0.5f32.to_bits()) as u16;
    }
    let odd = (magnitude >> 13) & 1;
    let rounded = magnitude - (112 << 23) + 0xfff + odd;
    sign | (rounded >> 13) as u16
}

/// The number that a half stands for. For finite ones: no branch, so that loops over many are vectorised.
#[inline]
pub fn decode(half: u16) -> f32 {
    /// Moves the exponent from the bias of halves to that of floats.
    const SCALE: f32 = f32::from_bits((112 + 127) << 23);
    let magnitude = f32::from_bits((u32::from(half) & 0x7fff) << 13) * SCALE;
    f32::from_bits(magnitude.to_bits() | (u32::from(half) & 0x8000) << 16)
}

/// Whether a half is a finite number.
pub fn is_finite(half: u16) -> bool {
    half & 0x7c00 != 0x7c00
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By the definition: sign, exponent of 5 bits with bias 15, fraction of 10 bits.
    fn defined(half: u16) -> f64 {
        let sign = if half & 0x8000 == 0 { 1.0 } else { -1.0 };
        let (exponent, fraction) = (i32::from(half >> 10) & 31, f64::from(half & 0x3ff) / 1024.0);
        sign * if exponent == 0 {
            fraction * 2f64.powi(-14)
        } else {
            (1.0 + fraction) * 2f64.powi(exponent - 15)
        }
    }

    #[test]
    fn every_finite_half_is_what_the_standard_defines_and_comes_back() {
        for half in (0..=u16::MAX).filter(|&half| is_finite(half)) {
            let value = decode(half);
            assert_eq!(f64::from(value), defined(half), "{half:04x}");
            assert_eq!(encode(value), half, "{half:04x}");
        }
    }

    #[test]
    fn numbers_between_two_halves_go_to_the_nearer_one_and_ties_to_the_even_one() {
        let finite = (0..0x7bff_u16).step_by(7);
        for low in finite {
            let (a, b) = (defined(low), defined(low + 1));
            let middle = (a + b) / 2.0;
            let even = if low % 2 == 0 { low } else { low + 1 };
            // All three are floats exactly: a half has 13 bits less.
            assert_eq!(encode(middle as f32), even, "{low:04x}");
            assert_eq!(encode((a + (b - a) * 0.25) as f32), low, "{low:04x}");
            assert_eq!(encode((a + (b - a) * 0.75) as f32), low + 1, "{low:04x}");
            assert_eq!(encode(-middle as f32), even | 0x8000, "{low:04x}");
        }
    }

    #[test]
    fn what_halves_cannot_hold_is_not_finite() {
        assert_eq!(decode(encode(LARGEST)), LARGEST);
        assert_eq!(encode(65519.9), encode(LARGEST));
        for value in [65520.0, 1e30, f32::INFINITY, f32::NAN] {
            assert!(!is_finite(encode(value)) && !is_finite(encode(-value)), "{value}");
        }
        assert_eq!(encode(1e-10), 0);
    }
}
