//! Exact fractions of small numbers.

use std::cmp::Ordering;
use std::ops::{Add, Div, Mul, Sub};

use serde::{Deserialize, Serialize};

/// A fraction in lowest terms with a positive denominator. Numbers of this task stay far below what fits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Ratio(i64, i64);

impl Ratio {
    /// `over` parts of `under`; `under` must not be 0 (it is taken for 1).
    pub fn new(over: i64, under: i64) -> Self {
        let under = if under == 0 { 1 } else { under };
        let shared = gcd(over.unsigned_abs(), under.unsigned_abs()).max(1) as i64 * under.signum();
        Ratio(over / shared, under / shared)
    }

    /// A whole number.
    pub fn whole(number: u8) -> Self {
        Ratio(i64::from(number), 1)
    }

    /// The fraction times a number, to the nearest whole; halves go up.
    pub fn times(self, factor: i64) -> i64 {
        (2 * self.0 * factor + self.1).div_euclid(2 * self.1)
    }

    /// How far apart two are.
    pub fn apart(self, other: Ratio) -> Ratio {
        let difference = self - other;
        Ratio(difference.0.abs(), difference.1)
    }

    /// With two decimals.
    pub fn decimal(self) -> String {
        let hundredths = self.times(100);
        format!("{}.{:02}", hundredths / 100, hundredths % 100)
    }

    /// The nearest floating-point number.
    pub fn value(self) -> f64 {
        self.0 as f64 / self.1 as f64
    }
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

impl Add for Ratio {
    type Output = Ratio;
    fn add(self, other: Ratio) -> Ratio {
        Ratio::new(self.0 * other.1 + other.0 * self.1, self.1 * other.1)
    }
}

impl Sub for Ratio {
    type Output = Ratio;
    fn sub(self, other: Ratio) -> Ratio {
        Ratio::new(self.0 * other.1 - other.0 * self.1, self.1 * other.1)
    }
}

impl Mul for Ratio {
    type Output = Ratio;
    fn mul(self, other: Ratio) -> Ratio {
        Ratio::new(self.0 * other.0, self.1 * other.1)
    }
}

impl Div for Ratio {
    type Output = Ratio;
    fn div(self, other: Ratio) -> Ratio {
        Ratio::new(self.0 * other.1, self.1 * other.0)
    }
}

impl PartialOrd for Ratio {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Ratio {
    fn cmp(&self, other: &Self) -> Ordering {
        (self.0 * other.1).cmp(&(other.0 * self.1))
    }
}
