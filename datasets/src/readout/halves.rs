//! Rows of features as they lie in a file: halves, with a factor per row. They stay halves in memory, so that a readout takes
//! no more memory than its part of the file; a row is widened when it is used.

use models::half;

/// A table of rows.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Halves {
    dimension: usize,
    values: Vec<u16>,
    factors: Vec<f32>,
}

impl Halves {
    /// An empty table with room for so many rows.
    pub fn with_room(dimension: usize, rows: usize) -> Halves {
        Halves { dimension, values: Vec::with_capacity(dimension * rows), factors: Vec::with_capacity(rows) }
    }

    /// Adds a row: halves, the low byte first, each times the factor. `false`, and nothing added, where the length is
    /// another or a number is not finite.
    pub fn push(&mut self, bytes: &[u8], factor: f32) -> bool {
        if bytes.len() != 2 * self.dimension || !factor.is_finite() {
            return false;
        }
        let start = self.values.len();
        self.values.extend(bytes.chunks_exact(2).map(|pair| u16::from_le_bytes([pair[0], pair[1]])));
        if !self.values[start..].iter().all(|&value| half::is_finite(value)) {
            self.values.truncate(start);
            return false;
        }
        self.factors.push(factor);
        true
    }

    /// Adds a row of numbers.
    pub fn push_floats(&mut self, row: &[f32]) -> bool {
        let Some(packed) = models::HiddenStates::pack(row.len(), row) else { return false };
        self.push(&packed.bytes, models::hidden::two_to(packed.exponents[0]))
    }

    /// Rows.
    pub fn len(&self) -> usize {
        self.factors.len()
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.factors.is_empty()
    }

    /// Numbers of one row.
    pub fn dimension(&self) -> usize {
        self.dimension
    }

    /// Widens a row.
    #[inline]
    pub fn read(&self, row: usize, into: &mut [f32]) {
        let values = &self.values[row * self.dimension..(row + 1) * self.dimension];
        let factor = self.factors[row];
        for (target, &value) in into.iter_mut().zip(values) {
            *target = half::decode(value) * factor;
        }
    }
}

/// The sum of products, in eight lanes: the same order of additions everywhere.
#[inline]
pub(super) fn dot(a: &[f32], b: &[f32]) -> f32 {
    let mut lanes = [0f32; 8];
    let (a_whole, b_whole) = (a.chunks_exact(8), b.chunks_exact(8));
    let rest: f32 = a_whole.remainder().iter().zip(b_whole.remainder()).map(|(a, b)| a * b).sum();
    for (a, b) in a_whole.zip(b_whole) {
        for lane in 0..8 {
            lanes[lane] += a[lane] * b[lane];
        }
    }
    lanes.iter().sum::<f32>() + rest
}

/// Adds a multiple.
#[inline]
pub(super) fn add(target: &mut [f32], factor: f32, row: &[f32]) {
    for (target, value) in target.iter_mut().zip(row) {
        *target += factor * value;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_come_back_and_bad_ones_are_refused() {
        let mut table = Halves::with_room(3, 2);
        assert!(table.push_floats(&[1.0, -2.0, 0.5]) && table.push_floats(&[1.0e6, 0.0, -1.0e6]));
        assert!(!table.push(&[0; 4], 1.0) && !table.push(&[0, 0x7c, 0, 0, 0, 0], 1.0));
        assert_eq!((table.len(), table.dimension()), (2, 3));
        let mut row = [0.0; 3];
        table.read(0, &mut row);
        assert_eq!(row, [1.0, -2.0, 0.5]);
        table.read(1, &mut row);
        assert!((row[0] - 1.0e6).abs() < 500.0 && row[1] == 0.0 && row[2] == -row[0]);
    }

    #[test]
    fn dot_products_take_every_element() {
        let a: Vec<f32> = (0..19).map(|i| i as f32).collect();
        // The sum of squares up to 18.
        assert_eq!(dot(&a, &a), 2109.0);
    }
}
