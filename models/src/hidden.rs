//! Hidden states: what a model holds of a prompt before it is turned into the next token.

use serde::{Deserialize, Serialize};

use crate::half;

/// Which hidden states are wanted at the last token of a prompt.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum States {
    /// None.
    #[default]
    None,
    /// The one behind the final norm, which the vocabulary projection reads.
    Final,
    /// The one behind each layer, and the one behind the final norm.
    Layers,
}

/// Hidden states at one token, packed: 16-bit floats, each state with a power of two of its own, because some models'
/// states exceed what 16 bits hold.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HiddenStates {
    /// Numbers of one state.
    pub dimension: u32,
    /// One per state: its numbers are the halves times two to this power. Behind each layer in order, then behind the
    /// final norm; the last one alone where no layers were wanted.
    pub exponents: Vec<u8>,
    /// Halves, the low byte first, state by state.
    pub bytes: Vec<u8>,
}

impl HiddenStates {
    /// Packs states of one dimension, one behind the other in `values`. `None` where a number is not finite or the
    /// numbers do not make whole states.
    pub fn pack(dimension: usize, values: &[f32]) -> Option<HiddenStates> {
        if dimension == 0 || values.is_empty() || !values.len().is_multiple_of(dimension) {
            return None;
        }
        let mut packed = HiddenStates {
            dimension: u32::try_from(dimension).ok()?,
            exponents: Vec::with_capacity(values.len() / dimension),
            bytes: Vec::with_capacity(values.len() * 2),
        };
        for state in values.chunks(dimension) {
            // A maximum would pass over what is no number.
            if !state.iter().all(|value| value.is_finite()) {
                return None;
            }
            let largest = state.iter().fold(0.0f32, |largest, value| largest.max(value.abs()));
            let exponent = (0u8..=112).find(|&exponent| largest / two_to(exponent) <= half::LARGEST)?;
            packed.exponents.push(exponent);
            let scale = 1.0 / two_to(exponent);
            packed.bytes.extend(state.iter().flat_map(|value| half::encode(value * scale).to_le_bytes()));
        }
        Some(packed)
    }

    /// How many states there are.
    pub fn count(&self) -> usize {
        self.exponents.len()
    }

    /// Whether the parts fit each other: what comes from a pipe or a file is checked before it is used.
    pub fn is_whole(&self) -> bool {
        let values = (self.dimension as usize).checked_mul(self.count());
        self.dimension > 0
            && self.count() > 0
            && values.and_then(|values| values.checked_mul(2)) == Some(self.bytes.len())
            && self.exponents.iter().all(|&exponent| exponent <= 112)
    }

    /// One state as numbers; empty where there is none of that place.
    pub fn state(&self, place: usize) -> Vec<f32> {
        let width = self.dimension as usize * 2;
        let bytes = self.bytes.chunks(width.max(1)).nth(place).unwrap_or_default();
        let scale = two_to(self.exponents.get(place).copied().unwrap_or_default());
        bytes
            .chunks_exact(2)
            .map(|pair| half::decode(u16::from_le_bytes([pair[0], pair[1]])) * scale)
            .collect()
    }
}

/// Two to a power between 0 and 127.
pub fn two_to(exponent: u8) -> f32 {
    f32::from_bits((u32::from(exponent.min(127)) + 127) << 23)
}

/// How a refusal begins that says why answers have no states; others say what cannot be had beside them.
pub const NO_STATES: &str = "hidden states cannot be had";

/// What turns a hidden state into scores of the next token: enough for a reading of the labels at any layer.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Readout {
    /// The final norm, once per load.
    pub norm: Option<FinalNorm>,
    /// Rows of the vocabulary projection for first tokens of labels, each once per load.
    pub rows: Vec<OutputRow>,
    /// Why states or rows that were wanted cannot be had from this model, one line each.
    pub refusals: Vec<String>,
}

impl Readout {
    /// Whether it says nothing.
    pub fn is_empty(&self) -> bool {
        self.norm.is_none() && self.rows.is_empty() && self.refusals.is_empty()
    }

