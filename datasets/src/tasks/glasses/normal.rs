//! Normal deviates from arithmetic that is the same on every machine.

use crate::Stream;

/// A standard normal deviate, by Marsaglia's polar method.
pub(super) fn normal(stream: &mut Stream) -> f64 {
    loop {
        let (u, v) = (2.0 * stream.unit() - 1.0, 2.0 * stream.unit() - 1.0);
        let q = u * u + v * v;
        if q > 0.0 && q < 1.0 {
            // Square roots are rounded exactly by the standard; logarithms are not, so this one is written out.
            return u * (-2.0 * ln(q) / q).sqrt();
        }
    }
}

/// The natural logarithm of a positive normal number, from additions, multiplications and divisions alone.
fn ln(x: f64) -> f64 {
    let bits = x.to_bits();
    let exponent = ((bits >> 52) & 0x7FF) as i64 - 1023;
    let mantissa = f64::from_bits((bits & ((1 << 52) - 1)) | (1023 << 52));
    let s = (mantissa - 1.0) / (mantissa + 1.0);
    let (square, mut power, mut sum) = (s * s, s, 0.0);
    for odd in 0..20 {
        sum += power / f64::from(2 * odd + 1);
        power *= square;
    }
    exponent as f64 * std::f64::consts::LN_2 + 2.0 * sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_logarithm_is_one() {
        for x in [1e-12, 0.001, 0.3, 0.5, 0.999_999, 1.0, 1.5, 2.0, 1e9] {
            assert!((ln(x) - x.ln()).abs() <= 4e-15 * x.ln().abs().max(1.0), "{x}");
        }
    }

    #[test]
    fn deviates_have_the_moments_of_a_normal() {
        let mut stream = Stream::new(1, &["test"]);
        let drawn: Vec<f64> = (0..40_000).map(|_| normal(&mut stream)).collect();
        let moment = |power: i32| drawn.iter().map(|x| x.powi(power)).sum::<f64>() / drawn.len() as f64;
        // Standard errors: 0.005, 0.007, 0.05.
        assert!(moment(1).abs() < 0.02 && (moment(2) - 1.0).abs() < 0.03 && (moment(4) - 3.0).abs() < 0.25);
        let beyond = drawn.iter().filter(|x| x.abs() > 1.959_964).count() as f64 / 40_000.0;
        assert!((beyond - 0.05).abs() < 0.005, "{beyond}");
    }
}
