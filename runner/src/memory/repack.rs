//! Which weights llama.cpp copies into another layout while it loads, beside the copy that the file is.
//!
//! The rules are those of the pinned library's `repack.cpp`; the processor features are what the engine itself reports.

use std::collections::BTreeMap;

use models::gguf::{Header, Tensor};

/// Processor features as the library lists them: `AVX2 = 1 | REPACK = 1 | ...`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Features(String);

impl Features {
    /// From the engine's own line.
    pub fn of(system_info: &str) -> Self {
        Features(system_info.to_owned())
    }

    fn has(&self, name: &str) -> bool {
        let is_it = |word: &str| {
            let mut sides = word.rsplit(':').next().unwrap_or(word).split('=');
            sides.next().map(str::trim) == Some(name) && sides.next().map(str::trim) != Some("0")
        };
        self.0.split('|').any(|word| word.contains('=') && is_it(word))
    }

    /// Rows that are woven together for a type; `None` where it is left as it is.
    fn interleave(&self, kind: &str) -> Option<u64> {
        let arm = self.has("NEON") && (self.has("MATMUL_INT8") || self.has("DOTPROD"));
        let avx2 = self.has("AVX2");
        match kind {
            "Q4_0" if avx2 => Some(8),
            "Q4_0" | "Q8_0" | "Q1_0" if arm => Some(4),
            "Q4_K" if avx2 || arm => Some(8),
            "Q5_K" | "Q6_K" if arm => Some(8),
            "Q2_K" if self.has("AVX512") => Some(8),
            "IQ4_NL" | "MXFP4" if avx2 => Some(8),
            "IQ4_NL" | "MXFP4" if self.has("NEON") && self.has("DOTPROD") => Some(4),
            _ => None,
        }
    }

    /// Whether a tensor of this shape is copied when a product is made with it.
    fn repacks(&self, tensor: &Tensor) -> bool {
        let flat = tensor.dims.iter().rposition(|&elements| elements > 1).map_or(1, |last| last + 1);
        self.has("REPACK")
            && (2..=3).contains(&flat)
            && self.interleave(tensor.kind.name).is_some_and(|rows| tensor.dims[1].is_multiple_of(rows))
    }
}

/// Where the weights of a model come to lie.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Places {
    /// Bytes by type that stay as they are in the file.
    pub(super) plain: BTreeMap<&'static str, u64>,
    /// Bytes by type of copies in another layout.
    pub(super) copied: BTreeMap<&'static str, u64>,
    /// Bytes of the file from the first to the last tensor that stays as it is: what a mapping keeps.
    pub(super) mapped_bytes: u64,
}

/// Tensors that are looked up row by row, and never multiplied with.
const LOOKED_UP: [&str; 4] = ["token_embd", "per_layer_token_embd", "position_embd", "token_types"];

impl Places {
    /// Sorts the tensors of a model.
    pub(super) fn of(header: &Header, features: &Features) -> Places {
        let mut places = Places::default();
        let (mut first, mut last) = (u64::MAX, 0);
        let tied = !header.tensors.iter().any(|tensor| tensor.name == "output.weight");
        for tensor in &header.tensors {
            let stem = tensor.name.strip_suffix(".weight");
            let looked_up = stem.is_none_or(|stem| LOOKED_UP.contains(&stem));
            let repacks = features.repacks(tensor);
            if repacks && !looked_up {
                *places.copied.entry(tensor.kind.name).or_default() += tensor.bytes;
                continue;
            }
            // Without output weights the embeddings serve twice, and then also as a factor.
            if repacks && tied && stem == Some("token_embd") {
                *places.copied.entry(tensor.kind.name).or_default() += tensor.bytes;
            }
            *places.plain.entry(tensor.kind.name).or_default() += tensor.bytes;
            first = first.min(tensor.offset);
            last = last.max(tensor.offset.saturating_add(tensor.bytes));
        }
        places.mapped_bytes = last.saturating_sub(first.min(last));
        // Offsets of a split model begin anew in each part: its tensors are then counted one by one.
        if header.files().len() > 1 {
            places.mapped_bytes = header.weight_bytes();
        }
        places
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const AVX2: &str = "CPU : SSE3 = 1 | AVX = 1 | AVX2 = 1 | F16C = 1 | LLAMAFILE = 1 | REPACK = 1 | ";
    const PI5: &str =
        "CPU : NEON = 1 | ARM_FMA = 1 | FP16_VA = 1 | DOTPROD = 1 | LLAMAFILE = 1 | REPACK = 1 | ";

    #[test]
    fn features_decide_which_types_are_copied() {
        let (avx2, pi5) = (Features::of(AVX2), Features::of(PI5));
        assert_eq!(avx2.interleave("Q4_0"), Some(8));
        assert_eq!(avx2.interleave("Q8_0"), None);
        assert_eq!(avx2.interleave("Q2_K"), None);
        assert_eq!(pi5.interleave("Q8_0"), Some(4));
        assert_eq!(pi5.interleave("Q6_K"), Some(8));
        assert_eq!(Features::of("CPU : NEON = 1 | REPACK = 1 | ").interleave("Q4_0"), None);
        assert!(!Features::of("AVX2 = 1 | REPACK = 0").has("REPACK"));
    }
}