    /// Adds what a later round told.
    pub fn extend(&mut self, later: Readout) {
        self.norm = later.norm.or(self.norm.take());
        self.rows.extend(later.rows);
        self.refusals.extend(later.refusals);
    }
}

/// The norm between the last layer and the vocabulary projection.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FinalNorm {
    /// Whether the mean is taken out (layer norm), or not (root mean square norm).
    pub centred: bool,
    /// Added to the mean square.
    pub epsilon: f32,
    /// Multiplies; empty for ones.
    pub weight: Vec<f32>,
    /// Is added; empty for zeros.
    pub bias: Vec<f32>,
}

impl FinalNorm {
    /// The state behind the norm.
    pub fn apply(&self, state: &[f32]) -> Vec<f32> {
        let count = state.len().max(1) as f64;
        let mean = if self.centred { state.iter().map(|&x| f64::from(x)).sum::<f64>() / count } else { 0.0 };
        let square = state.iter().map(|&x| (f64::from(x) - mean).powi(2)).sum::<f64>() / count;
        let scale = 1.0 / (square + f64::from(self.epsilon)).sqrt();
        let one = |(place, &x): (usize, &f32)| {
            let weight = self.weight.get(place).copied().unwrap_or(1.0);
            let bias = self.bias.get(place).copied().unwrap_or(0.0);
            ((f64::from(x) - mean) * scale) as f32 * weight + bias
        };
        state.iter().enumerate().map(one).collect()
    }
}

/// A row of the vocabulary projection.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OutputRow {
    /// The token whose score it gives.
    pub token: i32,
    /// The row, as one packed state.
    pub row: HiddenStates,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn states_come_back_within_half_precision_whatever_their_size() {
        let values: Vec<f32> = vec![1.0, -2.5, 0.125, 3.0e-3, 1.0e6, -2.0e5, 7.0, 0.0];
        let packed = HiddenStates::pack(4, &values).unwrap();
        assert!(packed.is_whole());
        assert_eq!((packed.count(), &packed.exponents[..]), (2, &[0, 4][..]));
        for (place, state) in values.chunks(4).enumerate() {
            // Half a unit in the last of eleven bits, of the number or of the smallest step of the state.
            let step = 2f32.powi(-24) * two_to(packed.exponents[place]);
            for (got, want) in packed.state(place).iter().zip(state) {
                assert!((got - want).abs() <= want.abs() / 2048.0 + step, "{got} {want}");
            }
        }
        assert!(packed.state(2).is_empty());
    }

    #[test]
    fn what_is_not_finite_or_not_whole_is_no_state() {
        assert_eq!(HiddenStates::pack(2, &[1.0, f32::NAN]), None);
        assert_eq!(HiddenStates::pack(2, &[f32::INFINITY, 0.0]), None);
        assert_eq!(HiddenStates::pack(2, &[1.0; 3]), None);
        assert_eq!(HiddenStates::pack(0, &[]), None);
        let packed = HiddenStates::pack(2, &[1.0, 2.0]).unwrap();
        assert!(!HiddenStates { bytes: vec![0; 3], ..packed.clone() }.is_whole());
        assert!(!HiddenStates { exponents: vec![113], ..packed }.is_whole());
    }

    #[test]
    fn the_final_norm_is_the_formula() {
        // Mean square of (3, 4) is 12.5.
        let rms = FinalNorm { centred: false, epsilon: 0.0, weight: vec![2.0, 1.0], bias: Vec::new() };
        let got = rms.apply(&[3.0, 4.0]);
        assert!((got[0] - 6.0 / 12.5f32.sqrt()).abs() < 1e-6 && (got[1] - 4.0 / 12.5f32.sqrt()).abs() < 1e-6);
        // (1, 3) less its mean 2 is (-1, 1), of mean square 1.
        let layer = FinalNorm { centred: true, epsilon: 0.0, weight: Vec::new(), bias: vec![0.5, 0.0] };
        assert_eq!(layer.apply(&[1.0, 3.0]), [-0.5, 1.0]);
    }
}
